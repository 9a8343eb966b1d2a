"""The recurring expenses of a trip that is made of the file of another one."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from plugins.exchange.description import UnreadableFile
from plugins.exchange.notes import text_of
from plugins.exchange.tests.copies import contents, copied, file_of, forged
from plugins.recurring import models as recurrences
from plugins.recurring.models import Recurrence
from splits.reports.audit import differences
from trips.models import Trip

pytestmark = pytest.mark.either


@pytest.fixture
def recurring(api, trip, olga, ed):
    """The rent, recorded once of three times, one of them skipped; and Ed's, paused; their ids."""
    url = f"/api/trips/{trip.pk}/recurring"
    shares = {str(olga.pk): 1, str(ed.pk): 2}
    rent = {
        "description": "Rent",
        "amount": 9,
        "splitType": "ITEMIZED",
        "items": [{"name": "Flat", "amount": 9, "shares": shares}],
        "payers": [{"userId": olga.pk, "amount": 4}, {"userId": ed.pk, "amount": 5}],
        "tags": ["home"],
    }
    body = {"rule": "FREQ=DAILY;COUNT=9", "timeZone": "Europe/Lisbon", "startsOn": day(-1)}
    made = [api(user).post(url, {**body, "expense": rent}).json() for user in (olga, ed)]
    ids = [row["id"] for row in made]
    assert api(olga).post(f"{url}/{ids[0]}/skip", {"date": day(4)}).status_code == 200
    assert api(ed).post(f"{url}/{ids[1]}/pause").status_code == 200
    assert Recurrence.objects.get(pk=ids[0]).do_if_due()
    return ids


def day(days):
    return (timezone.now().date() + timedelta(days=days)).isoformat()


def shown(api, trip, reader):
    rows = api(reader).get(f"/api/trips/{trip.pk}/recurring").json()["items"]
    own = {"id", "tripId", "createdById", "createdAt", "expense"}
    return [{name: row[name] for name in row.keys() - own} for row in rows]


def test_recurring_expenses_go_on_in_the_copy(api, trip, olga, ed, recurring):
    content = file_of(api, trip, olga)
    copy = copied(content, olga)
    again = contents(file_of(api, copy, olga))
    again["history"].pop()
    assert again == contents(content)
    assert shown(api, copy, olga) == shown(api, trip, olga)
    rent, of_ed = copy.recurrences.order_by("pk")
    assert rent.next == [day(days) for days in (0, 1, 2, 3, 5, 6, 7)]
    assert rent.occurrences.get(day=day(-1)).expense_id == copy.expenses.get().pk
    assert (rent.created_by, of_ed.created_by.name) == (olga, ed.name)
    guest = copy.members.get(user__name=ed.name).user
    assert of_ed.created_by == guest
    assert rent.expense["payers"][1]["userId"] == guest.pk
    assert rent.do_if_due()
    assert not rent.do_if_due()
    assert copy.expenses.count() == 2
    assert list(differences(copy.pk)) == []
    # A guest records nothing: an owner goes on in their place.
    copy.recurrences.filter(pk=of_ed.pk).update(state="on")
    assert not of_ed.do_if_due()
    of_ed.refresh_from_db()
    assert (of_ed.state, of_ed.reason_code) == ("paused", "not_authenticated")
    of_ed = of_ed.resume(olga)
    assert of_ed.created_by == olga
    assert of_ed.do_if_due()
    assert list(differences(copy.pk)) == []


def test_a_body_may_name_somebody_who_is_gone(api, trip, olga, recurring):
    held = json.loads(file_of(api, trip, olga))
    equal = {"splitType": "EQUAL", "participantUserIds": [olga.pk, 999999], "currency": "EUR"}
    held["recurring"][0]["expense"] = {"description": "Rent", "amount": 9} | equal
    twice = file_of(api, copied(json.dumps(held).encode(), olga), olga)
    rent = copied(twice, olga).recurrences.order_by("pk").first()
    assert rent.do_if_due()
    assert rent.trip.expenses.latest("pk").splits.get().participant == olga


