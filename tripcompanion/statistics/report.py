"""The statistics of a trip up to a day: sums of its expenses, which add up exactly."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import Count, DateField, F, OuterRef, QuerySet, Subquery, Sum

from splits import money
from splits.models import Expense, Payer, Split
from splits.reports.balances import balances_of
from tripcompanion.compiled import CompiledQuery, Param
from tripcompanion.database.expressions import OneOf
from trips.models import Trip
from users.models import User

#: SQLite cannot sum beyond 64 bits, so the upper and lower bits of amounts are summed separately.
_UPPER = 2**32
#: The day of `as_of` in the statements.
_DAY = Param("day", DateField())


@dataclass(slots=True)
class Group:
    """Expenses with the same `key`, which may be a category, a day, a month or a currency.

    `amount_minor` is in `currency`, the trip's; `entered_minor` means something only if `key` is
    the currency in which they were entered.
    """

    key: Any
    currency: str
    count: int = 0
    amount_minor: int = 0
    entered_minor: int = 0


class Person(NamedTuple):
    """What somebody paid for expenses, and their part of them."""

    user: User
    paid_minor: int
    share_minor: int
    currency: str


class Budget(NamedTuple):
    """The budget of a trip, and what has been spent of it on a certain day.

    `planned_by_now_minor` spreads it evenly over the days of the trip. `forecast_minor` assumes
    that the other days cost as much as those that have begun; it is None before the first one.
    """

    amount_minor: int
    spent_minor: int
    planned_by_now_minor: int
    forecast_minor: int | None
    currency: str

    @classmethod
    def on(cls, day: date, trip: Trip, spent_minor: int) -> "Budget | None":
        """The budget of `trip` on `day`, or None if it has none."""
        if trip.budget_minor is None:
            return None
        days = (trip.end_date - trip.start_date).days + 1
        passed = min(max((day - trip.start_date).days + 1, 0), days)
        [planned_minor, _left] = money.apportion(trip.budget_minor, [passed, days - passed], seed=0)
        # Rounded half up.
        forecast_minor = (2 * spent_minor * days + passed) // (2 * passed) if passed else None
        return cls(trip.budget_minor, spent_minor, planned_minor, forecast_minor, trip.currency)

    @property
    def remaining_minor(self) -> int:
        """What is left of it; negative if more was spent."""
        return self.amount_minor - self.spent_minor


class Statistics:
    """The statistics of the expenses of `trip` up to and including the day `as_of`.

    `viewer` must be allowed to see the trip. Call it in a snapshot.
    """

    def __init__(self, trip: Trip, viewer: User, as_of: date) -> None:
        self.currency, self.as_of = trip.currency, as_of
        days, months, categories, currencies = (_Groups(trip.currency) for _kind in range(4))
        for day, category, entered_in, *sums in _sums(trip=trip.pk, day=as_of):
            days.add(day, sums)
            months.add(day.isoformat()[:7], sums)
            categories.add(category, sums)
            currencies.add(entered_in, sums)
        self.by_day, self.by_month = days.in_order(), months.in_order()
        self.by_category = categories.largest_first()
        self.by_entered_currency = currencies.largest_first()
        self.by_member = _people(trip, viewer, as_of)
        self.total_minor = sum(group.amount_minor for group in self.by_month)
        self.count = sum(group.count for group in self.by_month)
        self.budget = Budget.on(as_of, trip, self.total_minor)


class _Groups(dict[Any, Group]):
    """Groups by their keys, whose amounts are in `currency`."""

    def __init__(self, currency: str) -> None:
        super().__init__()
        self._currency = currency

    def add(self, key: Any, sums: list[int]) -> None:
        """Add a row of `_sums` without its first three columns."""
        count, amount_upper, amount_lower, entered_upper, entered_lower = sums
        if key not in self:
            self[key] = Group(key, self._currency)
        group = self[key]
        group.count += count
        group.amount_minor += amount_upper * _UPPER + amount_lower
        group.entered_minor += entered_upper * _UPPER + entered_lower

    def in_order(self) -> list[Group]:
        return [self[key] for key in sorted(self)]

    def largest_first(self) -> list[Group]:
        return sorted(self.in_order(), key=lambda group: group.amount_minor, reverse=True)


@CompiledQuery
def _sums(trip: Param, day: Param = _DAY) -> QuerySet[Expense, tuple[Any, ...]]:
    """The expenses up to `day` by day, category and entered currency: their number, and sums."""
    rows = Expense.objects.filter(trip=trip, expense_date__lte=day).order_by()
    return rows.values_list("expense_date", "category", "currency").annotate(
        Count("pk"),
        amount_upper=Sum(F("amount_minor") / _UPPER),
        amount_lower=Sum(F("amount_minor") % _UPPER),
        entered_upper=Sum(F("entered_minor") / _UPPER),
        entered_lower=Sum(F("entered_minor") % _UPPER),
    )


def _people(trip: Trip, viewer: User, as_of: date) -> list[Person]:
    """The people whom the balances show, in the order in which they joined.

    The sums of each membership are kept, so only what came after `as_of` is subtracted from them.
    """
    later = {"trip": trip.pk, "day": as_of}
    paid, shares = dict(_paid_later.fetch(**later)), Counter(dict(_shares_later.fetch(**later)))
    shares.update(_uncovered_shares(_uncovered_later.fetch(**later), trip))
    return [
        Person(
            member.user,
            member.paid_minor - paid.get(member.user_id, 0),
            member.share_minor - shares[member.user_id],
            trip.currency,
        )
        for member in balances_of(viewer, trip=trip.pk)
    ]


def _later(model: Any, trip: Param, day: Param, **only: bool) -> QuerySet[Any, Any]:
    """The payers or splits of the expenses after `day`.

    With a join, SQLite would read those of all trips, in the order of their groups.
    """
    expenses = Expense.objects.filter(trip=trip, expense_date__gt=day, **only).values("pk")
    return model.objects.filter(OneOf("expense", expenses), trip=trip)


@CompiledQuery
def _paid_later(trip: Param, day: Param = _DAY) -> QuerySet[Payer, tuple[int, int]]:
    rows = _later(Payer, trip, day).order_by()
    return rows.values_list("user").annotate(Sum("amount_minor"))


@CompiledQuery
def _shares_later(trip: Param, day: Param = _DAY) -> QuerySet[Split, tuple[int, int]]:
    rows = _later(Split, trip, day).order_by()
    return rows.values_list("participant").annotate(Sum("amount_minor"))


@CompiledQuery
def _uncovered_later(trip: Param, day: Param = _DAY) -> QuerySet[Payer, tuple[Any, ...]]:
    """The payers of the expenses that splits may not cover, expense by expense."""
    same = {"trip": OuterRef("trip"), "expense": OuterRef("expense")}
    parts = Split.objects.filter(**same).order_by().values("expense")
    covered = Subquery(parts.annotate(sum=Sum("amount_minor")).values("sum"))
    rows = _later(Payer, trip, day, divided=False).order_by("expense", "id")
    columns = ("expense__number", "expense__merged_guests", "expense__amount_minor")
    return rows.annotate(covered=covered).values_list(*columns, "covered", "user", "amount_minor")


def _uncovered_shares(rows: Iterable[tuple[Any, ...]], trip: Trip) -> Counter[int]:
    """What the payers bear by user id, of the expenses that `_uncovered_later` found."""
    shares: Counter[int] = Counter()
    for (number, merged, amount_minor, covered), payers in groupby(rows, itemgetter(0, 1, 2, 3)):
        if left_minor := amount_minor - (covered or 0):
            paid = {user_id: paid_minor for *_expense, user_id, paid_minor in payers}
            former_ids = money.parse_former_ids(merged, trip.claimed_guests)
            shares.update(money.divide(left_minor, paid, number, former_ids))
    return shares
