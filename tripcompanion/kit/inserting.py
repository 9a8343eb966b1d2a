"""New rows of a model in one statement, which is kept as those of `prepared` are.

On SQLite in several, where there are very many: it takes so many values at most.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models

from tripcompanion.kit.prepared import kept_cursor

Instance = TypeVar("Instance", bound=models.Model)

#: SQLite takes 32,766 values in a statement unless it was built otherwise.
_MOST_VALUES = 30_000


def insert(rows: Iterable[Instance]) -> list[Instance]:
    """Write unsaved rows of one model in one statement, and give them their ids.

    What `bulk_create` does, with its statement kept.
    """
    rows = list(rows)
    for some in _portions(rows):
        with kept_cursor() as cursor:
            cursor.execute(*_insertion(some))
            keys = cursor.fetchall()
        for row, (key,) in zip(some, keys, strict=True):
            row.pk, row._state.adding, row._state.db = key, False, DEFAULT_DB_ALIAS
    return rows


def _portions(rows: list[Instance]) -> Iterator[list[Instance]]:
    """All rows at once on PostgreSQL, where a column is one value; on SQLite so many at a time."""
    if connection.vendor == "postgresql" or not rows:
        yield from filter(None, [rows])
        return
    step = _MOST_VALUES // len(rows[0]._meta.concrete_fields)
    for first in range(0, len(rows), step):
        yield rows[first : first + step]


def _insertion(rows: list[Any]) -> tuple[str, list[Any]]:
    """A row of marks for each row or, on PostgreSQL, an array for each column."""
    model: Any = type(rows[0])
    start, fields, marks, end = _insert_into(model)
    if connection.vendor == "postgresql":
        values = [
            [field.get_prep_value(row.__dict__[field.attname]) for row in rows] for field in fields
        ]
        return f"{start} SELECT * FROM unnest{marks} {end}", values  # noqa: S608 -- no value in it
    flat = [
        field.get_db_prep_save(row.__dict__[field.attname], connection)
        for row in rows
        for field in fields
    ]
    return f"{start} VALUES {', '.join([marks] * len(rows))} {end}", flat


@cache
def _insert_into(model: Any) -> tuple[str, list[Any], str, str]:
    quote, is_postgresql = connection.ops.quote_name, connection.vendor == "postgresql"
    fields = [field for field in model._meta.local_concrete_fields if not field.primary_key]
    columns = ", ".join(quote(field.column) for field in fields)
    types = [f"::{field.db_type(connection)}[]" if is_postgresql else "" for field in fields]
    marks = ", ".join(f"%s{kind}" for kind in types)
    start = f"INSERT INTO {quote(model._meta.db_table)} ({columns})"
    return start, fields, f"({marks})", f"RETURNING {quote(model._meta.pk.column)}"
