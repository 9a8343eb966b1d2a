"""What a trip has cost up to a day, in groups: sums of its expenses, which add up exactly."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import groupby
from operator import add, attrgetter
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from splits import money
from splits.models import Category, Expense, Payer, Split
from splits.models.settlement import today
from splits.models.tag import tag_key
from tripcompanion.compiled import CompiledQuery, OneOf, Param
from tripcompanion.currency.amounts import currency_names, to_minor
from trips.models import Member, Trip
from trips.models.member import SUMS
from users.models import User, summary_of

#: SQLite cannot sum beyond 64 bits, so the upper and lower bits of amounts are summed separately.
_UPPER = 2**32


class Month(models.Func):
    """The month of a day as text (`2026-05`); on SQLite, `TruncMonth` calls Python for each row."""

    template = "to_char(%(expressions)s, 'YYYY-MM')"
    output_field = models.CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        extra["template"] = "substr(%(expressions)s, 1, 7)"
        return self.as_sql(compiler, connection, **extra)


#: The last day of the expenses that count, and that of those for the forecast.
_UNTIL, _DAY = (Param(name, models.DateField()) for name in ("until", "day"))
#: The column by which expenses are summed, and the keys of the groups to which a value belongs.
_COLUMNS: dict[str, tuple[str, Callable[[Any], Sequence[str]]]] = {
    "category": ("category", lambda category: [category]),
    "currency": ("currency", lambda currency: [currency]),
    # Without tags, it belongs to the empty one.
    "tag": ("tags", lambda tags: (json.loads(tags) if isinstance(tags, str) else tags) or [""]),
    "day": ("expense_date", lambda day: [day.isoformat()]),
    "month": ("expense_date", lambda month: [month]),
}
#: What `Statistics` can be asked for.
KINDS = ("category", "tag", "member", "day", "month", "currency")
#: People may make ten new tags for every expense; an answer has those for which most was spent.
MAX_TAGS = 1000
#: Groups in the order of their keys, of which each knows the sum so far.
_IN_TIME = {"day", "month"}


@dataclass(slots=True)
class Group:
    """The expenses with the same key, in minor units of `currency`.

    `paid_minor` is what was spent, and `share_minor` the caller's part of it; for a member, what
    they paid and their own part. `count` is how many expenses were paid, by them.
    """

    key: str
    label: str
    currency: str
    paid_minor: int = 0
    share_minor: int = 0
    count: int = 0
    #: The budget of the category, or the part of the trip's for the days up to this one.
    planned_minor: int | None = None
    #: What was spent up to the day or month.
    cumulative_minor: int | None = None


class Budget(NamedTuple):
    """The budget of a trip, and what has been spent of it on a certain day.

    `forecast_minor` assumes that the other days of the trip cost as much as those that have begun,
    and no less than what was entered ahead; it is None before the first one.
    """

    planned_minor: int
    spent_minor: int
    forecast_minor: int | None
    currency: str

    @classmethod
    def on(cls, day: date, trip: Trip, spent_minor: int, by_then_minor: int) -> "Budget | None":
        """The budget of `trip` on `day`, or None if it has none."""
        if trip.budget_minor is None:
            return None
        passed, days = _days(trip, day)
        # Rounded half up.
        forecast_minor = (2 * by_then_minor * days + passed) // (2 * passed) if passed else None
        if forecast_minor is not None and by_then_minor != spent_minor:
            forecast_minor = max(forecast_minor, spent_minor)
        return cls(trip.budget_minor, spent_minor, forecast_minor, trip.currency)

    @property
    def left_minor(self) -> int:
        """What is left of it; negative if more was spent."""
        return self.planned_minor - self.spent_minor


class Statistics:
    """The statistics of the expenses of `trip` up to and including the day `as_of`.

    None counts all, also those dated ahead, as balances do. `viewer` must be allowed to see the
    trip. Call it in a snapshot.
    """

    def __init__(self, trip: Trip, viewer: User, as_of: date | None, kind: str) -> None:
        self.trip, self.currency, self.kind = trip, trip.currency, kind
        until, day = as_of or date.max, as_of or today()
        within = {"trip": trip.pk, "until": until, "day": day}
        if kind == "member":
            rows = _paid.fetch(**within)
            self.groups = _by_member(trip, rows, until)
        else:
            rows = _SPENT[kind].fetch(user=viewer.pk, **within)
            left = _UNCOVERED[kind].fetch(trip=trip.pk, until=until)
            shares = [(key, parts.get(viewer.pk, 0)) for (key,), parts in uncovered(left)]
            self.groups = _by_column(trip, rows, shares, kind)
        # Of some expenses there are several tags, so groups of these add up to more.
        self.total_minor = sum(joined(*row[2:4]) for row in rows)
        by_then_minor = sum(joined(*row[4:6]) for row in rows)
        self.budget = Budget.on(day, trip, self.total_minor, by_then_minor)


def _days(trip: Trip, day: date) -> tuple[int, int]:
    """How many days of the trip have begun on `day`, and how many it has."""
    days = (trip.end_date - trip.start_date).days + 1
    return min(max((day - trip.start_date).days + 1, 0), days), days


def planned_until(day: date, trip: Trip) -> int | None:
    """The budget for the days up to `day`, if each day of the trip has the same part of it."""
    if trip.budget_minor is None:
        return None
    passed, days = _days(trip, day)
    return money.apportion(trip.budget_minor, [passed, days - passed], seed=0)[0]


# -- Groups of expenses --------------------------------------------------------------------------


def _by_column(
    trip: Trip, rows: Iterable[Sequence[Any]], shares: Iterable[tuple[Any, int]], kind: str
) -> list[Group]:
    """The groups of `rows`, and of the viewer's `shares` of what no split covers."""
    found: dict[str, Sequence[int]] = {}
    sums = [(row[0], (joined(*row[2:4]), joined(*row[6:]), row[1])) for row in rows]
    sums += [(value, (0, share, 0)) for value, share in shares]
    keys_of = _COLUMNS[kind][1]
    for value, one in sums:
        for key in keys_of(value):
            found[key] = tuple(map(add, found[key], one)) if key in found else one
    groups = {
        key: Group(key, label_of(kind, key), trip.currency, *one)
        for key, one in (_in_any_spelling(found) if kind == "tag" else found).items()
    }
    for category, amount in (trip.category_budgets or {}).items() if kind == "category" else ():
        group = Group(category, label_of(kind, category), trip.currency)
        groups.setdefault(category, group).planned_minor = to_minor(amount, trip.currency)
    return _in_order(groups, trip, kind)


