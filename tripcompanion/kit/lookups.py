"""Conditions that the ORM has no word for."""

from typing import Any

from django.db import models
from django.db.models import F


class OneOf(models.Func):
    """That `column` is one of what `rows` give: `IN`, but looked up value by value.

    `IN` is a join to PostgreSQL. Of a kept statement it does not know how many values there will
    be; guessing many, it reads the whole table to find a few.
    """

    output_field = models.BooleanField()
    template = "%(expressions)s)"
    arg_joiner = " = ANY(ARRAY"

    def __init__(self, column: str, rows: models.QuerySet[Any, Any]) -> None:
        super().__init__(F(column), models.Subquery(rows))

    def as_sqlite(self, compiler: Any, connection: Any, **_options: Any) -> Any:
        return self.as_sql(compiler, connection, arg_joiner=" IN ", template="%(expressions)s")
