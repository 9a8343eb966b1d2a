"""The fast way in: a queryset that is compiled once, and run with the values of each request.

Most of the time of a small read goes into building the same SQL again: a queryset is copied at
each step, resolved and written out, and its rows pass through the constructor of a model. Here
that happens once. `Prepared` decorates a function that gives a queryset; the function is called
once, with a `Given` for each argument, a place where a value will be. What the ORM wrote is kept,
and calling with values gives the rows that the queryset would have given:

    @Prepared
    def members_of(trip):
        return Member.objects.filter(trip=trip).select_related("user")

    for member in members_of(trip=7): ...

The queryset stays the declaration: its joins, `only`, annotations and `Prefetch` all count.
Whatever differs from call to call must be an argument; a moment, say, is refused where it stands.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import Expression, F, Prefetch, QuerySet
from django.db.models.sql import UpdateQuery
from rest_framework.exceptions import NotFound

from tripcompanion.kit.compiling import compiled_once
from tripcompanion.kit.instances import Make, Row, converter, maker
from tripcompanion.kit.pagination import Pageable

_CHUNK_ROWS = 100


class Given(Expression):
    """The place of a value in a prepared statement; `column` says how the database wants it."""

    def __init__(self, name: str, column: Any = None) -> None:
        super().__init__(output_field=column)
        self.name, self.column = name, column

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def of(self, values: Mapping[str, Any]) -> Any:
        """Its value among `values`, as the database driver takes it."""
        value = values[self.name]
        return value if self.column is None else self.column.get_db_prep_value(value, connection)


class GivenMany(Given):
    """The place of any number of integers; `among` compares a column with them."""

    def among(self, column: str) -> "_Among":
        """The condition that `column` is one of them."""
        return _Among(F(column), self)

    def of(self, values: Mapping[str, Any]) -> Any:
        numbers = list(values[self.name])
        return numbers if connection.vendor == "postgresql" else json.dumps(numbers)


class _Among(models.Func):
    """One statement for any number of values; `IN` would be another one for each number."""

    output_field = models.BooleanField()
    template = "%(expressions)s)"
    arg_joiner = " = ANY("

    def as_sqlite(self, compiler: Any, connection: Any, **_options: Any) -> tuple[str, Any]:
        joiner = " IN (SELECT value FROM json_each("
        return self.as_sql(compiler, connection, arg_joiner=joiner, template="%(expressions)s))")


class Prepared:
    """A queryset with places for values, compiled when it is first asked.

    A default of an argument is a place of another kind, such as `GivenMany`.
    """

    def __init__(self, build: Callable[..., QuerySet[Any]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> "Found":
        """The rows for these values; nothing is asked before they are looked at."""
        return Found(self, values)

    def all(self, values: Mapping[str, Any]) -> Iterator[Any]:
        """Every row; some hundred are instances at a time, so that many take little memory."""
        statement = self._statement
        for found in _run(statement, statement.of(values)):
            yield from self._instances(statement, found)

    def page(self, values: Mapping[str, Any], size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` rows after so many, and how many there are in all."""
        statement = self._paged
        found = list(chain(*_run(statement, [*statement.of(values), size, after])))
        rows = self._instances(statement, found)
        if not rows and after:
            total = self.page(values, 1, 0)[1]
            # Between the two statements rows may have come to stand on this page.
            return self.page(values, size, after) if total > after else (rows, total)
        return rows, rows[0].counted if rows else 0

    def _instances(self, statement: "_Statement", found: list[Row]) -> list[Any]:
        if statement.make is None:
            return list(map(tuple, found))
        known: dict[Any, Any] = {}
        instances = [statement.make(row, known) for row in found]
        for part in self._parts if instances else ():
            part.attach(instances)
        return instances

    @compiled_once
    def _rows(self) -> QuerySet[Any]:
        return self._build(*_places(self._build))

    @compiled_once
    def _statement(self) -> "_Statement":
        return _compiled(self._rows)

    @compiled_once
    def _paged(self) -> "_Statement":
        statement = _compiled(self._rows.annotate(counted=_Count(self._rows.order_by())))
        return statement._replace(sql=f"{statement.sql} LIMIT %s OFFSET %s")

    @compiled_once
    def _parts(self) -> list["_Part"]:
        lookups: Any = self._rows._prefetch_related_lookups  # type: ignore[attr-defined]
        return [_Part(self._rows.model, lookup) for lookup in lookups]


