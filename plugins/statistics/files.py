"""Statistics as files: tables with one row for each group, and pictures."""

from collections.abc import Iterable
from datetime import date
from typing import IO, Any

from django.utils.translation import gettext as _

from plugins.admin_tables import formatted
from plugins.csv_export import csv_of
from plugins.statistics.personal import PersonalStatistics
from plugins.statistics.pictures import Bar, Mark, bars, lines
from plugins.statistics.report import Group, Statistics
from tripcompanion.currency.amounts import to_major
from tripcompanion.currency.formats import format_amount
from trips.models import Member

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


def chart_of(shown: Statistics) -> IO[bytes]:
    """Days as a line against the budget, other groups as bars."""
    if shown.kind == "day":
        return _against_budget(shown)
    total = {"trip": shown.trip.title, "total": format_amount(shown.total_minor, shown.currency)}
    title = _("%(trip)s: %(total)s") % total
    if shown.kind == "member":
        return _bars(title, shown.groups, (_("paid"), _("share")))
    if any(group.planned_minor for group in shown.groups):
        return _bars(title, shown.groups, (_("spent"), _("budget")), "planned_minor")
    return _bars(title, shown.groups, (_("spent"), _("your part")))


def _bars(
    title: str, groups: list[Group], series: tuple[str, str], second: str = "share_minor"
) -> IO[bytes]:
    def bar(group: Group) -> Bar:
        values = (group.paid_minor, getattr(group, second) or 0)
        return Bar(
            group.label, [Mark(minor, format_amount(minor, group.currency)) for minor in values]
        )

    return bars(title, [*map(bar, groups)], series, _("The table has more."))


def _against_budget(shown: Statistics) -> IO[bytes]:
    """What was spent by the end of each day, and what was planned."""
    trip, total = shown.trip, format_amount(shown.total_minor, shown.currency)
    spent = [(date.fromisoformat(group.key), group.cumulative_minor or 0) for group in shown.groups]
    first = min([trip.start_date, *(day for day, _sum in spent)]).toordinal()
    last = max([trip.end_date, *(day for day, _sum in spent)]).toordinal()
    drawn = {_("spent"): [(day.toordinal(), so_far) for day, so_far in spent]}
    told = [f"{_('spent')}: {total}"]
    if shown.budget:
        planned_minor = shown.budget.planned_minor
        start, end = trip.start_date.toordinal(), trip.end_date.toordinal()
        drawn[_("budget")] = [(start - 1, 0), (end, planned_minor), (last, planned_minor)]
        told.append(f"{_('budget')}: {format_amount(planned_minor, shown.currency)}")
    highest = max([0, *(minor for points in drawn.values() for _day, minor in points)])
    return lines(
        f"{trip.title}: {total}",
        {name: [(first - 1, 0), *points] for name, points in drawn.items()},
        ends=[formatted(date.fromordinal(day)) for day in (first, last)],
        top=Mark(highest, format_amount(highest, shown.currency)),
        told=told,
    )


def balances_chart(rows: Iterable[Member]) -> IO[bytes]:
    """Balances as bars: to the right for those who get money back, to the left for who owes it."""
    balances = [
        Bar(row.user.shown_name, [Mark(minor, format_amount(minor, row.trip.currency))])
        for row in rows
        for minor in [row.balance_minor]
    ]
    return bars(_("Balances"), balances, more=_("The table has more."))


def personal_chart(shown: PersonalStatistics) -> IO[bytes]:
    """What somebody paid and bears, by trip."""
    title = str(shown.year) if shown.year else _("My trips")
    groups = [group for sums in shown.currencies for group in sums.trips]
    return _bars(title, groups, (_("paid"), _("share")))
