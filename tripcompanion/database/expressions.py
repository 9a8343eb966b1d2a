"""Conditions that the ORM does not provide."""

from typing import Any

from django.db import models
from django.db.models import F


class OneOf(models.Func):
    """Whether `column` is one of the values of `rows`: `IN`, but with an index look-up per value.

    PostgreSQL plans `IN` as a join. For a prepared statement it does not know the number of values;
    if it assumes many, it reads the whole table to find a few.
    """

    template, arg_joiner = "%(expressions)s)", " = ANY(ARRAY"
    output_field = models.BooleanField()

    def __init__(self, column: str, rows: models.QuerySet[Any, Any]) -> None:
        super().__init__(F(column), models.Subquery(rows))

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        options = {"template": "%(expressions)s", "arg_joiner": " IN "}
        return self.as_sql(compiler, connection, **options, **extra)
