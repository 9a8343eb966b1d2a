"""Splits by themselves: how they are born, reading, adding and deleting them."""

import pytest

from tests.document import fields_in
from tests.splits.ledger import parts, split_url

pytestmark = pytest.mark.either


@pytest.fixture
def undivided(ledger, olga):
    """100 that Olga paid, and no split in it yet."""
    expense = ledger.spend(olga, 100, olga)
    ledger.delete_split(expense["splits"][0], olga)
    return expense


def test_all_splits_of_an_expense_are_a_plain_array(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, ed, vera)
    path = f"/api/expenses/{expense['id']}/splits"
    assert ledger.answer(vera, "get", path).json() == expense["splits"]
    assert (
        ledger.answer(vera, "get", split_url(expense["splits"][0])).json() == expense["splits"][0]
    )


def test_a_split_of_an_amount_is_added(ledger, undivided, olga, ed):
    path = f"/api/expenses/{undivided['id']}/splits"
    response = ledger.answer(olga, "post", path, {"participantUserId": ed.pk, "amount": "12.345"})
    assert response.status_code == 201
    split = response.json()
    assert response["Location"] == split_url(split)
    assert split["participant"]["id"] == ed.pk
    assert (split["amount"], split["percentage"], split["paid"]) == (12.35, None, False)
    assert ledger.split(undivided, ed) == split
    assert ledger.pending(ed) == [split["id"]]


def test_a_split_of_a_percentage_is_added(ledger, undivided, olga, ed, vera):
    assert ledger.add_split(undivided, olga, ed, percentage=12.345)["amount"] == 12.35
    split = ledger.add_split(undivided, olga, vera, percentage="0.004")
    assert (split["amount"], split["percentage"], split["paid"]) == (0, 0.004, True)


def test_percentages_that_fill_the_expense_are_not_refused_for_rounding(ledger, olga, ed):
    expense = ledger.spend(olga, 0.05, olga)
    ledger.delete_split(expense["splits"][0], olga)
    ledger.add_split(expense, olga, olga, percentage=50)
    ledger.add_split(expense, olga, ed, percentage=50)
    assert sorted(parts(ledger.expense(expense)).values()) == [0.02, 0.03]


def test_what_no_split_covers_is_the_part_of_who_paid(ledger, undivided, olga, ed, vera):
    assert ledger.balances() == {olga.pk: 0, ed.pk: 0, vera.pk: 0}
    split = ledger.add_split(undivided, olga, ed, amount=30)
    assert ledger.balances() == {olga.pk: 30, ed.pk: -30, vera.pk: 0}
    ledger.add_split(undivided, olga, vera, percentage=60)
    assert ledger.balances() == {olga.pk: 90, ed.pk: -30, vera.pk: -60}
    ledger.delete_split(split, olga)
    assert ledger.balances() == {olga.pk: 60, ed.pk: 0, vera.pk: -60}


def test_nobody_has_two_splits_in_an_expense(ledger, undivided, olga):
    ledger.add_split(undivided, olga, olga, amount=10)
    path = f"/api/expenses/{undivided['id']}/splits"
    response = ledger.answer(olga, "post", path, {"participantUserId": olga.pk, "amount": 1})
    assert (response.status_code, response.json()["code"]) == (409, "already_split")


@pytest.mark.parametrize("part", [{"amount": "70.01"}, {"percentage": "70.01"}])
def test_splits_together_do_not_exceed_the_expense(ledger, undivided, olga, ed, part):
    ledger.add_split(undivided, olga, olga, amount=30)
    path = f"/api/expenses/{undivided['id']}/splits"
    response = ledger.answer(olga, "post", path, {"participantUserId": ed.pk, **part})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (409, "exceeds_expense")
    assert "70.00" in problem["detail"]
    assert "70.01" in problem["detail"]
    assert ledger.add_split(undivided, olga, ed, amount=70)["amount"] == 70


def test_a_full_expense_takes_no_further_split(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, olga, ed)
    path = f"/api/expenses/{expense['id']}/splits"
    response = ledger.answer(olga, "post", path, {"participantUserId": vera.pk, "amount": "0.01"})
    assert (response.status_code, response.json()["code"]) == (409, "exceeds_expense")


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "amount"),
        ({"amount": 1, "percentage": 1}, "amount"),
        ({"amount": "0.004"}, "amount"),
        ({"percentage": 100.01}, "percentage"),
        ({"percentage": "33.33333"}, "percentage"),
    ],
)
def test_a_split_that_cannot_be_is_refused_by_field(ledger, undivided, olga, ed, fields, wrong):
    path = f"/api/expenses/{undivided['id']}/splits"
    response = ledger.answer(olga, "post", path, {"participantUserId": ed.pk, **fields})
    assert fields_in(response) == [wrong]
    assert ledger.expense(undivided)["splits"] == []


def test_a_split_names_a_member(ledger, undivided, olga, sam):
    path = f"/api/expenses/{undivided['id']}/splits"
    response = ledger.answer(olga, "post", path, {"participantUserId": sam.pk, "amount": 1})
    assert fields_in(response) == ["participantUserId"]
    response = ledger.answer(olga, "post", path, {"amount": 1})
    assert list(response.json()["errors"]) == ["participantUserId"]


def test_a_deleted_split_is_gone(ledger, olga, ed):
    expense = ledger.spend(olga, 60, olga, ed)
    split = ledger.split(expense, ed)
    response = ledger.answer(olga, "delete", split_url(split))
    assert (response.status_code, response.content) == (204, b"")
    assert ledger.answer(olga, "delete", split_url(split)).status_code == 404
    assert parts(ledger.expense(expense)) == {olga.pk: 30}
    assert ledger.pending(ed) == []
