"""What is given to change an expense, and what follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from splits.models.conflicts import DividedByHand, ExpenseChanged
from splits.models.division import Division, SplitType, entered_for
from trips.models.trip import CurrencyChanged

if TYPE_CHECKING:
    from splits.models.expense import Expense
    from splits.models.posting import ExpensePosting

_MONEY_FIELDS = ("entered_minor", "currency", "exchange_rate")


@dataclass(frozen=True)
class ExpenseChange:
    """The given fields, payers and division of an expense, as `Expense.change` takes them.

    `read` is the expense as the caller read it, before the lock; `posting` below is that of the
    expense as it is stored.
    """

    read: "Expense"
    fields: Mapping[str, Any]
    paid_by_user: Mapping[int, int | None] | None
    division: Mapping[str, Any]

    def apply(self, posting: "ExpensePosting") -> bool:
        """Set the fields of the stored expense; returns whether it has to be divided again.

        It has to if money or people change. Raises `CurrencyChanged` or `ExpenseChanged` if the
        given amounts do not mean what they meant when the expense was read, `DividedByHand`, and
        what `Expense.fix_rate` raises.
        """
        stored = posting.expense
        self._require_same_meaning(stored)
        before = _money(stored)
        for name, value in self.fields.items():
            setattr(stored, name, value)
        if not stored.divided and before == _money(stored) and not self._changes_people(posting):
            return False
        if not stored.divided and not self.division:
            raise DividedByHand
        if "exchange_rate" in self.fields or stored.currency != before["currency"]:
            stored.fix_rate(self.fields.get("exchange_rate"))
        else:
            stored.convert()
        return True

    def payers(self, posting: "ExpensePosting") -> Mapping[int, int | None]:
        """The given payers, or the stored ones.

        For a changed amount, a single payer paid it all; several have to be given.
        """
        if self.paid_by_user:
            return self.paid_by_user
        if len(posting.paid_by_user) == 1:
            return dict.fromkeys(posting.paid_by_user, posting.expense.entered_minor)
        return posting.entered

    def division_of(self, posting: "ExpensePosting") -> Division:
        """The stored division, updated with the given fields."""
        stored, given = _stored_division(posting), self.division
        if given.get("split_type", stored.split_type) != stored.split_type:
            given = {"entered": None, **given}
        return replace(stored, **given)

    def _require_same_meaning(self, stored: "Expense") -> None:
        """Raise unless amounts given for the expense as it was read mean the same for `stored`."""
        split_type = self.division.get("split_type", self.read.split_type)
        parts = self.division.get("entered") if split_type == SplitType.MANUAL else None
        entered = [*(self.paid_by_user or {}).values(), self.fields.get("entered_minor"), parts]
        has_amounts = any(value is not None for value in entered)
        is_same_currency = stored.currency == self.read.currency
        if has_amounts and "currency" not in self.fields and not is_same_currency:
            raise CurrencyChanged(meant=self.read.currency, currency=stored.currency)
        is_same_type = stored.split_type == self.read.split_type
        if "entered" in self.division and "split_type" not in self.division and not is_same_type:
            raise ExpenseChanged

    def _changes_people(self, posting: "ExpensePosting") -> bool:
        """Whether the given payers or the given division differ from the stored ones."""
        if self.paid_by_user is not None:
            paid = posting.expense.entered_by(self.paid_by_user)
            if list(paid.items()) != list(posting.entered.items()):
                return True
        stored = _stored_division(posting)
        kept = {
            "split_type": stored.split_type,
            "participants": set(stored.participants),
            "entered": stored.entered,
        }
        wanted = {**kept, **self.division}
        wanted["participants"] = set(wanted["participants"])
        return wanted != kept


def _money(expense: "Expense") -> dict[str, Any]:
    return {name: getattr(expense, name) for name in _MONEY_FIELDS}


def _stored_division(posting: "ExpensePosting") -> Division:
    split_type = posting.expense.split_type
    entered = entered_for(split_type, posting.parts)
    return Division(split_type, tuple(posting.parts), entered)
