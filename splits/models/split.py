"""One person's part of an expense, and its being paid."""

from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property

from django.db import models
from django.db.models import Aggregate, F, Max, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from splits.models.settlement import (
    Allocation,
    Debt,
    Settlement,
    cover,
    credit_between,
    open_debts_of,
)
from tripcompanion.kit.inserting import insert
from tripcompanion.kit.lookups import OneOf
from tripcompanion.kit.prepared import Given, Prepared
from trips.models import InTripQuerySet, PreparedFor, Viewer, locked_row
from trips.roles import Can
from users.models import User, summary_of

_COLUMNS = (
    "expense",
    "participant",
    "amount_minor",
    "percentage_e4",
    "created_at",
    *summary_of("participant"),
)
_AMOUNT = models.BigIntegerField()


def _of_debts(aggregate: Aggregate) -> Subquery:
    """Of the debts of each split. A join would have the planner read all debts there are."""
    debts = Debt.objects.with_state().filter(split=OuterRef("pk")).order_by().values("split")
    return Subquery(debts.annotate(answer=aggregate).values("answer"))


class SplitQuerySet(InTripQuerySet["Split"]):
    members_path = "expense__trip__members"

    def with_state(self) -> "SplitQuerySet":
        """Each with its participant, and with what is open of its debts."""
        state = {
            "open_minor": Coalesce(_of_debts(Sum("left_minor")), 0, output_field=_AMOUNT),
            "covered_at": _of_debts(Max(Coalesce("covered_at", "closed_at"))),
        }
        return self.select_related("participant").only(*_COLUMNS).annotate(**state)

    def shown(self) -> "SplitQuerySet":
        """With all that an answer shows, apart from an expense that knows the currency."""
        currency = {"trip_currency": F("expense__trip__currency")}
        return self.with_state().annotate(**currency)

    def with_expense(self) -> "SplitQuerySet":
        return self.select_related("expense")

    def changeable(self) -> "SplitQuerySet":
        """As shown, with the expense: it says who may change them."""
        columns = (*_COLUMNS, "expense__trip", "expense__created_by")
        return self.shown().select_related("participant", "expense").only(*columns)

    def pending(self, user: User | Viewer) -> "SplitQuerySet":
        """Splits of `user` of which something is still owed, oldest first; see `within`."""
        # Only in trips where they owe something: elsewhere all may be closed, and be a lot.
        owing = {"trip__members__user": user, "trip__members__owed_minor__gt": 0}
        open_debts = Debt.objects.open().filter(debtor=user, **owing).order_by().values("split")
        return self.within(user).filter(OneOf("pk", open_debts)).order_by("id")


class Split(models.Model):
    """One person's part of an expense, in minor units of the trip's currency.

    Whether it is paid is not kept here: it is paid when none of its debts is open. The own part
    of somebody who put money in is no debt, and so is paid from the start.
    """

    expense = models.ForeignKey("splits.Expense", on_delete=models.CASCADE, related_name="splits")
    participant = models.ForeignKey(User, on_delete=models.PROTECT, related_name="splits")
    amount_minor = models.BigIntegerField()
    #: What was entered for this person: minor units of the expense's currency, or
    #: ten-thousandths; null where it was not entered so.
    entered_minor = models.BigIntegerField(null=True, blank=True)
    percentage_e4 = models.PositiveIntegerField(null=True, blank=True)
    weight_e4 = models.PositiveBigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SplitQuerySet.as_manager()

    caller_role: str
    # Set by `with_state`.
    open_minor: int
    covered_at: datetime | None

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["expense", "participant"], name="split_once_for_a_participant"
            ),
            models.CheckConstraint(condition=Q(amount_minor__gte=0), name="split_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.participant_id}: {self.amount_minor}"

    @cached_property
    def trip_currency(self) -> str:
        """The currency of all amounts; set by `shown`, else that of the expense at hand."""
        return self.expense.trip.currency

    @property
    def paid(self) -> bool:
        return self.open_minor == 0

    @property
    def paid_minor(self) -> int:
        return self.amount_minor - self.open_minor

    @property
    def paid_at(self) -> datetime | None:
        """Since when it is paid (UTC): from the start if nothing was ever owed for it."""
        return (self.covered_at or self.created_at) if self.paid else None

    def is_own(self, user: User, can: Can) -> bool:
        """For paying, whether `user` owes or is owed it; else whether the expense is theirs."""
        if can is Can.SETTLE:
            return user.pk == self.participant_id or self.debts.filter(creditor=user).exists()
        return self.expense.is_own(user, can)

    def pay(self, by: User) -> None:
        """Record the settlement of what is still open; nothing if nothing is.

        Credit between the two is used first, and the rest is recorded, a settlement for each
        creditor.
        """
        with self._locked(by) as split:
            trip = split.expense.trip
            debts = list(open_debts_of(split=self.pk))
            credits = credit_between(
                trip=trip.pk,
                senders=[self.participant_id],
                receivers=[debt.creditor_id for debt in debts],
            )
            from_credit = cover(debts, credits)
            settlements = insert(
                Settlement(
                    trip=trip,
                    split=self,
                    sender_id=debt.debtor_id,
                    receiver_id=debt.creditor_id,
                    amount_minor=debt.open_minor,
                    credit_minor=debt.open_minor,
                    created_by=by,
                )
                for debt in debts
                if debt.open_minor
            )
            allocations = [*from_credit, *cover(debts, settlements)]
            Allocation.make(trip.pk, allocations, settlements)
            if settlements:
                settlements[-1].close_if_square()

    def unpay(self, by: User) -> None:
        """Take every allocation off, and the settlements that `pay` recorded; else nothing."""
        with self._locked(by) as split:
            trip = split.expense.trip
            self.settlements.all().revoke()
            self.debts.all().itemise()
            Allocation.objects.filter(debt__split=self).release(trip.pk)

    def _locked(self, by: User) -> AbstractContextManager["Split"]:
        rows = Split.objects.with_expense
        return locked_row(rows, by, Can.SETTLE, trip_id=self.expense.trip_id, pk=self.pk)


@Prepared
def splits_of(expense: Given) -> SplitQuerySet:
    """The splits of an expense, as they are shown."""
    return Split.objects.shown().filter(expense=expense).order_by("id")


@Prepared
def shown_splits(pk: Given) -> SplitQuerySet:
    """The split of this id, as it is shown."""
    return Split.objects.shown().filter(pk=pk)


@PreparedFor
def pending_of(user: Viewer) -> SplitQuerySet:
    """The splits of a user that are still open, the oldest first, as they are shown."""
    return Split.objects.pending(user).shown()
