"""A request waits for nobody for ever: statements, locks and idle transactions on PostgreSQL."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import connection

from tests.document import problem_of
from tests.server import Server, running_server

pytestmark = pytest.mark.skipif(
    not settings.DATABASE_URL.startswith("postgres"),
    reason="SQLite has one writer and a time-out of its own",
)
ACCOUNT = {"email": "olga@example.com", "password": "four-green-suitcases"}


@pytest.fixture(scope="module")
def impatient() -> Iterator[Server]:
    with running_server(DATABASE_TIMEOUT="1") as server:
        yield server


@contextmanager
def held(server: Server, *statements: str) -> Iterator[None]:
    """Somebody else has run the statements in a transaction that stays open."""
    with psycopg.connect(server.environment["DATABASE_URL"]) as other:
        for statement in statements:
            other.execute(statement)
        yield
        other.rollback()


def test_a_lock_that_is_not_had_is_503_soon_and_hinders_nobody_else(impatient: Server) -> None:
    with httpx.Client(base_url=impatient.url, timeout=20) as client:
        assert client.post("/api/users/register", json=ACCOUNT).status_code == 201
        with held(impatient, "LOCK TABLE users_session IN ACCESS EXCLUSIVE MODE"):
            started = time.monotonic()
            problem = client.post("/api/users/login", json=ACCOUNT)
            waited_seconds = time.monotonic() - started
            assert problem_of(problem, 503, "unavailable")
            assert problem.headers["Retry-After"] == "2"
            assert waited_seconds < 5
            assert client.get("/api/health/ready").status_code == 200
        assert client.post("/api/users/login", json=ACCOUNT).status_code == 200


@pytest.mark.django_db
def test_the_server_ends_statements_and_idle_transactions(impatient: Server) -> None:
    """The connections say so themselves, while commands wait as long as they like."""
    shown = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
    program = f"from django.db import connection as c; u = c.cursor(); u.execute({shown!r});"
    program += "import sys; sys.stdout.write(str(u.fetchone()))"
    served = impatient.manage("shell", "--no-imports", "-c", program).stdout
    assert served == "('1s', '1s')"
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_three_that_migrate_at_once_do_it_once() -> None:
    with running_server() as server:
        server.manage("migrate", "splits", "zero", "--verbosity", "0")
        outcomes: list[Any] = []

        def migrate() -> None:
            outcomes.append(server.manage("migrate"))

        threads = [threading.Thread(target=migrate) for _one in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        applied = [one.stdout.count("Applying splits.0001_initial... OK") for one in outcomes]
        assert sorted(applied) == [0, 0, 1]


def test_a_migration_waits_shortly_for_a_busy_table_and_tries_again() -> None:
    with running_server() as server, httpx.Client(base_url=server.url, timeout=20) as client:
        assert client.post("/api/users/register", json=ACCOUNT).status_code == 201
        server.manage("migrate", "splits", "zero", "--verbosity", "0")
        outcomes: list[Any] = []
        thread = threading.Thread(target=lambda: outcomes.append(server.manage("migrate")))
        with held(server, "LOCK TABLE users_user IN ROW EXCLUSIVE MODE"):
            # A foreign key to it needs a stronger lock than a writer leaves.
            thread.start()
            time.sleep(4)
            started = time.monotonic()
            assert client.post("/api/users/login", json=ACCOUNT).status_code == 200
            assert time.monotonic() - started < 3
            assert thread.is_alive()
        thread.join(timeout=30)
        (done,) = outcomes
        assert "A table is busy" in done.stderr
        assert "Applying splits.0001_initial... OK" in done.stdout
