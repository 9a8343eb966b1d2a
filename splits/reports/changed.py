"""Which trips were written since an audit, as PostgreSQL's row versions tell.

Every row names the transaction that wrote it (`xmin`), so changes need no extra record, and changes
by hand count too. What was written while an old transaction was open, in any database of the
server, counts as written since. A row that was deleted by hand is not noticed; the full audit finds
it.
"""

from typing import Any

from django.db import connection

from splits.models import AuditRun

#: The trip of each row of the tables that an audit reads.
_ROWS = """
    SELECT row.id FROM trips_trip row WHERE {is_new}
    UNION SELECT row.trip_id FROM trips_member row WHERE {is_new}
    UNION SELECT row.trip_id FROM splits_expense row WHERE {is_new}
    UNION SELECT row.trip_id FROM splits_debt row WHERE {is_new}
    UNION SELECT row.trip_id FROM splits_settlement row WHERE {is_new}
    UNION SELECT row.trip_id FROM splits_payer row WHERE {is_new}
    UNION SELECT row.trip_id FROM splits_split row WHERE {is_new}
    UNION SELECT row.trip_id FROM splits_allocation row WHERE {is_new}
"""
_CHANGED = _ROWS.format(is_new="age(row.xmin) <= %(age)s")
#: Transactions are compared by their last 32 bits, of which `age` uses 31.
_XIDS = 2**32
_MAX_DISTANCE = 2**31 - 10_000_000


def snapshot_position() -> int | None:
    """The first transaction that the current snapshot may not see; None on SQLite and Citus."""
    if connection.vendor != "postgresql":
        return None
    if _row("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')")[0]:
        # Each node counts its own transactions.
        return None
    [position] = _row("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
    return int(position)


def changed_trips() -> list[int] | None:
    """The trips that were written since the last audit without differences, by id.

    None if only a full audit can tell: on SQLite and Citus, before the first audit, and after a
    restore. Call it in the snapshot of the audit.
    """
    position = snapshot_position()
    silent = AuditRun.objects.filter(difference_count=0, snapshot__isnull=False)
    last = silent.order_by("-pk").first()
    if position is None or last is None or last.snapshot is None:
        return None
    if not 0 <= position - last.snapshot <= _MAX_DISTANCE:
        return None
    [age] = _row("SELECT age(%s::text::xid)", str(last.snapshot % _XIDS))
    [age_of_run] = _row("SELECT age(xmin) FROM splits_auditrun WHERE id = %s", last.pk)
    if age_of_run > age:
        # The run was restored from a backup: its transaction belongs to another server.
        return None
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED, {"age": age})
        return sorted(trip_id for (trip_id,) in cursor.fetchall())


def _row(sql: str, *values: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()
