"""Allocations: which amount of a settlement covers which amount of a debt."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection, models
from django.db.models import F, Q, Sum, Value
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from splits.models.debt import Debt, require_few_debts
from splits.models.in_trip import InTrip
from tripcompanion.currency.formats import format_amount
from trips.models import Member

#: Written by hand: an UPDATE by the ORM would run one subquery for each row.
_GIVE_BACK = {
    "debt": (
        "UPDATE splits_debt SET open_minor = open_minor + freed.minor, covered_at = NULL "
        "FROM ({freed}) AS freed WHERE splits_debt.id = freed.row_id AND splits_debt.trip_id = %s"
    ),
    "settlement": (
        "UPDATE splits_settlement SET credit_minor = credit_minor + freed.minor "
        "FROM ({freed}) AS freed "
        "WHERE splits_settlement.id = freed.row_id AND splits_settlement.trip_id = %s"
    ),
}


class AllocationQuerySet(models.QuerySet["Allocation"]):
    def of(
        self, trip_id: int, split_ids: Collection[int], settlement_ids: Collection[int]
    ) -> list[tuple[Any, ...]]:
        """The allocations to these splits, and those by these settlements and by their offsets.

        For each, the oldest first: its id, the ids of its debt, its settlement and the settlement
        that closed it, the amount, and when the debt was covered.
        """
        rows = self.filter(trip=trip_id)
        found: set[tuple[Any, ...]] = set()
        columns = ("pk", "debt", "settlement", "closed_by", "amount_minor")
        never = Value(None, models.DateTimeField())
        # One statement for each, because SQLite scans the whole table for conditions joined by OR.
        for condition in (
            Q(debt__split__in=split_ids),
            Q(settlement__in=settlement_ids),
            Q(settlement__closing__in=settlement_ids, settlement__trip=trip_id),
            Q(closed_by__in=settlement_ids),
        ):
            of_debts = rows.filter(condition, debt__trip=trip_id)
            found.update(of_debts.values_list(*columns, "debt__covered_at"))
            of_credit = rows.filter(condition, debt=None)
            found.update(of_credit.values_list(*columns, never))
        return sorted(found)

    def unallocate(
        self, trip_id: int, changes: Mapping[int, Mapping[str, int]] | None = None
    ) -> None:
        """Delete these allocations; their debts are open again, and their money is credit.

        The sums of the members lose them, and get the other `changes`; see
        `Member.increment_balances`. Raises `TooManyDebts`.
        """
        rows = self.filter(trip=trip_id)
        sums: dict[int, Counter[str]] = defaultdict(Counter)
        sums.update((user_id, Counter(moved)) for user_id, moved in (changes or {}).items())
        covered = rows.filter(debt__trip=trip_id).order_by().values_list("debt__debtor")
        freed = list(covered.annotate(Sum("amount_minor")))
        for debtor_id, freed_minor in freed:
            sums[debtor_id]["owed_minor"] += freed_minor
        Member.increment_balances(trip_id, sums)
        with connection.cursor() as cursor:
            for side, statement in _GIVE_BACK.items():
                of_side = rows.filter(**{f"{side}__isnull": False}).order_by()
                amounts = of_side.values(row_id=F(f"{side}_id")).annotate(minor=Sum("amount_minor"))
                sql, values = amounts.query.sql_with_params()
                cursor.execute(statement.format(freed=sql), [*values, trip_id])
        rows.delete()
        if freed:
            require_few_debts(trip_id)


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
