"""Closings: a settlement brings every balance of a trip to zero, so nobody owes anybody any more.

Open debts and unused credit then cancel each other out, even if money went past the people who were
owed: offsets cover the debts, and the credit is used up. For each person, what is offset in their
favour is what is offset against them.
"""

from collections.abc import Collection, Iterator
from typing import Any

from django.db import connection, models, transaction
from django.db.models import F
from django.utils import timezone

from splits.models.allocation import Allocation, AllocationRow
from splits.models.debt import Debt
from splits.offsets import offset_closings
from tripcompanion.compiled import ArrayParam, CompiledQuery, Param
from tripcompanion.database.deletes import delete_leaves
from trips.models import Member, Trip

#: An offset: its id, its closing, both people, and the amount.
OffsetRow = tuple[Any, ...]

#: Written by hand: the ORM has no INSERT ... SELECT.
_OFFSET = (
    "INSERT INTO splits_settlement (trip_id, closing_id, sender_id, receiver_id, amount_minor, "
    "credit_minor, settled_on, note, created_by_id, created_at) "
    "SELECT trip_id, %s, debtor_id, creditor_id, SUM(open_minor), 0, %s, '', %s, %s "
    "FROM splits_debt WHERE trip_id = %s AND open_minor > 0 "
    "GROUP BY trip_id, debtor_id, creditor_id"
)
#: No join: it would compare each debt with all of a trip that PostgreSQL does not know.
_CLOSE = (
    "INSERT INTO splits_allocation (trip_id, debt_id, settlement_id, closed_by_id, amount_minor) "
    "SELECT trip_id, debt_id, entry_id, NULL, open_minor FROM (SELECT trip_id, debt_id, "
    "MAX(offset_id) OVER (PARTITION BY debtor_id, creditor_id) AS entry_id, open_minor FROM ("
    "SELECT trip_id, id AS debt_id, NULL AS offset_id, debtor_id, creditor_id, open_minor "
    "FROM splits_debt WHERE trip_id = %s AND open_minor > 0 "
    "UNION ALL SELECT trip_id, NULL, id, sender_id, receiver_id, 0 "
    "FROM splits_settlement WHERE trip_id = %s AND closing_id = %s) AS entry) AS entry "
    "WHERE debt_id IS NOT NULL "
    "UNION ALL SELECT trip_id, NULL, id, %s, credit_minor FROM splits_settlement "
    "WHERE trip_id = %s AND credit_minor > 0"
)


@CompiledQuery
def unsettled_in(trip: Param) -> models.QuerySet[Member, tuple[int]]:
    return Member.objects.unsettled().filter(trip=trip).order_by().values_list("pk")[:1]


def mend_closings(trip_id: int | None = None) -> Iterator[int]:
    """Give offsets to what a release without them has closed, in one trip or in all.

    Yields the ids of the trips that had such closings. Each is mended under its lock, a deleted one
    too.
    """
    halves = Allocation.objects.filter(closed_by__isnull=False, settlement=None)
    if trip_id is not None:
        halves = halves.filter(trip=trip_id)
    for found_id in list(halves.order_by("trip").values_list("trip", flat=True).distinct()):
        with transaction.atomic():
            Trip.objects.select_for_update().filter(pk=found_id).first()
            offset_closings(connection, found_id)
        yield found_id


class Closings:
    """The closings of a trip whose settlements and offsets are `entries`. Use it under its lock."""

    def __init__(self, trip_id: int, entries: models.QuerySet[Any]) -> None:
        self._trip_id, self._entries = trip_id, entries
        self._allocations = Allocation.objects.filter(trip=trip_id)

    def close(self, settlement: Any) -> bool:
        """Close everything that is open by a settlement, if every balance is zero.

        Returns whether anything was open. It takes the same few statements for any number of debts.
        """
        trip_id = self._trip_id
        if unsettled_in.first(trip=trip_id):
            return False
        pk, now = settlement.pk, timezone.now()
        day, by_id = str(settlement.settled_on), settlement.created_by_id
        created_at = connection.ops.adapt_datetimefield_value(settlement.created_at)
        with connection.cursor() as cursor:
            cursor.execute(_OFFSET, [pk, day, by_id, created_at, trip_id])
            cursor.execute(_CLOSE, [trip_id, trip_id, pk, pk, trip_id])
            if not cursor.rowcount:
                return False
        Debt.objects.filter(trip=trip_id, open_minor__gt=0).update(open_minor=0, covered_at=now)
        self._entries.filter(credit_minor__gt=0).update(credit_minor=0)
        Member.objects.filter(trip=trip_id, owed_minor__gt=0).update(owed_minor=0)
        return True

    def causes(self, ids: Collection[int]) -> set[int]:
        """The settlements among `ids` that closed the trip, and those that used up their credit."""
        closing = self._allocations.filter(closed_by__isnull=False).order_by()
        found = closing.filter(closed_by__in=ids).values_list("closed_by")
        of_offsets = closing.filter(settlement__closing__in=ids, settlement__trip=F("trip"))
        others = (
            closing.filter(settlement__in=ids).values_list("closed_by"),
            of_offsets.values_list("closed_by"),
            self._offsets_of(ids).order_by().values_list("closing"),
        )
        return {pk for (pk,) in found.union(*others)}

    def reopen(self, ids: Collection[int]) -> tuple[list[AllocationRow], list[OffsetRow]]:
        """Open again what these closed; returns the deleted allocations and offsets."""
        if not ids:
            return [], []
        rows = self._offsets_of(ids)
        columns = ("pk", "closing", "sender", "receiver", "amount_minor")
        offsets = list(rows.order_by("pk").values_list(*columns))
        # Several statements, because SQLite scans the whole table for conditions joined by OR.
        allocations = self._allocations.filter(closed_by__in=ids).unallocate(self._trip_id)
        gone = {offset[0] for offset in offsets}
        of_offsets = self._allocations.filter(ArrayParam.among(gone, "settlement_id"))
        allocations += of_offsets.unallocate(self._trip_id, gone=gone)
        delete_leaves(rows)
        return allocations, offsets

    def _offsets_of(self, ids: Collection[int]) -> models.QuerySet[Any]:
        return self._entries.filter(closing__in=ids)
