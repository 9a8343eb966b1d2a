"""Puts back the allocations and offsets of a deleted entry, in statements for any number of them.

They are written by hand: the rows are in the JSON of the entry, and the ORM has no INSERT … SELECT.
A settlement may have closed 40,000 debts; as instances these would take 5 s and 40 MB.
"""

from typing import Any

import orjson
from django.db import connection
from django.utils import timezone

from splits.models.allocation import recompute
from splits.models.deleted import DeletedEntry
from tripcompanion.compiled import ArrayParam
from trips.models import Member

#: The kept allocations, with the columns of an `AllocationRow`.
_KEPT = {
    "postgresql": """
        SELECT trip_id, item::text AS text, (item->>0)::bigint AS id, (item->>1)::bigint AS debt_id,
            (item->>2)::bigint AS settlement_id, (item->>3)::bigint AS closed_by_id,
            (item->>4)::bigint AS amount_minor, (item->>5)::timestamptz AS covered_at
        FROM splits_deletedentry AS entry,
            jsonb_array_elements(stored_rows::jsonb->'allocations') AS item
        WHERE entry.id = %s AND trip_id = %s""",
    # Times are stored as UTC without an offset.
    "sqlite": """
        SELECT trip_id, value AS text, json_extract(value, '$[0]') AS id,
            json_extract(value, '$[1]') AS debt_id, json_extract(value, '$[2]') AS settlement_id,
            json_extract(value, '$[3]') AS closed_by_id,
            json_extract(value, '$[4]') AS amount_minor,
            replace(replace(json_extract(value, '$[5]'), 'T', ' '), '+00:00', '') AS covered_at
        FROM splits_deletedentry AS entry, json_each(stored_rows, '$.allocations')
        WHERE entry.id = %s AND trip_id = %s""",
}
#: The kept offsets, with the columns of an `OffsetRow`.
_OFFSETS = {
    "postgresql": """
        SELECT trip_id, (item->>0)::bigint AS id, (item->>1)::bigint AS closing_id,
            (item->>2)::bigint AS sender_id, (item->>3)::bigint AS receiver_id,
            (item->>4)::bigint AS amount_minor
        FROM splits_deletedentry AS entry,
            jsonb_array_elements(stored_rows::jsonb->'offsets') AS item
        WHERE entry.id = %s AND trip_id = %s""",
    "sqlite": """
        SELECT trip_id, json_extract(value, '$[0]') AS id,
            json_extract(value, '$[1]') AS closing_id, json_extract(value, '$[2]') AS sender_id,
            json_extract(value, '$[3]') AS receiver_id,
            json_extract(value, '$[4]') AS amount_minor
        FROM splits_deletedentry AS entry, json_each(stored_rows, '$.offsets')
        WHERE entry.id = %s AND trip_id = %s""",
}
_INSERT_OFFSETS = """
    INSERT INTO splits_settlement (
        id, trip_id, closing_id, sender_id, receiver_id, amount_minor, credit_minor, settled_on,
        note, created_by_id, created_at
    )
    SELECT kept.id, kept.trip_id, kept.closing_id, kept.sender_id, kept.receiver_id,
        kept.amount_minor, kept.amount_minor, closing.settled_on, '', closing.created_by_id,
        closing.created_at
    FROM ({kept}) AS kept JOIN splits_settlement AS closing
        ON closing.id = kept.closing_id AND closing.trip_id = kept.trip_id"""
#: With more rows, PostgreSQL would compare those that `_AMONG` leaves with each other.
_FEW_ROWS = 500
#: Without it, each row would be compared with all of a trip that PostgreSQL has not analysed.
_AMONG = {"postgresql": "= ANY(%s::bigint[])", "sqlite": "IN (SELECT value FROM json_each(%s))"}
#: With the rows that they name, which may be deleted.
_JOINED = """({kept}) AS kept
    LEFT JOIN splits_debt AS debt
        ON debt.id = kept.debt_id AND debt.trip_id = kept.trip_id AND debt.id {among}
    LEFT JOIN splits_settlement AS settlement ON settlement.id = kept.settlement_id
        AND settlement.trip_id = kept.trip_id AND settlement.id {among}
    LEFT JOIN splits_settlement AS closing ON closing.id = kept.closed_by_id
        AND closing.trip_id = kept.trip_id AND closing.id {among}"""
_LACKS_ONE = """(kept.debt_id IS NOT NULL AND debt.id IS NULL
    OR kept.settlement_id IS NOT NULL AND settlement.id IS NULL
    OR kept.closed_by_id IS NOT NULL AND closing.id IS NULL)"""
