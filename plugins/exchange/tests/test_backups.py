"""Backups of both databases: made while the service runs, checked, and restored."""

import json
import os
from hashlib import sha256
from io import StringIO
from pathlib import Path
from subprocess import CalledProcessError

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from plugins.exchange import backups
from tests.server import running_server
from tests.splits.journey import sign_up
from tests.trips.bodies import lisbon
from tripcompanion.observability import progress

needs_programs = pytest.mark.needs(
    *(("pg_dump", "psql") if connection.vendor == "postgresql" else ())
)
of_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite replaces the whole file"
)


@pytest.fixture
def owner(http):
    """Somebody who has planned a trip."""
    somebody = sign_up(http)
    somebody.done("POST", "/trips", lisbon())
    return somebody


@pytest.fixture
def backup(server, owner, tmp_path):
    """A backup of the server with one trip."""
    made = server.manage("backup", str(tmp_path), "--keep-days", "14")
    assert made.stderr == f"Backing up the database into {tmp_path} ...\n"
    file = Path(made.stdout.strip())
    assert file.parent == tmp_path
    return file


@needs_programs
@pytest.mark.django_db(transaction=True)
def test_a_log_shows_that_a_backup_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.001)
    log = StringIO()
    call_command("backup", str(tmp_path), stdout=StringIO(), stderr=log)
    assert "Still backing up (0 s)\n" in log.getvalue()


@needs_programs
def test_a_backup_is_restored_beside_and_is_sound(backup):
    with running_server() as other:
        assert "Restored" in other.manage("restore", str(backup)).stdout
        assert "trips, no difference" in other.manage("audit_ledger").stdout


@needs_programs
def test_only_its_owner_reads_a_backup(backup):
    assert backup.stat().st_mode & 0o777 == 0o600
    manifest = json.loads(backup.with_name(f"{backup.name}.json").read_text())
    assert manifest["database"] == connection.vendor
    assert manifest["bytes"] == backup.stat().st_size
    assert list(backup.parent.glob("*.part")) == []


@pytest.mark.slow
@needs_programs
def test_a_database_with_accounts_is_overwritten_only_on_demand(server, owner, backup):
    owner.done("POST", "/trips", lisbon())
    with pytest.raises(CalledProcessError) as refused:
        server.manage("restore", str(backup))
    assert "There are accounts" in refused.value.stderr
    assert owner.done("GET", "/trips")["total"] == 2
    server.manage("restore", str(backup), "--overwrite")
    assert owner.done("GET", "/trips")["total"] == 1


@pytest.mark.slow
@needs_programs
@of_postgresql
def test_what_a_later_release_added_is_gone(server, owner, backup):
    later = (
        "CREATE TABLE later (id bigint REFERENCES users_user)",
        "CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER later BEFORE INSERT ON users_user EXECUTE FUNCTION later()",
    )
    with psycopg.connect(server.environment["DATABASE_URL"], autocommit=True) as database:
        for statement in later:
            database.execute(statement)
        server.manage("restore", str(backup), "--overwrite")
        left = database.execute("SELECT to_regclass('later'), to_regproc('later')").fetchone()
    assert left == (None, None)
    assert sign_up(owner.http).done("POST", "/trips", lisbon())


@pytest.mark.slow
@needs_programs
@of_postgresql
def test_a_backup_that_ends_too_early_changes_nothing(server, owner, backup):
    owner.done("POST", "/trips", lisbon())
    backup.write_bytes(backup.read_bytes()[:-1000])
    path = backup.with_name(f"{backup.name}.json")
    manifest = json.loads(path.read_text()) | {"sha256": sha256(backup.read_bytes()).hexdigest()}
    path.write_text(json.dumps(manifest))
    with pytest.raises(CalledProcessError) as failed:
        server.manage("restore", str(backup), "--overwrite")
    assert "end of file" in failed.value.stderr
    assert owner.done("GET", "/trips")["total"] == 2


@pytest.fixture
def written(tmp_path):
    """A file with a manifest that fits."""
    file = tmp_path / "tripcompanion-20260514T010000Z.dump"
    file.write_bytes(b"rows")
    manifest = {
        "database": connection.vendor,
        "sha256": sha256(b"rows").hexdigest(),
        "migrations": [["users", "0001_initial"]],
    }
    file.with_name(f"{file.name}.json").write_text(json.dumps(manifest))
    return file


def refusal(file, **manifest):
    path = file.with_name(f"{file.name}.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | manifest))
    with pytest.raises(CommandError) as refused:
        call_command("restore", file, overwrite=True)
    return str(refused.value)


@pytest.mark.django_db
def test_a_changed_file_is_not_restored(written):
    written.write_bytes(b"rowz")
    assert "SHA-256" in refusal(written)


@pytest.mark.django_db
def test_a_backup_of_a_newer_release_or_another_database_is_refused(written):
    assert "users.9999_later" in refusal(written, migrations=[["users", "9999_later"]])
    assert "backup of oracle" in refusal(written, database="oracle")
    assert "cannot be read" in refusal(written, migrations=7)


def test_a_backup_without_manifest_is_refused(tmp_path):
    with pytest.raises(CommandError, match="manifest"):
        call_command("restore", tmp_path / "tripcompanion.dump")


def test_old_backups_are_deleted_with_their_manifests(written):
    kept = written.with_name("tripcompanion-20260520T010000Z.dump")
    kept.write_bytes(b"rows")
    other = written.with_name("notes.txt")
    other.write_bytes(b"mine")
    long_ago = kept.stat().st_mtime - 15 * 86_400
    for file in (written, written.with_name(f"{written.name}.json"), other):
        os.utime(file, (long_ago, long_ago))
    backups.delete_old(written.parent, 14)
    assert sorted(written.parent.iterdir()) == sorted([kept, other])


@pytest.mark.parametrize("days", [0, -1, 10**9])
def test_a_backup_does_not_delete_itself(written, days):
    with pytest.raises(CommandError, match="--keep-days must be from 1"):
        call_command("backup", written.parent, keep_days=days)
    assert written.exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no password")
def test_the_password_is_in_no_argument(tmp_path, monkeypatch, db):
    seen, program = tmp_path / "seen", tmp_path / "pg_dump"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" "$PGPASSWORD" > {seen}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setitem(connection.settings_dict, "PASSWORD", "s@cret/1")
    backups.back_up(tmp_path)
    arguments, password = seen.read_text().splitlines()
    assert password == "s@cret/1"
    assert "cret" not in arguments
    assert str(connection.settings_dict["NAME"]) in arguments
