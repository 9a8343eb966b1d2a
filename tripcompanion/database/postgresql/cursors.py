"""The cursors: one as Django's, one that prepares statements; with settings for a transaction.

Settings that last for one transaction are what a pooler requires.
psycopg's `ClientCursor`, which Django uses, merges the values into the text, so that one message
may contain several statements. PostgreSQL runs them in one transaction. So `SET LOCAL` and a
statement take one round trip, and this also works outside of a transaction block. A prepared
statement travels with its settings in psycopg's pipeline, which is one transaction too.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors

from tripcompanion.database.snapshots import StatementChanged

#: PostgreSQL's function that rejects a statement whose columns have changed their types.
_REFUSES_CHANGED_COLUMNS = "RevalidateCachedQuery"
#: A cursor keeps its result until its next statement; of more rows, it is closed instead.
_MANY_ROWS = 50
#: The foreign keys of more written rows are checked before COMMIT.
_MANY_WRITTEN = 500


class LocalSettingsCursor(base.Cursor, psycopg.ClientCursor[Any]):
    """Sends the `local_settings` of its `BoundedConnection` when a transaction begins."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        local = _settings_due(self.connection)
        if local:
            begin = "".join(f"SET LOCAL {name} = '{value}'; " for name, value in local.items())
            query, params = begin + self.mogrify(query, params), None
        super().execute(query, params, **options)
        for _setting in local:
            self.nextset()
        _note_written(self)
        return self


class PreparingCursor(psycopg.Cursor[Any]):
    """Prepares each statement once, and then sends only its name and values.

    It sends the `local_settings` as `LocalSettingsCursor` does. It stays open for the next `with`
    block, unless its result is large: a new cursor takes a sixth of the time of a statement.
    """

    def __init__(self, connection: Any, database: Any) -> None:
        super().__init__(connection)
        #: Django's connection: its own cursor calls its `execute_wrappers` and translates errors.
        self.database = database
        self._is_in_use = False

    def serves(self, connection: Any) -> bool:
        """Whether it is free for the next statement on this connection."""
        return self.connection is connection and not (self._is_in_use or self.closed)

    def __enter__(self) -> Self:
        self._is_in_use = True
        return self

    def __exit__(self, *error: Any) -> None:
        self._is_in_use = False
        if self.rowcount > _MANY_ROWS:
            _note_written(self)
            self.close()
        self.database.wrap_database_errors.__exit__(*error)

    def execute(self, query: Any, params: Any = None, **_options: Any) -> "PreparingCursor":
        """Run `query`, with `%s` for each of `params`.

        If the statement has changed, raises `StatementChanged` inside a transaction, and prepares
        it again outside.
        """
        run: Any = self._execute
        for wrapper in reversed(self.database.execute_wrappers):
            run = partial(wrapper, run)
        run(query, params, False, {"connection": self.database, "cursor": self})
        return self

    def _execute(self, query: Any, params: Any, *_many_and_context: Any) -> None:
        values = _without_types(params)
        try:
            self._send(query, values)
        except psycopg.Error as error:
            if not _has_changed(error):
                raise
            if not self.connection.autocommit:
                # psycopg forgets its statements at the rollback that follows.
                raise StatementChanged(str(error)) from error
            # psycopg also forgets them when it sends this.
            self.connection.execute("DEALLOCATE ALL")
            self._send(query, values)

    def _send(self, query: Any, values: Sequence[Any]) -> None:
        """Prepare `query` if it is not prepared, and run it; integers are text."""
        local = _settings_due(self.connection)
        if not local:
            super().execute(query, values, prepare=True, binary=True)
            return
        settings = ", ".join(["set_config(%s, %s, true)"] * len(local))
        pairs = [text for pair in local.items() for text in pair]
        with self.connection.pipeline():
            psycopg.Cursor(self.connection).execute(f"SELECT {settings}", pairs, prepare=True)
            super().execute(query, values, prepare=True, binary=True)


def _note_written(cursor: Any) -> None:
    """Let the connection know if the last statement has written many rows."""
    if cursor.rowcount > _MANY_WRITTEN and not cursor.statusmessage.startswith("SELECT"):
        cursor.connection.has_written_many = True


def _without_types(values: Sequence[Any]) -> list[Any]:
    """The values with each integer as text, so that PostgreSQL infers its type.

    psycopg sends an integer with 16, 32 or 64 bits, depending on its size. Each size would need
    its own statement, and expressions would be computed with as few bits.
    """
    return [str(value) if type(value) is int else value for value in values]


def _has_changed(error: psycopg.Error) -> bool:
    """Whether the statement is missing, exists already, or was prepared for other columns."""
    if isinstance(error, errors.FeatureNotSupported):
        return error.diag.source_function == _REFUSES_CHANGED_COLUMNS
    return isinstance(error, errors.InvalidSqlStatementName | errors.DuplicatePreparedStatement)


def _settings_due(connection: Any) -> Mapping[str, str]:
    """The settings to send before the next statement: only at the beginning of a transaction."""
    if not connection.local_settings:
        return {}
    is_idle = connection.info.transaction_status.name == "IDLE"
    begins = is_idle and (connection.bounds_single_statements or not connection.autocommit)
    return connection.local_settings if begins else {}
