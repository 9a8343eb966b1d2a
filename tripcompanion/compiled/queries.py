"""Querysets that are compiled once, and run with the values of each request.

Most of the time of a small read is spent building the same SQL again: Django copies the queryset
at each step, resolves it, generates SQL, and calls the model's constructor for each row. Here this
happens once. `CompiledQuery` decorates a function that returns a queryset; the function is called
once, with a `Param` for each argument: a placeholder for a value. The generated SQL is kept. A call
with values returns the rows that the queryset would return:

    @CompiledQuery
    def members_of(trip):
        return Member.objects.filter(trip=trip).select_related("user")

    for member in members_of(trip=7): ...

The queryset remains the declaration: joins, `only`, annotations and `Prefetch` are all supported.
Every value that differs between calls must be an argument; a literal datetime, say, is rejected.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from django.db import connection, models
from django.db.models import Expression, F, Prefetch, QuerySet
from django.db.models.sql import UpdateQuery

from tripcompanion.compiled.once import IS_COMPILING, compiled_once
from tripcompanion.compiled.statements import Statement, converter, execute, maker, tuple_maker

_CHUNK_ROWS = 100


class Param(Expression):
    """A placeholder in a compiled statement; `column` is a field that converts its value."""

    def __init__(self, name: str, column: Any = None) -> None:
        super().__init__(output_field=column)
        self.name, self.column = name, column

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def of(self, values: Mapping[str, Any]) -> Any:
        """Its value among `values`, as the database driver expects it."""
        value = values[self.name]
        return value if self.column is None else self.column.get_db_prep_value(value, connection)

    def meant(self, value: Any) -> Any:
        """What replaces it in a queryset that is not compiled."""
        return value


class ArrayParam(Param):
    """A placeholder for any number of integers; `among` compares a column with them."""

    def among(self, column: str) -> Any:
        """The condition that `column` is one of them."""
        return _Among(F(column), self)

    def meant(self, value: Any) -> Any:
        return _Many(list(value))

    def of(self, values: Mapping[str, Any]) -> Any:
        numbers = list(values[self.name])
        return numbers if connection.vendor == "postgresql" else json.dumps(numbers)


class _Many(NamedTuple):
    """The values themselves, in a queryset that is not compiled."""

    values: list[Any]

    def among(self, column: str) -> Any:
        """The condition that `column` is one of them."""
        return models.Q(**{f"{column}__in": self.values})


class _Among(models.Func):
    """One statement for any number of values; `IN` would need one for each number."""

    template, arg_joiner = "%(expressions)s)", " = ANY("
    output_field = models.BooleanField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        options = {
            "template": "%(expressions)s))",
            "arg_joiner": " IN (SELECT value FROM json_each(",
        }
        return self.as_sql(compiler, connection, **options, **extra)


class CompiledQuery:
    """A queryset with placeholders, compiled on first use.

    The default of an argument may be another kind of placeholder, such as `ArrayParam`.
    """

    def __init__(self, build: Callable[..., QuerySet[Any]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> "Result":
        """The rows for these values, lazily: the statement runs when they are read."""
        return Result(self, values)

    def fetch(self, **values: Any) -> list[Any]:
        """All rows for these values, in memory."""
        if not IS_COMPILING:
            return list(_ordinary(self._build, values))
        return self._with_parts(self._statement.fetch(_in_order(self._statement, values)))

    def first(self, **values: Any) -> Any:
        """The first row for these values, or None."""
        return next(iter(self.fetch(**values)), None)

    def all(self, values: Mapping[str, Any]) -> Iterator[Any]:
        """Every row. At most a hundred are instances at a time, so many rows take little memory."""
        if not IS_COMPILING:
            return iter(_ordinary(self._build, values))
        return chain.from_iterable(self._chunks(values))

    def _chunks(self, values: Mapping[str, Any]) -> Iterator[list[Any]]:
        statement = self._statement
        for some in statement.chunks(_in_order(statement, values), _CHUNK_ROWS):
            yield self._with_parts(some)

    def page(self, values: Mapping[str, Any], size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` rows after so many, and how many there are in all."""
        if IS_COMPILING:
            paged = [*_in_order(self._paged, values), size, after]
            rows = self._with_parts(self._paged.fetch(paged))
        else:
            rows = list(_counted(_ordinary(self._build, values))[after : after + size])
        if not rows and after:
            total = self.page(values, 1, 0)[1]
            # Rows may have been inserted between the two statements.
            return self.page(values, size, after) if total > after else (rows, total)
        return rows, rows[0].counted if rows else 0

    def _with_parts(self, rows: list[Any]) -> list[Any]:
        for part in self._parts if rows else ():
            part.attach(rows)
        return rows

    @compiled_once
    def _rows(self) -> QuerySet[Any]:
        return self._build(**_places(self._build))

    @compiled_once
    def _statement(self) -> Statement:
        return _compiled(self._rows)

    @compiled_once
    def _paged(self) -> Statement:
        statement = _compiled(_counted(self._rows))
        return statement._replace(sql=f"{statement.sql} LIMIT %s OFFSET %s")

    @compiled_once
    def _parts(self) -> list["_Part"]:
        lookups: Any = self._rows._prefetch_related_lookups  # type: ignore[attr-defined]
        return [_Part(self._rows.model, lookup) for lookup in lookups]


