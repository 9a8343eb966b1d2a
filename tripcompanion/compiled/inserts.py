"""Inserts many rows of a model with one statement, which is prepared once.

SQLite limits the values of a statement, so there it takes several for very many rows.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, models

from tripcompanion.compiled.once import IS_COMPILING
from tripcompanion.compiled.statements import fetch_all

#: Values that are stored as they are; fields convert all others.
_PLAIN = frozenset({int, str, bool, type(None)})

Instance = TypeVar("Instance", bound=models.Model)

#: SQLite takes 32,766 values in a statement unless it was built otherwise.
_MOST_VALUES = 30_000


def insert(rows: Iterable[Instance]) -> list[Instance]:
    """Insert unsaved rows of one model with one statement, and set their ids.

    What `bulk_create` does, with its statement kept.
    """
    rows = list(rows)
    if rows and not IS_COMPILING:
        return type(rows[0])._base_manager.bulk_create(rows)
    for some in _portions(rows):
        keys = fetch_all(*_insertion(some))
        for row, (key,) in zip(some, keys, strict=True):
            row.pk, row._state.adding, row._state.db = key, False, DEFAULT_DB_ALIAS
    return rows


def _portions(rows: list[Instance]) -> Iterator[list[Instance]]:
    """All rows at once on PostgreSQL, where they are one value; on SQLite so many at a time."""
    if connection.vendor == "postgresql" or not rows:
        yield from filter(None, [rows])
        return
    step = _MOST_VALUES // len(rows[0]._meta.concrete_fields)
    for first in range(0, len(rows), step):
        yield rows[first : first + step]


def _insertion(rows: list[Any]) -> tuple[str, list[Any]]:
    """On PostgreSQL all rows are one JSON value; on SQLite each column of each row is a value."""
    model: Any = type(rows[0])
    start, fields, select, end = _insert_into(model)
    if connection.vendor == "postgresql":
        values = [
            {field.column: _prepared(field, row.__dict__[field.attname]) for field in fields}
            for row in rows
        ]
        # A Decimal is sent as a string of its digits, which PostgreSQL casts exactly.
        return f"{start} {select} {end}", [orjson.dumps(values, default=str).decode()]
    flat = [
        field.get_db_prep_save(row.__dict__[field.attname], connection)
        for row in rows
        for field in fields
    ]
    return f"{start} VALUES {', '.join([select] * len(rows))} {end}", flat


def _prepared(field: Any, value: Any) -> Any:
    return value if type(value) in _PLAIN else field.get_prep_value(value)


@cache
def _insert_into(model: Any) -> tuple[str, list[Any], str, str]:
    """The statement in three parts, with the fields; the second part is that of a single row."""
    quote = connection.ops.quote_name
    fields = [field for field in model._meta.local_concrete_fields if not field.primary_key]
    columns = ", ".join(quote(field.column) for field in fields)
    table = quote(model._meta.db_table)
    start = f"INSERT INTO {table} ({columns})"
    end = f"RETURNING {quote(model._meta.pk.column)}"
    if connection.vendor == "postgresql":
        source = f"json_populate_recordset(NULL::{table}, %s::json)"
        return start, fields, f"SELECT {columns} FROM {source}", end  # noqa: S608 -- names only
    return start, fields, f"({', '.join(['%s'] * len(fields))})", end
