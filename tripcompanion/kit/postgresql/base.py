"""Django's PostgreSQL, which stays open between requests: it notices when the server has gone.

To connect, or to take a connection from a pool and set it up, is a tenth of a small read. Each
thread of the service keeps one connection instead, and the statements that it has prepared there.
"""

from select import POLLIN, poll
from typing import Any

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

from tripcompanion.kit.postgresql.cursors import BinaryCursor, PreparedNames, PreparingCursor


class DatabaseWrapper(base.DatabaseWrapper):
    """One connection of one thread."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.prepared = PreparedNames()
        self._spare: PreparingCursor | None = None
        return super().get_new_connection(conn_params)

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
