"""Debts: what the participant of a split owes to one creditor.

`open_minor` is a stored sum: the amount minus the allocations of the debt. `Debt.resize` updates it
together with the amount; `recompute` in `allocation.py` sums it again.
"""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import CompiledQuery, Param
from tripcompanion.currency.formats import format_amount
from trips.models import InTripQuerySet, Member, trip_key
from users.models import User

#: How many open debts a trip may have.
MAX_OPEN_DEBTS = 40_000
#: Counting takes longer the more there are. So of the new expenses with few debts, only those are
#: counted whose number is a multiple of `COUNT_EVERY`: a trip may exceed the limit by a hundredth.
COUNT_EVERY, FEW_DEBTS = 20, 20


class TooManyDebts(LimitReached):
    """409 `too_many_debts`: the trip would have more open debts than can be closed at once."""

    default_code = "too_many_debts"
    default_detail = gettext_lazy(
        "A trip can have at most %(limit)s open debts. Please settle some of them first."
    )
    example_values: ClassVar = {"limit": MAX_OPEN_DEBTS}


class DebtQuerySet(InTripQuerySet["Debt"]):
    def open(self) -> "DebtQuerySet":
        """Debts with an open amount, oldest split first."""
        return self.filter(open_minor__gt=0).order_by("split_id", "id")


class Debt(models.Model):
    """What the participant of a split owes to one creditor, who paid more than their part.

    For a refund, its receiver owes it to the participant. `trip` repeats a column of the split, and
    one of the two people is its participant; neither ever changes. With them, the two searches
    that must stay fast (a person's open debts, open debts between two people) need one index and no
    join.
    """

    trip = trip_key("debts", db_index=False)
    split = models.ForeignKey(
        "splits.Split", on_delete=models.CASCADE, related_name="debts", db_index=False
    )
    debtor = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="debts", verbose_name=gettext_lazy("debtor")
    )
    creditor = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="claims", verbose_name=gettext_lazy("creditor")
    )
    amount_minor = models.BigIntegerField()
    #: `amount_minor` minus its allocations.
    open_minor = models.BigIntegerField()
    #: When it was fully covered; null while it is not.
    covered_at = models.DateTimeField(gettext_lazy("covered at"), null=True)

    objects = DebtQuerySet.as_manager()

    #: Set by `open_debts`: whether the debtor has unused credit with the creditor.
    has_credit: bool

    class Meta:
        verbose_name = gettext_lazy("debt")
        verbose_name_plural = gettext_lazy("debts")
        constraints = [
            models.UniqueConstraint(fields=["split", "creditor"], name="debt_once_to_a_creditor"),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="debt_positive"),
            models.CheckConstraint(
                condition=Q(open_minor__gte=0, open_minor__lte=F("amount_minor")),
                name="debt_covered_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(open_minor=0, covered_at__isnull=False)
                | Q(open_minor__gt=0, covered_at=None),
                name="debt_covered_at_when_covered",
            ),
            models.CheckConstraint(
                condition=~Q(debtor=F("creditor")), name="debt_between_two_people"
            ),
        ]
        indexes = [
            models.Index(
                fields=["trip", "debtor", "creditor"],
                condition=Q(open_minor__gt=0),
                name="debt_open",
            ),
            # With the index of each column alone, SQLite would read all debts of the trip.
            models.Index(fields=["trip", "split"], name="debt_of_split"),
        ]

    def __str__(self) -> str:
        return _("%(debtor)s owes %(creditor)s %(amount)s") % {
            "debtor": self.debtor.shown_name,
            "creditor": self.creditor.shown_name,
            "amount": format_amount(self.amount_minor, self.trip.currency),
        }

    def resize(self, amount_minor: int) -> list[int | None]:
        """Change the amount; allocations above it are deleted, the latest first.

        This updates the debtor's owed sum only by the deleted allocations; the caller updates it by
        the amount, together with the expense. Returns the ids of the settlements of these
        allocations. The caller must `recompute` their credit.
        """
        covered_minor = self.amount_minor - self.open_minor
        excess_minor = max(0, covered_minor - amount_minor)
        if excess_minor:
            Member.increment_balances(self.trip_id, {self.debtor_id: {"owed_minor": excess_minor}})
        freed_settlement_ids: list[int | None] = []
        allocations = self.allocations.filter(trip=self.trip_id).order_by("-id")
        for allocation in allocations if excess_minor else ():
            freed_minor = min(excess_minor, allocation.amount_minor)
            excess_minor -= freed_minor
            freed_settlement_ids.append(allocation.settlement_id)
            if freed_minor == allocation.amount_minor:
                allocation.delete()
            elif freed_minor:
                allocation.amount_minor -= freed_minor
                allocation.save(update_fields=["amount_minor"])
        self.open_minor = amount_minor - min(covered_minor, amount_minor)
        self.amount_minor = amount_minor
        self.covered_at = None if self.open_minor else self.covered_at or timezone.now()
        Debt.objects.filter(trip=self.trip_id, pk=self.pk).update(
            amount_minor=self.amount_minor, open_minor=self.open_minor, covered_at=self.covered_at
        )
        return freed_settlement_ids


def require_few_debts(trip_id: int) -> None:
    """Raise `TooManyDebts` if the trip has more than `MAX_OPEN_DEBTS`.

    Call it after a command has opened debts, and credit has covered some of them: closing a trip
    with more would take too long.
    """
    if debt_above_limit.first(trip=trip_id):
        raise TooManyDebts(limit=MAX_OPEN_DEBTS)


@CompiledQuery
def debt_above_limit(trip: Param) -> models.QuerySet[Debt, tuple[int]]:
    """An open debt of a trip that has more than `MAX_OPEN_DEBTS`."""
    debts = Debt.objects.filter(trip=trip, open_minor__gt=0)
    return debts.order_by().values_list("pk")[MAX_OPEN_DEBTS : MAX_OPEN_DEBTS + 1]
