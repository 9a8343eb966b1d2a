"""The connection to a SQLite file is kept, but not to a file that is there no more."""

from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

ENGINE = "tripcompanion.kit.sqlite3"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trips.sqlite3"


@pytest.fixture
def database(file: Path, django_db_blocker: Any) -> Any:
    """A connection of its own, kept as the settings say."""
    log = {"init_command": "PRAGMA journal_mode=WAL;"}
    settings = {"ENGINE": ENGINE, "NAME": str(file), "CONN_MAX_AGE": None, "OPTIONS": log}
    connection = ConnectionHandler({"default": settings})["default"]
    with django_db_blocker.unblock():
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE trip (title text)")
        yield connection
        connection.close()


def test_it_is_kept_from_request_to_request(database: Any) -> None:
    first = database.connection
    database.close_if_unusable_or_obsolete()
    assert database.connection is first


def test_a_file_that_was_deleted_is_written_no_more(database: Any, file: Path) -> None:
    file.unlink()
    database.close_if_unusable_or_obsolete()
    with pytest.raises(OperationalError), database.cursor() as cursor:
        cursor.execute("INSERT INTO trip VALUES ('Lisbon')")


def test_a_file_that_was_replaced_is_the_one_that_is_read(database: Any, file: Path) -> None:
    copy = file.with_suffix(".copy")
    with database.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(copy)])
        cursor.execute("INSERT INTO trip VALUES ('Lisbon')")
    copy.rename(file)
    for tail in ("-wal", "-shm"):
        Path(f"{file}{tail}").unlink()
    database.close_if_unusable_or_obsolete()
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM trip")
        assert cursor.fetchone() == (0,)
