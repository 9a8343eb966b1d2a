"""The columns of expenses and payments that go through an import as they are."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db import models

from splits.models import Expense, Settlement
from trips.models.journal import plain_fields

#: By the kinds of entries.
MODELS: Mapping[str, type[models.Model]] = {"expense": Expense, "settlement": Settlement}
#: What each format says in its own way: the day, and the division.
_OF_ENTRIES = {"expense_date", "settled_on", "split_type"}


@cache
def carried(model: type[models.Model]) -> "Mapping[str, models.Field[Any, Any]]":
    """The columns that an import carries as they are, by their names in the API.

    Our own file has them all, and so has what is planned and recorded, also each new column.
    """
    fields = plain_fields(model).items()
    return {name: column for name, column in fields if column.name not in _OF_ENTRIES}
