"""A whole service is moved to another database, with its ids."""

import io
import json
import os
import subprocess
import sys
import zipfile
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from plugins.attachments.models import Attachment
from plugins.attachments.tests.walked import FILE
from plugins.exchange.service_file import Unusable, empty_tables, export_service, import_service
from plugins.recurring.models import Occurrence, Recurrence
from splits.models import Debt
from tests.factories import settle, spend
from tests.server import ROOT
from trips.models import Trip
from users.models import User


def unwatched(rows, **_shown):
    return rows


@pytest.fixture
def lived(api, trip, olga, ed, vera):
    expense = spend(trip, 1001, paid_by=olga, among=[olga, ed, vera])
    settle(trip, ed, olga, 400)
    api(ed).post(f"/api/expenses/{expense.pk}/comments", {"text": "Six of them."})
    key = {"Idempotency-Key": "a"}
    api(olga).post(f"/api/trips/{trip.pk}/guests", {"name": "Grandma"}, headers=key)
    body = {"description": "Rent", "amount": 9.5, "splitType": "EQUAL", "tags": ["home"]}
    starts_on = timezone.now().date()
    for days in (0, 1):
        rent = {"rule": "FREQ=DAILY", "startsOn": (starts_on + timedelta(days=days)).isoformat()}
        expense = {**body, "participantUserIds": [olga.pk, ed.pk]}
        made = api(olga).post(f"/api/trips/{trip.pk}/recurring", {**rent, "expense": expense})
        assert made.status_code == 201
    call_command("record_recurring", stdout=io.StringIO())
    Attachment.objects.create(trip=trip, created_by=olga, **FILE)
    return trip


def exported():
    file = io.BytesIO()
    export_service(file, unwatched)
    return file.getvalue()


def tables(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name != "manifest.json"]
        return {name: archive.read(name) for name in names}


def test_an_empty_service_becomes_the_same(lived, olga):
    content = exported()
    empty_tables()
    count, found = import_service(io.BytesIO(content), unwatched)
    assert found == []
    assert Recurrence.objects.count() == Occurrence.objects.count() + 1 == 2
    assert count == sum(table.count(b"\n") for table in tables(content).values())
    assert tables(exported()) == tables(content)


def test_new_rows_get_new_ids(api, lived, olga, ed):
    content, last = exported(), max(Debt.objects.values_list("pk", flat=True))
    empty_tables()
    import_service(io.BytesIO(content), unwatched)
    spend(Trip.objects.get(), 100, paid_by=olga, among=[ed])
    assert max(Debt.objects.values_list("pk", flat=True)) > last


def changed(content, name, old, new):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as read, zipfile.ZipFile(file, "w") as written:
        for member in read.namelist():
            text = read.read(member)
            assert member != name or old in text
            written.writestr(member, text.replace(old, new) if member == name else text)
    return file.getvalue()


def test_a_ledger_that_is_not_sound_is_not_imported(lived):
    content = changed(exported(), "splits.Expense.jsonl", b",1001,1001,", b",1002,1001,")
    empty_tables()
    _count, found = import_service(io.BytesIO(content), unwatched)
    assert "converted it is 1001" in str(found[0])
    assert not User.objects.exists()


def test_another_release_is_refused(lived):
    content = exported()
    MigrationRecorder(connection).record_applied("trips", "9999_of_the_next_release")
    empty_tables()
    with pytest.raises(Unusable, match="another release"):
        import_service(io.BytesIO(content), unwatched)


def test_the_file_is_for_its_owner_only(lived, tmp_path):
    file = tmp_path / "all.zip"
    call_command("export_all", file, stdout=io.StringIO())
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        assert json.loads(archive.read("manifest.json"))["rows"]["users.User"] == 4
    with pytest.raises(CommandError, match="has accounts"):
        call_command("import_all", file)
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_all", ROOT / "README.md")


@pytest.mark.django_db
def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "nowhere" / "all.zip", tmp_path / "folder"):
        with pytest.raises(CommandError, match=f"Nothing was exported. .*{place.name}"):
            call_command("export_all", place)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is where it goes.")
def test_it_goes_from_postgresql_to_sqlite(lived, tmp_path):
    files = [tmp_path / "there.zip", tmp_path / "back.zip"]
    call_command("export_all", files[0], stdout=io.StringIO())
    there = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}"}
    for arguments in (["migrate_safely"], ["import_all", files[0]], ["export_all", files[1]]):
        run_manage(arguments, there)
    first, second = (tables(file.read_bytes()) for file in files)
    assert second == first


def run_manage(arguments, settings):
    """Run a command of `manage.py` with another database."""
    command = [sys.executable, "manage.py", *map(str, arguments)]
    subprocess.run(command, cwd=ROOT, env=os.environ | settings, check=True, capture_output=True)
