"""What is wrong with one expense: its amount, its payers, its splits or its debts."""

from collections.abc import Iterator

from rest_framework.exceptions import ValidationError

from splits import money
from splits.models.division import Part, Payment
from splits.models.expense import Expense
from splits.models.posting import amounts
from tripcompanion.currency.amounts import convert


def expense_faults(
    expense: Expense,
    payments: dict[int, Payment],
    parts: dict[int, Part],
    owed: dict[tuple[int, int], int],
) -> Iterator[str]:
    """Descriptions of what is wrong with one expense.

    `payments` and `parts` are those of each user, `owed` is what a debtor owes a creditor.
    """
    amount_minor = expense.entered_minor
    if expense.exchange_rate is not None:
        amount_minor = convert(
            amount_minor, expense.currency, expense.trip.currency, expense.exchange_rate
        )
    if amount_minor != expense.amount_minor:
        yield f"the amount is {expense.amount_minor}, converted it is {amount_minor}"
    paid, shares = amounts(payments), amounts(parts)
    entered_minor = sum(payment.entered_minor for payment in payments.values())
    if sum(paid.values()) != expense.amount_minor or entered_minor != expense.entered_minor:
        yield f"the payers paid {sum(paid.values())} of {expense.amount_minor}"
        return
    sign = expense.money.sign
    if any(minor * sign < 0 for minor in (*paid.values(), *shares.values())):
        yield "a payer or a split does not have the sign of the amount"
        return
    if sign * sum(shares.values()) > sign * expense.amount_minor:
        yield f"the splits are {sum(shares.values())} of {expense.amount_minor}"
        return
    if expense.divided:
        yield from _share_faults(expense, parts, shares)
    expected = money.debts(shares, paid, expense.number, expense.places)
    for pair in sorted(expected.keys() | owed.keys()):
        if expected.get(pair, 0) != owed.get(pair, 0):
            yield (
                f"user {pair[0]} owes user {pair[1]} {owed.get(pair, 0)}, "
                f"it should be {expected.get(pair, 0)}"
            )


def _share_faults(
    expense: Expense, parts: dict[int, Part], shares: dict[int, int]
) -> Iterator[str]:
    try:
        division, seed = expense.division(parts), expense.number
        expected = division.parts(expense.money, seed, expense.places) if parts else {}
    except ValidationError as error:
        yield f"the entered values do not divide it: {error.detail}"
        return
    if not parts:
        yield "it has no splits"
    for user, part in expected.items():
        if part.amount_minor != shares[user]:
            yield f"the split of user {user} is {shares[user]}, it should be {part.amount_minor}"
