"""What a trip has cost up to a day, in groups: sums of its expenses, which add up exactly."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import groupby
from operator import add, attrgetter, itemgetter
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from plugins.statistics.kept import KEPT_SUMS, Last, Row, Rows
from splits import money
from splits.models import Category, Expense, Payer, Split
from splits.models.settlement import today
from splits.models.tag import tag_key
from tripcompanion.compiled import ArrayParam, CompiledQuery, Param
from tripcompanion.currency.amounts import currency_names, to_minor
from tripcompanion.database.expressions import OneOf
from trips.models import Member, Trip
from trips.models.member import SUMS
from users.models import User, summary_of

#: SQLite cannot sum beyond 64 bits, so the upper and lower bits of amounts are summed separately.
_UPPER = 2**32
#: Trips and days in the statements.
_TRIPS = ArrayParam("trips")
_DAY, _FIRST, _LAST = (Param(name, models.DateField()) for name in ("day", "first", "last"))
#: The columns of an expense by which groups are made.
_COLUMNS = ("trip", "expense_date", "category", "currency", "tags")
#: The keys of the groups to which a row of `_sums` belongs.
_KEYS: dict[str, Callable[[Row], Sequence[str]]] = {
    "category": lambda row: row[1][:1],
    "currency": lambda row: row[1][1:2],
    # Without tags, it belongs to the empty one.
    "tag": lambda row: row[1][2] or ("",),
    "day": lambda row: (row[0].isoformat(),),
    "month": lambda row: (row[0].isoformat()[:7],),
}
_KEY = itemgetter(1)
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
        keys_of: Callable[[Row], Sequence[Any]] = _KEY
        if kind == "member":
            rows = KEPT_SUMS.of(trip.pk, "paid", _paid)
            self.groups = _by_member(trip, rows, until)
        else:
            rows = KEPT_SUMS.of(trip.pk, viewer.pk, partial(_sums, viewer.pk))
            keys_of = _KEYS["category"]
            self.groups = _by_column(trip, rows, until, kind)
        # Of some expenses there are several tags, so groups of these add up to more.
        self.total_minor = _total(rows.groups(keys_of, until))
        by_then_minor = self.total_minor
        if as_of is None and trip.budget_minor is not None:
            by_then_minor = _total(rows.groups(keys_of, day))
        self.budget = Budget.on(day, trip, self.total_minor, by_then_minor)


def _total(groups: Mapping[Any, Sequence[int]]) -> int:
    return sum(sums[0] for sums in groups.values())


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


def _by_column(trip: Trip, rows: Rows, as_of: date, kind: str) -> list[Group]:
    found = rows.groups(_KEYS[kind], as_of)
    groups = {
        key: Group(key, label_of(kind, key), trip.currency, *sums[:3])
        for key, sums in (_in_any_spelling(found) if kind == "tag" else found).items()
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


def halves_of(column: str = "amount_minor", prefix: str = "") -> dict[str, Any]:
    """The sum of a column, as `joined` expects it."""
    halves = {"upper": F(column) / _UPPER, "lower": F(column) % _UPPER}
    return {f"{prefix}{name}": Sum(half) for name, half in halves.items()}


def joined(upper: int | None, lower: int | None) -> int:
    """A sum of which both halves were read. Both have the sign of each amount."""
    return int(upper or 0) * _UPPER + int(lower or 0)


def sums_of(trips: Mapping[int, Last | None], viewer: User) -> dict[int, Rows]:
    """The rows of `_sums` of several trips; see `KeptSums.of_all`."""
    return KEPT_SUMS.of_all(trips, viewer.pk, partial(_sums, viewer.pk))


def _sums(
    viewer_id: int, trips: Iterable[int], first: date, last: date
) -> Iterator[tuple[int, Row]]:
    """Sums of expenses by day, category, entered currency and tags.

    They are what was spent, the viewer's part of it and the number of expenses; then what the
    viewer paid, of how many expenses, and how many parts are the viewer's.
    """
    within = {"trips": trips, "first": first, "last": last}
    for row in _spent.fetch(user=viewer_id, **within):
        (trip_id, day, *key, tags), (count, *own), halves = row[:5], row[5:8], row[8:]
        spent, share, paid = (joined(*halves[at : at + 2]) for at in (0, 2, 4))
        yield trip_id, (day, (*key, _loaded(tags)), (spent, share, count, paid, *own))
    for (trip_id, day, *key, tags), shares in uncovered(_uncovered.fetch(**within)):
        if viewer_id in shares:
            sums = (0, shares[viewer_id], 0, 0, 0, 0)
            yield trip_id, (day, (*key, _loaded(tags)), sums)


def _loaded(tags: Any) -> tuple[str, ...]:
    return tuple(json.loads(tags) if isinstance(tags, str) else tags)


@CompiledQuery
def _spent(
    user: Param, trips: ArrayParam = _TRIPS, first: Param = _FIRST, last: Param = _LAST
) -> QuerySet[Expense, Any]:
    own = Q(splits__participant=user, splits__trip=F("trip"))
    # Looked up and not joined: PostgreSQL would read all payers to find those of a day.
    paid = Payer.objects.filter(expense=OuterRef("pk"), trip=OuterRef("trip"), user=user)
    rows = _between(ArrayParam.among(trips, "trip"), first, last).alias(
        own=models.FilteredRelation("splits", condition=own),
        paid=Subquery(paid.values("amount_minor")),
    )
    halves = halves_of() | halves_of("own__amount_minor", "own_") | halves_of("paid", "paid_")
    return rows.values_list(*_COLUMNS).annotate(*map(Count, ("pk", "paid", "own")), **halves)


@CompiledQuery
def _uncovered(
    trips: ArrayParam = _TRIPS, first: Param = _FIRST, last: Param = _LAST
) -> QuerySet[Payer, Any]:
    expenses = _between(ArrayParam.among(trips, "trip"), first, last).filter(divided=False)
    rows = Payer.objects.filter(
        OneOf("expense", expenses.values("pk")), ArrayParam.among(trips, "trip")
    )
    return with_uncovered(rows, *(f"expense__{name}" for name in _COLUMNS))


def _between(in_trips: Any, first: Param, last: Param) -> QuerySet[Expense]:
    days = {"expense_date__gte": first, "expense_date__lte": last}
    return Expense.objects.filter(in_trips, **days).order_by()


# -- What no split covers ------------------------------------------------------------------------


def with_uncovered(payers: QuerySet[Payer, Any], *key: str) -> QuerySet[Payer, Any]:
    """The payers of expenses that splits may not cover, for `uncovered`; `key` names columns."""
    same = {"trip": OuterRef("trip"), "expense": OuterRef("expense")}
    parts = Split.objects.filter(**same).order_by().values("expense")
    covered = Subquery(parts.annotate(sum=Sum("amount_minor")).values("sum"))
    of_expense = ("number", "merged_guests", "trip__claimed_guests", "amount_minor")
    rows = payers.annotate(covered=covered).order_by("expense", "id")
    columns = ("expense", *(f"expense__{name}" for name in of_expense))
    return rows.values_list(*columns, "covered", *key, "user", "amount_minor")


def uncovered(rows: Iterable[Row]) -> Iterator[tuple[list[Any], Mapping[int, int]]]:
    """The key of each expense of `with_uncovered`, and what its payers bear of it, by user id."""
    for expense, payers in groupby(rows, lambda row: row[:-2]):
        _expense_id, number, merged, claimed, amount_minor, covered_minor, *key = expense
        if left_minor := amount_minor - (covered_minor or 0):
            paid = {user_id: paid_minor for *_columns, user_id, paid_minor in payers}
            places = money.parse_places(claimed, merged)
            yield key, money.divide(left_minor, paid, number, places)


# -- People --------------------------------------------------------------------------------------


def _by_member(trip: Trip, rows: Rows, as_of: date) -> list[Group]:
    """The people whom the balances show, in the order in which they joined.

    Who has left is among them also if only a later refund cancels what they paid and bore. The
    share of each membership is kept, so only what came after `as_of` is subtracted from it.
    """
    paid = rows.groups(_KEY, as_of)
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


def _paid(trips: Iterable[int], first: date, last: date) -> Iterator[tuple[int, Row]]:
    """What each person in one trip paid, and for how many expenses, by day."""
    [trip_id] = trips
    for day, *key, count, upper, lower in _payments.fetch(trip=trip_id, first=first, last=last):
        yield trip_id, (day, key, (joined(upper, lower), count))


@CompiledQuery
def _payments(trip: Param, first: Param = _FIRST, last: Param = _LAST) -> QuerySet[Expense, Any]:
    rows = _between(Q(trip=trip), first, last).filter(payers__trip=trip)
    keys = rows.values_list("expense_date", "payers__user")
    return keys.annotate(Count("pk"), **halves_of("payers__amount_minor"))


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
