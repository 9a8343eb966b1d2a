"""Every answer is of one moment, also while somebody changes what it shows."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.cast import one_of_the_cast, trip_of
from tests.compiled_only import compiled_only
from tests.document import operation_at
from tests.factories import spend
from tests.meanwhile import meanwhile
from tests.server import running_server
from tests.splits.journey import Journey, sign_up
from tests.test_query_counts import QUERIES
from tests.trips.access import Scene, endpoints
from tests.walked import all_of, merged
from tripcompanion.database.snapshots import StatementChanged, in_snapshot, snapshot
from users.models import User

READERS = 6
RACE_SECONDS = 4
#: Keys whose values change whenever an expense is written, whatever it says.
CHANGING = ("At", "id", "Id")

#: GETs whose answer comes from one statement, or from none, besides that of the log-in.
SINGLE = {
    "/api/users/me",
    "/api/users/me/tokens/{token_id}",
    "/api/users/email/{email}",
    "/api/users/{user_id}",
    "/api/users/{user_id}/pending-debts",
    "/api/expenses/users/{user_id}/pending-debts",
    "/api/trips",
    "/api/trips/my-trips",
    "/api/trips/{trip_id}",
    "/api/trips/{trip_id}/expenses",
    "/api/trips/{trip_id}/expenses/{expense_id}",
    "/api/trips/{trip_id}/members/{user_id}",
    "/api/trips/{trip_id}/settlements/{settlement_id}",
    "/api/trips/{trip_id}/balances",
    "/api/users/{user_id}/total-debt",
    "/api/expenses/users/{user_id}/total-debt",
    "/api/expenses/{expense_id}/splits/{split_id}",
    "/api/health",
    "/api/health/ready",
    *all_of("SINGLE"),
}
#: Pages for browsers, the document of the API and lists of codes; they show nothing that is stored.
WITHOUT_ROWS = {
    *("/api/schema", "/api/docs", "/api/session/login"),
    *("/api/currencies", "/api/categories", "/api/users/login/methods"),
}
WITHOUT_LOG_IN = {
    end.route for end in endpoints() if not getattr(end.view, "authentication_classes", True)
}


@pytest.fixture(scope="module")
def committed(django_db_setup, django_db_blocker):
    """Olga in her trip, stored once for all tests that only read: emptying all tables is slow."""
    with django_db_blocker.unblock():
        olga, ed, vera = map(one_of_the_cast, ("Olga Owner", "Ed Editor", "Vera Viewer"))
        trip = trip_of(olga, ed, vera)
        spend(trip, 600, paid_by=olga, among=[olga])
        yield Scene(trip, olga, own=True)
        call_command("flush", interactive=False, verbosity=0)


@compiled_only  # otherwise all of them take a snapshot
@pytest.mark.parametrize("route", sorted(QUERIES.keys() - WITHOUT_ROWS))
def test_a_get_takes_one_statement_or_one_snapshot(committed, api, route):
    url = route.format(**committed.ids(route))
    if operation := operation_at("GET", route):
        url += operation.required_query()
    client = api(committed.caller)
    client.get(url)
    for method in ("get", "head"):
        with CaptureQueriesContext(connection) as captured:
            assert getattr(client, method)(url).status_code == 200
        statements = [query["sql"] for query in captured]
        if route not in WITHOUT_LOG_IN:
            assert "users_session" in statements.pop(0)
        if route in SINGLE:
            assert len(statements) <= 1
        else:
            boundaries = [sql for sql in statements if _is_boundary(sql)]
            assert boundaries == [statements[0], statements[-1]]
            assert len(statements) > 2


def _is_boundary(sql):
    """SQLite must not take the lock of writers, as `BEGIN IMMEDIATE` does."""
    return sql in {"BEGIN", "BEGIN DEFERRED", "COMMIT"}


# -- While somebody writes ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def server():
    """As in production: in development no statement is kept, for Django logs them all."""
    with running_server(DEBUG="false") as server:
        yield server


class Flipping:
    """A trip with an expense that somebody changes to and fro between two states."""

    def __init__(self, http):
        self.olga, self.ed, self.vera = (sign_up(http) for _person in range(3))
        people = (self.olga, self.ed, self.vera)
        self.trip = Journey.start(self.olga)
        self.trip.admit(self.ed)
        self.trip.admit(self.vera)
        self.trip.spend(9, *people)
        expense = self.trip.spend(30, *people)
        self._path = f"{self.trip.path}/expenses/{expense['id']}"
        alone = [{"userId": self.olga.id, "amount": 30}]
        together = [{"userId": self.ed.id, "amount": 20}, {"userId": self.vera.id, "amount": 24.4}]
        self._bodies = [
            self.trip.expense_body(30, *people, payers=alone),
            self.trip.expense_body(44.4, *people, payers=together),
        ]
        path = self.trip.path
        self.routes = {
            "expense": (self.olga, self._path),
            "list": (self.olga, f"{path}/expenses"),
            "filtered list": (self.olga, f"{path}/expenses?ordering=amount"),
            "splits": (self.olga, f"/expenses/{expense['id']}/splits"),
            "balances": (self.olga, f"{path}/balances"),
            "plan": (self.olga, f"{path}/settle-up"),
            "pending debts": (self.olga, f"/users/{self.olga.id}/pending-debts"),
            "total debt": (self.olga, f"/users/{self.olga.id}/total-debt"),
            **{
                name: (self.ed, shown.format(path=path, olga=self.olga.id, ed=self.ed.id))
                for name, shown in merged("SHOWN").items()
            },
            "trip": (self.olga, path),
            "members": (self.olga, f"{path}/members"),
        }

    def flip(self, to):
        self.olga.done("PUT", self._path, self._bodies[to])

    def shown(self, route):
        reader, path = self.routes[route]
        return _lasting(reader.done("GET", path))

    @contextmanager
    def writing(self):
        """Meanwhile a writer flips the expense without a pause."""

        def write(stop):
            turn = 0
            while not stop.is_set():
                turn = 1 - turn
                self.flip(turn)

        with meanwhile(write):
            yield


def _lasting(shown):
    """What is shown, without what changes whenever the expense is written."""
    if isinstance(shown, list):
        return [_lasting(item) for item in shown]
    if isinstance(shown, dict):
        return {key: _lasting(value) for key, value in shown.items() if not key.endswith(CHANGING)}
    return shown


def test_no_reader_sees_a_mixture_of_two_states(http):
    flipping = Flipping(http)
    states: dict[str, list[Any]] = {route: [] for route in flipping.routes}
    for state in (0, 1):
        flipping.flip(state)
        for route, seen in states.items():
            seen.append(flipping.shown(route))
    assert states["expense"][0] != states["expense"][1]
    deadline = time.monotonic() + RACE_SECONDS

    def read(at):
        """What was neither state, with its route."""
        routes, wrong = list(states), []
        while time.monotonic() < deadline:
            at += 1
            route = routes[at % len(routes)]
            shown = flipping.shown(route)
            if shown not in states[route]:
                wrong.append((route, shown))
        return wrong

    with flipping.writing(), ThreadPoolExecutor(READERS) as pool:
        mixtures = [found for reader in pool.map(read, range(READERS)) for found in reader]
    assert sorted({route for route, _shown in mixtures}) == []


AUDITS = """
from splits.reports.audit import differences
for _time in range(60):
    found = list(differences())
    print(found[0] if found else "no difference")
