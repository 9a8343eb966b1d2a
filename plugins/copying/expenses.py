"""Expenses that are copied or moved to another trip of the same currency."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from django.db.models import F
from django.utils.translation import gettext_lazy

from plugins.moving import expense_moved
from plugins.recording import NewExpense, Recording
from splits.models.conflicts import DividedByHand
from splits.models.debt import Debt
from splits.models.expense import Expense
from splits.models.posting import amounts
from tripcompanion.api.problems import Conflict
from trips.models import Trip, locked_trip
from trips.models.journal import plain_fields
from trips.roles import Can, Capability
from users.models import User

#: The columns that are copied. The split type is copied with the division.
_COPIED = [
    *(field.name for name, field in plain_fields(Expense).items() if name != "splitType"),
    *("amount_minor", "entered_minor", "currency", "exchange_rate", "rate_source", "rate_day"),
]


class OtherCurrency(Conflict):
    """409 `other_currency`: an expense can be copied or moved within one currency only."""

    default_code = "other_currency"
    default_detail = gettext_lazy("The other trip is in %(currency)s.")
    example_values: ClassVar = {"currency": "JPY"}


class PaidAlready(Conflict):
    """409 `paid_already`: something was paid for the expense, which stays in its trip."""

    default_code = "paid_already"
    default_detail = gettext_lazy(
        "Something was paid for this expense. Take that back, or copy the expense instead."
    )


def copy_expense(expense: Expense, by: User, trip_id: int) -> int:
    """Record the expense again in another trip, with nothing paid; returns the id of the copy.

    Raises `OtherCurrency`, `DividedByHand`, and `ValidationError` if somebody is not a member.
    """
    with _both_locked(expense, by, trip_id, Can.RECORD) as (stored, target):
        return _record(stored, target, by)


def move_expense(expense: Expense, by: User, trip_id: int) -> int:
    """Record the expense in another trip with what plugins keep of it, and delete it here.

    Everybody's part stays the same to the cent, and so does when it was created.

    Raises what `copy_expense` raises, `PaidAlready`, and `QuotaExceeded` of attachments.
    """
    with _both_locked(expense, by, trip_id, Can.CHANGE_EXPENSES) as (stored, target):
        debts = Debt.objects.filter(trip=stored.trip_id, split__expense=stored.pk)
        if debts.exclude(open_minor=F("amount_minor")).exists():
            raise PaidAlready
        moved_id = _record(stored, target, by, is_moved=True)
        expense_moved.send(Expense, expense=stored, trip=target, moved_id=moved_id, by=by)
        stored.remove(by)
        return moved_id


@contextmanager
def _both_locked(
    expense: Expense, by: User, trip_id: int, can: Capability
) -> Iterator[tuple[Expense, Trip]]:
    """The expense and the other trip, under both locks, which are taken in the order of ids."""
    needed = {expense.trip_id: Can.READ, trip_id: Can.RECORD}
    with ExitStack() as locks:
        trips = {pk: locks.enter_context(locked_trip(pk, by, needed[pk])) for pk in sorted(needed)}
        target, stored = trips[trip_id], locks.enter_context(expense.locked(by, can))
        if target.currency != stored.trip.currency:
            raise OtherCurrency(currency=target.currency)
        if not stored.is_division:
            raise DividedByHand
        yield stored, target


def _record(stored: Expense, target: Trip, by: User, *, is_moved: bool = False) -> int:
    posting = stored.posting()
    fields = {name: getattr(stored, name) for name in _COPIED}
    kept: dict[str, Any] = {}
    if is_moved:
        # Another trip would give the odd cents to others.
        kept = {"exact_parts": amounts(posting.parts), "moved_payments": posting.paid_by_user}
        fields["created_at"] = stored.created_at
    new = NewExpense(
        fields=fields, paid_by_user=posting.entered, division=stored.division(posting.parts), **kept
    )
    [made_id] = Recording(target, by).record([new])
    return made_id
