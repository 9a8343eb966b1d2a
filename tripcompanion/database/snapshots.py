"""Snapshots: all reads of a response see the same state of the database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from psycopg import IsolationLevel

Answer = TypeVar("Answer")


class StatementChanged(OperationalError):
    """A prepared statement is missing, or its table has changed; a retry succeeds."""


@contextmanager
def snapshot() -> Iterator[None]:
    """All reads inside see one state, even if others write meanwhile. Do not write inside.

    Readers do not wait for writers, nor writers for readers. Inside a transaction this does
    nothing, for example in a request with an `Idempotency-Key`.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    if database.in_atomic_block:
        yield
    elif database.vendor == "postgresql":
        with _repeatable_read(database):
            yield
    else:
        with _deferred(database):
            yield


@contextmanager
def _deferred(database: Any) -> Iterator[None]:
    """An SQLite transaction that does not take the write lock, unlike the others here.

    `transaction_mode` is Django's attribute for the option of that name; it is read when a
    transaction begins.
    """
    database.ensure_connection()
    mode, database.transaction_mode = database.transaction_mode, "DEFERRED"
    try:
        with transaction.atomic(using=database.alias):
            database.transaction_mode = mode
            yield
    finally:
        database.transaction_mode = mode


@contextmanager
def _repeatable_read(database: Any) -> Iterator[None]:
    """A transaction whose statements all see what was committed when the first one began.

    psycopg sets the isolation level in its BEGIN, so this needs no additional statement.
    """
    database.close_if_health_check_failed()
    database.ensure_connection()
    connection = database.connection
    with database.wrap_database_errors:
        connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        with transaction.atomic(using=database.alias):
            yield
    finally:
        # After a lost connection Django opens a new one.
        if not connection.closed:
            connection.isolation_level = connection.read_only = None


def in_snapshot(read: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
    """The result of `read` in a snapshot; `read` runs again after a `StatementChanged`."""
    is_outermost = not connections[DEFAULT_DB_ALIAS].in_atomic_block
    try:
        with snapshot():
            return read(*args, **kwargs)
    except StatementChanged:
        if not is_outermost:
            raise
    with snapshot():
        return read(*args, **kwargs)
