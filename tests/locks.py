"""Locks a row in the real server's database, so that requests wait just before they write."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import Any

import httpx
import psycopg
from django.apps import apps

from tests import citus
from tests.server import Server
from tests.splits.journey import Call
from tripcompanion.plugin import plugins

#: SQLite does not show who is waiting; by then every request has reached the lock.
_SQLITE_SECONDS = 0.3
#: PostgreSQL ends the wait of a request after 2 s.
_PATIENCE_SECONDS, _HOLD_SECONDS = 1.5, 0.8
#: On Citus, rows of trips are locked on the workers.
_ACTIVITY = "citus_stat_activity" if citus.URL else "pg_stat_activity"
_WAITING = (
    f"SELECT count(*) FROM {_ACTIVITY} "  # noqa: S608 -- one of two names
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class OtherProcess:
    """Another process, which reads and writes the server's database directly.

    `%s` is a placeholder, and booleans and times have the same syntax on both databases.
    """

    def __init__(self, server: Server) -> None:
        self._url = server.environment["DATABASE_URL"]
        self.is_sqlite = self._url.startswith("sqlite")
        self._connection: Any = (
            sqlite3.connect(self._url.removeprefix("sqlite:///"), timeout=20, isolation_level=None)
            if self.is_sqlite
            else psycopg.connect(self._url, autocommit=True)
        )

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows, if any."""
        text = statement.replace("%s", "?") if self.is_sqlite else statement
        cursor = self._connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []

    def begin(self) -> None:
        """Start a transaction; on SQLite, it locks the whole database."""
        self.run("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")

    def commit(self) -> None:
        self.run("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; until then, the written rows stay locked."""
        self.begin()
        yield
        self.commit()

    def wait_for(
        self,
        waiting: int,
        patience_seconds: float = _PATIENCE_SECONDS,
        sqlite_seconds: float = _SQLITE_SECONDS,
    ) -> None:
        """Return when this number of others is waiting for a lock."""
        if self.is_sqlite:
            time.sleep(sqlite_seconds)
            return
        deadline = time.monotonic() + patience_seconds
        with psycopg.connect(self._url, autocommit=True) as watcher:
            while watcher.execute(_WAITING).fetchone() != (waiting,):
                assert time.monotonic() < deadline, f"Not {waiting} are waiting for the lock."
                time.sleep(0.01)

    def everything(self) -> dict[str, Any]:
        """All rows of the project's tables, except sessions, or what is another if one is.

        PostgreSQL sums up the hashes of rows: to read them all takes longer with every test.
        """
        tables = {
            model._meta.db_table
            for label in ("users", "trips", "splits", "kit", *(app.label for app in plugins()))
            for model in apps.get_app_config(label).get_models()
        }
        read = "SELECT * FROM {}"
        if not self.is_sqlite and not citus.URL:
            read = "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {} t"
        found = {name: self.run(read.format(name)) for name in tables - {"users_session"}}
        if not citus.URL:
            return found  # SQLite reads rows in one order
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    def close(self) -> None:
        self._connection.close()


@contextmanager
def holding(server: Server, table: str, row_id: int) -> Iterator[OtherProcess]:
    """A transaction that has locked the row; on SQLite, the whole database."""
    with closing(OtherProcess(server)) as other:
        other.begin()
        if not other.is_sqlite:
            other.run(f"SELECT 1 FROM {table} WHERE id = %s FOR UPDATE", row_id)  # noqa: S608 -- names only
        yield other


def answer_after(
    server: Server, table: str, row_id: int, call: Call, *changes: tuple[str, Any]
) -> tuple[httpx.Response, bool]:
    """The response to `call`, which waits for the row until `changes` are made and committed.

    Each change is a statement with its values. The second value is whether the call changed
    nothing.
    """
    with ThreadPoolExecutor(1) as thread, holding(server, table, row_id) as other:
        answer = thread.submit(call)
        other.wait_for(1)
        for statement, *values in changes:
            other.run(statement, *values)
        before = other.everything()
        other.commit()
        response = answer.result()
        return response, other.everything() == before


def while_locked(
    server: Server, table: str, row_id: int, calls: list[Call]
) -> list[httpx.Response]:
    """The responses to `calls`, which start one after the other while the row is locked.

    On SQLite, nothing is locked: it lets waiting writers proceed in any order.
    """
    is_sqlite = server.environment["DATABASE_URL"].startswith("sqlite")
    lock = nullcontext if is_sqlite else partial(holding, server, table, row_id)
    with ThreadPoolExecutor(len(calls)) as pool:
        with lock():
            answers = []
            for call in calls:
                answers.append(pool.submit(call))
                time.sleep(_HOLD_SECONDS / len(calls))
        responses = [answer.result() for answer in answers]
    assert not [response for response in responses if response.status_code >= 500]
    return responses
