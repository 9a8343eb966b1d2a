"""Runs statements, which stay prepared on PostgreSQL, and makes instances of their rows.

If the connection's `prepare_threshold` is None, Django's default, the cursor is Django's own. Its
messages need no statement that the server keeps, not even an unnamed one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import psycopg
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections, models
from django.db.models.base import ModelState
from psycopg import errors

Row = Sequence[Any]
#: Makes instances of rows.
Make = Callable[[Sequence[Row]], list[Any]]
#: Makes an instance of a row; the second argument holds the related instances of earlier rows.
MakeOne = Callable[[Row, dict[Any, Any]], Any]
#: The position of a column, and what turns a value of the driver into one of Python.
Converter = tuple[int, Callable[[Any], Any]]

#: PostgreSQL's function that rejects a statement whose columns have changed their types.
_REFUSES_CHANGED_COLUMNS = "RevalidateCachedQuery"


class StatementChanged(OperationalError):
    """A prepared statement is missing, or its table has changed; a retry succeeds."""


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


@contextmanager
def prepared_cursor(database: Any = None) -> Iterator[Any]:
    """A cursor; on PostgreSQL, one that prepares statements and reads binary values.

    With query logging or a `prepare_threshold` of None, this is Django's own cursor. Both call the
    connection's `execute_wrappers`. A backend may have a subclass of `PreparingCursor` of its own
    as `preparing_cursor_class`.
    """
    database = database or connections[DEFAULT_DB_ALIAS]
    if database.vendor == "postgresql" and not database.queries_logged:
        database.close_if_health_check_failed()
        database.ensure_connection()
        if database.connection.prepare_threshold is not None:
            database.validate_no_broken_transaction()
            cursor_class = getattr(database, "preparing_cursor_class", PreparingCursor)
            with database.wrap_database_errors, cursor_class(database.connection) as cursor:
                cursor.database = database
                yield cursor
            return
    with database.cursor() as cursor:
        yield cursor


def execute(sql: str, values: Sequence[Any]) -> None:
    """Run a statement that returns nothing."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run a statement and return its rows."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def fetch_chunks(sql: str, values: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Run a statement and yield at most `size` of its rows at a time."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)
        rows = cursor.fetchmany(size)
        while len(rows) == size:
            yield rows
            rows = cursor.fetchmany(size)
    # Most results are short; their cursor is closed by now.
    if rows:
        yield rows


class PreparingCursor(psycopg.Cursor[Any]):
    """Prepares each statement once, and then sends only its name and values."""

    #: Django's connection, whose `execute_wrappers` are called as Django's own cursor does.
    database: Any = None

    def execute(self, query: Any, params: Any = None, **_options: Any) -> "PreparingCursor":
        """Run `query`, with `%s` for each of `params`.

        If the statement has changed, raises `StatementChanged` inside a transaction, and prepares
        it again outside.
        """
        if self.database is None or not self.database.execute_wrappers:
            return self._execute(query, params)
        run: Any = self._execute
        for wrapper in reversed(self.database.execute_wrappers):
            run = partial(wrapper, run)
        run(query, params, False, {"connection": self.database, "cursor": self})
        return self

    def _execute(self, query: Any, params: Any, *_many_and_context: Any) -> "PreparingCursor":
        values = _without_types(params)
        try:
            return self.send(query, values)
        except psycopg.Error as error:
            if not _has_changed(error):
                raise
            if not self.connection.autocommit:
                # psycopg forgets its statements at the rollback that follows.
                raise StatementChanged(str(error)) from error
        # psycopg also forgets them when it sends this.
        self.connection.execute("DEALLOCATE ALL")
        return self.send(query, values)

    def send(self, query: Any, values: Sequence[Any]) -> "PreparingCursor":
        """Prepare `query` if it is not prepared, and run it; integers are text."""
        return super().execute(query, values, prepare=True, binary=True)


def _without_types(values: Sequence[Any]) -> list[Any]:
    """The values with each integer as text, so that PostgreSQL infers its type.

    psycopg sends an integer with 16, 32 or 64 bits, depending on its size. Each size would need
    its own statement, and expressions would be computed with as few bits.
    """
    return [_without_type(value) for value in values]


def _without_type(value: Any) -> Any:
    if type(value) is list:
        return _without_types(value)
    return str(value) if type(value) is int else value


def _has_changed(error: psycopg.Error) -> bool:
    """Whether the statement is missing, exists already, or was prepared for other columns."""
    if isinstance(error, errors.FeatureNotSupported):
        return error.diag.source_function == _REFUSES_CHANGED_COLUMNS
    return isinstance(error, errors.InvalidSqlStatementName | errors.DuplicatePreparedStatement)


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
