"""Querysets, updates and inserts that are compiled once, and run with the values of each request.

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

Statements stay prepared if the database engine has a cursor for that: its connection's method
`prepared_cursor`. Other engines run them with the ordinary cursor.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from inspect import signature
from itertools import chain
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import Expression, F, OuterRef, Prefetch, QuerySet
from django.db.models.base import ModelState
from django.db.models.sql import UpdateQuery

from tripcompanion.compiled.functions import function_of
from tripcompanion.compiled.once import IS_COMPILING, compiled_once
from tripcompanion.compiled.sql import counted, insert_into, rows_as_json, written

_CHUNK_ROWS = 100
#: Values that JSON has as they are stored; fields convert all others.
_PLAIN = frozenset({int, str, bool, type(None), date, datetime})

Instance = TypeVar("Instance", bound=models.Model)

#: SQLite takes 32,766 values in a statement unless it was built otherwise.
_MOST_VALUES = 30_000

Row = Sequence[Any]
#: Makes instances of rows.
Make = Callable[..., list[Any]]
#: Makes an instance of a row; the second argument holds the related instances of earlier rows.
MakeOne = Callable[[Row, dict[Any, Any]], Any]
#: The position of a column, and what turns a value of the driver into one of Python.
Converter = tuple[int, Callable[[Any], Any]]


class Param(Expression):
    """A placeholder in a compiled statement; `column` is a field that converts its value.

    With `attribute`, it stands for that attribute of the value.
    """

    def __init__(self, name: str, column: Any = None, attribute: str = "") -> None:
        super().__init__(output_field=column)
        self.name, self.column, self.attribute = name, column, attribute

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def of(self, values: Mapping[str, Any]) -> Any:
        """Its value among `values`, as the database driver expects it."""
        value = values[self.name]
        if self.attribute:
            return getattr(value, self.attribute)
        return value if self.column is None else self.column.get_db_prep_value(value, connection)


class ArrayParam(Param):
    """A placeholder for any number of integers."""

    @staticmethod
    def among(values: "ArrayParam | Iterable[int]", column: str) -> Any:
        """The condition that `column` is one of `values`: of the placeholder, or uncompiled."""
        array = values if isinstance(values, ArrayParam) else models.Value(ArrayParam.text(values))
        return _Among(F(column), array)

    def of(self, values: Mapping[str, Any]) -> Any:
        return self.text(values[self.name])

    @staticmethod
    def text(numbers: Iterable[int]) -> str:
        """Numbers as one value; psycopg would look at each element of a list to find its type."""
        array = json.dumps(list(numbers))
        return f"{{{array[1:-1]}}}" if connection.vendor == "postgresql" else array


class _Among(models.Lookup):
    """One statement for any number of values; `IN` would need one for each number."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        column, values = self.process_lhs(compiler, connection)
        array, more = self.process_rhs(compiler, connection)
        is_json = connection.vendor == "sqlite"
        condition = "IN (SELECT value FROM json_each({}))" if is_json else "= ANY({})"
        return f"{column} {condition.format(array)}", [*values, *more]


class OneOf(models.Lookup):
    """Whether `column` is one of the values of `rows`: `IN`, but with an index look-up per value.

    PostgreSQL plans `IN` as a join. For a prepared statement it does not know the number of values;
    if it assumes many, it reads the whole table to find a few. It is a lookup because Django
    compares functions in `WHERE` with TRUE, which SQLite answers without an index.
    """

    def __init__(self, column: str, rows: models.QuerySet[Any, Any]) -> None:
        super().__init__(F(column), models.Subquery(rows))

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        column, values = self.process_lhs(compiler, connection)
        rows, more = self.process_rhs(compiler, connection)
        condition = f"IN {rows}" if connection.vendor == "sqlite" else f"= ANY(ARRAY{rows})"
        return f"{column} {condition}", [*values, *more]


class _OnPage(OneOf):
    """Finds the keys first: PostgreSQL also computes the columns of rows that `OFFSET` skips."""

    def process_rhs(self, *args: Any) -> Any:
        sql, values = super().process_rhs(*args)
        return f"{sql[:-1]} LIMIT %s OFFSET %s)", [*values, Param("size"), Param("after")]


