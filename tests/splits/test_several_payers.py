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


def test_a_settlement_with_one_of_them_covers_their_part(ledger, dinner, olga, ed, vera):
    ledger.settle(vera, ed, 15)
    assert ledger.paid(dinner, vera) == (False, 10)
    ledger.settle(vera, olga, 30)
    assert ledger.paid(dinner, vera) == (True, 40)
    assert ledger.balances() == {olga.pk: 0, ed.pk: -5, vera.pk: 5}


def test_the_payer_who_is_sent_first_becomes_the_one_it_names(ledger, dinner, olga, ed):
    body = {"payers": payers(ed=(ed, 50), olga=(olga, 70))}
    changed = ledger.change(dinner, olga, **body)
    assert changed["paidBy"]["id"] == ed.pk
    assert [row["user"]["id"] for row in changed["payers"]] == [ed.pk, olga.pk]
