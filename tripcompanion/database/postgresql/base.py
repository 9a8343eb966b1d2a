"""Django's PostgreSQL backend, with a time limit on every wait for the server.

It subclasses Django's backend, as Django's documentation describes, for seven reasons:

- A stopped server, or a proxy that drops packets, keeps the connection open and never answers, so
  no server or TCP time-out helps. `BoundedConnection` overrides `psycopg.Connection.wait`, which
  psycopg calls for every wait: for cursors, COMMIT and ROLLBACK. The method has a public name and
  a docstring, but psycopg's manual does not list it. Fault F27 of `make chaos` tests it.
- Through a pooler that mixes statements up, none is prepared; see `init_connection_state`.
- The foreign keys of many rows are checked before COMMIT; see `BoundedConnection.commit`.
- `OPTIONS["is_pooled"]` says that a pooler may run each transaction on another server connection.
  Then no setting and no cursor outlives a transaction; see `cursors.py` and `chunked_cursor`.
- Statements that are the same in every request stay prepared; see `prepared_cursor`.
- The check of a persistent connection needs no statement; see `is_usable`.
- Timestamps in text are read by `datetime.fromisoformat`, binary JSON as text; see `loaders.py`.

To use Django's backend instead, set `django.db.backends.postgresql` and remove `wait_seconds`,
`is_pooled` and `local_settings`.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from select import POLLIN, poll
from types import MappingProxyType
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors
from psycopg.abc import PQGen

from tripcompanion.database.postgresql.cursors import LocalSettingsCursor, PreparingCursor
from tripcompanion.database.postgresql.loaders import InstantLoader, JsonLoader
from tripcompanion.observability.instruments import database_time

Answer = TypeVar("Answer")
#: How long to wait for a connection that cancels a statement.
_CANCEL_SECONDS = 1
#: Analyses tables that a tenth was written to. What was deleted from one still fills its indexes.
_CHECK = (
    "SELECT concat('ANALYZE (SKIP_LOCKED) ' || string_agg(relid::regclass::text, ', ') || '; ', "
    "'DISCARD PLANS; SET CONSTRAINTS ALL IMMEDIATE') FROM pg_stat_xact_user_tables "
    "JOIN pg_class ON oid = relid WHERE n_tup_ins + n_tup_upd > 50 + reltuples / 10"
)


class OutcomeUnknown(psycopg.OperationalError):
    """The connection ended during COMMIT, so the transaction may be committed or rolled back."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection with a time limit on every wait for the server."""

    #: How long one answer may take; None means no limit.
    wait_seconds: float | None = None
    #: PostgreSQL's settings by name. Each transaction begins with a `SET LOCAL` of them.
    local_settings: Mapping[str, str] = MappingProxyType({})
    #: Whether that includes the transaction of a statement outside of a transaction block.
    bounds_single_statements = False
    #: Whether a statement since the last COMMIT has written many rows.
    has_written_many = False

    def wait(
        self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None
    ) -> Answer:
        """Run `gen` to its end. After a time-out the connection is closed."""
        started = time.perf_counter()
        try:
            return super().wait(gen, interval, self.wait_seconds if timeout is None else timeout)
        except psycopg.OperationalError:
            if self.info.transaction_status.name == "ACTIVE":
                self._give_up()
            raise
        finally:
            database_time.seconds += time.perf_counter() - started

    def _give_up(self) -> None:
        """Cancel the statement and close the connection.

        A COMMIT may wait for a synchronous standby, which no time-out of the server limits. While
        it waits, it holds its locks. After the cancellation it is committed without the standby.
        """
        if psycopg.capabilities.has_cancel_safe():
            with suppress(psycopg.Error):
                self.cancel_safe(timeout=_CANCEL_SECONDS)
        # A late answer would be taken for that of the next statement.
        self.close()

    def commit(self) -> None:
        """Commit; raises `OutcomeUnknown` if the connection ends before the server's answer.

        The foreign keys of many rows are checked before, as a statement with a time-out. Nobody's
        plans are used any more that read all of a table for each row, because it was small.
        """
        if self.has_written_many:
            self.has_written_many = False
            [[check]] = self.execute(_CHECK).fetchall()
            self.execute(check)
        try:
            super().commit()
        except psycopg.OperationalError as error:
            if self.closed:
                raise OutcomeUnknown(str(error)) from error
            raise


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of one thread.

    `OPTIONS` may contain `wait_seconds`: how long to wait for each answer of the server;
    `is_pooled`; and `local_settings`, which every transaction and statement begins with.
    """

    #: psycopg's connection.
    connection: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = self.settings_dict["OPTIONS"]
        self.is_pooled = bool(options.get("is_pooled"))
        #: A change applies from the next transaction on.
        self.local_settings: dict[str, str] = dict(options.get("local_settings", {}))
        self._last_cursor: PreparingCursor | None = None

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        for name in ("wait_seconds", "is_pooled", "local_settings"):
            params.pop(name, None)
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """As Django does without a pool and without a configured isolation level."""
        self.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection = BoundedConnection.connect(**conn_params)
        options = self.settings_dict["OPTIONS"]
        connection.adapters.register_loader("timestamptz", InstantLoader)
        connection.adapters.register_loader("jsonb", JsonLoader)
        connection.cursor_factory = LocalSettingsCursor
        connection.wait_seconds = options.get("wait_seconds")
        connection.local_settings = self.local_settings
        connection.bounds_single_statements = bool(options.get("local_settings"))
        return connection

    def init_connection_state(self) -> None:
        """As Django does, but prepare statements through a pooler only if that is safe.

        psycopg numbers the names of its statements for each connection. A pooler that switches a
        client between server connections would run another client's statement of the same name,
        unless it gives the statements names of its own. It reports a process id that is not the
        server's. If the settings do not mention the pooler, nothing is prepared.

        Raises `psycopg.OperationalError` if the time zone would have to be set for the session of
        a pooler, or if the pooler does not support the prepared statements that are asked for.
        """
        if self.is_pooled:
            self._require_time_zone()
        super().init_connection_state()
        if self.connection.prepare_threshold is None:
            return
        (process_id,) = self.connection.execute("SELECT pg_backend_pid()").fetchone()
        if process_id == self.connection.info.backend_pid:
            return
        if self.is_pooled:
            self._require_pooled_statements()
        else:
            self.connection.prepare_threshold = None

    def _require_time_zone(self) -> None:
        zone = self.connection.info.parameter_status("TimeZone")
        if zone != self.timezone_name:
            raise psycopg.OperationalError(
                f"the time zone is {zone}, because the pooler does not pass on the start-up "
                f"parameter TimeZone ({self.timezone_name})"
            )

    def _require_pooled_statements(self) -> None:
        """Raise unless the pooler names statements itself and notices that they are deallocated.

        psycopg deallocates all of them after a rollback.
        """
        # How many statements the server knows by names as psycopg gives them.
        listing = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE %s"
        refusals = (errors.DuplicatePreparedStatement, errors.InvalidSqlStatementName)
        with suppress(*refusals), self.connection.transaction():
            cursor: psycopg.Cursor[Any] = psycopg.Cursor(self.connection)
            (passed_on,) = cursor.execute(listing, ["_pg3_%"], prepare=True).fetchone() or (1,)
            self.connection.execute("DEALLOCATE ALL")
            if not passed_on:
                cursor.execute(listing, ["_pg3_%"], prepare=True)
                return
        raise psycopg.OperationalError(
            "the pooler does not support prepared statements: DATABASE_PREPARE=true needs "
            "PgBouncer 1.22 or newer with max_prepared_statements above 0"
        )

    def prepared_cursor(self) -> Any:
        """A cursor that keeps statements prepared on the server and reads binary values.

        Use it in a `with` block: afterwards it may run the next statement of somebody else.
        With query logging or a `prepare_threshold` of None, this is Django's own cursor, whose
        messages need no statement that the server keeps, not even an unnamed one.
        """
        if not self.queries_logged:
            self.close_if_health_check_failed()
            self.ensure_connection()
            if self.connection.prepare_threshold is not None:
                self.validate_no_broken_transaction()
                cursor = self._last_cursor
                if cursor is None or not cursor.serves(self.connection):
                    cursor = self._last_cursor = PreparingCursor(self.connection, self)
                return cursor
        return self.cursor()

    def chunked_cursor(self) -> Any:
        """A server-side cursor; outside of a transaction of a pooler, a client-side cursor.

        Django would declare it `WITH HOLD`, and the next `FETCH` could reach another server.
        """
        if not self.is_pooled:
            return super().chunked_cursor()
        if not self.in_atomic_block:
            return self.cursor()
        self.ensure_connection()
        if self.local_settings and self.connection.info.transaction_status.name == "IDLE":
            with self.cursor() as cursor:
                # The declaration of a cursor would begin the transaction without them.
                cursor.execute("SELECT 1")
        return super().chunked_cursor()

    def set_autocommit(
        self, autocommit: bool, force_begin_transaction_with_broken_autocommit: bool = False
    ) -> None:
        """As Django does, but do not reconnect at the end of a lost transaction.

        A new connection starts in this mode anyway, and waiting for it would double the time until
        an unresponsive database is reported.
        """
        if self.connection is not None or not autocommit:
            super().set_autocommit(autocommit, force_begin_transaction_with_broken_autocommit)

    def is_usable(self) -> bool:
        """Whether the connection is open; Django checks this before a request's first statement.

        On an idle connection there is nothing to read unless the server has closed it. Checking
        that needs no statement: it takes 2 microseconds, while Django's `SELECT 1` takes a round
        trip and 45 microseconds of CPU time.
        """
        if self.connection.info.transaction_status.name != "IDLE":
            return False
        waiting = poll()
        waiting.register(self.connection.fileno(), POLLIN)
        return not waiting.poll(0)