"""


@pytest.mark.slow
def test_an_audit_beside_a_writer_finds_no_difference(server, http):
    with Flipping(http).writing():
        audits = server.manage("shell", "--no-imports", "-c", AUDITS)
    assert audits.stdout.count("no difference") == 60


@contextmanager
def _writing_elsewhere(server):
    """Another process is in the middle of writing."""
    url = server.environment["DATABASE_URL"]
    write = "UPDATE trips_member SET paid_minor = paid_minor"
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute(write)
            yield
            other.rollback()
    else:
        with psycopg.connect(url) as other:
            other.execute(write)
            yield
            other.rollback()


def test_readers_do_not_wait_for_a_writer(server, http):
    olga = sign_up(http)
    trip = Journey.start(olga)
    trip.spend(30, olga)
    paths = [trip.path, *(f"{trip.path}/{name}" for name in ("expenses", "settle-up"))]
    with _writing_elsewhere(server):
        started = time.monotonic()
        for path in paths:
            assert olga.call("GET", path).status_code == 200
        # SQLite would wait 20 s for the lock.
        assert time.monotonic() - started < 10


# -- The snapshot itself ------------------------------------------------------------------------


def _count(user):
    return User.objects.filter(pk=user.pk).count()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [RuntimeError, None])
def test_after_a_snapshot_everything_can_be_written_again(olga, error):
    def read():
        with snapshot():
            assert _count(olga) == 1
            if error:
                raise error

    if error:
        with pytest.raises(error):
            read()
    else:
        read()
    assert not connection.in_atomic_block
    olga.delete()
    assert _count(olga) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgresql
def test_a_snapshot_does_not_see_what_is_committed_later(olga):
    with snapshot():
        assert _count(olga) == 1
        with psycopg.connect(**connection.get_connection_params()) as other:
            other.execute("DELETE FROM users_user")
        assert _count(olga) == 1
    assert _count(olga) == 0


@pytest.mark.django_db
def test_inside_a_transaction_a_snapshot_does_nothing(olga, django_assert_num_queries):
    with django_assert_num_queries(1), snapshot():
        assert _count(olga) == 1
    olga.delete()


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_what_is_read_in_a_snapshot_is_read_again_if_a_statement_has_changed():
    changed = StatementChanged("cached plan must not change result type")
    read = Mock(side_effect=[changed, "rows", changed, changed])
    assert in_snapshot(read) == "rows"
    with pytest.raises(StatementChanged):
        in_snapshot(read)
    assert read.call_count == 4