class CompiledUpdate:
    """A compiled UPDATE: the function returns a queryset and the new values of columns."""

    def __init__(self, build: Callable[..., tuple[QuerySet[Any], Mapping[str, Any]]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> None:
        if not IS_COMPILING:
            rows, changes = _ordinary(self._build, values)
            rows.update(**changes)
            return
        execute(self._statement.sql, _in_order(self._statement, values))

    @compiled_once
    def _statement(self) -> Statement:
        rows, changes = self._build(**_places(self._build))
        query = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)  # type: ignore[attr-defined]
        return _written(query.get_compiler(connection=connection))


class Result:
    """The rows of a compiled query for certain values: all of them, or a page."""

    def __init__(self, query: CompiledQuery, values: Mapping[str, Any]) -> None:
        self._query, self._values = query, values

    def __iter__(self) -> Iterator[Any]:
        return self._query.all(self._values)

    def page(self, size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` rows after so many, and how many there are in all."""
        return self._query.page(self._values, size, after)


def _counted(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The rows with the number of all of them, as `counted`."""
    return rows.annotate(counted=_Count(rows.order_by()))


class _Count(models.Subquery):
    """The number of rows of a queryset, counted in the statement that reads a page of them."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = models.BigIntegerField()

    def __init__(self, rows: QuerySet[Any]) -> None:
        super().__init__(rows.values("pk"))


class _Part:
    """A `Prefetch`: rows that reference the instances, read by one more statement."""

    def __init__(self, model: Any, lookup: Prefetch) -> None:
        self._name = lookup.to_attr
        self._field = getattr(model, lookup.prefetch_through).rel.field
        rows: Any = lookup.queryset
        owners = ArrayParam("owners")
        self._query = CompiledQuery(lambda: rows.filter(owners.among(self._field.attname)))

    def attach(self, owners: list[Any]) -> None:
        """Set each owner's rows. The rows refer to a copy of the owner without them.

        A reference cycle would keep both in memory until the next garbage collection.
        """
        parts: dict[Any, list[Any]] = {}
        by_key = {owner.pk: _twin(owner) for owner in owners}
        for owner in owners:
            owner.__dict__[self._name] = parts[owner.pk] = []
        name, column = self._field.name, self._field.attname
        for row in self._query.all({"owners": by_key}):
            key = row.__dict__[column]
            row._state.fields_cache[name] = by_key[key]
            parts[key].append(row)


def _twin(instance: models.Model) -> models.Model:
    twin = models.Model.__new__(type(instance))
    twin.__dict__ = instance.__dict__.copy()
    return twin


def _in_order(statement: Statement, values: Mapping[str, Any]) -> list[Any]:
    """The values of a statement's placeholders, which are `Param`s."""
    return [place.of(values) for place in statement.places]


def _places(build: Callable[..., Any]) -> dict[str, Param]:
    """The placeholder of each argument; a `partial` already has those of `**lookup`."""
    arguments = signature(build).parameters.values()
    return {
        each.name: each.default if isinstance(each.default, Param) else Param(each.name)
        for each in arguments
        if each.kind is not each.VAR_KEYWORD
    }


def _ordinary(build: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """The queryset that `build` returns for the values themselves, without compiling."""
    places = _places(build)
    meant = {name: place.meant(values[name]) for name, place in places.items()}
    return build(**{**values, **meant})


def _written(compiler: Any) -> Statement:
    """The SQL, with constants inlined, so that the planner can use a partial index."""
    sql, values = compiler.as_sql()
    texts = ["%s" if isinstance(value, Param) else _literal(value) for value in values]
    text = "".join(chain(*zip_longest(sql.split("%s"), texts, fillvalue="")))
    return Statement(text, tuple(value for value in values if isinstance(value, Param)))


def _compiled(rows: QuerySet[Any]) -> Statement:
    compiler = rows.query.get_compiler(connection=connection)
    statement = _written(compiler)
    columns = [column for column, _sql, _alias in compiler.select]
    converters = tuple(
        (at, converter(functions, column))
        for at, (functions, column) in compiler.get_converters(columns).items()
    )
    if compiler.klass_info is None or rows._fields is not None:  # type: ignore[attr-defined]
        return statement._replace(make=tuple_maker(converters))
    annotations = compiler.annotation_col_map or {}
    return statement._replace(
        make=maker(compiler.klass_info, compiler.select, annotations, converters)
    )


def _literal(value: Any) -> str:
    """A constant of the queryset as SQL."""
    if isinstance(value, int):
        return str(value).upper()  # also TRUE and FALSE
    if isinstance(value, str) and value.isalnum():
        return f"'{value}'"
    raise TypeError(f"{value!r} cannot be a constant of a compiled statement.")
