"""The ways in which a kept statement is sent to PostgreSQL."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format, TransactionStatus

from tripcompanion.kit.postgresql.connections import BoundedConnection
from tripcompanion.kit.snapshots import StatementChanged

if TYPE_CHECKING:
    from tripcompanion.kit.postgresql.base import DatabaseWrapper

#: The function of PostgreSQL that refuses a statement whose columns have other types by now.
_REFUSES_CHANGED_COLUMNS = "RevalidateCachedQuery"


class BinaryCursor(psycopg.Cursor[Any]):
    """psycopg's own, for a statement that Django is to log; it reads binary values too."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.format = Format.BINARY


class PreparedNames(dict[str, bytes]):
    """The statements that a connection knows, with their names there.

    A name is a hash of the text. So behind a pooler, which may hand on a server connection that
    somebody else has used, a name stands for this text or for none.
    """

    def __init__(self) -> None:
        super().__init__()
        self._forgotten_times = 0

    def name_of(self, text: bytes) -> bytes:
        """The name of a statement. After `forget` it is a new one."""
        digest = sha256(b"%d %b" % (self._forgotten_times, text)).hexdigest()
        # PostgreSQL reads 63 bytes of a name.
        return f"kept_{digest[:48]}".encode()

    def forget(self) -> None:
        """Prepare every statement anew: the server lost one, or has an outdated one."""
        self.clear()
        self._forgotten_times += 1


class PreparingCursor:
    """Prepares each text once, and from then on sends nothing but its name and values.

    That is one call of libpq, where psycopg's cursor looks at the text and at the types of the
    values each time. The server infers the types, so there is one statement for a text.
    """

    def __init__(self, database: "DatabaseWrapper") -> None:
        self._database = database
        self.connection: BoundedConnection = database.connection
        self._values = Transformer(self.connection)
        self._at = self.rowcount = 0

    def __enter__(self) -> "PreparingCursor":
        return self

    def __exit__(self, *error: object) -> None:
        # An answer stays in memory as long as it can be read.
        self._values.set_pgresult(None)
        self._database.take_back(self)

    def execute(self, query: str, values: Sequence[Any]) -> None:
        """Run `query`, with `%s` for each of `values`.

        Raises `StatementChanged` inside a transaction; outside the statement is prepared again.
        """
        self._database.validate_no_broken_transaction()
        with self._database.wrap_database_errors:
            try:
                self._execute(query, values)
            except StatementChanged:
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
        texts = self._values.dump_sequence(values, [PyFormat.TEXT] * len(values))
        try:
            name = self._database.prepared.get(query) or self._prepare(query)
            self.connection.pgconn.send_query_prepared(name, texts, None, Format.BINARY)
            found = self.connection.answer()
        except psycopg.Error as error:
            if not _has_changed(error):
                raise
            self._database.prepared.forget()
            raise StatementChanged(str(error)) from error
        self._values.set_pgresult(found)
        self._at, self.rowcount = 0, found.ntuples

    def _begin(self) -> None:
        """As psycopg does: a transaction begins with the first statement that is sent in it."""
        server = self.connection.pgconn
        if not self.connection.autocommit and server.transaction_status == TransactionStatus.IDLE:
            server.send_query(b"BEGIN")
            self.connection.answer()

    def _prepare(self, query: str) -> bytes:
        first, *others = query.split("%s")
        marked = first + "".join(f"${at}{other}" for at, other in enumerate(others, start=1))
        text = marked.replace("%%", "%").encode()
        names = self._database.prepared
        name = names.name_of(text)
        self.connection.pgconn.send_prepare(name, text)
        try:
            self.connection.answer()
        except errors.DuplicatePreparedStatement:
            # A pooler's server connection has it from somebody else: the same text. Inside a
            # transaction the refusal has ended that.
            if not self.connection.autocommit:
                raise
        names[query] = name
        return name


def _has_changed(error: psycopg.Error) -> bool:
    """Whether the server has no such statement, has it already, or has it for older columns."""
    if isinstance(error, errors.FeatureNotSupported):
        return error.diag.source_function == _REFUSES_CHANGED_COLUMNS
    return isinstance(error, errors.InvalidSqlStatementName | errors.DuplicatePreparedStatement)
