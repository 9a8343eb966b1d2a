"""Splits that were added or deleted by hand stay until the expense is divided anew."""

from typing import Any

import pytest

from tests.splits.ledger import parts

pytestmark = pytest.mark.either


@pytest.fixture
def expense(ledger, olga, ed, vera):
    """100 that Olga paid; by hand, Ed has a part of 25, which is paid, and nobody else has one."""
    made = ledger.spend(olga, 100, olga, ed, notes="Mine.")
    for split in made["splits"]:
        ledger.delete_split(split, olga)
    ledger.pay(ledger.add_split(made, olga, ed, amount=25), ed)
    return ledger.expense(made)


def refusal(ledger, expense, by, body):
    """The code of the 409 that leaves the expense as it is."""
    before = ledger.expense(expense)
    response = ledger.answer(by, "patch", f"expenses/{expense['id']}", body)
    assert response.status_code == 409, response.content
    assert ledger.expense(expense) == before
    return response.json()["code"]


@pytest.mark.parametrize(
    "same",
    [
        {"amount": 100},
        {"amount": "100.00", "currency": "EUR"},
        {"splitType": "EQUAL"},
        {"notes": "Ours.", "amount": 100, "splitType": "EQUAL"},
        {},
    ],
)
def test_a_change_that_changes_no_money_keeps_them(ledger, expense, olga, ed, same):
    """T134: An update that changes nothing keeps splits that were edited by hand."""
    assert ledger.change(expense, olga, **same)["splits"] == expense["splits"]
    assert ledger.paid(expense, ed) == (True, 25)
    assert ledger.balance(ed) == 0


def test_the_same_payer_and_participants_keep_them(ledger, expense, olga, ed):
    ledger.change(expense, olga, paidByUserId=olga.pk, participantUserIds=[ed.pk])
    ledger.change(expense, olga, payers=[{"userId": olga.pk, "amount": 100}])
    assert ledger.expense(expense)["splits"] == expense["splits"]


def test_other_money_without_a_division_is_refused_with_the_reason(ledger, expense, olga, ed):
    bodies: list[dict[str, Any]] = [
        {"amount": 120},
        {"amount": 100, "currency": "USD", "exchangeRate": 0.9},
        {"paidByUserId": ed.pk},
        {"payers": [{"userId": olga.pk, "amount": 60}, {"userId": ed.pk, "amount": 40}]},
    ]
    for body in bodies:
        assert refusal(ledger, expense, olga, body) == "divided_by_hand"
    assert ledger.paid(expense, ed) == (True, 25)


def test_a_division_divides_it_anew(ledger, expense, olga, ed):
    changed = ledger.change(expense, olga, amount=120, participantUserIds=[olga.pk, ed.pk])
    assert parts(changed) == {olga.pk: 60, ed.pk: 60}
    assert parts(ledger.change(expense, olga, amount=90)) == {olga.pk: 45, ed.pk: 45}


def test_other_participants_divide_it_anew(ledger, expense, olga, ed, vera):
    changed = ledger.change(expense, olga, participantUserIds=[ed.pk, vera.pk])
    assert parts(changed) == {ed.pk: 50, vera.pk: 50}
