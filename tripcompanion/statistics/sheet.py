"""Statistics as tables: one row for each group."""

from typing import IO, Any

from tripcompanion.adminsite.csv_export import csv_of
from tripcompanion.currency.amounts import to_major
from tripcompanion.statistics.personal import PersonalStatistics
from tripcompanion.statistics.report import Group, Statistics

HEADING = ("key", "label", "currency", "paid", "share", "count", "planned", "cumulative")
_AMOUNTS = ("paid_minor", "share_minor")
_OF_BUDGET = ("planned_minor", "cumulative_minor")


def csv_file(shown: Statistics) -> IO[bytes]:
    """The groups of a trip as CSV."""
    return csv_of([HEADING, *map(line_of, shown.groups)])


def personal_csv(shown: PersonalStatistics) -> IO[bytes]:
    """The groups of somebody's trips as CSV, with the kind of each group first."""
    rows: list[list[Any]] = [["by", *HEADING[:-2]]]
    for sums in shown.currencies:
        for kind in ("trips", "categories", "months"):
            rows += [[kind, *line_of(group)[:-2]] for group in getattr(sums, kind)]
    return csv_of(rows)


def line_of(group: Group) -> list[Any]:
    """The cells of a group. Empty ones are None."""

    def major(name: str) -> Any:
        minor = getattr(group, name)
        return None if minor is None else to_major(minor, group.currency)

    return [
        *(group.key, group.label, group.currency, *map(major, _AMOUNTS)),
        *(group.count, *map(major, _OF_BUDGET)),
    ]
