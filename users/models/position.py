"""The position from which on an account may read on a replica; see `database/replica.py`.

It is that of PostgreSQL's write-ahead log after the last change by the account, in whatever
session, or of its rights. It is stored after the COMMIT, because a transaction does not know where
in the log it will end, and before the response. Without a replica nothing is stored.
"""

import logging
from collections.abc import Iterable

from django.conf import settings
from django.db import connection, transaction

from tripcompanion.database.watching import DATABASE_AWAY

logger = logging.getLogger(__name__)

#: One message, and one transaction. What is committed by now is before the end of the log on the
#: disk, unless commits do not wait for the disk. This one need not: after a crash of the primary,
#: the account may miss as much as all others. A position beyond the end is of another server.
_STORE = """
    SELECT set_config('tripcompanion.position', pg_wal_lsn_diff(
        CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
            ELSE pg_current_wal_flush_lsn() END, '0/0')::text, true);
    SET LOCAL synchronous_commit = off;
    UPDATE users_user SET wal_position = CASE
        WHEN wal_position <= pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')
        THEN GREATEST(wal_position, current_setting('tripcompanion.position')::bigint)
        ELSE current_setting('tripcompanion.position')::bigint END
    WHERE id IN (
        SELECT id FROM users_user WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE
    )
    RETURNING wal_position
"""


def store_position(user_ids: Iterable[int]) -> int | None:
    """Make these accounts read what is committed by now; return the position.

    None if the database is away: then they may miss as much as all others.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(_STORE, [list(user_ids)])
            while cursor.nextset():
                pass
            row = cursor.fetchone()
    except DATABASE_AWAY as error:
        logger.warning("The position for reads on the replica was not stored", exc_info=error)
        return None
    return row[0] if row else None


def store_position_after_commit(user_ids: Iterable[int]) -> None:
    """Like `store_position`, once the current transaction is committed."""
    ids = list(user_ids)
    if ids and settings.DATABASE_REPLICA_URL:
        transaction.on_commit(lambda: store_position(ids))