class PreparedUpdate:
    """The same for an UPDATE: the function gives the rows, and what becomes of their columns."""

    def __init__(self, build: Callable[..., tuple[QuerySet[Any], Mapping[str, Any]]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> None:
        statement = self._statement
        with kept_cursor() as cursor:
            cursor.execute(statement.sql, statement.of(values))

    @compiled_once
    def _statement(self) -> "_Statement":
        rows, changes = self._build(*_places(self._build))
        query = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)  # type: ignore[attr-defined]
        return _written(query.get_compiler(connection=connection))


class Found(Pageable):
    """The rows of a prepared queryset for certain values: all, a page of them, or the first."""

    def __init__(self, prepared: Prepared, values: Mapping[str, Any]) -> None:
        self._prepared, self._values = prepared, values

    def __iter__(self) -> Iterator[Any]:
        return self._prepared.all(self._values)

    def page(self, size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` rows after so many, and how many there are in all."""
        return self._prepared.page(self._values, size, after)

    def get(self) -> Any:
        """The first row; raises `NotFound` if there is none."""
        found = self.first()
        if found is None:
            raise NotFound
        return found

    def first(self) -> Any:
        """The first row, or None."""
        return next(iter(list(self)), None)


class _Count(models.Subquery):
    """How many rows a queryset has: counted in the statement that also reads some of them."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = models.BigIntegerField()

    def __init__(self, rows: QuerySet[Any]) -> None:
        super().__init__(rows.values("pk"))


class _Statement(NamedTuple):
    """What the ORM made of a queryset. `make` is None where rows stay tuples (`values_list`)."""

    sql: str
    places: tuple[Given, ...]
    converters: tuple[tuple[int, Callable[[Any], Any]], ...] = ()
    make: Make | None = None

    def of(self, values: Mapping[str, Any]) -> list[Any]:
        """The values in the order of the text."""
        return [place.of(values) for place in self.places]


class _Part:
    """What a `Prefetch` adds: the rows that point to the instances, in one more statement."""

    def __init__(self, model: Any, lookup: Prefetch) -> None:
        self._name = lookup.to_attr
        self._field = getattr(model, lookup.prefetch_through).rel.field
        rows: Any = lookup.queryset
        owners = GivenMany("owners")
        self._prepared = Prepared(lambda: rows.filter(owners.among(self._field.attname)))

    def attach(self, owners: list[Any]) -> None:
        """Give each owner its rows. These know their owner, but as it was without them.

        Else the two would name each other, and stay in memory until the garbage collector comes.
        """
        parts: dict[Any, list[Any]] = {}
        by_key = {owner.pk: _twin(owner) for owner in owners}
        for owner in owners:
            owner.__dict__[self._name] = parts[owner.pk] = []
        name, column = self._field.name, self._field.attname
        for row in self._prepared.all({"owners": by_key}):
            key = row.__dict__[column]
            row._state.fields_cache[name] = by_key[key]
            parts[key].append(row)


def _twin(instance: models.Model) -> models.Model:
    twin = models.Model.__new__(type(instance))
    twin.__dict__ = instance.__dict__.copy()
    return twin


def _run(statement: _Statement, values: list[Any]) -> Iterator[list[Row]]:
    """What the statement gives for the values, a chunk at a time."""
    with kept_cursor() as cursor:
        cursor.execute(statement.sql, values)
        found = cursor.fetchmany(_CHUNK_ROWS)
        while len(found) == _CHUNK_ROWS:
            yield _converted(statement, found)
            found = cursor.fetchmany(_CHUNK_ROWS)
    # Most answers are short; their cursor is free by now.
    if found:
        yield _converted(statement, found)


def _converted(statement: _Statement, found: list[Row]) -> list[Row]:
    if not statement.converters:
        return found
    rows = list(map(list, found))
    for at, convert in statement.converters:
        for row in rows:
            row[at] = convert(row[at])
    return rows  # type: ignore[return-value]


def kept_cursor() -> Any:
    """A cursor; on PostgreSQL one that keeps statements at the server and reads binary values."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    return database.kept_cursor() if database.vendor == "postgresql" else database.cursor()


def _places(build: Callable[..., Any]) -> list[Given]:
    arguments = signature(build).parameters.values()
    return [a.default if isinstance(a.default, Given) else Given(a.name) for a in arguments]


def _written(compiler: Any) -> _Statement:
    """The text, with what is the same each time in it, so that a partial index is recognised."""
    sql, values = compiler.as_sql()
    texts = ["%s" if isinstance(value, Given) else _literal(value) for value in values]
    text = "".join(chain(*zip_longest(sql.split("%s"), texts, fillvalue="")))
    return _Statement(text, tuple(value for value in values if isinstance(value, Given)))


def _compiled(rows: QuerySet[Any]) -> _Statement:
    compiler = rows.query.get_compiler(connection=connection)
    statement = _written(compiler)
    columns = [column for column, _sql, _alias in compiler.select]
    converters = tuple(
        (at, converter(functions, column))
        for at, (functions, column) in compiler.get_converters(columns).items()
    )
    make = None
    if compiler.klass_info is not None and rows._fields is None:  # type: ignore[attr-defined]
        make = maker(compiler.klass_info, compiler.select, compiler.annotation_col_map or {})
    return statement._replace(converters=converters, make=make)


def _literal(value: Any) -> str:
    """A constant of the queryset as SQL."""
    is_plain = isinstance(value, int) or (isinstance(value, str) and value.isalnum())
    if isinstance(value, bool) or not is_plain:
        raise TypeError(f"{value!r} cannot stand in a prepared statement.")
    return str(value) if isinstance(value, int) else f"'{value}'"
