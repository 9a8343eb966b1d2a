"""Expenses that several people put money into: who owes whom, and what paying records."""

import pytest

pytestmark = pytest.mark.either


def payers(**paid_by_user):
    return [{"userId": user.pk, "amount": amount} for user, amount in paid_by_user.values()]


def transfers(ledger):
    return {(row["from"]["id"], row["to"]["id"], row["amount"]) for row in ledger.settlements()}


@pytest.fixture
def dinner(ledger, olga, ed, vera):
    """120 for three: Olga put in 30 and Ed 10 more than their own 40, and Vera nothing."""
    return ledger.spend(olga, 120, olga, ed, vera, payers=payers(olga=(olga, 70), ed=(ed, 50)))


def test_own_money_covers_the_own_split_first(ledger, dinner, olga, ed, vera):
    assert ledger.paid(dinner, olga) == (True, 40)
    assert ledger.paid(dinner, ed) == (True, 40)
    assert ledger.paid(dinner, vera) == (False, 0)
    assert ledger.balances() == {olga.pk: 30, ed.pk: 10, vera.pk: -40}


def test_the_rest_is_owed_to_those_who_paid_by_user_too_much_in_proportion(
    ledger, dinner, olga, ed, vera
):
    ledger.pay(ledger.split(dinner, vera), vera)
    assert transfers(ledger) == {(vera.pk, olga.pk, 30), (vera.pk, ed.pk, 10)}
    assert not any(ledger.balances().values())


def test_unpaying_takes_back_what_all_of_them_got(ledger, dinner, olga, ed, vera):
    split = ledger.split(dinner, vera)
    ledger.pay(split, vera)
    assert ledger.unpay(split, vera) == split
    assert ledger.settlements() == []


def test_a_settlement_with_one_of_them_covers_their_part(ledger, dinner, olga, ed, vera):
    ledger.settle(vera, ed, 15)
    assert ledger.paid(dinner, vera) == (False, 10)
    ledger.settle(vera, olga, 30)
    assert ledger.paid(dinner, vera) == (True, 40)
    assert ledger.balances() == {olga.pk: 0, ed.pk: -5, vera.pk: 5}


def test_who_paid_by_user_too_little_owes_the_rest_of_the_own_split(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 90, olga, ed, vera, payers=payers(olga=(olga, 80), ed=(ed, 10)))
    assert ledger.paid(expense, ed) == (False, 10)
    assert ledger.debt(ed) == 20
    ledger.pay(ledger.split(expense, ed), ed)
    ledger.pay(ledger.split(expense, vera), vera)
    assert transfers(ledger) == {(ed.pk, olga.pk, 20), (vera.pk, olga.pk, 30)}


def test_who_paid_by_user_exactly_the_own_split_neither_owes_nor_is_owed(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 90, olga, ed, vera, payers=payers(ed=(ed, 30), olga=(olga, 60)))
    assert ledger.paid(expense, ed) == (True, 30)
    ledger.pay(ledger.split(expense, vera), vera)
    assert transfers(ledger) == {(vera.pk, olga.pk, 30)}


def test_what_no_split_covers_falls_to_the_payers_in_proportion(ledger, dinner, olga, ed, vera):
    expense = ledger.spend(olga, 100, vera, payers=payers(olga=(olga, 75), ed=(ed, 25)))
    ledger.delete(dinner, olga)
    ledger.delete_split(expense["splits"][0], olga)
    assert ledger.balances() == {olga.pk: 0, ed.pk: 0, vera.pk: 0}
    split = ledger.add_split(expense, olga, vera, amount=60)
    assert ledger.balances() == {olga.pk: 45, ed.pk: 15, vera.pk: -60}
    ledger.pay(split, vera)
    assert transfers(ledger) == {(vera.pk, olga.pk, 45), (vera.pk, ed.pk, 15)}


def test_the_odd_cent_is_owed_to_one_of_them(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 0.02, vera, payers=payers(olga=(olga, 0.01), ed=(ed, 0.01)))
    ledger.delete_split(expense["splits"][0], olga)
    split = ledger.add_split(expense, olga, vera, amount=0.01)
    ledger.pay(split, vera)
    [(_sender, _receiver, amount)] = transfers(ledger)
    assert amount == 0.01
    assert not any(ledger.balances().values())


def test_all_splits_together_are_owed_to_the_last_cent(ledger, olga, ed, vera, bert):
    expense = ledger.spend(
        olga, 100.01, vera, bert, payers=payers(olga=(olga, 33.34), ed=(ed, 66.67))
    )
    for user in (vera, bert):
        ledger.pay(ledger.split(expense, user), user)
    assert not any(ledger.balances().values())
    assert ledger.settlements()
