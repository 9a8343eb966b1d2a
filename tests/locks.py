"""Locks a row in the real server's database, so that a request waits just before it writes."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
from django.apps import apps

from tests.server import Server
from tests.splits.journey import Call

#: SQLite does not show who is waiting; by then every request has reached the lock.
_SQLITE_SECONDS = 0.25
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class Holder:
    """A separate transaction on the server's database."""

    def __init__(self, connection: Any, is_postgresql: bool) -> None:
        self._connection, self.is_postgresql = connection, is_postgresql

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with `%s` for each of `values`; returns its rows, if any."""
        text = statement if self.is_postgresql else statement.replace("%s", "?")
        cursor = self._connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []

    def wait_for(self, requests: int) -> None:
        """Return when this number of requests is waiting for the lock."""
        if not self.is_postgresql:
            time.sleep(_SQLITE_SECONDS)
            return
        deadline = time.monotonic() + 1.5
        with psycopg.connect(self._connection.info.dsn, **_password(self._connection)) as other:
            while time.monotonic() < deadline:
                if other.execute(_WAITING).fetchone() == (requests,):
                    return
                other.rollback()
                time.sleep(0.01)
        raise AssertionError("No request waits for the lock.")

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of the project's tables, except sessions."""
        tables = {
            model._meta.db_table
            for label in ("users", "trips", "splits", "kit")
            for model in apps.get_app_config(label).get_models()
        }
        return {
            table: sorted(self.run(f"SELECT * FROM {table}"), key=repr)  # noqa: S608 -- names only
            for table in tables - {"users_session"}
        }

    def commit(self) -> None:
        self._connection.execute("COMMIT")


@contextmanager
def holding(server: Server, table: str, row_id: int) -> Iterator[Holder]:
    """A transaction that has locked the row; on SQLite, the whole database."""
    url = server.environment["DATABASE_URL"]
    if url.startswith("postgres"):
        with psycopg.connect(url, autocommit=True) as connection:
            holder = Holder(connection, True)
            holder.run("BEGIN")
            holder.run(f"SELECT 1 FROM {table} WHERE id = %s FOR UPDATE", row_id)  # noqa: S608 -- names only
            yield holder
    else:
        path = url.removeprefix("sqlite:///")
        connection = sqlite3.connect(path, isolation_level=None, timeout=20)
        try:
            holder = Holder(connection, False)
            holder.run("BEGIN IMMEDIATE")
            yield holder
        finally:
            connection.close()


def answer_after(
    server: Server, table: str, row_id: int, call: Call, *changes: tuple[str, Any]
) -> tuple[httpx.Response, bool]:
    """The response to `call`, which waits for the row until `changes` are made and committed.

    Each change is a statement with its values. The second value is whether the call changed
    nothing.
    """
    with ThreadPoolExecutor(1) as thread, holding(server, table, row_id) as holder:
        answer = thread.submit(call)
        holder.wait_for(1)
        for statement, *values in changes:
            holder.run(statement, *values)
        before = holder.everything()
        holder.commit()
        response = answer.result()
        return response, holder.everything() == before


def _password(connection: Any) -> dict[str, str]:
    password = connection.info.password
    return {"password": password} if password else {}
