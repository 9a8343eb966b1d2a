"""Splits: one person's part of an expense; paying and unpaying it."""

from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.db import models
from django.db.models import Aggregate, F, Max, OuterRef, Prefetch, Q, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from splits.models.allocation import Allocation
from splits.models.debt import Debt, require_few_debts
from splits.models.in_trip import InTrip
from splits.models.settlement import Settlement, open_debts, settlement_entries
from tripcompanion.compiled import OneOf
from tripcompanion.currency.amounts import all_to_major
from tripcompanion.currency.formats import format_amount
from trips.models import InTripQuerySet, ViewerParam, locked_row
from trips.models.events import Event
from trips.models.journal import Entry, entries_between, write
from trips.roles import Can, Capability
from users.models import User, summary_of

_COLUMNS = (
    "trip",
    "expense",
    "participant",
    "amount_minor",
    "entered_minor",
    "percentage_e4",
    "weight_e4",
    *summary_of("participant"),
)
_AMOUNT = models.BigIntegerField()


def _of_debts(aggregate: Aggregate) -> Subquery:
    """An aggregate over the debts of each split. With a join, the planner would read all debts."""
    debts = Debt.objects.filter(trip=OuterRef("trip"), split=OuterRef("pk"))
    sums = debts.order_by().values("split").annotate(answer=aggregate)
    return Subquery(sums.values("answer"))


class SplitQuerySet(InTripQuerySet["Split"]):
    def with_open_amounts(self) -> "SplitQuerySet":
        """With the participant, and with what is open of its debts, and when they were covered.

        If none is, `covered_at` is when it was created.
        """
        state = {
            "open_minor": Coalesce(_of_debts(Sum("open_minor")), 0, output_field=_AMOUNT),
            "covered_at": Coalesce(_of_debts(Max("covered_at")), F("created_at")),
        }
        return self.select_related("participant").only(*_COLUMNS).annotate(**state)

    def with_details(self) -> "SplitQuerySet":
        """With everything that a response contains, including the currency."""
        currency = {"trip_currency": F("trip__currency")}
        return self.with_open_amounts().annotate(**currency)

    def for_permission(self) -> "SplitQuerySet":
        """With the expense, and only the columns that determine who may change them."""
        columns = ("participant", "trip", "expense", "expense__trip", "expense__created_by")
        return self.select_related("expense").only(*columns).filter(expense__trip=F("trip"))

    def with_expense(self) -> "SplitQuerySet":
        """With the participant and the expense, as a command reads them under the lock."""
        columns = (*_COLUMNS, "participant__notice_mode", "expense__trip", "expense__created_by")
        rows = self.select_related("participant", "expense").only(*columns)
        return rows.filter(expense__trip=F("trip"))

    def with_open_debts(self) -> "SplitQuerySet":
        """As `with_expense`, with its `open_debts`."""
        debts: Prefetch[Any] = Prefetch("debts", open_debts(), "open_debts")
        return self.with_expense().prefetch_related(debts)

    def pending(self, user: User | ViewerParam) -> "SplitQuerySet":
        """Splits of `user` with an open amount, oldest first; see `in_token_scope`."""
        # Only in trips where the user owes something: other trips may have many debts, all closed.
        owing = {"trip__members__user": user, "trip__members__owed_minor__gt": 0}
        debts = Debt.objects.in_kept_trips().open()
        open_debts = debts.filter(debtor=user, **owing).order_by().values("split")
        return self.in_token_scope(user).filter(OneOf("pk", open_debts)).order_by("id")


class SplitState(NamedTuple):
    """How much of a split is paid.

    `paid_at` is when all of it was (UTC): when it was created if nothing was ever owed for it.
    """

    paid: bool
    paid_minor: int
    paid_at: datetime | None