class Statement(NamedTuple):
    """The SQL of a queryset, its placeholders in order, and what makes its results of rows."""

    sql: str
    places: tuple[Any, ...]
    make: Make = list

    def in_order(self, values: Mapping[str, Any]) -> list[Any]:
        """The values of the placeholders, which are `Param`s."""
        return [place.of(values) for place in self.places]

    def fetch(self, values: Mapping[str, Any]) -> list[Any]:
        """All results for these values."""
        return self.make(fetch_all(self.sql, self.in_order(values)))

    def chunks(self, values: Mapping[str, Any]) -> Iterator[list[Any]]:
        """All results, at most a hundred of them in memory at a time."""
        with _cursor() as cursor:
            cursor.execute(self.sql, self.in_order(values))
            rows = cursor.fetchmany(_CHUNK_ROWS)
            while len(rows) == _CHUNK_ROWS:
                yield self.make(rows)
                rows = cursor.fetchmany(_CHUNK_ROWS)
        # Most results are short; their cursor is closed by now.
        if rows:
            yield self.make(rows)


class CompiledQuery:
    """A queryset with placeholders, compiled on first use.

    The default of an argument may be another kind of placeholder, such as `ArrayParam`.
    """

    #: Whether one statement reads the rows and those of every `Prefetch`. Uncompiled, each
    #: `Prefetch` is a statement of its own.
    reads_at_once: ClassVar[bool] = IS_COMPILING

    def __init__(self, build: Callable[..., QuerySet[Any]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> "Result":
        """The rows for these values, lazily: the statement runs when they are read."""
        return Result(self, values)

    def fetch(self, **values: Any) -> list[Any]:
        """All rows for these values, in memory."""
        if not IS_COMPILING:
            return list(self._build(**values))
        return self._statement.fetch(values)

    def first(self, **values: Any) -> Any:
        """The first row for these values, or None."""
        return next(iter(self.fetch(**values)), None)

    @compiled_once
    def _rows(self) -> QuerySet[Any]:
        return self._build(**_places(self._build))

    @compiled_once
    def _statement(self) -> Statement:
        return _compiled(self._rows)

    @compiled_once
    def _paged(self) -> Statement:
        return _compiled(counted(self._rows).filter(_OnPage("pk", self._rows.values("pk"))))


class CompiledUpdate:
    """A compiled UPDATE: the function returns a queryset and the new values of columns."""

    def __init__(self, build: Callable[..., tuple[QuerySet[Any], Mapping[str, Any]]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> None:
        if not IS_COMPILING:
            rows, changes = self._build(**values)
            rows.update(**changes)
            return
        with _cursor() as cursor:
            cursor.execute(self._statement.sql, self._statement.in_order(values))

    @compiled_once
    def _statement(self) -> Statement:
        rows, changes = self._build(**_places(self._build))
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        return Statement(*written(query.get_compiler(connection=connection)))


class Result:
    """The rows of a compiled query for certain values: all of them, or a page."""

    def __init__(self, query: CompiledQuery, values: Mapping[str, Any]) -> None:
        self._query, self._values = query, values

    def __iter__(self) -> Iterator[Any]:
        """Every row. At most a hundred are instances at a time, so many rows take little memory."""
        if not IS_COMPILING:
            return iter(self._query._build(**self._values))
        return chain.from_iterable(self._query._statement.chunks(self._values))

    def page(self, size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` rows after so many, and how many there are in all."""
        if IS_COMPILING:
            rows = self._query._paged.fetch({**self._values, "size": size, "after": after})
        else:
            rows = list(counted(self._query._build(**self._values))[after : after + size])
        if not rows and after:
            total = self.page(1, 0)[1]
            # Rows may have been inserted between the two statements.
            return self.page(size, after) if total > after else (rows, total)
        return rows, rows[0].counted if rows else 0


class _Part(models.Subquery):
    """A `Prefetch`: the rows that reference an instance, which its statement reads as JSON text.

    A model can say which other columns of its rows have the values of that instance (`repeats`),
    and which attributes its rows take from a dotted path of it (`inherits`).
    """

    output_field = models.TextField()

    def __init__(self, model: Any, lookup: Prefetch) -> None:
        self.parent = getattr(model, lookup.prefetch_through).rel.field
        rows: Any = lookup.queryset
        same = {name: OuterRef(name) for name in getattr(rows.model, "repeats", ())}
        paths = getattr(rows.model, "inherits", {}).items()
        self._inherited = [(name, attrgetter(path)) for name, path in paths]
        super().__init__(rows.filter(**{self.parent.name: OuterRef("pk")}, **same))

    def as_sql(
        self, compiler: Any, connection: Any, template: Any = None, query: Any = None, **_extra: Any
    ) -> Any:
        inner = self.query.get_compiler(connection=connection)
        sql, values = inner.as_sql(with_col_aliases=True)
        self.make = _making(inner, _in_json)
        names = [connection.ops.quote_name(alias) for _column, _sql, alias in inner.select]
        return rows_as_json(sql, names), values

    def attach(self, name: str, owners: list[Any]) -> None:
        """Set each owner's rows. The rows refer to a copy of the owner without them.

        A reference cycle would keep both in memory until the next garbage collection.
        """
        known: dict[Any, Any] = {}
        for owner in owners:
            stored = owner.__dict__.pop(name)
            twin = models.Model.__new__(type(owner))
            twin.__dict__ = owner.__dict__.copy()
            rows = owner.__dict__[name] = self.make(orjson.loads(stored or b"[]"), known)
            inherited = {name: read(owner) for name, read in self._inherited}
            for row in rows:
                row._state.fields_cache[self.parent.name] = twin
                row.__dict__.update(inherited)


def new_rows(model: type[Instance], rows: list[dict[str, Any]]) -> list[Instance]:
    """Unsaved rows of a model with these columns, without signals and without the constructor.

    All have the same columns; the others have the same defaults.
    """
    given: set[str] = set(*rows[:1])
    fields = model._meta.concrete_fields
    others = {f.attname: f.get_default() for f in fields if f.attname not in given}
    made = [_loaded(model, others | values, {}) for values in rows]
    for row in made:
        row._state.adding = True
    return made


def insert(rows: Iterable[Instance]) -> list[Instance]:
    """Insert unsaved rows of one model with one statement, and set their ids.

    What `bulk_create` does, with its statement kept.
    """
    rows = list(rows)
    if rows and not IS_COMPILING:
        return type(rows[0])._base_manager.bulk_create(rows)
    for some in _portions(rows):
        keys = fetch_all(*_insertion(some))
        name = some[0]._meta.pk.attname
        for row, (key,) in zip(some, keys, strict=True):
            row.__dict__[name], row._state.adding, row._state.db = key, False, DEFAULT_DB_ALIAS
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
    start, places, select, end = insert_into(model)
    found = [row.__dict__ for row in rows]
    if connection.vendor == "postgresql":
        objects = [
            {
                column: value if type(value := values[name]) in _PLAIN else prepare(value)
                for column, name, prepare in places
            }
            for values in found
        ]
        # A Decimal is sent as a string of its digits, which PostgreSQL casts exactly.
        return f"{start} {select} {end}", [orjson.dumps(objects, default=str).decode()]
    flat = [prepare(values[name]) for values in found for _column, name, prepare in places]
    return f"{start} VALUES {', '.join([select] * len(rows))} {end}", flat


def _places(build: Callable[..., Any]) -> dict[str, Param]:
    """The placeholder of each argument; a `partial` already has those of `**lookup`."""
    arguments = signature(build).parameters.values()
    return {
        each.name: each.default if isinstance(each.default, Param) else Param(each.name)
        for each in arguments
        if each.kind is not each.VAR_KEYWORD
    }


def _compiled(rows: Any) -> Statement:
    lookups = rows._prefetch_related_lookups
    parts = {lookup.to_attr: _Part(rows.model, lookup) for lookup in lookups}
    compiler = (
        rows.prefetch_related(None).annotate(**parts).query.get_compiler(connection=connection)
    )
    statement = Statement(*written(compiler))
    if compiler.klass_info is None or rows._fields is not None:
        # The tuples of a `values_list`.
        converters = _converters(compiler, _as_read)
        return statement._replace(make=lambda rows: list(map(tuple, _converted(rows, converters))))
    make = _making(compiler, _as_read)
    compiled = {alias: part for part, _sql, alias in compiler.select if isinstance(part, _Part)}

    def make_with_parts(found: Sequence[Row]) -> list[Any]:
        owners = make(found)
        for name, part in compiled.items():
            part.attach(name, owners)
        return owners

    return statement._replace(make=make_with_parts if compiled else make)


def _making(compiler: Any, convert: Any) -> Make:
    """Makes instances as `from_db` would, without signals and without the constructor.

    A related row that occurs several times, such as a person in many splits, is one instance, also
    in several calls with the same `known`.
    """
    annotations = compiler.annotation_col_map or {}
    converters = _converters(compiler, convert)
    make_one = _maker_of_one(compiler.klass_info, compiler.select, annotations)

    def make(rows: Sequence[Row], known: dict[Any, Any] | None = None) -> list[Any]:
        known = {} if known is None else known
        return [make_one(row, known) for row in _converted(rows, converters)]

    return make


def _converters(compiler: Any, convert: Any) -> Sequence[Converter]:
    """The conversions of the columns that need one, by position; `convert` finds them."""
    columns = [column for column, _sql, _alias in compiler.select]
    functions = {at: found for at, (found, _) in compiler.get_converters(columns).items()}
    found = ((at, convert(functions.get(at, []), column)) for at, column in enumerate(columns))
    return [(at, function) for at, function in found if function is not None]


def _as_read(functions: list[Any], column: Any) -> Callable[[Any], Any] | None:
    """The ORM's converters of a column, as one function; None if there are none."""
    if not functions:
        return None
    if connection.vendor == "sqlite" and isinstance(column.output_field, models.DateTimeField):
        return _instant

    def convert(value: Any) -> Any:
        for function in functions:
            value = function(value, column, connection)
        return value

    return convert


def _in_json(functions: list[Any], column: Any) -> Callable[[Any], Any] | None:
    """The same for a column in JSON, where times are text. Other dates and decimals are refused."""
    if isinstance(column.output_field, models.DateTimeField):
        return _instant if connection.vendor == "sqlite" else _with_offset
    if isinstance(column.output_field, models.IntegerField):
        return None
    if isinstance(column.output_field, (models.DateField, models.DecimalField)):
        raise TypeError(f"{column!r} cannot be read as JSON.")
    return _as_read(functions, column)


def _cursor() -> Any:
    own: Any = connections[DEFAULT_DB_ALIAS]
    return own.prepared_cursor() if hasattr(own, "prepared_cursor") else own.cursor()


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run a statement, such as one that the ORM cannot express, and return its rows."""
    with _cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def _converted(rows: Sequence[Row], converters: Sequence[Converter]) -> Sequence[Row]:
    if not converters:
        return rows
    lists: list[Any] = list(map(list, rows))
    for at, convert in converters:
        for row in lists:
            row[at] = convert(row[at])
    return lists


def _instant(value: Any) -> datetime | None:
    """A time as SQLite stores it, also in JSON, which is UTC without an offset."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return None if value is None else value.replace(tzinfo=UTC)


def _with_offset(value: str | None) -> datetime | None:
    """A time as PostgreSQL writes it in JSON."""
    return None if value is None else datetime.fromisoformat(value)


def _maker_of_one(info: Any, select: Any, annotations: Mapping[str, int] | None) -> MakeOne:
    model = info["model"]
    columns = {select[at][0].target.attname: at for at in info["select_fields"]}
    key_at, is_root = columns[model._meta.pk.attname], annotations is not None
    columns |= annotations or {}
    values = ", ".join(f"{name!r}: row[{at}]" for name, at in columns.items())
    related = {
        inner["field"].name: _maker_of_one(inner, select, None)
        for inner in info.get("related_klass_infos", ())
    }
    instances = ", ".join(f"{name!r}: related[{name!r}](row, known)" for name in related)
    make: MakeOne = function_of(
        f"lambda row, known: loaded(model, {{{values}}}, {{{instances}}})",
        {"loaded": _loaded, "model": model, "related": related},
    )

    def make_once(row: Row, known: dict[Any, Any]) -> Any:
        key = (model, row[key_at])
        found = known.get(key)
        if found is None and key[1] is not None:
            found = known[key] = make(row, known)
        return found

    return make if is_root else make_once


def _loaded(model: Any, values: dict[str, Any], related: dict[str, Any]) -> Any:
    """An instance with the values of its columns and its related instances."""
    instance, state = model.__new__(model), ModelState()
    state.__dict__ = {"adding": False, "db": DEFAULT_DB_ALIAS, "fields_cache": related}
    values["_state"] = state
    instance.__dict__ = values
    return instance
