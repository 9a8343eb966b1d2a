"""How values that PostgreSQL sends become those of Python, where psycopg's own way does not fit.

Timestamps come as text to Django's own cursor. psycopg takes them apart with a regular expression.
A page of 50 expenses has 850 of them, which took a quarter of its processor time. Prepared
statements return binary values and need no such loader.

Django parses JSON in its field, so it has psycopg return text, but not for binary values.
"""

from datetime import UTC, datetime

from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.datetime import TimestamptzLoader


class InstantLoader(TimestamptzLoader):
    """A `timestamptz` as a `datetime` in UTC."""

    #: Django registers a loader of its own for a connection with another time zone.
    timezone = UTC

    def load(self, data: Buffer) -> datetime:
        """As psycopg does, by `datetime.fromisoformat`.

        Raises `psycopg.DataError` for what no `datetime` can be, such as infinity.
        """
        try:
            return datetime.fromisoformat(str(data, "ascii")).astimezone(UTC)
        except (ValueError, OverflowError):
            return super().load(data)


class JsonLoader(Loader):
    """A binary `jsonb` as its text, which follows a byte with the version of the format."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return str(data[1:], "utf-8")
