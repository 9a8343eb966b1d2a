"""Reads on a replica of the database, `DATABASE_REPLICA_URL`.

Authentication and throttles have used the primary by then. A read takes place on the replica if
that has replayed

- the position that the caller needs: of the last change by them, or of their rights,
- the position in the header `X-Consistency`, if the request has one, and
- what was committed `DATABASE_REPLICA_MAX_LAG` seconds ago, which limits what others may miss.

Otherwise, and whenever the replica does not answer with a success, it takes place on the primary.

While a read runs, a connection to the replica takes the place of `default` in Django's
`connections`. A database router would reach the querysets only: compiled statements, snapshots
and SQL by hand take the connection from there, and rows would remember where they came from.

Positions are those of PostgreSQL's write-ahead log (WAL), as numbers of bytes.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue
from threading import Lock
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.http import Http404
from rest_framework.exceptions import APIException

from tripcompanion.observability.instruments import READS, REPLICA_FALLBACKS

Answer = TypeVar("Answer")

#: The alias of the replica in `DATABASES`.
REPLICA = "replica"
HEADER = "X-Consistency"
#: As PostgreSQL writes a position.
_POSITION = re.compile(r"([0-9A-F]{1,8})/([0-9A-F]{1,8})")
#: Beyond any log: what needs this position is read on the primary.
NEVER = 2**64
#: How long a replica that could not be reached is not tried again.
_RETRY_SECONDS = 5
#: How long to wait for its position, which takes it no time.
_POSITION_SECONDS = 1
#: How often the position of the primary is noted during the greatest lag.
_NOTES = 5

_COMMITTED = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint"
#: Null on a server that is no standby.
_REPLAYED = (
    "SELECT CASE WHEN pg_is_in_recovery() "
    "THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint END"
)
#: Since the last commit that it has. Meaningless while the primary writes nothing.
_SECONDS = (
    "SELECT COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)"
)
#: A refusal may have its cause in something that the replica does not have yet.
_REFUSALS = (APIException, Http404, PermissionDenied)


class ReplicaUnusable(Exception):
    """The replica cannot be used for a read; the argument is the reason in a word."""


def as_text(position: int) -> str:
    """A position as PostgreSQL writes it, such as `16/B374D848`."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def named_position(text: str | None) -> int:
    """The position in a header; 0 without one. For any other text, the primary has to answer."""
    if text is None:
        return 0
    found = _POSITION.fullmatch(text)
    return (int(found[1], 16) << 32) + int(found[2], 16) if found else NEVER


def read(handler: Callable[..., Answer], position: int, *args: Any, **kwargs: Any) -> Answer:
    """The result of a handler that only reads: on the replica if it has replayed `position`."""
    if not connections[DEFAULT_DB_ALIAS].in_atomic_block:
        try:
            with _replica.in_place_of_primary(position):
                answer = handler(*args, **kwargs)
        except _REFUSALS:
            REPLICA_FALLBACKS.labels("refused").inc()
        except ReplicaUnusable as reason:
            REPLICA_FALLBACKS.labels(str(reason)).inc()
        except (DatabaseError, InterfaceError):
            REPLICA_FALLBACKS.labels("failed").inc()
        else:
            READS.labels("replica").inc()
            return answer
    READS.labels("primary").inc()
    return handler(*args, **kwargs)


@contextmanager
def reading_for_long() -> Iterator[None]:
    """Read on the replica inside, for a command. Raises `ReplicaUnusable` at the start."""
    if not settings.DATABASE_REPLICA_URL:
        raise ReplicaUnusable("there is none")
    replica = _Replica(1)
    try:
        with replica.in_place_of_primary(0):
            yield
    finally:
        replica.close()


def measured_lag() -> tuple[int, float] | None:
    """The bytes and seconds by which the replica is behind; None if it is away or no standby."""
    committed = _number(connections[DEFAULT_DB_ALIAS], _COMMITTED)
    connection = _new_connection()
    try:
        connection.ensure_connection()
        connection.connection.wait_seconds = _POSITION_SECONDS
        replayed = _number(connection, _REPLAYED)
        if replayed is None:
            return None
        behind = max(0, committed - replayed)
        return behind, float(_number(connection, _SECONDS)) if behind else 0.0
    except (DatabaseError, InterfaceError):
        return None
    finally:
        connection.close()


