"""Allocations: which amount of a settlement covers which amount of a debt."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from splits.models.debt import Debt
from splits.models.in_trip import InTrip
from tripcompanion.compiled import ArrayParam, CompiledUpdate, Param
from tripcompanion.currency.formats import format_amount
from trips.models import Member

#: An allocation: its id, the ids of its debt, its settlement and the settlement that closed it, the
#: amount, and when the debt was covered.
AllocationRow = tuple[Any, ...]


class AllocationQuerySet(models.QuerySet["Allocation"]):
    def unallocate(
        self,
        trip_id: int,
        changes: Mapping[int, Mapping[str, int]] | None = None,
        gone: Collection[int] = (),
    ) -> list[AllocationRow]:
        """Delete these allocations; their debts are open again, and their money is credit.

        The sums of the members lose them, and get the other `changes`; see
        `Member.increment_balances`. The settlements in `gone` are deleted next. Returns what was
        deleted. The caller must `require_few_debts`.
        """
        rows = self.filter(trip=trip_id)
        found = list(rows.values_list("pk", "debt", "settlement", "closed_by", "amount_minor"))
        covered: dict[int, tuple[int, datetime | None]] = {}
        if named := {row[1] for row in found if row[1]}:
            # A join would compare them with all debts of a trip that PostgreSQL does not know.
            debts = Debt.objects.filter(ArrayParam.among(named, "id"), trip=trip_id)
            for pk, debtor_id, covered_at in debts.values_list("pk", "debtor", "covered_at"):
                covered[pk] = debtor_id, covered_at
        sums = defaultdict(Counter, {pk: Counter(moved) for pk, moved in (changes or {}).items()})
        for _pk, debt_id, _settlement_id, _closed_by_id, amount_minor in found:
            if debt_id:
                sums[covered[debt_id][0]]["owed_minor"] += amount_minor
        Member.increment_balances(trip_id, sums)
        if found:
            rows.delete()
            kept = {row[2] for row in found}.difference(gone)
            recompute(trip_id, {row[1] for row in found}, kept)
        return [(*row, covered[row[1]][1] if row[1] else None) for row in found]


class Allocation(InTrip):
    """An amount of a settlement that covers an amount of a debt.

    When a settlement closes the trip (`closed_by`), what is left of each settlement is used up.
    Such a row names no debt. Those that name no settlement are from before there were offsets.
    """

    settlement = models.ForeignKey(
        "splits.Settlement", on_delete=models.CASCADE, null=True, related_name="allocations"
    )
    debt = models.ForeignKey(Debt, on_delete=models.CASCADE, null=True, related_name="allocations")
    amount_minor = models.BigIntegerField()
    # A partial index: the column is null in almost all rows, and SQLite would not use a full index.
    closed_by = models.ForeignKey(
        "splits.Settlement",
        on_delete=models.CASCADE,
        null=True,
        related_name="closings",
        db_index=False,
    )

    objects = AllocationQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("allocation")
        verbose_name_plural = gettext_lazy("allocations")
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="allocation_positive"),
            models.CheckConstraint(
                condition=Q(closed_by=None, settlement__isnull=False, debt__isnull=False)
                | Q(closed_by__isnull=False, settlement__isnull=False, debt=None)
                | Q(closed_by__isnull=False, settlement=None, debt__isnull=False),
                name="allocation_covers_or_closes",
            ),
        ]
        indexes = [
            models.Index(
                fields=["closed_by"],
                condition=Q(closed_by__isnull=False),
                name="allocation_closed_by",
            )
        ]

    def __str__(self) -> str:
        side: Any = self.settlement or self.debt
        amount = format_amount(self.amount_minor, side.trip.currency)
        return _("%(amount)s of: %(whole)s") % {"amount": amount, "whole": side}


def recompute(
    trip_id: int,
    debt_ids: Iterable[int | None],
    settlement_ids: Iterable[int | None],
    now: datetime | None = None,
) -> None:
    """Recompute `open_minor` and `credit_minor` of rows of a trip; ids that are None are ignored.

    `now` is when debts without an open amount were covered.
    """
    if debts := {pk for pk in debt_ids if pk}:
        recompute_open(trip=trip_id, debts=debts, now=now or timezone.now())
    if settlements := {pk for pk in settlement_ids if pk}:
        recompute_credit(trip=trip_id, settlements=settlements)


@CompiledUpdate
def recompute_open(
    trip: Param,
    debts: ArrayParam = ArrayParam("debts"),
    now: Param = Param("now", models.DateTimeField()),
) -> tuple[QuerySet[Debt], dict[str, Any]]:
    covered = _sum_for("debt")
    changes = {
        "open_minor": F("amount_minor") - covered,
        "covered_at": Case(When(amount_minor=covered, then=Coalesce(F("covered_at"), now))),
    }
    return Debt.objects.filter(ArrayParam.among(debts, "id"), trip=trip), changes


@CompiledUpdate
def recompute_credit(
    trip: Param, settlements: ArrayParam = ArrayParam("settlements")
) -> tuple[QuerySet[Any], dict[str, Any]]:
    rows: Any = Allocation._meta.get_field("settlement").related_model
    changes = {"credit_minor": F("amount_minor") - _sum_for("settlement")}
    return rows.with_offsets.filter(ArrayParam.among(settlements, "id"), trip=trip), changes


def _sum_for(side: str) -> Coalesce:
    """The sum of the allocations of each debt, or of each settlement."""
    sums = (
        Allocation.objects.filter(**{"trip": OuterRef("trip"), side: OuterRef("pk")})
        .order_by()
        .values(side)
        .annotate(total_minor=Sum("amount_minor"))
        .values("total_minor")
    )
    return Coalesce(Subquery(sums), 0, output_field=models.BigIntegerField())