#: What earlier rows leave of a debt, or of a settlement; all if the row names none. None of them
#: takes more than the other side has. What closes comes first: a closing is put back whole.
_LEFT = """COALESCE({column} - COALESCE(
    SUM({least}(kept.amount_minor, COALESCE({other}, kept.amount_minor)))
    FILTER (WHERE kept.{side} IS NOT NULL) OVER (
        PARTITION BY kept.{side} ORDER BY kept.closed_by_id IS NULL, kept.id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0), kept.amount_minor)"""
_INSERT = """
    INSERT INTO splits_allocation (
        id, trip_id, debt_id, settlement_id, closed_by_id, amount_minor
    )
    SELECT * FROM (
        SELECT kept.id, kept.trip_id, kept.debt_id, kept.settlement_id, kept.closed_by_id,
            {least}(kept.amount_minor, {of_debt}, {of_credit}) AS left_minor
        FROM {joined} WHERE NOT {lacks_one}
    ) AS fitting WHERE left_minor > 0"""
#: How much each debt has in the new rows.
_USED = """
    SELECT allocation.debt_id AS row_id, SUM(allocation.amount_minor) AS minor,
        MAX(kept.covered_at) AS covered_at
    FROM ({kept}) AS kept JOIN splits_allocation AS allocation
        ON allocation.id = kept.id AND allocation.trip_id = kept.trip_id
    WHERE allocation.debt_id IS NOT NULL GROUP BY allocation.debt_id"""
_OWED = """
    SELECT debtor_id, SUM(allocation.amount_minor) FROM splits_allocation AS allocation
    JOIN splits_debt AS debt ON debt.id = allocation.debt_id AND debt.trip_id = %s
    WHERE allocation.trip_id = %s AND allocation.id {among} AND debt.id {among}
    GROUP BY debtor_id"""
_COVER = """
    UPDATE splits_debt SET open_minor = open_minor - used.minor,
        covered_at = CASE WHEN open_minor = used.minor THEN COALESCE(used.covered_at, %s) END
    FROM ({used}) AS used WHERE splits_debt.id = used.row_id AND splits_debt.trip_id = %s
        AND splits_debt.id {among}"""
_MISSED = "SELECT kept.text FROM {joined} WHERE {lacks_one}"


def insert_offsets(entry: DeletedEntry) -> None:
    """Insert the offsets of the entry, with their whole amounts as credit."""
    with connection.cursor() as cursor:
        statement = _INSERT_OFFSETS.format(kept=_OFFSETS[connection.vendor])
        cursor.execute(statement, [entry.pk, entry.trip_id])


def allocate_again(entry: DeletedEntry) -> list[list[Any]]:
    """Allocate what was allocated, as far as enough is left on both sides, oldest first.

    Returns the rows whose debt or settlement does not exist.
    """
    is_postgresql, trip_id = connection.vendor == "postgresql", entry.trip_id
    key, kept, among = [entry.pk, trip_id], _KEPT[connection.vendor], _AMONG[connection.vendor]
    rows = entry.stored["allocations"]
    ids, *named = (ArrayParam.text({row[at] for row in rows if row[at]}) for at in range(4))
    joined = {"joined": _JOINED.format(kept=kept, among=among), "lacks_one": _LACKS_ONE}
    cover = _COVER.format(used=_USED.format(kept=kept), among=among)
    joins_many = is_postgresql and len(rows) > _FEW_ROWS
    least, debt = "LEAST" if is_postgresql else "MIN", "debt.open_minor"
    money = "settlement.credit_minor"
    insert = _INSERT.format(
        least=least,
        of_debt=_LEFT.format(column=debt, side="debt_id", other=money, least=least),
        of_credit=_LEFT.format(column=money, side="settlement_id", other=debt, least=least),
        **joined,
    )
    with connection.cursor() as cursor:
        if joins_many:
            cursor.execute("SET LOCAL enable_nestloop = off")
        cursor.execute(insert, [*key, *named])
        cursor.execute(_OWED.format(among=among), [trip_id, trip_id, ids, named[0]])
        owed = {user_id: {"owed_minor": -int(minor)} for user_id, minor in cursor.fetchall()}
        Member.increment_balances(trip_id, owed)
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        # The values are in the order of the text: the time stands before the rows.
        cursor.execute(cover, [now, *key, trip_id, named[0]])
        recompute(trip_id, [], (row[2] for row in rows))
        cursor.execute(_MISSED.format(**joined), [*key, *named])
        missed = [orjson.loads(text) for (text,) in cursor.fetchall()]
        if joins_many:
            cursor.execute("SET LOCAL enable_nestloop TO DEFAULT")
        return missed
