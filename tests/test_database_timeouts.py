"""A request waits for nobody for ever: statements, locks and idle transactions on PostgreSQL."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import pre_migrate

from tests import citus
from tests.document import problem_of
from tests.postgres import KILLED_MIGRATION, migrated_beside_a_writer
from tests.server import ROOT, running_server
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.postgresql
ACCOUNT = {"email": "olga@example.com", "password": "four-green-suitcases"}


@pytest.fixture(scope="module")
def impatient():
    with running_server(DATABASE_TIMEOUT="1") as server:
        yield server


@contextmanager
def held(server, *statements):
    """Somebody else has run the statements in a transaction that stays open."""
    with psycopg.connect(server.environment["DATABASE_URL"]) as other:
        for statement in statements:
            other.execute(statement)
        yield other
        other.rollback()


def test_a_lock_that_is_not_had_is_503_soon_and_hinders_nobody_else(impatient):
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


@pytest.mark.slow
@pytest.mark.django_db
def test_a_lock_that_is_not_had_is_no_error_in_the_log(capfd):
    """Whoever sends many writes at once makes them, and could fill the log with errors."""
    with (
        running_server(DATABASE_TIMEOUT="4", LOG_FORMAT="json") as server,
        httpx.Client(base_url=server.url, timeout=20) as client,
    ):
        login = client.post("/api/users/register", json=ACCOUNT).json()
        client.headers["Authorization"] = f"Bearer {login['token']}"
        trip = client.post("/api/trips", json=lisbon()).json()
        capfd.readouterr()
        with held(server, "SELECT 1 FROM trips_trip FOR UPDATE"):
            answer = client.patch(f"/api/trips/{trip['id']}", json={"title": "Porto"})
            assert answer.status_code == 503
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    of_requests = [line for line in lines if "gunicorn" not in line["logger"]]
    assert {line["level"] for line in of_requests} == {"WARNING"}, of_requests
    assert "Traceback" not in json.dumps(of_requests)


@pytest.mark.slow
@pytest.mark.django_db
def test_the_server_ends_statements_and_idle_transactions(impatient):
    """The connections say so themselves, while commands wait as long as they like."""
    shown = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
    program = f"from django.db import connection as c; u = c.cursor(); u.execute({shown!r});"
    program += "import sys; sys.stdout.write(str(u.fetchone()))"
    assert impatient.manage("shell", "--no-imports", "-c", program).stdout == "('1s', '1s')"
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.slow
@citus.unapplies_migrations
def test_three_that_migrate_at_once_do_it_once():
    with running_server() as server:
        server.manage("migrate", "splits", "zero", "--verbosity", "0")
        with ThreadPoolExecutor(3) as pool:
            outcomes = list(pool.map(server.manage, ["migrate_safely"] * 3))
        applied = [
            one.stdout.count("Applying splits.0001_tables_of_1_0_0... OK") for one in outcomes
        ]
        assert sorted(applied) == [0, 0, 1]


@pytest.mark.slow
@citus.unapplies_migrations
def test_a_migration_waits_shortly_for_a_busy_table_and_tries_again():
    with running_server() as server:
        server.manage("migrate", "kit", "zero", "--verbosity", "0")
        said = migrated_beside_a_writer(server, server.environment["DATABASE_URL"], "users_user")
    assert "Applying kit.0001_tables_of_1_0_0... OK" in said


#: What `migrate_safely` locks.
MIGRATING = "SELECT pg_advisory_xact_lock(7219004)"


def advisory_locks(server):
    with psycopg.connect(server.environment["DATABASE_URL"]) as other:
        found = other.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON database = pg_database.oid"
            " WHERE locktype = 'advisory' AND datname = current_database()"
        )
        return found.fetchone()[0]


@pytest.mark.slow
def test_a_migration_that_waits_too_long_for_another_says_so_in_a_line(impatient):
    with ThreadPoolExecutor(1) as pool, held(impatient, MIGRATING):
        waiting = pool.submit(impatient.manage, "migrate_safely", "--wait", "2")
        failed = waiting.exception(timeout=30)
    assert isinstance(failed, subprocess.CalledProcessError)
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        "Another process is migrating; waiting for it.",
        "CommandError: Another process has been migrating for 2 s. Run this again when it is done.",
    ]
    impatient.manage("migrate_safely", "--wait", "2")
    assert advisory_locks(impatient) == 0


@pytest.mark.slow
def test_a_migration_waits_longer_than_a_statement_may_take(impatient):
    """Its time-outs are those of the service here, of 1 s each."""
    with held(impatient, MIGRATING):
        migrating = subprocess.Popen(
            [sys.executable, "manage.py", "migrate_safely"],
            cwd=ROOT,
            env=impatient.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert "Another process is migrating" in migrating.stderr.readline()
        time.sleep(3)
        assert migrating.poll() is None
    assert migrating.communicate(timeout=30)
    assert migrating.returncode == 0


@pytest.mark.slow
def test_a_migration_that_is_killed_leaves_no_lock_behind(impatient):
    with pytest.raises(subprocess.CalledProcessError):
        impatient.manage("shell", "--no-imports", "-c", KILLED_MIGRATION)
    impatient.manage("migrate_safely", "--wait", "10")
    assert advisory_locks(impatient) == 0


@pytest.mark.django_db
def test_the_lock_of_a_migration_belongs_to_a_transaction():
    """One of a session would stay with the server connection of a pooler, for whoever is next."""
    gates: list[Any] = []

    def noted(**_sent):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT state, query FROM pg_stat_activity"
                " WHERE datname = current_database() AND query LIKE '%%advisory%%'"
                " AND pid <> pg_backend_pid()"
            )
            gates.extend(cursor.fetchall())

    pre_migrate.connect(noted)
    try:
        call_command("migrate_safely", verbosity=0)
    finally:
        pre_migrate.disconnect(noted)
    assert {state for state, _query in gates} == {"idle in transaction"}
    assert "xact" in gates[0][1]
