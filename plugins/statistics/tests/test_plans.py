"""Statistics read no table from end to end, however many expenses there are."""

import re
from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.open_debts import fill
from plugins.statistics.report import KINDS, Statistics
from tests import citus
from tests.bulk import analyse, long_trip
from tests.factories import TripFactory, UserFactory
from tests.test_plans import CLOSED_DEBTS, noted, plan_of, scanning

pytestmark = citus.hides_plans

_OWN_PARTS = re.compile('"participant_id" = ')


def test_statistics_look_up_what_they_sum(api, transactional_db):
    _trip, people = long_trip()
    client, path = api(people[0]), f"/api/users/me/between/{people[1].pk}"
    asked, _answers = noted({"between": lambda: client.get(path)})
    assert not scanning(asked)
    _session, _trips, debts, credit, settlements, _person = asked["between"]
    assert "debt_open" in plan_of(*debts)
    assert "settlement_credit" in plan_of(*credit)
    assert "settlement_sent" in plan_of(*settlements)
    # A trip with few open debts, beside that long one.
    trip = fill(CLOSED_DEBTS)
    analyse()
    client = api(trip.members.earliest("user_id").user)
    paths = {"my statistics": "/api/users/me/statistics"} | {
        f"by {kind}, {day}": f"/api/trips/{trip.pk}/statistics?by={kind}&asOf={day}"
        for kind in KINDS
        for day in ("1999-12-31", "2099-12-31")
    }
    asked, _answers = noted({name: lambda to=path: client.get(to) for name, path in paths.items()})
    assert not scanning(asked)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has statistics")
@pytest.mark.django_db
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "member"])
def test_ones_own_part_is_looked_up_for_each_expense(kind):
    with CaptureQueriesContext(connection) as captured:
        Statistics(TripFactory(), UserFactory(), date(2026, 5, 18), kind)
    [sums] = [sql for query in captured if _OWN_PARTS.search(sql := query["sql"])]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sums}")
        plan = [row[-1] for row in cursor.fetchall()]
    assert any(step.endswith("(expense_id=? AND participant_id=?)") for step in plan), plan
