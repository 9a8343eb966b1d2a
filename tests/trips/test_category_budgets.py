"""Budgets by category: exact, in the trip's currency, in its journal and its copies."""

from decimal import Decimal

import pytest

from tests.document import problem_of
from tests.trips.bodies import lisbon
from tests.trips.budgets import with_budgets
from trips.models import JournalEntry

pytestmark = pytest.mark.either


@pytest.fixture
def planned(api, trip, olga):
    return with_budgets(trip, api(olga))


def test_a_trip_may_have_none(api, planned, olga):
    client, path = api(olga), f"/api/trips/{planned.pk}"
    assert client.patch(path, {"title": "Porto"}).json()["categoryBudgets"] is not None
    assert client.patch(path, {"categoryBudgets": None}).json()["categoryBudgets"] is None
    assert client.post("/api/trips", lisbon(categoryBudgets=None)).json()["categoryBudgets"] is None


def test_put_replaces_them_and_takes_what_get_answers(api, planned, olga):
    client, path = api(olga), f"/api/trips/{planned.pk}"
    same = client.put(path, client.get(path).json())
    assert same.json()["categoryBudgets"] == {"FOOD": 200.5, "TRANSPORT": 33.34}
    assert client.put(path, lisbon()).json()["categoryBudgets"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"WINE": 1}, {"food": 1}, {"": 1}, {"FOOD": 0}, {"FOOD": -1}, {"FOOD": 0.001},
        {"FOOD": None}, {"FOOD": True}, {"FOOD": []}, {"FOOD": "1e400"}, {"FOOD": 10**13},
        {}, [], "FOOD", 7, {"FOOD": 1, "x" * 5000: 1},
    ],
)  # fmt: skip
def test_what_are_no_budgets_is_refused(api, planned, olga, wrong):
    response = api(olga).patch(f"/api/trips/{planned.pk}", {"categoryBudgets": wrong})
    [name] = problem_of(response, 400, "invalid")["errors"]
    assert name.split(".")[0] == "categoryBudgets"
    planned.refresh_from_db()
    assert planned.category_budgets == {"FOOD": Decimal("200.5"), "TRANSPORT": Decimal("33.34")}


def test_with_another_currency_they_keep_their_numbers(api, planned, olga):
    yen = api(olga).patch(f"/api/trips/{planned.pk}", {"currency": "JPY"})
    assert yen.json()["categoryBudgets"] == {"FOOD": 201, "TRANSPORT": 33}


def test_the_journal_has_them(planned):
    rows = JournalEntry.objects.filter(trip=planned).order_by("-number")
    changed = next(row.changes for row in rows if "categoryBudgets" in row.changes)
    assert changed["categoryBudgets"]["new"] == {
        "FOOD": Decimal("200.5"),
        "TRANSPORT": Decimal("33.34"),
    }
