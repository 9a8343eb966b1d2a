"""Reading costs a bounded number of rows, however many trips of however many people there are."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper
from rest_framework.test import APIClient

from tests.document import operation_at
from tests.scoped import ALL, script_of
from tests.trips.access import endpoints
from tests.walked import all_of, answers, merged, urlconf
from tests.wide import wide_account

#: The most rows of one answer: some for each trip, some for each person of a trip.
FOR_EACH = 6
RESIDENT = Path("/proc/self/status")
MAX_GROWTH_MB = 40
#: Documents, which are written once for each process.
WITHOUT_ROWS = {"/api/schema"}
#: Lists that are refused if they are too long: a part of them would have wrong totals.
REFUSED = {*all_of("REFUSED")}


class Counted(CursorWrapper):
    """A cursor that counts the statements and the rows of all cursors."""

    statements = rows = 0

    def execute(self, *arguments):
        Counted.statements += 1
        return super().execute(*arguments)

    def fetchone(self):
        row = self.cursor.fetchone()
        Counted.rows += row is not None
        return row

    def fetchmany(self, *size):
        rows = self.cursor.fetchmany(*size)
        Counted.rows += len(rows)
        return rows

    def fetchall(self):
        rows = self.cursor.fetchall()
        Counted.rows += len(rows)
        return rows

    def __iter__(self):
        for row in self.cursor:
            Counted.rows += 1
            yield row


@pytest.fixture(autouse=True)
def _counted(monkeypatch, settings):
    settings.ROOT_URLCONF = urlconf()
    monkeypatch.setattr(connection, "make_cursor", lambda cursor: Counted(cursor, connection))


def paths_of(wide):
    """Each GET with a placeholder that the account has, and its path."""
    routes = {end.route: end.route for end in endpoints() if end.method == "GET"}
    routes |= merged("ROUTES")
    for name, route in routes.items():
        if name not in WITHOUT_ROWS and not {*re.findall(r"{(\w+)}", route)} - wide.ids.keys():
            operation = operation_at("GET", route)
            query = operation.required_query() if operation else ""
            yield name, route.format(**wide.ids) + query


def costs_of(wide, api):
    """Status, statements and rows of every GET."""
    script = APIClient(HTTP_AUTHORIZATION=f"Bearer {script_of(wide.owner, *ALL).token}")
    of_scripts = merged("ROUTES")
    clients = {pk: api(user) for pk, user in enumerate((wide.owner, wide.friend))}
    costs = {}
    for name, path in paths_of(wide):
        client = script if name in of_scripts else clients["debt" in path]
        Counted.statements = Counted.rows = 0
        with growing_little(path):
            status = client.get(path).status_code
        costs[name] = (status, Counted.statements, Counted.rows)
    return costs


@contextmanager
def growing_little(path):
    """Fail if the process needs much more memory meanwhile; on Linux."""
    if not RESIDENT.exists():
        yield
        return
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    before = _memory_kb("VmRSS")
    yield
    assert _memory_kb("VmHWM") - before < MAX_GROWTH_MB * 1024, path


def _memory_kb(name):
    return int(re.search(rf"{name}:\s+(\d+)", RESIDENT.read_text())[1])  # type: ignore[index]


def test_rows_grow_with_trips_and_people_but_not_with_their_product(api, db, monkeypatch):
    """T205: The rows read grow with trips and people, never with their product."""
    for lower_limits in answers("lower_limits"):
        lower_limits(monkeypatch)
    small, large = costs_of(wide_account(4, 5), api), costs_of(wide_account(60, 40), api)
    assert {name for name, (status, _s, _r) in large.items() if status != 200} == REFUSED
    assert {status for status, _s, _r in small.values()} == {200}
    for name in small.keys() - REFUSED:
        assert small[name][1] == large[name][1], name
        assert large[name][2] <= FOR_EACH * (60 + 40) + 100, name


@pytest.mark.slow
def test_an_account_as_large_as_its_quotas_reads_few_rows(api, db):
    costs_of(wide_account(4, 5), api)  # what is compiled once, is now
    costs = costs_of(wide_account(1000, 200), api)
    assert {name for name, (status, _s, _r) in costs.items() if status != 200} == REFUSED
    assert {name for name, (_s, _q, rows) in costs.items() if rows > FOR_EACH * 1200} == set()
