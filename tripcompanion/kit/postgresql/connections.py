"""A psycopg connection that waits for its server only for a limited time."""

from typing import Any, TypeVar

import psycopg
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

Answer = TypeVar("Answer")


class BoundedConnection(psycopg.Connection[Any]):
    """A connection on which every wait for an answer ends.

    A server that is stopped, or a proxy that swallows packets, keeps the connection open and never
    answers, so the server's own time-outs do not help. psycopg passes every wait of its cursors,
    of COMMIT and of ROLLBACK through `wait`; our own statements go through `answer`.
    """

    #: How long one answer may take; None is without end.
    wait_seconds: float | None = None

    def wait(
        self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None
    ) -> Answer:
        """Run `gen` to its end. After a time-out the connection is closed and never used again."""
        try:
            return super().wait(gen, interval, self.wait_seconds if timeout is None else timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                # The answer may still come; the next statement would take it for its own.
                self.close()
            raise

    def answer(self) -> PGresult:
        """The answer to the command that was just sent by one of the `send_…` of libpq."""
        found = self.wait(generators.execute(self.pgconn))[-1]
        if found.status in {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}:
            return found
        error = psycopg.errors.error_from_result(found)
        if self.closed:
            # Without a server there is nobody to say what kind of error it is.
            error = psycopg.OperationalError(str(error))
        raise error
