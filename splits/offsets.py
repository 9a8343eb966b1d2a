"""Gives a trip that was closed before there were offsets its offsets; plain SQL.

Then, a closing left allocations that name only the debt. When such a debt became smaller or went,
what had been offset against it stayed: in somebody's favour, or against them. That is credit now.
"""

from collections import defaultdict
from typing import Any

from splits.settling import fewest_transfers

_OFFSET = (
    "INSERT INTO splits_settlement (trip_id, closing_id, sender_id, receiver_id, amount_minor, "
    "credit_minor, settled_on, note, created_by_id, created_at) "
    "SELECT closing.trip_id, closing.id, debt.debtor_id, debt.creditor_id, SUM(half.amount_minor), "
    "0, closing.settled_on, '', closing.created_by_id, closing.created_at "
    "FROM splits_allocation AS half "
    "JOIN splits_debt AS debt ON debt.id = half.debt_id AND debt.trip_id = half.trip_id "
    "JOIN splits_settlement AS closing "
    "ON closing.id = half.closed_by_id AND closing.trip_id = half.trip_id "
    "WHERE half.trip_id = %s AND half.settlement_id IS NULL "
    "GROUP BY closing.trip_id, closing.id, debt.debtor_id, debt.creditor_id, closing.settled_on, "
    "closing.created_by_id, closing.created_at"
)
_COVER = (
    "UPDATE splits_allocation SET closed_by_id = NULL, settlement_id = ("
    "SELECT MAX(entry.id) FROM splits_settlement AS entry JOIN splits_debt AS debt "
    "ON debt.debtor_id = entry.sender_id AND debt.creditor_id = entry.receiver_id "
    "AND debt.trip_id = entry.trip_id "
    "WHERE entry.closing_id = splits_allocation.closed_by_id "
    "AND entry.trip_id = splits_allocation.trip_id AND debt.id = splits_allocation.debt_id) "
    "WHERE trip_id = %s AND settlement_id IS NULL"
)
#: What each closing leaves somebody: positive if more is offset in their favour than against them.
_UNEVEN = (
    "SELECT closing_id, person, SUM(minor) FROM ("
    "SELECT closing_id, sender_id AS person, amount_minor AS minor FROM splits_settlement "
    "WHERE trip_id = %s AND closing_id IS NOT NULL "
    "UNION ALL SELECT closing_id, receiver_id, -amount_minor FROM splits_settlement "
    "WHERE trip_id = %s AND closing_id IS NOT NULL "
    "UNION ALL SELECT half.closed_by_id, sender_id, -half.amount_minor "
    "FROM splits_allocation AS half JOIN splits_settlement AS entry "
    "ON entry.id = half.settlement_id AND entry.trip_id = half.trip_id "
    "WHERE half.trip_id = %s AND half.closed_by_id IS NOT NULL "
    "UNION ALL SELECT half.closed_by_id, receiver_id, half.amount_minor "
    "FROM splits_allocation AS half JOIN splits_settlement AS entry "
    "ON entry.id = half.settlement_id AND entry.trip_id = half.trip_id "
    "WHERE half.trip_id = %s AND half.closed_by_id IS NOT NULL"
    ") AS parts GROUP BY closing_id, person HAVING SUM(minor) <> 0"
)
_CREDIT = (
    "INSERT INTO splits_settlement (trip_id, closing_id, sender_id, receiver_id, amount_minor, "
    "credit_minor, settled_on, note, created_by_id, created_at) "
    "SELECT trip_id, id, %s, %s, %s, %s, settled_on, '', created_by_id, created_at "
    "FROM splits_settlement WHERE id = %s AND trip_id = %s"
)


def offset_closings(connection: Any, trip_id: int) -> None:
    """Call it in a transaction, under the lock of the trip; again if that release closed more."""
    with connection.cursor() as cursor:
        cursor.execute(_OFFSET, [trip_id])
        cursor.execute(_COVER, [trip_id])
        cursor.execute(_UNEVEN, [trip_id] * 4)
        uneven: dict[int, dict[int, int]] = defaultdict(dict)
        for closing_id, person, minor in cursor.fetchall():
            uneven[closing_id][person] = int(minor)
        for closing_id, of_people in uneven.items():
            for sender, receiver, minor in fewest_transfers(of_people):
                values = [sender, receiver, minor, minor, closing_id, trip_id]
                cursor.execute(_CREDIT, values)
