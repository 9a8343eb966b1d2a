"""Backups of the database by its own means: pg_dump, or SQLite's online backup.

Beside each is a manifest with its SHA-256 and the migrations that it has. Whoever can list the
processes of the machine sees their arguments, so passwords go into the environment.
"""

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime, timedelta
from hashlib import file_digest
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from tripcompanion.database.schema_floor import migrations_of_code

_PREFIX = "tripcompanion-"
#: Drops all tables and functions that no extension made, also those that a later release added.
_DROP_ALL = """
    SET client_min_messages = warning;
    DO $$ DECLARE found record; BEGIN
        FOR found IN
            SELECT 'TABLE' AS kind, oid::regclass::text AS name, oid FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
            UNION ALL
            SELECT 'FUNCTION', oid::regprocedure::text, oid FROM pg_proc
            WHERE pronamespace = current_schema()::regnamespace
        LOOP
            IF NOT EXISTS (SELECT FROM pg_depend WHERE objid = found.oid AND deptype = 'e') THEN
                EXECUTE format('DROP %s %s CASCADE', found.kind, found.name);
            END IF;
        END LOOP;
    END $$;
"""


class BackupFailed(Exception):
    """A backup cannot be made or restored; the text says why."""


def back_up(folder: Path) -> Path:
    """Write a backup into `folder`, complete or not at all, and return its path."""
    name = f"{_PREFIX}{timezone.now():%Y%m%dT%H%M%SZ}"
    file = folder / f"{name}{'.dump' if connection.vendor == 'postgresql' else '.sqlite3'}"
    part = file.with_name(f"{file.name}.part")
    part.touch(mode=0o600)
    migrations = sorted(MigrationRecorder(connection).applied_migrations())
    if connection.vendor == "postgresql":
        with _started("pg_dump", "--format=custom", "--no-owner", f"--file={part}") as process:
            _end(process)
    else:
        with closing(sqlite3.connect(part)) as target:
            _connected().backup(target)
    manifest = {
        "database": connection.vendor,
        "sha256": _sha256(part),
        "bytes": part.stat().st_size,
        "migrations": migrations,
    }
    _manifest_of(file).write_text(json.dumps(manifest))
    part.replace(file)
    return file


def restore(file: Path, *, overwrite: bool = False) -> None:
    """Put the backup in the place of this database. Stop the service before.

    Raises `BackupFailed` if the file was changed, is of another kind of database or of a newer
    release, or if there are accounts here and `overwrite` is false.
    """
    manifest = _read_manifest(file)
    if manifest["database"] != connection.vendor:
        raise BackupFailed(f"This is a backup of {manifest['database']}; see import_all.")
    known = migrations_of_code().all
    newer = [f"{app}.{name}" for app, name in manifest["migrations"] if (app, name) not in known]
    if newer:
        raise BackupFailed(f"It is of a newer release, which has the migration {newer[0]}.")
    if not overwrite and _has_accounts():
        raise BackupFailed("There are accounts in this database; --overwrite replaces them.")
    if connection.vendor == "postgresql":
        _replace_all(file)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    else:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as source:
            source.backup(_connected())


def delete_old(folder: Path, days: int) -> None:
    """Delete the backups that are older than `days`, and what failed ones left."""
    oldest = timezone.now() - timedelta(days=days)
    for file in folder.glob(f"{_PREFIX}*Z.*"):
        if datetime.fromtimestamp(file.stat().st_mtime, oldest.tzinfo) < oldest:
            file.unlink()


def _has_accounts() -> bool:
    if "users_user" not in connection.introspection.table_names():
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM users_user LIMIT 1")
        return cursor.fetchone() is not None


def _connected() -> Any:
    """The driver's own connection."""
    connection.ensure_connection()
    return connection.connection


def _replace_all(file: Path) -> None:
    """Put the tables of a backup in the place of all tables, in one transaction."""
    options = ("--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1")
    steps = ("--command=BEGIN", f"--command={_DROP_ALL}", "--file=-")
    with _started("psql", *options, *steps) as psql:
        reading = ["pg_restore", "--no-owner", "--file=-", str(file)]
        read = subprocess.run(  # noqa: S603 -- no shell, and only the operator names files
            reading, check=False, stdout=psql.stdin, stderr=PIPE, text=True
        )
        # Without it, psql takes everything back.
        _end(psql, "" if read.returncode else "COMMIT;")
    if read.returncode:
        raise BackupFailed(read.stderr.strip())


def _started(program: str, *arguments: str) -> subprocess.Popen[str]:
    """A program of PostgreSQL that runs on this database."""
    # What psql gets: the place, and in the environment the password and what TLS needs.
    settings = connection.client.settings_to_cmd_args_env(connection.settings_dict, [])
    [_psql, *place, database], secrets = settings
    full = [program, *arguments, *place, f"--dbname={database}"]
    environment = os.environ | (secrets or {})
    try:
        return subprocess.Popen(  # noqa: S603 -- no shell, and only the operator gives arguments
            full, env=environment, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, text=True
        )
    except FileNotFoundError as error:
        raise BackupFailed(f"{program} is not installed.") from error


def _end(process: subprocess.Popen[str], last: str = "") -> None:
    """Wait until the process has ended; raises `BackupFailed` with what it complained of."""
    _output, complaint = process.communicate(last)
    if process.returncode:
        raise BackupFailed(complaint.strip())


def _manifest_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.json")


def _read_manifest(file: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(_manifest_of(file).read_text())
        unchanged = manifest["sha256"] == _sha256(file)
        manifest["migrations"] = [tuple(pair) for pair in manifest["migrations"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BackupFailed(f"The backup or its manifest cannot be read: {error}") from error
    if not unchanged:
        raise BackupFailed("The file is not what was written: its SHA-256 differs.")
    return manifest


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
