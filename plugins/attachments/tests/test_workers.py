"""Workers that clean pictures: killed, several at once, and without a storage."""

import io
import threading
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from plugins.attachments import processing
from plugins.attachments.models import MAX_ATTEMPTS, Attachment
from plugins.attachments.processing import process
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.full_disk import FullDisk
from plugins.attachments.tests.pictures import PDF, picture, send


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
