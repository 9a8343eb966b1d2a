"""Conditions that the ORM does not provide."""

from typing import Any

from django.db import models
from django.db.models import F


class OneOf(models.Func):
    """Whether `column` is one of the values of `rows`: `IN`, but with an index look-up per value.

    PostgreSQL plans `IN` as a join. For a prepared statement it does not know the number of values;
    if it assumes many, it reads the whole table to find a few.
    """

    output_field = models.BooleanField()
    template = "%(expressions)s)"
    arg_joiner = " = ANY(ARRAY"

    def __init__(self, column: str, rows: models.QuerySet[Any, Any]) -> None:
        super().__init__(F(column), models.Subquery(rows))

    def as_sqlite(self, compiler: Any, connection: Any, **_options: Any) -> Any:
        return self.as_sql(compiler, connection, arg_joiner=" IN ", template="%(expressions)s")
