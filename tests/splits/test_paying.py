"""Paying and unpaying a split, both as often as one likes."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone


@pytest.fixture
def expense(ledger, olga, ed, vera):
    """60 that Olga paid for the three of them."""
    return ledger.spend(olga, 60, olga, ed, vera)


def test_paying_records_a_settlement_of_what_is_open(ledger, expense, olga, ed):
    paid = ledger.pay(ledger.split(expense, ed), ed)
    assert (paid["paid"], paid["paidAmount"]) == (True, 20)
    assert paid["paidAt"].endswith("Z")
    [settlement] = ledger.settlements()
    assert settlement["from"]["id"] == ed.pk
    assert settlement["to"]["id"] == olga.pk
    assert settlement["amount"] == 20
    assert ledger.balance(ed) == 0
    assert ledger.balance(olga) == 20
    assert ledger.pending(ed) == []


def test_paying_twice_changes_nothing(ledger, expense, ed):
    """T95: Pay and unpay are idempotent."""
    split = ledger.split(expense, ed)
    first = ledger.pay(split, ed)
    settlements, balances = ledger.settlements(), ledger.balances()
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert ledger.pay(split, ed) == first
    assert (ledger.settlements(), ledger.balances()) == (settlements, balances)


def test_unpaying_takes_it_all_back(ledger, expense, ed):
    split = ledger.split(expense, ed)
    balances = ledger.balances()
    ledger.pay(split, ed)
    assert ledger.unpay(split, ed) == split
    assert ledger.settlements() == []
    assert ledger.balances() == balances
    assert ledger.pending(ed) == [split["id"]]


def test_unpaying_what_is_unpaid_changes_nothing(ledger, expense, ed):
    split = ledger.split(expense, ed)
    assert ledger.unpay(split, ed) == split
    ledger.pay(split, ed)
    ledger.unpay(split, ed)
    assert ledger.unpay(split, ed) == split


def test_the_own_split_of_who_paid_stays_paid_whatever_one_does(ledger, expense, olga):
    own = ledger.split(expense, olga)
    assert ledger.pay(own, olga) == own
    assert ledger.unpay(own, olga) == own
    assert ledger.settlements() == []


def test_paying_one_of_two_splits_between_the_same_two_leaves_the_other_open(
    ledger, expense, olga, ed
):
    second = ledger.spend(olga, 40, olga, ed)
    ledger.pay(ledger.split(second, ed), ed)
    assert ledger.paid(expense, ed) == (False, 0)
    assert ledger.paid(second, ed) == (True, 20)


def test_deleting_a_paid_split_takes_its_settlement_along(ledger, expense, olga, ed, vera):
    ledger.delete_split(ledger.pay(ledger.split(expense, ed), ed), olga)
    assert ledger.settlements() == []
    assert ledger.balances() == {olga.pk: 20, ed.pk: 0, vera.pk: -20}


def test_deleting_an_expense_takes_the_settlements_of_its_paid_splits_along(
    ledger, expense, olga, ed, vera
):
    ledger.pay(ledger.split(expense, ed), ed)
    ledger.pay(ledger.split(expense, vera), vera)
    ledger.delete(expense, olga)
    assert ledger.settlements() == []
    assert ledger.balances() == {olga.pk: 0, ed.pk: 0, vera.pk: 0}
