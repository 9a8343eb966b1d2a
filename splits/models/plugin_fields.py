"""The fields of expenses that plugins store; see `Plugin.expense_fields`."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db.models import QuerySet

from tripcompanion.api.serializers import camel_case
from tripcompanion.plugin import ExpenseField, plugins

Values = dict[str, Any]


@cache
def plugin_fields() -> Mapping[str, ExpenseField]:
    """The fields by their names in Python."""
    return {name: field for app in plugins() for name, field in app.expense_fields().items()}


def with_plugin_fields(rows: QuerySet[Any], expense: str = "pk") -> Any:
    """The rows with the values of all fields; the column `expense` is the id of the expense."""
    return rows.annotate(**{name: one.stored(expense) for name, one in plugin_fields().items()})


def store_plugin_fields(expense: Any, values: Values) -> tuple[Values, Values]:
    """Store the values that were sent for a stored expense. Call it under the trip's lock.

    Returns what changed, as it was and as it is, by the names in the API. Raises `ValidationError`.
    """
    if not values:
        return {}, {}
    rows = type(expense).objects.filter(trip=expense.trip_id, pk=expense.pk)
    old = with_plugin_fields(rows).values(*values).get()
    changed = {name for name, value in values.items() if value != old[name]}
    for name in changed:
        plugin_fields()[name].check(expense.trip, values[name])
        plugin_fields()[name].store(expense, values[name])
    before, after = ({camel_case(name): of[name] for name in changed} for of in (old, values))
    return before, after
