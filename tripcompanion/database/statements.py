"""Statements in SQL, for what the ORM cannot express; PostgreSQL keeps them prepared."""

from collections.abc import Sequence
from typing import Any

from django.db import OperationalError, connection


class StatementChanged(OperationalError):
    """A prepared statement is missing, or its table has changed; a retry succeeds."""


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run a statement and return its rows."""
    with getattr(connection, "prepared_cursor", connection.cursor)() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
