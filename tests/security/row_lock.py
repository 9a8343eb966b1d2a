"""Races with controlled timing: a row is locked, so that a request stops just before its write."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg

from tests.server import Server
from tests.splits.journey import Call

#: Long enough for every request to reach the lock; PostgreSQL ends the wait after 2 s.
_HOLD_SECONDS = 0.8
#: How long a process may take to start and to reach a lock.
_WAIT_SECONDS = 30
_START_SECONDS = 4


@contextmanager
def row_lock(server: Server, table: str, row_id: int) -> Iterator[None]:
    """Lock the row. Does nothing on SQLite, where each writer waits for all others."""
    url = server.environment["DATABASE_URL"]
    if not url.startswith("postgres"):
        yield
        return
    with psycopg.connect(url) as connection:
        connection.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR UPDATE", [row_id])  # noqa: S608
        yield


def while_locked(
    server: Server, table: str, row_id: int, calls: list[Call]
) -> list[httpx.Response]:
    """The responses to `calls`, which start one after the other while the row is locked."""
    with ThreadPoolExecutor(len(calls)) as pool:
        with row_lock(server, table, row_id):
            answers = []
            for call in calls:
                answers.append(pool.submit(call))
                time.sleep(_HOLD_SECONDS / len(calls))
        responses = [answer.result() for answer in answers]
    assert not [response for response in responses if response.status_code >= 500]
    return responses


class OtherProcess:
    """Another process that writes directly to the server's database.

    `%s` is a placeholder, and booleans and times have the same syntax on both databases.
    """

    def __init__(self, server: Server) -> None:
        url = server.environment["DATABASE_URL"]
        self._is_sqlite = url.startswith("sqlite")
        self._connection: Any = (
            sqlite3.connect(url.removeprefix("sqlite:///"), timeout=20, isolation_level=None)
            if self._is_sqlite
            else psycopg.connect(url, autocommit=True)
        )

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows, if any."""
        text = statement.replace("%s", "?") if self._is_sqlite else statement
        cursor = self._connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; until then, the written rows stay locked."""
        self.run("BEGIN IMMEDIATE" if self._is_sqlite else "BEGIN")
        yield
        self.run("COMMIT")

    def wait_for_a_waiter(self) -> None:
        """Return when another process waits for a row that this transaction has locked."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline:
            if self._is_sqlite:
                # SQLite does not show who is waiting.
                time.sleep(_START_SECONDS)
                return
            if self.run("SELECT 1 FROM pg_locks WHERE NOT granted"):
                return
            time.sleep(0.05)
        raise AssertionError("Nobody waits.")

    def close(self) -> None:
        self._connection.close()
