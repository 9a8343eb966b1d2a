"""Workers that clean pictures: killed, several at once, without a storage, and in turns."""

import io
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from PIL import Image

from plugins.attachments import cleaning, processing
from plugins.attachments.models import MAX_ATTEMPTS, Attachment
from plugins.attachments.processing import process
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.full_disk import FullDisk
from plugins.attachments.tests.pictures import PDF, picture, send
from tests import citus
from tests.bulk import analyse
from tests.test_plans import full_scans
from tests.wide import copies


def test_the_command_cleans_what_waits(attach):
    attach(picture())
    call_command("process_attachments")
    assert Attachment.objects.get().state == "ready"


def test_what_a_killed_worker_left_is_taken_again_after_its_lease(attach):
    attach(picture())
    # A worker that claims it and is gone.
    assert Attachment.claim() is not None
    assert process()
    assert Attachment.objects.get().state == "processing"
    Attachment.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert process()
    assert Attachment.objects.get().state == "ready"


def test_a_picture_of_which_every_worker_dies_is_refused(attach, folder):
    attach(picture())
    for _attempt in range(MAX_ATTEMPTS):
        assert Attachment.claim() is not None
        Attachment.objects.update(claimed_until=None)
    assert process()
    row = Attachment.objects.get()
    assert (row.state, row.refusal) == ("refused", "unreadable")
    assert stored(folder) == []


def test_an_unexpected_error_with_one_picture_delays_no_other(attach):
    broken, other = attach(picture())["id"], attach(picture())["id"]
    # Outside of the folder.
    Attachment.objects.filter(pk=broken).update(file="../passwd")
    assert process()
    states = dict(Attachment.objects.values_list("pk", "state"))
    assert states == {broken: "processing", other: "ready"}


def test_a_host_that_has_no_room_refuses_no_picture(attach, monkeypatch):
    ids = [attach(picture())["id"] for _picture in range(2)]
    with monkeypatch.context() as full:
        full.setattr(processing, "TemporaryDirectory", Mock(side_effect=OSError(28, "No space")))
        for _again in range(MAX_ATTEMPTS + 1):
            assert not process()
            Attachment.objects.update(claimed_until=None)
    assert process()
    assert dict(Attachment.objects.values_list("pk", "state")) == dict.fromkeys(ids, "ready")


def test_a_program_that_is_killed_is_run_again(attach, monkeypatch, tmp_path):
    program = tmp_path / "dies.py"
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setattr(processing, "_PROGRAM", program)
    attach(picture())
    assert process()
    row = Attachment.objects.get()
    assert (row.state, row.attempts) == ("refused", MAX_ATTEMPTS + 1)


def test_a_worker_whose_lease_has_ended_changes_nothing(attach, folder):
    attach(picture())
    late = Attachment.claim()
    assert late is not None
    Attachment.objects.update(claimed_until=None)
    process()
    files = sorted(stored(folder))
    late.refuse("unreadable")
    assert Attachment.objects.get().state == "ready"
    assert sorted(stored(folder)) == files


def test_a_picture_that_is_deleted_meanwhile_leaves_no_files(attach, folder):
    attach(picture())
    row = Attachment.claim()
    assert row is not None
    Attachment.objects.all().delete()
    processing._clean(row)
    # The original is for the request that deletes the row.
    assert len(stored(folder)) == 1


