"""Conditions that the ORM does not provide."""

from typing import Any

from django.db import models
from django.db.models import F


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
