"""Django's PostgreSQL, with connections that stay open between requests and never wait for ever.

To connect, or to take a connection from a pool and set it up, is a tenth of a small read. Each
thread of the service keeps one connection instead, and the statements that it has prepared there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from select import POLLIN, poll
from typing import Any

from django.db import transaction
from django.db.backends.postgresql import base
from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus

from tripcompanion.kit.postgresql.connections import BoundedConnection
from tripcompanion.kit.postgresql.cursors import BinaryCursor, PreparedNames, PreparingCursor

_BEGIN_SNAPSHOT = b"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class DatabaseWrapper(base.DatabaseWrapper):
    """One connection of one thread.

    `OPTIONS` may have `wait_seconds`: how long to wait for each answer of the server.
    """

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        params.pop("wait_seconds", None)
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """What Django does where there is no pool, with a connection whose waits end."""
        self.prepared = PreparedNames()
        self._spare: PreparingCursor | None = None
        self.isolation_level = IsolationLevel.READ_COMMITTED
        connection = BoundedConnection.connect(**conn_params)
        connection.wait_seconds = self.settings_dict["OPTIONS"].get("wait_seconds")
        return connection

    def set_autocommit(
        self, autocommit: bool, force_begin_transaction_with_broken_autocommit: bool = False
    ) -> None:
        """As Django does, but at the end of a lost transaction without connecting once more.

        A new connection is in this mode from the start, and to wait for it would double the time
        until a silent database is reported.
        """
        if self.connection is not None or not autocommit:
            super().set_autocommit(autocommit, force_begin_transaction_with_broken_autocommit)

    def kept_cursor(self) -> Any:
        """A cursor that reads binary values, and whose statements stay prepared at the server."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        if self.queries_logged or self.execute_wrappers:
            cursor = BinaryCursor(self.connection)
            return self._prepare_cursor(cursor)  # type: ignore[attr-defined]
        spare, self._spare = self._spare, None
        return spare or PreparingCursor(self)

    def take_back(self, cursor: PreparingCursor) -> None:
        """Keep a cursor that nobody reads any more, for the next statement."""
        if cursor.connection is self.connection:
            self._spare = cursor

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A transaction whose statements all read what was committed when the first one began."""
        with transaction.atomic(using=self.alias):
            # psycopg begins no transaction of its own when there is one.
            with self.wrap_database_errors:
                connection: Any = self.connection
                connection.pgconn.send_query(_BEGIN_SNAPSHOT)
                connection.answer()
            yield

    def is_usable(self) -> bool:
        """Django asks this before the first statement of each request.

        Nothing can wait to be read on a connection where nothing was asked, but that its server
        ends it. To see that takes no statement.
        """
        connection: Any = self.connection
        if connection.pgconn.transaction_status != TransactionStatus.IDLE:
            return False
        waiting = poll()
        waiting.register(connection.fileno(), POLLIN)
        return not waiting.poll(0)