def _in_any_spelling(groups: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    """The sums by tag, each tag as it is written most often; tags are compared without case."""
    names: dict[str, str] = {}
    found: dict[str, Sequence[int]] = {}
    for tag, sums in sorted(groups.items(), key=lambda group: (-group[1][2], group[0])):
        name = names.setdefault(tag_key(tag), tag)
        found[name] = tuple(map(add, found[name], sums)) if name in found else sums
    return found


def _in_order(groups: dict[Any, Group], trip: Trip, kind: str) -> list[Group]:
    """Days and months in order, with the sum so far; others, `MAX_TAGS` at most, by their sums."""
    in_order = [groups[key] for key in sorted(groups)]
    if kind not in _IN_TIME:
        in_order.sort(key=attrgetter("paid_minor"), reverse=True)
        return in_order[:MAX_TAGS]
    so_far_minor = 0
    for group in in_order:
        so_far_minor += group.paid_minor
        group.cumulative_minor = so_far_minor
        if kind == "day":
            group.planned_minor = planned_until(date.fromisoformat(group.key), trip)
    return in_order


def label_of(kind: str, key: Any) -> str:
    """What people call a group, in the active language."""
    if kind == "category":
        return capfirst(str(dict(Category.choices).get(key, key)))
    if kind == "month":
        return capfirst(date_format(date.fromisoformat(f"{key}-01"), "YEAR_MONTH_FORMAT"))
    if kind == "tag":
        return key or _("without a tag")
    if kind == "currency":
        return currency_names(get_language() or "en")[key]
    return str(key)


def halves_of(
    column: str = "amount_minor", prefix: str = "", only: Q | None = None
) -> dict[str, Any]:
    """The sum of a column, as `joined` expects it, of all rows or of some."""
    halves = {"upper": F(column) / _UPPER, "lower": F(column) % _UPPER}
    return {f"{prefix}{name}": Sum(half, filter=only) for name, half in halves.items()}


def joined(upper: int | None, lower: int | None) -> int:
    """A sum of which both halves were read. Both have the sign of each amount."""
    return int(upper or 0) * _UPPER + int(lower or 0)


def of(user: Param, column: str) -> models.FilteredRelation:
    """A join of expenses with their only row in another table whose `column` is the user."""
    relation = column.split("__")[0]
    only = Q((column, user), (f"{relation}__trip", F("trip")))
    return models.FilteredRelation(relation, condition=only)


def _until(until: Param, **only: Any) -> QuerySet[Expense]:
    return Expense.objects.filter(expense_date__lte=until, **only).order_by()


def _column(kind: str, prefix: str = "") -> Any:
    name = prefix + _COLUMNS[kind][0]
    return Month(name) if kind == "month" else name


def _spent(
    kind: str, trip: Param, user: Param, until: Param = _UNTIL, day: Param = _DAY
) -> QuerySet[Expense, Any]:
    """By a column: how many expenses, what was spent, what by the day, and the part of `user`."""
    same = {"trip": OuterRef("trip"), "expense": OuterRef("pk")}
    own = Split.objects.filter(participant=user, **same).values("amount_minor")
    # Not a join: without statistics of the trip, PostgreSQL compares each expense with each split.
    rows = _until(until, trip=trip).alias(own_minor=Subquery(own))
    by_then = halves_of(prefix="then_", only=Q(expense_date__lte=day))
    halves = halves_of() | by_then | halves_of("own_minor", "own_")
    return rows.values_list(_column(kind)).annotate(Count("pk"), **halves)


def _uncovered(kind: str, trip: Param, until: Param = _UNTIL) -> QuerySet[Payer, Any]:
    rows = _payers_of(_until(until, trip=trip, divided=False), trip)
    return with_uncovered(rows, _column(kind, "expense__"))


def _payers_of(expenses: QuerySet[Expense], trip: Param) -> QuerySet[Payer]:
    return Payer.objects.filter(OneOf("expense", expenses.values("pk")), trip=trip)


_SPENT, _UNCOVERED = (
    {kind: CompiledQuery(partial(read, kind)) for kind in _COLUMNS} for read in (_spent, _uncovered)
)


# -- What no split covers ------------------------------------------------------------------------


def with_uncovered(payers: QuerySet[Payer, Any], *key: Any) -> QuerySet[Payer, Any]:
    """The payers of expenses that splits may not cover, for `uncovered`; `key` names columns."""
    same = {"trip": OuterRef("trip"), "expense": OuterRef("expense")}
    parts = Split.objects.filter(**same).order_by().values("expense")
    covered = Subquery(parts.annotate(sum=Sum("amount_minor")).values("sum"))
    of_expense = ("number", "merged_guests", "trip__claimed_guests", "amount_minor")
    rows = payers.annotate(covered=covered).order_by("expense", "id")
    columns = ("expense", *(f"expense__{name}" for name in of_expense))
    return rows.values_list(*columns, "covered", *key, "user", "amount_minor")


def uncovered(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[list[Any], Mapping[int, int]]]:
    """The key of each expense of `with_uncovered`, and what its payers bear of it, by user id."""
    for expense, payers in groupby(rows, lambda row: row[:-2]):
        _expense_id, number, merged, claimed, amount_minor, covered_minor, *key = expense
        if left_minor := amount_minor - (covered_minor or 0):
            paid = {user_id: paid_minor for *_columns, user_id, paid_minor in payers}
            places = money.parse_places(claimed, merged)
            yield key, money.divide(left_minor, paid, number, places)


# -- People --------------------------------------------------------------------------------------


def _by_member(trip: Trip, rows: Iterable[Sequence[Any]], as_of: date) -> list[Group]:
    """The people whom the balances show, in the order in which they joined.

    Who has left is among them also if only a later refund cancels what they paid and bore. The
    share of each membership is kept, so only what came after `as_of` is subtracted from it.
    """
    paid = {user: (joined(*row[:2]), count) for user, count, *row in rows}
    later = {"trip": trip.pk, "day": as_of}
    shares = Counter({user: joined(*halves) for user, *halves in _shares_later.fetch(**later)})
    for _key, parts in uncovered(_uncovered_later.fetch(**later)):
        shares.update(parts)
    groups = []
    for member in _members.fetch(trip=trip.pk):
        sums = [getattr(member, name) for name in SUMS]
        paid_minor, count = paid.get(member.user_id, (0, 0))
        share_minor = member.share_minor - shares[member.user_id]
        if member.left_at is None or any((*sums, paid_minor, share_minor)):
            of_member = (trip.currency, paid_minor, share_minor, count)
            groups.append(Group(str(member.user_id), member.user.shown_name, *of_member))
    return groups


@CompiledQuery
def _members(trip: Param) -> QuerySet[Member]:
    """Everybody who is or was a member."""
    rows = Member.objects.filter(trip=trip).select_related("user").order_by("joined_at", "id")
    return rows.only("trip", "left_at", *SUMS, *summary_of("user"))


@CompiledQuery
def _paid(trip: Param, until: Param = _UNTIL, day: Param = _DAY) -> QuerySet[Payer, Any]:
    """By who paid: for how many expenses, how much, and how much by the day."""
    rows = _payers_of(_until(until, trip=trip), trip).order_by().values_list("user")
    by_then = halves_of(prefix="then_", only=Q(expense__expense_date__lte=day))
    return rows.annotate(Count("pk"), **halves_of(), **by_then)


def _later(model: Any, trip: Param, day: Param, **only: bool) -> QuerySet[Any, Any]:
    """The payers or splits of the expenses after the day.

    With a join, SQLite would read those of all trips, in the order of their groups.
    """
    expenses = Expense.objects.filter(trip=trip, expense_date__gt=day, **only).values("pk")
    return model.objects.filter(OneOf("expense", expenses), trip=trip).order_by()


@CompiledQuery
def _shares_later(trip: Param, day: Param = _DAY) -> QuerySet[Split, Any]:
    return _later(Split, trip, day).values_list("participant").annotate(**halves_of())


@CompiledQuery
def _uncovered_later(trip: Param, day: Param = _DAY) -> QuerySet[Payer, Any]:
    return with_uncovered(_later(Payer, trip, day, divided=False))
