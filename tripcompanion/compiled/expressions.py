"""Conditions that the ORM does not provide."""

from typing import Any

from django.db import models
from django.db.models import F


class Comparison(models.Lookup):
    """A condition with two sides, each a `%s` in a template. Its value is not prepared."""

    template: str
    sqlite_template: str
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        is_sqlite = connection.vendor == "sqlite"
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        template = self.sqlite_template if is_sqlite else self.template
        return template % (left, right), [*left_params, *right_params]


class OneOf(Comparison):
    """Whether `column` is one of the values of `rows`: `IN`, but with an index look-up per value.

    PostgreSQL plans `IN` as a join. For a prepared statement it does not know the number of values;
    if it assumes many, it reads the whole table to find a few.
    """

    template = "%s = ANY(ARRAY%s)"
    sqlite_template = "%s IN %s"

    def __init__(self, column: str, rows: models.QuerySet[Any, Any]) -> None:
        super().__init__(F(column), models.Subquery(rows))
