"""The ways in which a kept statement is sent to PostgreSQL."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

if TYPE_CHECKING:
    from tripcompanion.kit.postgresql.base import DatabaseWrapper

#: The server no longer has a statement, or no longer as it was: a table changed meanwhile.
_GONE = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)


class BinaryCursor(psycopg.Cursor[Any]):
    """psycopg's own, for a statement that Django is to log; it reads binary values too."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.format = Format.BINARY


class PreparedNames(dict[str, bytes]):
    """The statements that a connection knows, with their names there."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count(1)

    def new_name(self) -> bytes:
        """A name that no statement has had."""
        return f"kept_{next(self._numbers)}".encode()


class PreparingCursor:
    """Prepares each text once, and from then on sends nothing but its name and values.

    That is one call of libpq, where psycopg's cursor looks at the text and at the types of the
    values each time. The server infers the types, so there is one statement for a text.
    """

    def __init__(self, database: "DatabaseWrapper") -> None:
        self._database = database
        self.connection: Any = database.connection
        self._values = Transformer(self.connection)
        self._at = self.rowcount = 0

    def __enter__(self) -> "PreparingCursor":
        return self

    def __exit__(self, *error: object) -> None:
        # An answer stays in memory as long as it can be read.
        self._values.set_pgresult(None)
        self._database.take_back(self)

    def execute(self, query: str, values: Sequence[Any]) -> None:
        """Run `query`, with `%s` for each of `values`."""
        self._database.validate_no_broken_transaction()
        with self._database.wrap_database_errors:
            try:
                self._execute(query, values)
            except _GONE:
                self._database.prepared.clear()
                if not self.connection.autocommit:
                    raise
                self._execute(query, values)

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        """The next rows, at most so many."""
        start, self._at = self._at, min(self._at + size, self.rowcount)
        return self._values.load_rows(start, self._at, tuple)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.fetchmany(self.rowcount)

    def _execute(self, query: str, values: Sequence[Any]) -> None:
        self._begin()
        name = self._database.prepared.get(query) or self._prepare(query)
        texts = self._values.dump_sequence(values, [PyFormat.TEXT] * len(values))
        found = self.connection.pgconn.exec_prepared(name, texts, None, Format.BINARY)
        self._require_success(found)
        self._values.set_pgresult(found)
        self._at, self.rowcount = 0, found.ntuples

    def _begin(self) -> None:
        """As psycopg does: a transaction begins with the first statement that is sent in it."""
        server = self.connection.pgconn
        if not self.connection.autocommit and server.transaction_status == TransactionStatus.IDLE:
            self._require_success(server.exec_(b"BEGIN"))

    def _prepare(self, query: str) -> bytes:
        first, *others = query.split("%s")
        text = first + "".join(f"${at}{other}" for at, other in enumerate(others, start=1))
        name = self._database.prepared.new_name()
        answer = self.connection.pgconn.prepare(name, text.replace("%%", "%").encode())
        self._require_success(answer)
        self._database.prepared[query] = name
        return name

    def _require_success(self, answer: PGresult) -> None:
        if answer.status in {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}:
            return
        error = errors.error_from_result(answer)
        if self.connection.closed:
            # Without a server there is nobody to say what kind of error it is.
            error = psycopg.OperationalError(str(error))
        raise error