class Split(InTrip):
    """One person's part of an expense, in minor units of the trip's currency.

    This row does not store whether it is paid: it is paid when none of its debts is open. A payer's
    own part is not a debt, so it is paid from the start. The participant owes its debts; those of a
    refund are owed to the participant.
    """

    expense = models.ForeignKey(
        "splits.Expense", on_delete=models.CASCADE, related_name="splits", db_index=False
    )
    participant = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="splits", db_index=False
    )
    amount_minor = models.BigIntegerField()
    #: The value that was entered for this person, in minor units of the expense's currency or in
    #: ten-thousandths; null if the split type has none.
    entered_minor = models.BigIntegerField(null=True, blank=True)
    percentage_e4 = models.PositiveIntegerField(null=True, blank=True)
    weight_e4 = models.PositiveBigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SplitQuerySet.as_manager()

    #: What a split that is read with its expense takes from it; see `tripcompanion.compiled`.
    inherits: ClassVar = {"trip_currency": "trip.currency"}
    caller_role: str
    # Set by `with_open_amounts`.
    open_minor: int
    covered_at: datetime | None
    # Set by `with_open_debts`.
    open_debts: list[Debt]

    class Meta:
        verbose_name = gettext_lazy("split")
        verbose_name_plural = gettext_lazy("splits")
        constraints = [
            models.UniqueConstraint(
                fields=["expense", "participant"], name="split_once_for_a_participant"
            )
        ]
        indexes = [
            # For one's own part in statistics, which read only the index.
            models.Index(
                fields=["participant", "trip", "expense", "amount_minor"],
                name="split_of_participant",
            )
        ]

    def __str__(self) -> str:
        amount = format_amount(self.amount_minor, self.trip_currency)
        return f"{self.participant.shown_name}, {amount}"

    @cached_property
    def trip_currency(self) -> str:
        """The currency of all amounts; set by `with_details`, else read from the expense."""
        return self.expense.trip.currency

    @cached_property
    def state(self) -> SplitState:
        """How much of it is paid; for a split read `with_open_amounts`."""
        paid_at = None if self.open_minor else self.covered_at or self.created_at
        return SplitState(self.open_minor == 0, self.covered_minor(self.open_minor), paid_at)

    def open_and_covered(self) -> tuple[int, datetime]:
        """`open_minor` and `covered_at` as `with_open_amounts` reads them, by the loaded debts."""
        debts = self.debts.all()
        times = [debt.covered_at for debt in debts if debt.covered_at]
        return sum(debt.open_minor for debt in debts), max(times, default=self.created_at)

    def covered_minor(self, open_minor: int) -> int:
        """The covered part, in minor units, if `open_minor` is open; negative in a refund."""
        return self.amount_minor + (open_minor if self.amount_minor < 0 else -open_minor)

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether `user` is debtor or creditor (to pay), or has the expense (for all else)."""
        if can is Can.SETTLE:
            sides = Q(debtor=user) | Q(creditor=user)
            return user.pk == self.participant_id or self.debts.filter(sides).exists()
        return self.expense.is_own(user, can)

    def pay(self, by: User) -> "Split":
        """Record the settlement of the open amount, if there is one. Returns the paid split.

        See `Settlement.pay`.
        """
        rows = Split.objects.with_open_debts
        with locked_row(rows, by, Can.SETTLE, trip_id=self.trip_id, pk=self.pk) as split:
            trip = split.trip
            if not split.open_debts:
                return Split.objects.with_details().get(pk=self.pk)
            open_minor, paid_at, recorded = Settlement.pay(split.open_debts, trip, by)
            split.open_minor, split.covered_at = 0, paid_at
            split.trip_currency = trip.currency
            write(trip.pk, by, *split._entries(Event.SPLIT_PAID, open_minor, 0), *recorded)
            if split.participant.may_want_notices:
                split.expense.notify("split.paid", Q(pk=split.participant_id), by)
            return split

    def unpay(self, by: User) -> "Split":
        """Delete all allocations to the split, and the settlements that `pay` recorded.

        Returns the split as it is afterwards.
        """
        rows = Split.objects.with_expense
        with locked_row(rows, by, Can.SETTLE, trip_id=self.trip_id, pk=self.pk) as split:
            trip = split.trip
            before = Split.objects.with_details().get(pk=self.pk)
            revoked = self.settlements.filter(trip=trip).revoke().settlements
            debts = list(self.debts.filter(trip=trip))
            Allocation.objects.filter(trip=trip, debt__in=debts).unallocate(trip.pk)
            require_few_debts(trip.pk)
            after = Split.objects.with_details().get(pk=self.pk)
            unpaid = after._entries(Event.SPLIT_UNPAID, before.open_minor, after.open_minor)
            deleted = settlement_entries(Event.SETTLEMENT_DELETED, revoked, trip.currency)
            write(trip.pk, by, *unpaid, *deleted)
            return after

    def _entries(self, event: Event, *open_minor: int) -> list[Entry]:
        """What the journal records of how much is paid, by what was open before and after."""
        paid_minor = [self.covered_minor(minor) for minor in open_minor]
        old, new = (
            {"paid": not minor, "paidAmount": amount}
            for minor, amount in zip(
                open_minor, all_to_major(paid_minor, self.trip_currency), strict=True
            )
        )
        return entries_between(event, self.pk, old, new, self.expense_id, self.participant_id)
