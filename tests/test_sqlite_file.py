"""A SQLite file that is replaced under a running server is noticed: it is opened every second."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.server import running_server

pytestmark = pytest.mark.skipif(
    not settings.DATABASE_URL.startswith("sqlite"), reason="It is about the file of SQLite"
)
#: For how long the service may go on using the file that was replaced.
NOTICED_WITHIN_SECONDS = 1


def account(name):
    return {"name": name, "email": f"{name}@example.com", "password": "four-green-suitcases"}


def test_the_file_that_has_the_name_now_is_read_and_written():
    with running_server() as server, httpx.Client(base_url=server.url, timeout=20) as client:

        def status(action, name):
            return client.post(f"/api/users/{action}", json=account(name)).status_code

        file = Path(server.environment["DATABASE_URL"].removeprefix("sqlite:///"))
        copy = file.with_suffix(".copy")
        assert status("register", "olga") == 201
        with closing(sqlite3.connect(file)) as database:
            database.execute("VACUUM INTO ?", [str(copy)])
        assert status("register", "ed") == 201
        for tail in ("-wal", "-shm"):
            Path(f"{file}{tail}").unlink(missing_ok=True)
        copy.rename(file)
        time.sleep(NOTICED_WITHIN_SECONDS)
        # Each worker and each of its threads has a connection of its own.
        assert {status("login", "ed") for _time in range(20)} == {401}
        assert status("login", "olga") == 200
        assert status("register", "vera") == 201
        with closing(sqlite3.connect(file)) as database:
            rows = database.execute("SELECT name FROM users_user ORDER BY id").fetchall()
        assert rows == [("olga",), ("vera",)]
