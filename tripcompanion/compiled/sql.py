"""The SQL of querysets and inserts, with places for values."""

from collections.abc import Callable
from functools import cache, partial
from itertools import chain, zip_longest
from typing import Any

from django.db import connection, models
from django.db.models import Expression, QuerySet

#: A column, the attribute with its value, and what prepares that for the statement.
Place = tuple[str, str, Callable[[Any], Any]]
_ALL_ROWS = {
    "postgresql": "(SELECT json_agg(json_build_array({row}))::text FROM ({sql}) part)",
    "sqlite": "(SELECT json_group_array(json_array({row})) FROM ({sql}) part)",
}


def counted(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The rows with the number of all of them, as `counted`."""
    return rows.annotate(counted=_Count(rows.order_by().values("pk")))


class _Count(models.Subquery):
    """The number of rows of a queryset, counted in the statement that reads a page of them."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = models.BigIntegerField()


def written(compiler: Any) -> tuple[str, tuple[Any, ...]]:
    """The SQL and its placeholders, which are expressions.

    Constants are inlined, so that the planner can use a partial index.
    """
    sql, values = compiler.as_sql()
    texts = ["%s" if isinstance(value, Expression) else _literal(value) for value in values]
    text = "".join(chain(*zip_longest(sql.split("%s"), texts, fillvalue="")))
    return text, tuple(value for value in values if isinstance(value, Expression))


def _literal(value: Any) -> str:
    """A constant of the queryset as SQL."""
    if isinstance(value, int):
        return str(value).upper()  # also TRUE and FALSE
    if isinstance(value, str) and value.isalnum():
        return f"'{value}'"
    raise TypeError(f"{value!r} cannot be a constant of a compiled statement.")


@cache
def insert_into(model: Any) -> tuple[str, list[Place], str, str]:
    """The statement in three parts, with its places; the second part is that of a single row."""
    quote = connection.ops.quote_name
    fields = [field for field in model._meta.local_concrete_fields if not field.primary_key]
    columns = ", ".join(quote(field.column) for field in fields)
    table = quote(model._meta.db_table)
    start = f"INSERT INTO {table} ({columns})"
    end = f"RETURNING {quote(model._meta.pk.column)}"
    if connection.vendor == "postgresql":
        source = f"json_populate_recordset(NULL::{table}, %s::json)"
        places: list[Place] = [(f.column, f.attname, f.get_prep_value) for f in fields]
        return start, places, f"SELECT {columns} FROM {source}", end  # noqa: S608 -- names only
    places = [
        (f.column, f.attname, partial(f.get_db_prep_save, connection=connection)) for f in fields
    ]
    return start, places, f"({', '.join(['%s'] * len(fields))})", end


def rows_as_json(sql: str, columns: list[str]) -> str:
    """A value with all rows of a statement: JSON text, an array of the columns for each row."""
    return _ALL_ROWS[connection.vendor].format(row=", ".join(columns), sql=sql)