@pytest.fixture
def room(folder, settings, monkeypatch):
    """`room(bytes)` is how much fits on the disk from now on."""
    full = "plugins.attachments.tests.full_disk.FullDisk"
    store = {"BACKEND": full, "OPTIONS": {"location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "attachments": store}
    return lambda left: monkeypatch.setattr(FullDisk, "room_bytes", left)


def test_a_full_disk_is_a_503_that_stores_nothing(room, api, olga, dinner, folder):
    path = f"/api/expenses/{dinner.pk}/attachments"
    for left in (0, 20):
        room(left)
        answer = send(api(olga), path, PDF)
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert "Retry-After" in answer
    assert (Attachment.objects.count(), stored(folder)) == (0, [])
    room(1000)
    assert send(api(olga), path, PDF).status_code == 201


def test_without_a_storage_a_picture_waits(room, attach, api, olga, folder):
    room(10_000)
    made = attach(picture())
    # The cleaned picture fits, its thumbnail does not.
    room(800)
    assert not process()
    row = Attachment.objects.get()
    assert (row.state, row.attempts) == ("processing", 0)
    [original] = stored(folder)
    away = original.rename(folder / "away")
    Attachment.objects.update(claimed_until=None)
    with pytest.raises(CommandError, match="cannot be cleaned"):
        call_command("process_attachments")
    away.rename(original)
    room(10_000)
    Attachment.objects.update(claimed_until=None)
    assert process()
    row = Attachment.objects.get()
    assert row.state == "ready"
    (folder / row.file).unlink()
    answer = api(olga).get(made["url"])
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")


@pytest.mark.django_db
def test_prune_says_that_the_storage_is_away(folder):
    folder.write_text("no folder")
    with pytest.raises(CommandError, match="Files were not deleted: .*Not a directory"):
        call_command("prune", stdout=io.StringIO())


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite in memory has one connection")
def test_several_workers_and_a_deletion_share_the_pictures(attach, api, olga, trip, dinner, folder):
    for _number in range(6):
        attach(picture())
    statuses = []

    def work():
        try:
            process()
        finally:
            connection.close()

    def upload(client):
        try:
            statuses.append(send(client, f"/api/expenses/{dinner.pk}/attachments", PDF).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _worker in range(2)]
    threads += [threading.Thread(target=upload, args=[api(olga)]) for _upload in range(8)]
    for thread in threads:
        thread.start()
    assert api(olga).delete(f"/api/trips/{trip.pk}/expenses/{dinner.pk}").status_code == 204
    for thread in threads:
        thread.join()
    assert set(statuses) <= {201, 404}
    assert Attachment.objects.filter(state="ready").count() == 6 + statuses.count(201)
    assert Attachment.objects.shown().count() == 0
    assert len(stored(folder)) == 12 + statuses.count(201)


SIZE = (1000, 800)


def with_scans(count):
    """A progressive JPEG with so many more scans, which are empty."""
    out = io.BytesIO()
    Image.new("RGB", SIZE, "white").save(out, "JPEG", progressive=True)
    content = out.getvalue()
    scan = bytes.fromhex("ffda0008010100010502")
    assert content.count(scan) == 1
    return content[:-2] + scan * count + content[-2:]


@pytest.fixture
def changed(monkeypatch, tmp_path):
    """`changed((old, new), …)` has pictures cleaned by a program with other lines."""

    def use(*lines):
        text = Path(cleaning.__file__).read_text()
        for old, new in lines:
            assert text.count(old) == 1
            text = text.replace(old, new)
        program = tmp_path / "cleaning.py"
        program.write_text(text)
        monkeypatch.setattr(processing, "_PROGRAM", program)

    return use


def verdict():
    row = Attachment.objects.get()
    return row.state, row.refusal, row.attempts


def test_scans_are_counted_before_a_picture_is_decoded(attach, changed):
    """T207: Scans of a picture are counted before it is decoded."""
    content = with_scans(12_000)
    assert cleaning.scans_of(content) == 12_010
    attach(content)
    # Whoever comes to the decoder is killed, and tried again.
    changed(("    found.load()\n", "    import os\n    os.kill(os.getpid(), 9)\n"))
    assert process()
    assert verdict() == ("refused", "unreadable", 1)


@pytest.mark.parametrize("slow", [b"\xff\xfe\0\2" * 10_100, b"\xff" * 100_100])
def test_segments_are_counted_before_a_picture_is_opened(attach, changed, slow):
    """Pillow takes 6 s to open 10 MB of them."""
    content = picture("JPEG", SIZE)
    attach(content[:2] + slow + content[2:])
    line = "        found: Image.Image = Image.open(path, formats=[kind])\n"
    changed((line, f"        import os\n        os.kill(os.getpid(), 9)\n{line}"))
    assert process()
    assert verdict() == ("refused", "unreadable", 1)


@pytest.mark.parametrize(("progressive", "scans"), [(True, 10), (False, 1)])
def test_a_photo_has_few_scans(attach, progressive, scans):
    content = picture("JPEG", SIZE, progressive=progressive)
    assert cleaning.scans_of(content) == scans
    attach(content)
    assert process()
    assert verdict() == ("ready", "", 1)


def test_the_scans_of_a_preview_are_not_those_of_the_picture():
    content = picture("JPEG", SIZE, comment=picture("JPEG", progressive=True)[:60_000])
    assert cleaning.scans_of(content) == 1


def test_what_takes_too_long_is_refused_once(attach, changed):
    attach(with_scans(100_000))
    changed(("MAX_SCANS = 32", "MAX_SCANS = 10**9"), ("512 * MEBIBYTE, 7", "512 * MEBIBYTE, 1"))
    assert process()
    assert verdict() == ("refused", "unreadable", 1)


def test_what_waits_too_long_is_refused_once(attach, changed, monkeypatch):
    attach(picture())
    changed(("    found.load()\n", "    import time\n    time.sleep(60)\n"))
    monkeypatch.setattr(processing, "_SECONDS", 1)
    assert process()
    assert verdict() == ("refused", "unreadable", 1)


def attached_by(user, expense):
    return Attachment.objects.create(
        trip=expense.trip,
        expense=expense,
        created_by=user,
        **{"name": "taxi.jpg", "type": "image/jpeg", "size_bytes": 1, "file": "-"},
        state="processing",
    )


@pytest.mark.django_db
def test_accounts_take_turns(olga, ed, vera, dinner):
    for user in (*[olga] * 4, ed, ed, vera):
        attached_by(user, dinner)
    turns, last = [], 0
    while row := Attachment.claim(after=last):
        last = row.created_by_id
        turns.append(row)
    assert [row.created_by for row in turns] == [olga, ed, vera, olga, ed, olga, olga]
    of_olga = [row.pk for row in turns if row.created_by == olga]
    assert of_olga == sorted(of_olga)


def test_the_worker_lets_accounts_take_turns(api, trip, olga, ed, monkeypatch):
    path = f"/api/trips/{trip.pk}/attachments"
    for user in (olga, olga, olga, ed):
        assert send(api(user), path, picture()).status_code == 201
    turns: list[int] = []
    monkeypatch.setattr(processing, "_clean", lambda row: turns.append(row.created_by_id))
    assert process()
    assert turns == [olga.pk, ed.pk, olga.pk, olga.pk]


@citus.hides_plans
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_claim_reads_no_picture_that_is_ready(olga, dinner):
    row = attached_by(olga, dinner)
    copies(row, 20_000, state="'ready'")
    copies(row, 2_000)
    analyse()
    written: list[tuple[str, Any]] = []

    def note(execute, sql, values, many, context):
        written.append((sql, values))
        return execute(sql, values, many, context)

    with connection.execute_wrapper(note):
        assert Attachment.claim(after=olga.pk) is not None
    assert len(written) <= 3
    for sql, values in written:
        assert full_scans(sql, values, {"attachments_attachment"}, for_any_values=False) == []
