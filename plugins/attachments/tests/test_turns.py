"""Pictures that take too long are refused once, and accounts take turns."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from PIL import Image

from plugins.attachments import cleaning, processing
from plugins.attachments.models import Attachment
from plugins.attachments.processing import process
from plugins.attachments.tests.pictures import picture, send
from tests import citus
from tests.bulk import analyse
from tests.test_plans import full_scans
from tests.wide import copies

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
