"""The division of a trip's expenses that name none."""

import pytest

from tests.document import fields_in, problem_of
from tests.factories import add_guest
from tests.splits.ledger import exact, parts
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.either

BODY = {"description": "Dinner", "amount": 30, "expenseDate": "2026-05-14"}


def divide(ledger, olga, **division):
    return ledger.answer(olga, "patch", ledger.url, {"defaultDivision": division or None})


def by_weight(weights, split_type="SHARES"):
    return {
        "splitType": split_type,
        "participantUserIds": [user.pk for user in weights],
        "splitAmounts": {str(user.pk): weight for user, weight in weights.items()},
    }


def spend(ledger, olga, **fields):
    return ledger.answer(olga, "post", "expenses", {**BODY, **fields})


def test_an_expense_without_a_division_is_divided_as_the_trip_says(ledger, olga, ed, vera):
    division = by_weight({olga: 1, ed: "1.50", vera: 0.5})
    trip = exact(divide(ledger, olga, **division))
    shown = {str(olga.pk): 1, str(ed.pk): 1.5, str(vera.pk): 0.5}
    assert trip["defaultDivision"] == {**division, "splitAmounts": shown}
    assert exact(ledger.answer(olga, "get", ledger.url)) == trip
    for path in ("expenses/preview", "expenses"):
        assert parts(ledger.answer(olga, "post", path, BODY).json()) == {
            olga.pk: 10,
            ed.pk: 15,
            vera.pk: 5,
        }
    expense = spend(ledger, olga, splitType="EQUAL", participantUserIds=[ed.pk]).json()
    assert parts(expense) == {ed.pk: 30}
    replaced = ledger.answer(olga, "put", f"expenses/{expense['id']}", BODY).json()
    assert (replaced["splitType"], parts(replaced)[ed.pk]) == ("SHARES", 15)


def test_everybody_who_is_there_shares_equally(ledger, olga, ed, vera):
    divide(ledger, olga, splitType="EQUAL")
    assert parts(spend(ledger, olga).json()) == {olga.pk: 10, ed.pk: 10, vera.pk: 10}
    guest = add_guest(ledger.trip)
    assert parts(spend(ledger, olga, amount=4).json())[guest.pk] == 1


def test_without_a_default_a_division_has_to_be_sent(ledger, olga):
    for fields in ({}, {"splitType": None, "participantUserIds": None}):
        errors = problem_of(spend(ledger, olga, **fields), 400)["errors"]
        assert set(errors) == {"splitType", "participantUserIds"}


@pytest.mark.parametrize("field", ["splitType", "participantUserIds", "splitAmounts"])
def test_half_a_division_is_not_completed_by_the_default(ledger, olga, field):
    division = by_weight({olga: 1})
    divide(ledger, olga, **division)
    errors = problem_of(spend(ledger, olga, **{field: division[field]}), 400)["errors"]
    assert not errors.keys() & {field}
    assert errors.keys() <= {"splitType", "participantUserIds"}


def test_who_has_left_is_left_out_unless_percentages_would_be_missing(ledger, olga, ed, vera):
    divide(ledger, olga, **by_weight({olga: 1, ed: 2, vera: 2}))
    assert ledger.answer(ed, "post", "members/leave").status_code == 204
    expense = spend(ledger, olga).json()
    assert parts(expense) == {olga.pk: 10, vera.pk: 20}
    read = ledger.answer(olga, "get", ledger.url)
    assert (
        ledger.answer(olga, "put", ledger.url, read.json()).json()["defaultDivision"]
        == read.json()["defaultDivision"]
    )
    ledger.delete(expense, olga)
    assert divide(ledger, olga, **by_weight({olga: 50, ed: 50}, "PERCENTAGE")).status_code == 200
    assert "has left" in problem_of(spend(ledger, olga), 400)["errors"]["splitType"][0]
    divide(ledger, olga)
    stranger = divide(ledger, olga, **by_weight({olga: 1, ed: 1}))
    assert fields_in(stranger) == ["defaultDivision.participantUserIds"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"splitType": "MANUAL"}, "splitType"),
        ({"splitType": None}, "splitType"),
        ({"splitType": "EQUAL"}, "splitAmounts"),
        ({"participantUserIds": []}, "participantUserIds"),
        ({"participantUserIds": None}, "participantUserIds"),
        ({"participantUserIds": "all"}, "participantUserIds"),
        ({"splitAmounts": None}, "splitAmounts"),
        ({"splitAmounts": {}}, "splitAmounts"),
        ({"splitAmounts": [1]}, "splitAmounts"),
        ({"splitAmounts": {"x": 1}}, "splitAmounts"),
        ({"splitAmounts": {"1": 0}}, "splitAmounts"),
        ({"splitType": "PERCENTAGE"}, "splitAmounts"),
    ],
)
def test_a_default_that_divides_nothing_is_refused(ledger, olga, changes, field):
    division = {**by_weight({olga: 2}), **changes}
    errors = problem_of(divide(ledger, olga, **division), 400)["errors"]
    assert all(name.startswith(f"defaultDivision.{field}") for name in errors)
    twice = {**by_weight({olga: 2}), "participantUserIds": [olga.pk, olga.pk]}
    assert divide(ledger, olga, **twice).status_code == 400
    assert ledger.answer(olga, "patch", ledger.url, {"defaultDivision": [1]}).status_code == 400
    assert ledger.answer(olga, "get", ledger.url).json()["defaultDivision"] is None


def test_a_new_trip_may_have_a_default_of_its_creator(api, olga, ed):
    body, client = lisbon(), api(olga)
    made = client.post("/api/trips", {**body, "defaultDivision": {"splitType": "EQUAL"}})
    assert made.json()["defaultDivision"] == {
        "splitType": "EQUAL",
        "participantUserIds": None,
        "splitAmounts": None,
    }
    own, others = ({**body, "defaultDivision": by_weight({user: 1})} for user in (olga, ed))
    assert client.post("/api/trips", own).status_code == 201
    assert client.post("/api/trips", others).status_code == 400


def test_the_journal_tells_that_the_default_changed(ledger, olga):
    divide(ledger, olga, splitType="EQUAL")
    [entry, *_others] = ledger.journal(event="trip.changed")
    assert entry.changes["defaultDivision"]["new"]["splitType"] == "EQUAL"
