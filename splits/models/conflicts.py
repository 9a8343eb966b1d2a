"""Conflicts (409) raised by commands on an expense or its splits."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict


class AlreadySplit(Conflict):
    """409 `already_split`: the person already has a split in this expense."""

    default_code = "already_split"
    default_detail = gettext_lazy("This member already has a split in this expense.")


class ExceedsExpense(Conflict):
    """409 `exceeds_expense`: the splits would add up to more than the expense."""

    default_code = "exceeds_expense"
    default_detail = gettext_lazy(
        "The splits would exceed the expense: %(left)s is left, not %(amount)s."
    )
    example_values: ClassVar = {"left": "10.00", "amount": "12.50"}


class DividedByHand(Conflict):
    """409 `divided_by_hand`: splits were added or deleted, and no new division is given.

    The values that were entered for the other splits no longer add up to the expense.
    """

    default_code = "divided_by_hand"
    default_detail = gettext_lazy(
        "Splits of this expense were added or deleted by hand. To change its amount, currency or "
        "payers, also send how to divide it."
    )


class ExpenseChanged(Conflict):
    """409 `expense_changed`: the request depends on fields that somebody else just changed."""

    default_code = "expense_changed"
    default_detail = gettext_lazy("This expense was changed in the meantime. Please reload it.")


class ClosesTrip(Conflict):
    """409 `closes_trip`: a later settlement closed the trip, and used up credit of this one.

    `settlementId` is that of the later one.
    """

    default_code = "closes_trip"
    default_detail = gettext_lazy(
        "A later settlement brought every balance to zero and used up what was left of this one. "
        "Please delete the later one first."
    )
    extensions: Mapping[str, Any] = {"settlementId": 31}

    def __init__(self, settlement_id: int) -> None:
        super().__init__()
        self.extensions = {"settlementId": settlement_id}
