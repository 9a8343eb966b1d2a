"""What somebody's trips have cost, and what is between two people: sums over several trips."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Count, QuerySet
from rest_framework.exceptions import NotFound

from plugins.statistics.report import (
    Group,
    Month,
    halves_of,
    joined,
    label_of,
    of,
    uncovered,
    with_uncovered,
)
from splits.models import Debt, Expense, Payer, Settlement
from tripcompanion.compiled import ArrayParam, CompiledQuery, OneOf, Param
from trips.models import CompiledForViewer, Trip, ViewerParam
from users.models import User
from users.models.summary import summaries

_PAIR, _TRIPS = ArrayParam("pair"), ArrayParam("trips")
_FIRST, _LAST = (Param(name, models.DateField()) for name in ("first", "last"))


class CurrencySums:
    """The expenses in trips of one currency: all of them, and by trip, category and month."""

    def __init__(self, currency: str) -> None:
        self.all = Group("", "", currency)
        self.currency = currency
        self._groups: dict[str, dict[str, Group]] = {"trip": {}, "category": {}, "month": {}}

    def add(self, trip: Trip, month: str, category: str, *sums: int) -> None:
        """Add what was paid, the share and the number of expenses to all groups that have them."""
        groups = [self.all]
        for kind, key in {"trip": str(trip.pk), "category": category, "month": month}.items():
            if key not in self._groups[kind]:
                label = trip.title if kind == "trip" else label_of(kind, key)
                self._groups[kind][key] = Group(key, label, self.currency)
            groups.append(self._groups[kind][key])
        paid_minor, share_minor, count = sums
        for group in groups:
            group.paid_minor += paid_minor
            group.share_minor += share_minor
            group.count += count

    @property
    def trips(self) -> list[Group]:
        return sorted(self._groups["trip"].values(), key=lambda one: int(one.key))

    @property
    def categories(self) -> list[Group]:
        return sorted(self._groups["category"].values(), key=lambda one: one.key)

    @property
    def months(self) -> list[Group]:
        return sorted(self._groups["month"].values(), key=lambda one: one.key)


class PersonalStatistics(NamedTuple):
    """What somebody paid and bears in their trips; of one `year`, or of all if it is None."""

    year: int | None
    currencies: list[CurrencySums]
    #: How many were recorded in these trips.
    expenses: int

    @classmethod
    def of(cls, user: User, year: int | None) -> "PersonalStatistics":
        """The number of statements is bounded. Call it in a snapshot."""
        trips = {trip.pk: trip for trip in _trips(user=user)}
        sums: dict[str, CurrencySums] = {}
        within = {"trips": trips, "first": date(year or MINYEAR, 1, 1)}
        within["last"] = date(year or MAXYEAR, 12, 31)
        for trip_id, *key, paid_minor, share_minor, count in _own_sums(user, **within):
            trip = trips[trip_id]
            of_currency = sums.setdefault(trip.currency, CurrencySums(trip.currency))
            of_currency.add(trip, *key, paid_minor, share_minor, count)
        expenses = sum(trip.expenses_recorded for trip in trips.values())
        return cls(year, [sums[currency] for currency in sorted(sums)], expenses)


@CompiledForViewer
def _trips(user: ViewerParam) -> QuerySet[Trip]:
    return Trip.objects.of_member(user).only("title", "currency", "expenses_recorded")


def _own_sums(user: User, **within: Any) -> Iterator[tuple[Any, ...]]:
    """What somebody paid and bears in trips, and how many expenses they paid.

    By trip, month and category, from one day to another.
    """
    for row in _own.fetch(user=user.pk, **within):
        key, (count, parts), halves = row[:3], row[3:5], row[5:]
        if count or parts:
            yield (*key, joined(*halves[:2]), joined(*halves[2:]), count)
    for key, shares in uncovered(_uncovered.fetch(**within)):
        if user.pk in shares:
            yield (*key, 0, shares[user.pk], 0)


@CompiledQuery
def _own(
    user: Param, trips: ArrayParam = _TRIPS, first: Param = _FIRST, last: Param = _LAST
) -> QuerySet[Expense, Any]:
    rows = _between(trips, first, last).alias(
        own=of(user, "splits__participant"), paid=of(user, "payers__user")
    )
    halves = halves_of("paid__amount_minor") | halves_of("own__amount_minor", "own_")
    by = rows.values_list("trip", Month("expense_date"), "category")
    return by.annotate(Count("paid"), Count("own"), **halves)


@CompiledQuery
def _uncovered(
    trips: ArrayParam = _TRIPS, first: Param = _FIRST, last: Param = _LAST
) -> QuerySet[Payer, Any]:
    expenses = _between(trips, first, last).filter(divided=False).values("pk")
    rows = Payer.objects.filter(OneOf("expense", expenses), ArrayParam.among(trips, "trip"))
    month = Month("expense__expense_date")
    return with_uncovered(rows, "expense__trip", month, "expense__category")


def _between(trips: ArrayParam, first: Param, last: Param) -> QuerySet[Expense]:
    days = {"expense_date__gte": first, "expense_date__lte": last}
    return Expense.objects.filter(ArrayParam.among(trips, "trip"), **days).order_by()


class TripBetween:
    """What is between two people in one trip, in minor units of its currency."""

    def __init__(self, trip: Trip) -> None:
        self.trip_id, self.title, self.currency = trip.pk, trip.title, trip.currency
        #: What the caller still owes the other, and is still owed; what each handed to the other.
        self.you_owe_minor = self.owes_you_minor = self.you_sent_minor = self.sent_you_minor = 0


@dataclass
class CurrencyBetween:
    """What is owed in trips of one currency; `net_minor` is what the other owes on balance."""

    currency: str
    you_owe_minor: int = 0
    owes_you_minor: int = 0

    @property
    def net_minor(self) -> int:
        return self.owes_you_minor - self.you_owe_minor


class Between(NamedTuple):
    """What is between the caller and `user`, in the trips of which both are members."""

    user: User
    currencies: list[CurrencyBetween]
    trips: list[TripBetween]

    @classmethod
    def people(cls, caller: User, other_id: int) -> "Between":
        """Raises `NotFound` if they share no trip. Call it in a snapshot."""
        trips = {trip.pk: TripBetween(trip) for trip in _shared(user=caller, other=other_id)}
        if not trips:
            raise NotFound
        # Nobody owes or sends themselves anything, so both sides are the two people.
        pair = [caller.pk, other_id]
        owed = [*_owed.fetch(pair=pair, trips=trips), *_credit.fetch(pair=pair, trips=trips)]
        for trip_id, debtor_id, *halves in owed:
            if debtor_id == caller.pk:
                trips[trip_id].you_owe_minor += joined(*halves)
            else:
                trips[trip_id].owes_you_minor += joined(*halves)
        for trip_id, sender_id, *halves in _sent.fetch(pair=pair):
            if trip_id not in trips:
                continue
            if sender_id == caller.pk:
                trips[trip_id].you_sent_minor = joined(*halves)
            else:
                trips[trip_id].sent_you_minor = joined(*halves)
        sums: dict[str, CurrencyBetween] = {}
        for row in trips.values():
            of_currency = sums.setdefault(row.currency, CurrencyBetween(row.currency))
            of_currency.you_owe_minor += row.you_owe_minor
            of_currency.owes_you_minor += row.owes_you_minor
        currencies = [sums[currency] for currency in sorted(sums)]
        return cls(summaries([other_id])[other_id], currencies, list(trips.values()))


@CompiledForViewer
def _shared(user: ViewerParam, other: Param) -> QuerySet[Trip]:
    """The trips of which both are members."""
    theirs = Trip.objects.filter(members__user=other, members__left_at=None)
    rows = Trip.objects.of_member(user).filter(OneOf("pk", theirs.values("pk")))
    return rows.only("title", "currency").order_by("pk")


@CompiledQuery
def _owed(pair: ArrayParam = _PAIR, trips: ArrayParam = _TRIPS) -> QuerySet[Debt, Any]:
    rows = Debt.objects.open().filter(ArrayParam.among(trips, "trip"))
    return _sums("open_minor", rows, pair, "debtor", "creditor")


@CompiledQuery
def _credit(pair: ArrayParam = _PAIR, trips: ArrayParam = _TRIPS) -> QuerySet[Settlement, Any]:
    """What was paid beyond the debts, which the receiver owes the sender."""
    rows = Settlement.with_offsets.with_credit().filter(ArrayParam.among(trips, "trip"))
    return _sums("credit_minor", rows, pair, "receiver", "sender")


@CompiledQuery
def _sent(pair: ArrayParam = _PAIR) -> QuerySet[Settlement, Any]:
    """In all trips: with those given, SQLite would read all settlements in them."""
    return _sums("amount_minor", Settlement.objects, pair, "sender", "receiver")


def _sums(column: str, rows: Any, pair: ArrayParam, *people: str) -> QuerySet[Any, Any]:
    """What is between a pair of people, by trip and by the first column of people."""
    between = rows.filter(*(ArrayParam.among(pair, name) for name in people)).order_by()
    return between.values_list("trip", people[0]).annotate(**halves_of(column))