class _Replica:
    """The connections of this process to the replica."""

    def __init__(self, count: int) -> None:
        self._free: LifoQueue[Any] = LifoQueue()
        for _number in range(count):
            self._free.put(None)
        self._connecting = Lock()
        self._retry_at = 0.0
        #: How far the primary had got in the last seconds, as seen by this process.
        self._seen: tuple[tuple[float, int], ...] = ()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while not self._free.empty():
            if (connection := self._free.get_nowait()) is not None:
                connection.close()

    @contextmanager
    def in_place_of_primary(self, position: int) -> Iterator[None]:
        """Use the replica as `default`.

        Raises `ReplicaUnusable` unless it has replayed `position`, and does not lag.
        """
        if position >= NEVER:
            raise ReplicaUnusable("header")
        if time.monotonic() < self._retry_at:
            raise ReplicaUnusable("away")
        try:
            connection = self._free.get_nowait() or _new_connection()
        except Empty:
            raise ReplicaUnusable("busy") from None
        primary = connections[DEFAULT_DB_ALIAS]
        try:
            self._require(connection, position)
            connections[DEFAULT_DB_ALIAS] = connection
            yield
        finally:
            connections[DEFAULT_DB_ALIAS] = primary
            if connection.connection is not None and connection.connection.closed:
                # It was lost, or did not answer in time.
                self._retry_at = time.monotonic() + _RETRY_SECONDS
                connection.close()
            else:
                connection.close_if_unusable_or_obsolete()
            self._free.put(connection)

    def _require(self, connection: Any, position: int) -> None:
        """Raise `ReplicaUnusable` unless the replica has replayed `position`, and does not lag.

        The position is asked for before the read begins. A statement in its transaction would
        take the snapshot first and then tell a position that the snapshot does not contain.
        """
        connection.close_if_unusable_or_obsolete()
        connection.close_if_health_check_failed()
        if connection.connection is None:
            self._connect(connection)
        least = self._before_lag()
        replayed = self._replayed(connection)
        if replayed < position:
            raise ReplicaUnusable("behind_caller")
        if replayed < least:
            raise ReplicaUnusable("behind")

    def _before_lag(self) -> int:
        """A position that contains all that was committed before the greatest lag.

        The replica's own clock and time stamps would not do: they say nothing of a replica that
        receives nothing, or of a primary that writes nothing.
        """
        now, lag = time.monotonic(), settings.DATABASE_REPLICA_MAX_LAG
        recent = tuple(each for each in self._seen if each[0] >= now - lag)
        if not recent or recent[-1][0] < now - lag / _NOTES:
            # The time is from before the query: everything committed until then is before the
            # position.
            recent += ((now, _number(connections[DEFAULT_DB_ALIAS], _COMMITTED)),)
            self._seen = recent
        return recent[0][1]

    def _connect(self, connection: Any) -> None:
        """Connect; meanwhile no other request of this process tries to."""
        if not self._connecting.acquire(blocking=False):
            raise ReplicaUnusable("busy")
        try:
            connection.ensure_connection()
        except (DatabaseError, InterfaceError):
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            raise ReplicaUnusable("away") from None
        finally:
            self._connecting.release()

    def _replayed(self, connection: Any) -> int:
        bounded = connection.connection
        before, bounded.wait_seconds = bounded.wait_seconds, _POSITION_SECONDS
        try:
            replayed = _number(connection, _REPLAYED)
        except (DatabaseError, InterfaceError):
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            raise ReplicaUnusable("away") from None
        finally:
            bounded.wait_seconds = before
        if replayed is None:
            # It was promoted, so it may differ from the primary.
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            connection.close()
            raise ReplicaUnusable("no_standby")
        return replayed


def _new_connection() -> Any:
    """A connection to the replica that says it is the default one, and is not opened yet."""
    connection: Any = connections.create_connection(REPLICA)
    connection.alias = DEFAULT_DB_ALIAS
    # It is used by many threads, but never by two at the same time.
    connection.inc_thread_sharing()
    return connection


def _number(connection: Any, statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


_replica = _Replica(settings.DATABASE_POOL_SIZE or 4)
