"""How an expense is divided: four split types, exact shares, and who pays the odd cent."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from tests.factories import TripFactory, join
from tests.splits.ledger import Ledger, exact, parts
from trips.roles import TripRole
from users.models import User

Crowd = Callable[[int], list[User]]
Books = Callable[[str], Ledger]


@pytest.mark.parametrize(
    ("amount", "people", "shares"),
    [
        (100, 3, [33.33, 33.33, 33.34]),
        (1000, 7, [142.85] * 2 + [142.86] * 5),
        (0.05, 8, [0] * 3 + [0.01] * 5),
        (0.01, 2, [0, 0.01]),
        (90, 3, [30, 30, 30]),
    ],
)
def test_equal_parts_differ_by_one_cent_at_most(ledger, olga, crowd, amount, people, shares):
    expense = ledger.spend(olga, amount, *crowd(people))
    assert sorted(parts(expense).values()) == shares


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
    gone = ledger.spend(olga, 0.01, olga, ed)
    ledger.delete(gone, olga)
    assert parts(ledger.spend(olga, 0.01, olga, ed)) == first


def test_the_same_expense_always_gives_the_same_split(ledger, olga, ed, vera):
    body = ledger.expense_body(100, olga, ed, vera, paidByUserId=olga.pk)
    expense = ledger.answer(olga, "post", "expenses", body).json()
    body["participantUserIds"] = [vera.pk, olga.pk, ed.pk]
    again = ledger.answer(olga, "put", f"expenses/{expense['id']}", body).json()
    assert parts(again) == parts(expense)


def test_the_order_of_the_participants_gives_nobody_an_advantage(ledger, api, olga, ed, vera):
    twin = TripFactory()
    for user in (olga, ed, vera):
        join(twin, user, TripRole.OWNER)
    one = ledger.spend(olga, 100, olga, ed, vera)
    other = Ledger(twin, api, olga).spend(olga, 100, vera, ed, olga)
    assert parts(one) == parts(other)


def test_exact_amounts_are_taken_as_they_are(ledger, olga, ed, vera):
    amounts = {str(olga.pk): 10, str(ed.pk): "20.01", str(vera.pk): 0.99}
    expense = ledger.spend(olga, 31, olga, ed, vera, splitType="MANUAL", splitAmounts=amounts)
    assert parts(expense) == {olga.pk: 10, ed.pk: 20.01, vera.pk: 0.99}
    assert [split["percentage"] for split in expense["splits"]] == [None] * 3


def test_percentages_are_divided_by_largest_remainder(ledger, olga, ed, vera):
    percentages = {str(olga.pk): 33.3333, str(ed.pk): 33.3334, str(vera.pk): "33.3333"}
    expense = ledger.spend(
        olga, 100, olga, ed, vera, splitType="PERCENTAGE", splitAmounts=percentages
    )
    assert parts(expense) == {olga.pk: 33.33, ed.pk: 33.34, vera.pk: 33.33}
    assert [split["percentage"] for split in expense["splits"]] == [33.3333, 33.3334, 33.3333]


def test_uneven_percentages_add_up(ledger, olga, ed, vera):
    percentages = {str(olga.pk): 12.5, str(ed.pk): 37.5, str(vera.pk): 50}
    expense = ledger.spend(
        olga, 0.03, olga, ed, vera, splitType="PERCENTAGE", splitAmounts=percentages
    )
    # 0.375, 1.125 and 1.5 cents.
    assert parts(expense) == {olga.pk: 0, ed.pk: 0.01, vera.pk: 0.02}


def test_weights_are_divided_by_largest_remainder(ledger, olga, ed, vera):
    weights = {str(olga.pk): 1, str(ed.pk): 2, str(vera.pk): 4}
    expense = ledger.spend(olga, 100, olga, ed, vera, splitType="SHARES", splitAmounts=weights)
    # 14.2857, 28.5714 and 57.1428: the one cent left over goes to the first.
    assert parts(expense) == {olga.pk: 14.29, ed.pk: 28.57, vera.pk: 57.14}


def test_weights_may_be_fractions(ledger, olga, ed):
    weights = {str(olga.pk): 0.5, str(ed.pk): "1.5"}
    expense = ledger.spend(olga, 10, olga, ed, splitType="SHARES", splitAmounts=weights)
    assert parts(expense) == {olga.pk: 2.5, ed.pk: 7.5}


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


def test_who_paid_need_not_take_part(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, ed, vera)
    assert parts(expense) == {ed.pk: 30, vera.pk: 30}
    assert ledger.balances() == {olga.pk: 60, ed.pk: -30, vera.pk: -30}
