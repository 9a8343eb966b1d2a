"""Every column of the ledger is in the CSV files, or left out on purpose."""

from typing import Any

import pytest
from django.db.models import Model, Subquery

from plugins.support import csv_columns
from splits.models import Expense, Settlement
from tripcompanion.adminsite.csv_export import Column, CsvColumns
from trips.models import Trip

pytestmark = pytest.mark.once

#: By model, its columns, and those that are left out.
FILES: dict[type[Model], tuple[CsvColumns, set[str]]] = {
    Expense: (csv_columns.EXPENSES, {"number", "divided", "merged_guests"}),
    Settlement: (csv_columns.SETTLEMENTS, {"closing"}),
    Trip: (
        csv_columns.TRIPS,
        {"code", "expenses_recorded", "expenses_that_day", "counted_on", "claimed_guests"},
    ),
}


def lookups_of(columns):
    lookups: set[Any] = set()
    for column in columns.values():
        lookups |= set(column.lookups) if isinstance(column, Column) else {column}
    return {text.split("__")[0] for text in lookups if not isinstance(text, Subquery)}


@pytest.mark.parametrize("model", FILES)
def test_every_column_is_in_the_file_or_left_out_on_purpose(model):
    shown, left_out = FILES[model]
    names = {field.name: {field.name, field.attname} for field in model._meta.concrete_fields}
    assert {name for name, both in names.items() if not both & lookups_of(shown)} == left_out
