"""`audit_ledger --processes`: the whole audit in several processes, of one snapshot."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from splits.reports.audit import differences
from splits.reports.parallel_audit import differences_as_of
from tests import citus
from tests.server import Server, running_server
from tests.splits.journey import Journey, sign_up
from tripcompanion.database.snapshots import snapshot
from trips.models import Trip

TRIPS = 9
is_one_server = settings.DATABASE_URL.startswith("postgres") and not citus.URL
needs_postgresql = pytest.mark.skipif(
    not is_one_server, reason="SQLite has no shared snapshots, and a node of Citus only its own"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """With several trips, each with an expense."""
    with running_server() as running, httpx.Client(base_url=running.url, timeout=30) as http:
        owner, other = sign_up(http), sign_up(http)
        for amount in range(1, TRIPS + 1):
            journey = Journey.start(owner)
            journey.admit(other)
            journey.spend(amount, owner, other)
        yield running


def audit(server: Server) -> tuple[str, list[str]]:
    """The last line, and the differences in the order of their trips."""
    try:
        done = server.manage("audit_ledger", "--processes", "2")
    except subprocess.CalledProcessError as failed:
        *found, last = failed.stderr.splitlines()
        return last, sorted(found)
    return done.stdout.strip(), []


@needs_postgresql
def test_every_trip_is_audited_once(server: Server) -> None:
    assert audit(server) == (f"{TRIPS} trips, no difference.", [])
    with psycopg.connect(server.environment["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE trips_member SET sent_minor = sent_minor + 7 WHERE role = 'OWNER'"
        )
    last, found = audit(server)
    assert last == f"CommandError: {2 * TRIPS} differences in {TRIPS} trips."
    assert len(set(found)) == 2 * TRIPS


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_what_is_written_meanwhile_is_not_seen(trip: Trip) -> None:
    everything = range(trip.pk, trip.pk + 1)

    def as_of(name: str) -> int:
        with closing(connection):
            return len(differences_as_of(name, everything))

    with ThreadPoolExecutor(1) as other:
        with snapshot():
            name = exported()
            other.submit(spoil, trip).result()
            assert other.submit(as_of, name).result() == 0
        with snapshot():
            assert other.submit(as_of, exported()).result() > 0


def exported() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")
        return str(cursor.fetchone()[0])


def spoil(trip: Trip) -> None:
    with closing(connection):
        trip.members.update(sent_minor=F("sent_minor") + 7)


@pytest.mark.django_db
def test_a_number_that_cannot_be_is_refused() -> None:
    for number in ("0", "-1") if is_one_server else ("0", "2"):
        with pytest.raises(CommandError, match="--processes takes a number from 1"):
            call_command("audit_ledger", "--processes", number)


def test_only_everything_is_audited_in_processes() -> None:
    with pytest.raises(CommandError, match="not allowed with argument"):
        call_command("audit_ledger", "--processes", "2", "--trip", "1")


@needs_postgresql
def test_the_processes_read_where_all_is_written() -> None:
    with pytest.raises(CommandError, match="Only one process can read on the replica"):
        call_command("audit_ledger", "--processes", "2", "--replica")


@needs_postgresql
@pytest.mark.django_db
def test_cursors_are_planned_for_all_rows() -> None:
    """A plan for the first of them searches an index for each row of all trips."""
    with CaptureQueriesContext(connection) as queries:
        assert not list(differences(range(1, 2)))
    sent = [query["sql"] for query in queries]
    cursors = [at for at, sql in enumerate(sent) if sql.startswith("DECLARE")]
    assert cursors
    assert sent.index("SET LOCAL cursor_tuple_fraction = 1") < cursors[0]
