"""Runs statements, and makes instances of their rows.

Statements stay prepared if the database engine has a cursor for that: its connection's method
`prepared_cursor`. Other engines run them with the ordinary cursor.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection, models
from django.db.models.base import ModelState

Row = Sequence[Any]
#: Makes instances of rows.
Make = Callable[[Sequence[Row]], list[Any]]
#: Makes an instance of a row; the second argument holds the related instances of earlier rows.
MakeOne = Callable[[Row, dict[Any, Any]], Any]
#: The position of a column, and what turns a value of the driver into one of Python.
Converter = tuple[int, Callable[[Any], Any]]


class Statement(NamedTuple):
    """The SQL of a queryset, its placeholders in order, and what makes its results of rows."""

    sql: str
    places: tuple[Any, ...]
    make: Make = list

    def fetch(self, values: Sequence[Any]) -> list[Any]:
        """All results for the values of the placeholders."""
        return self.make(fetch_all(self.sql, values))

    def chunks(self, values: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """All results, at most `size` of them in memory at a time."""
        return map(self.make, fetch_chunks(self.sql, values, size))


def _cursor() -> Any:
    return getattr(connection, "prepared_cursor", connection.cursor)()


def execute(sql: str, values: Sequence[Any]) -> None:
    """Run a statement that returns nothing."""
    with _cursor() as cursor:
        cursor.execute(sql, values)


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run a statement and return its rows."""
    with _cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def fetch_chunks(sql: str, values: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Run a statement and yield at most `size` of its rows at a time."""
    with _cursor() as cursor:
        cursor.execute(sql, values)
        rows = cursor.fetchmany(size)
        while len(rows) == size:
            yield rows
            rows = cursor.fetchmany(size)
    # Most results are short; their cursor is closed by now.
    if rows:
        yield rows


def tuple_maker(converters: Sequence[Converter]) -> Make:
    """Makes the tuples of a `values_list`."""
    return lambda rows: list(map(tuple, _converted(rows, converters)))


def _converted(rows: Sequence[Row], converters: Sequence[Converter]) -> Sequence[Row]:
    if not converters:
        return rows
    lists: list[Any] = list(map(list, rows))
    for at, convert in converters:
        for row in lists:
            row[at] = convert(row[at])
    return lists


def converter(functions: list[Any], column: Any) -> Callable[[Any], Any]:
    """The ORM's converters of a column, as one function."""
    if connection.vendor == "sqlite" and isinstance(column.output_field, models.DateTimeField):
        return _instant

    def convert(value: Any) -> Any:
        for function in functions:
            value = function(value, column, connection)
        return value

    return convert


def _instant(value: Any) -> datetime | None:
    """SQLite stores UTC without an offset."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return None if value is None else value.replace(tzinfo=UTC)


def maker(
    info: Any, select: Any, annotations: Mapping[str, int], converters: Sequence[Converter]
) -> Make:
    """Makes instances as `from_db` would, without signals and without the constructor.

    A related row that occurs several times, such as a person in many splits, is one instance.
    """
    make_one = _maker_of_one(info, select, annotations)

    def make(rows: Sequence[Row]) -> list[Any]:
        known: dict[Any, Any] = {}
        return [make_one(row, known) for row in _converted(rows, converters)]

    return make


def _maker_of_one(info: Any, select: Any, annotations: Mapping[str, int] | None) -> MakeOne:
    model = info["model"]
    columns = {select[at][0].target.attname: at for at in info["select_fields"]}
    key_at, is_root = columns[model._meta.pk.attname], annotations is not None
    columns |= annotations or {}
    names, pick = tuple(columns), itemgetter(*columns.values())
    related = tuple(
        (inner["field"].name, _maker_of_one(inner, select, None))
        for inner in info.get("related_klass_infos", ())
    )
    alias = connection.alias

    def make(row: Row, known: dict[Any, Any]) -> Any:
        instance, state = model.__new__(model), ModelState()
        loaded = instance.__dict__ = dict(zip(names, pick(row), strict=True))
        loaded["_state"] = state
        cached = {name: make_related(row, known) for name, make_related in related}
        state.__dict__ = {"adding": False, "db": alias, "fields_cache": cached}
        return instance

    def make_once(row: Row, known: dict[Any, Any]) -> Any:
        key = (model, row[key_at])
        found = known.get(key)
        if found is None and key[1] is not None:
            found = known[key] = make(row, known)
        return found

    return make if is_root else make_once
