"""The cursor for compiled statements, which stay prepared on PostgreSQL.

If the connection's `prepare_threshold` is None, Django's default, this is Django's own cursor. Its
messages need no statement that the server keeps, not even an unnamed one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from psycopg import errors

#: PostgreSQL's function that rejects a statement whose columns have changed their types.
_REFUSES_CHANGED_COLUMNS = "RevalidateCachedQuery"


class StatementChanged(OperationalError):
    """A prepared statement is missing, or its table has changed; a retry succeeds."""


@contextmanager
def prepared_cursor(database: Any = None) -> Iterator[Any]:
    """A cursor; on PostgreSQL, one that prepares statements and reads binary values.

    With query logging or a `prepare_threshold` of None, this is Django's own cursor. Both call the
    connection's `execute_wrappers`. A backend may have a subclass of `PreparingCursor` of its own
    as `preparing_cursor_class`.
    """
    database = database or connections[DEFAULT_DB_ALIAS]
    if database.vendor == "postgresql" and not database.queries_logged:
        database.close_if_health_check_failed()
        database.ensure_connection()
        if database.connection.prepare_threshold is not None:
            database.validate_no_broken_transaction()
            cursor_class = getattr(database, "preparing_cursor_class", PreparingCursor)
            with database.wrap_database_errors, cursor_class(database.connection) as cursor:
                cursor.database = database
                yield cursor
            return
    with database.cursor() as cursor:
        yield cursor


def execute(sql: str, values: Sequence[Any]) -> None:
    """Run a statement that returns nothing."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run a statement and return its rows."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def fetch_chunks(sql: str, values: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Run a statement and yield at most `size` of its rows at a time."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)
        rows = cursor.fetchmany(size)
        while len(rows) == size:
            yield rows
            rows = cursor.fetchmany(size)
    # Most results are short; their cursor is closed by now.
    if rows:
        yield rows


class PreparingCursor(psycopg.Cursor[Any]):
    """Prepares each statement once, and then sends only its name and values."""

    #: Django's connection, whose `execute_wrappers` are called as Django's own cursor does.
    database: Any = None

    def execute(self, query: Any, params: Any = None, **_options: Any) -> "PreparingCursor":
        """Run `query`, with `%s` for each of `params`.

        If the statement has changed, raises `StatementChanged` inside a transaction, and prepares
        it again outside.
        """
        if self.database is None or not self.database.execute_wrappers:
            return self._execute(query, params)
        run: Any = self._execute
        for wrapper in reversed(self.database.execute_wrappers):
            run = partial(wrapper, run)
        run(query, params, False, {"connection": self.database, "cursor": self})
        return self

    def _execute(self, query: Any, params: Any, *_many_and_context: Any) -> "PreparingCursor":
        values = _without_types(params)
        try:
            return self.send(query, values)
        except psycopg.Error as error:
            if not _has_changed(error):
                raise
            if not self.connection.autocommit:
                # psycopg forgets its statements at the rollback that follows.
                raise StatementChanged(str(error)) from error
        # psycopg also forgets them when it sends this.
        self.connection.execute("DEALLOCATE ALL")
        return self.send(query, values)

    def send(self, query: Any, values: Sequence[Any]) -> "PreparingCursor":
        """Prepare `query` if it is not prepared, and run it; integers are text."""
        return super().execute(query, values, prepare=True, binary=True)


def _without_types(values: Sequence[Any]) -> list[Any]:
    """The values with each integer as text, so that PostgreSQL infers its type.

    psycopg sends an integer with 16, 32 or 64 bits, depending on its size. Each size would need
    its own statement, and expressions would be computed with as few bits.
    """
    return [_without_type(value) for value in values]


def _without_type(value: Any) -> Any:
    if type(value) is list:
        return _without_types(value)
    return str(value) if type(value) is int else value


def _has_changed(error: psycopg.Error) -> bool:
    """Whether the statement is missing, exists already, or was prepared for other columns."""
    if isinstance(error, errors.FeatureNotSupported):
        return error.diag.source_function == _REFUSES_CHANGED_COLUMNS
    return isinstance(error, errors.InvalidSqlStatementName | errors.DuplicatePreparedStatement)
