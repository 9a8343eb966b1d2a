"""The trip of rows that belong to an expense, a debt or a settlement."""

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from django.db import models
from django.db.models import Case, Value, When

from tripcompanion.plugin import ExpenseRows, plugins
from trips.models import Trip


class InTrip(models.Model):
    """A row that repeats the trip of the row that it belongs to. The trip never changes.

    So a statement can name the trip without a join, and all rows of a trip can be stored together.
    Other foreign keys ensure that the trip exists. `audit_ledger` compares the trips.
    """

    trip = models.ForeignKey(
        Trip,
        on_delete=models.DO_NOTHING,
        editable=False,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )

    #: Compiled statements that read such rows with the row that they belong to compare this, too.
    repeats: ClassVar = ("trip",)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"#{self.pk}"


def is_among(keys: models.QuerySet[Any, Any]) -> Case:
    """Condition on rows: their primary key is one of `keys`, which are found once.

    PostgreSQL joins what `WHERE` has at its top. If it expects few rows, because it has no
    statistics of the trip or `LIMIT` wants few, it compares each row with all that it joins.
    """
    return Case(When(pk__in=keys, then=Value(True)), default=Value(False))


@cache
def added_rows() -> Mapping[str, ExpenseRows]:
    """The tables of plugins with rows that belong to an expense, by their names."""
    return {name: rows for app in plugins() for name, rows in app.expense_rows().items()}
