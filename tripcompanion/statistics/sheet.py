"""The statistics of a trip as a table: one row for each sum."""

from collections.abc import Iterator
from typing import IO, Any

from tripcompanion.adminsite.csv_export import csv_of
from tripcompanion.api.serializers import camel_case
from tripcompanion.currency.amounts import to_major
from tripcompanion.statistics.report import Statistics

#: `name` is a person's; `entered` is what was entered in the currency that is the `key`.
HEADING = ("group", "key", "name", "amount", "currency", "count", "entered")
_OF_BUDGET = ("amount", "spent", "remaining", "planned_by_now", "forecast")


def csv_file(statistics: Statistics) -> IO[bytes]:
    """A temporary file with the table as CSV, ready to be read."""
    return csv_of(_lines(statistics))


def _lines(shown: Statistics) -> Iterator[tuple[Any, ...]]:
    """The heading and the rows. Empty cells are None."""

    def line(
        group: str, key: Any, amount_minor: int, count: int | None = None, name: str | None = None
    ) -> tuple[Any, ...]:
        amount = to_major(amount_minor, shown.currency)
        return group, key, name, amount, shown.currency, count, None

    yield HEADING
    yield line("total", shown.as_of, shown.total_minor, shown.count)
    for row in shown.by_category:
        yield line("category", row.key, row.amount_minor, row.count)
    for side in ("paid", "share"):
        for person in shown.by_member:
            amount_minor = getattr(person, f"{side}_minor")
            yield line(side, person.user.pk, amount_minor, name=person.user.shown_name)
    for row in shown.by_day:
        yield line("day", row.key, row.amount_minor, row.count)
    for row in shown.by_month:
        yield line("month", row.key, row.amount_minor, row.count)
    for row in shown.by_entered_currency:
        whole = line("enteredCurrency", row.key, row.amount_minor, row.count)
        yield *whole[:-1], to_major(row.entered_minor, row.key)
    for name in _OF_BUDGET if shown.budget else ():
        amount_minor = getattr(shown.budget, f"{name}_minor")
        if amount_minor is not None:
            yield line("budget", camel_case(name), amount_minor)