def test_only_the_last_year_is_recorded_after_an_import(api, trip, olga, recurring):
    held = json.loads(file_of(api, trip, olga))
    held["recurring"][0] |= {"rule": "FREQ=DAILY", "startsOn": day(-5000), "doneThrough": None}
    held["occurrences"] = []
    rent = copied(json.dumps(held).encode(), olga).recurrences.order_by("pk").first()
    assert rent.next[0] == day(-365)


@pytest.mark.parametrize(
    "fields",
    [
        *({"expense": ...}, {"rule": ...}, {"startsOn": ...}),
        {"rule": "FREQ=SECONDLY"},
        {"rule": "FREQ=DAILY;COUNT=1000000"},
        {"rule": None},
        {"timeZone": "Mars/Olympus"},
        {"startsOn": "9999-01-01"},
        {"startsOn": "2026-02-30"},
        {"startsOn": 7},
        {"state": "gone"},
        {"createdById": 1_000_000},
        {"doneThrough": "soon"},
        {"expense": None},
        {"expense": []},
        {"expense": {}},
        {"expense": {"currency": "XYZ"}},
        {"expense": {"currency": None}},
        {"expense": {"currency": "EUR", "splitType": None, "splitAmounts": {"1": 1}}},
        {"expense": {"currency": "EUR", "amount": {}}},
        {"expense": {"currency": "EUR", "participantUserIds": {"a": 1}}},
        {"expense": {"currency": "EUR", "participantUserIds": ["a"]}},
        {"expense": {"currency": "EUR", "splitAmounts": {"1": "a"}}},
        {"expense": {"currency": "EUR", "splitType": "SHARES", "splitAmounts": {"1": "a"}}},
        {"expense": {"currency": "EUR", "splitType": "SHARES", "splitAmounts": 5}},
        {"expense": {"currency": "EUR", "payers": [5]}},
        {"expense": {"currency": "EUR", "tags": [5]}},
    ],
)
def test_a_recurring_expense_of_no_sense_makes_nothing(api, trip, olga, recurring, fields):
    content = forged(file_of(api, trip, olga), "recurring", 0, **fields)
    with pytest.raises(UnreadableFile):
        copied(content, olga)
    assert Trip.objects.count() == 1


@pytest.mark.parametrize(
    "field",
    [
        *("description", "amount", "paidByUserId", "payers", "participantUserIds"),
        *("splitAmounts", "items", "tax", "exchangeRate", "category", "notes", "tags"),
    ],
)
def test_null_in_a_recurring_expense_is_the_same_as_nothing(api, trip, olga, recurring, field):
    content = file_of(api, trip, olga)
    expense = json.loads(content)["recurring"][0]["expense"]
    copy = copied(forged(content, "recurring", 0, expense={**expense, field: None}), olga)
    assert copy.recurrences.order_by("pk").first().expense.keys() == expense.keys() - {field}


def test_a_file_has_only_so_many_recurring_expenses(api, trip, olga, recurring, monkeypatch):
    content = file_of(api, trip, olga)
    monkeypatch.setattr(recurrences, "MAX_RECURRENCES", 1)
    with pytest.raises(recurrences.TooManyRecurrences):
        copied(content, olga)


def test_another_trip_gets_no_recurring_expenses_and_is_told(
    api, plan, trip, olga, recurring, other
):
    planned = plan(file_of(api, trip, olga).decode(), tripId=other.pk).json()
    note = text_of("rest_in_copy", {})
    assert note in planned["notes"]
    content = file_of(api, trip, olga).decode()
    assert note in plan(content, asNewTrip=True, currency="JPY").json()["notes"]
    assert note not in plan(content, asNewTrip=True).json()["notes"]
    assert api(olga).post(f"/api/imports/{planned['id']}/confirm").status_code == 200
    assert not other.recurrences.exists()
