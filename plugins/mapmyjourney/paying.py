"""Marks a whole expense as paid, as the client does; the service pays one split at a time."""

from rest_framework.exceptions import PermissionDenied

from splits.models import Expense, Split
from trips.models import locked_trip
from trips.roles import Can
from users.models import User


def pay_whatever_one_may(expense: Expense, by: User) -> None:
    """Pay all splits that `by` may pay. Raises `PermissionDenied` if there are others only."""
    with locked_trip(expense.trip_id, by, Can.READ):
        splits = Split.objects.for_permission().filter(expense=expense).order_by("id")
        paid = [_is_paid_by(by, split) for split in splits]
        if paid and not any(paid):
            raise PermissionDenied


def _is_paid_by(by: User, split: Split) -> bool:
    """Pay a split; False if `by` may not."""
    try:
        split.pay(by=by)
    except PermissionDenied:
        return False
    return True
