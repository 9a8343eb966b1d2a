"""One persistent connection per thread, and the same SQL for PostgreSQL and SQLite."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime
from functools import cache
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.numeric import Int8Dumper

Rows = list[tuple[Any, ...]]


class Postgres:
    """Prepares every statement on its first use, unless a pooler does not support that."""

    def __init__(self, url: str) -> None:
        prepares = os.environ.get("DATABASE_PREPARE", "true") == "true"
        is_pooled = os.environ.get("DATABASE_POOLER", "none") != "none"
        self._connection = psycopg.connect(
            url,
            autocommit=True,
            prepare_threshold=0 if prepares else None,
            # A pooler accepts none; it takes the time zone from PGTZ.
            options="" if is_pooled else "-c timezone=UTC -c jit=off",
        )
        # Otherwise each number is sent in the smallest type that fits, and a statement is prepared
        # again for every combination of types.
        self._connection.adapters.register_dumper(int, Int8Dumper)

    def rows(self, sql: str, *values: Any) -> Rows:
        return self._connection.execute(sql, values, binary=True).fetchall()

    def run(self, sql: str, *values: Any) -> None:
        self._connection.execute(sql, values)

    def transaction(self) -> AbstractContextManager[Any]:
        return self._connection.transaction()


class Sqlite:
    """Relies on the cache of compiled statements in Python's module."""

    def __init__(self, url: str) -> None:
        self._connection = sqlite3.connect(
            url.removeprefix("sqlite:///"),
            isolation_level=None,
            timeout=20,
            detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES,
        )
        self._connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")

    def rows(self, sql: str, *values: Any) -> Rows:
        return self._connection.execute(_for_sqlite(sql), values).fetchall()

    def run(self, sql: str, *values: Any) -> None:
        self._connection.execute(_for_sqlite(sql), values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            yield


@cache
def _for_sqlite(sql: str) -> str:
    return sql.replace("%s", "?").replace("FOR UPDATE OF t", "")


# Written as Django writes them, read in the format of the responses.
sqlite3.register_adapter(UUID, lambda value: value.hex)
sqlite3.register_adapter(date, date.isoformat)
sqlite3.register_adapter(
    datetime, lambda value: value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
)
sqlite3.register_converter("date", bytes.decode)
sqlite3.register_converter("datetime", lambda raw: raw.replace(b" ", b"T").decode() + "Z")

_mine = threading.local()


def connection() -> Postgres | Sqlite:
    """The connection of this thread."""
    if not hasattr(_mine, "connection"):
        url = os.environ["DATABASE_URL"]
        _mine.connection = Sqlite(url) if url.startswith("sqlite") else Postgres(url)
    return _mine.connection


@cache
def marks(columns: int) -> str:
    """`(%s, %s)` for a list of values."""
    return f"({', '.join(['%s'] * columns)})"


@cache
def table(rows: int, columns: int) -> str:
    """The placeholders after VALUES for several rows."""
    return ", ".join([marks(columns)] * rows)
