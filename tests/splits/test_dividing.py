"""How an expense is divided: four split types, exact shares, and who pays the odd cent."""

from decimal import Decimal

import pytest

from tests.splits.ledger import exact, parts


@pytest.mark.parametrize(
    ("currency", "amount", "shares"),
    [
        ("JPY", 1000, [333, 333, 334]),
        ("JPY", "1000.5", [333, 334, 334]),
        ("KWD", 10, [3.333, 3.333, 3.334]),
        ("KWD", "0.0005", [0, 0, 0.001]),
    ],
)
def test_the_smallest_unit_is_that_of_the_currency(
    ledger_in, olga, ed, vera, currency, amount, shares
):
    expense = ledger_in(currency).spend(olga, amount, olga, ed, vera)
    assert sorted(parts(expense).values()) == shares
    assert expense["currency"] == currency


def test_nobody_pays_the_odd_cent_every_time(ledger, olga, ed, vera):
    """T98: Equal shares add up, and the odd cent rotates."""
    expenses = [ledger.spend(olga, 100, olga, ed, vera) for _number in range(3)]
    for user in (olga, ed, vera):
        paid = sorted(parts(expense)[user.pk] for expense in expenses)
        assert paid == [33.33, 33.33, 33.34]


def test_deleting_an_expense_does_not_turn_the_odd_cent_back(ledger, olga, ed):
    first = parts(ledger.spend(olga, 0.01, olga, ed))
    ledger.delete(ledger.spend(olga, 0.01, olga, ed), olga)
    assert parts(ledger.spend(olga, 0.01, olga, ed)) == first


def test_percentages_are_divided_by_largest_remainder(ledger, olga, ed, vera):
    percentages = {str(olga.pk): 33.3333, str(ed.pk): 33.3334, str(vera.pk): "33.3333"}
    expense = ledger.spend(
        olga, 100, olga, ed, vera, splitType="PERCENTAGE", splitAmounts=percentages
    )
    assert parts(expense) == {olga.pk: 33.33, ed.pk: 33.34, vera.pk: 33.33}
    assert [split["percentage"] for split in expense["splits"]] == [33.3333, 33.3334, 33.3333]


def test_the_largest_amount_is_divided_to_the_last_cent(ledger, olga, ed, vera):
    weights = {str(olga.pk): 1000000, str(ed.pk): "0.0001", str(vera.pk): 1}
    body = ledger.expense_body(10**12, olga, ed, vera, splitType="SHARES", splitAmounts=weights)
    shares = parts(exact(ledger.answer(olga, "post", "expenses", body)))
    assert sum(shares.values()) == 10**12
    whole = Decimal("1000001.0001")
    for user, weight in ((olga, Decimal(1000000)), (ed, Decimal("0.0001")), (vera, Decimal(1))):
        assert abs(shares[user.pk] - 10**12 * weight / whole) < Decimal("0.01")


def test_a_split_of_zero_is_paid_and_never_pending(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 0.01, ed, vera)
    for user in (ed, vera):
        split = ledger.split(expense, user)
        assert split["paid"] == (split["amount"] == 0)
        assert ledger.pending(user) == ([] if split["paid"] else [split["id"]])
