"""What somebody's trips have cost, and what is between two people: sums over several trips."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import CharField, Count, QuerySet, Value
from django.db.models.functions import Cast, Concat
from rest_framework.exceptions import NotFound

from splits.models import Debt, Payer, Settlement, Split
from tripcompanion.database.expressions import Month
from tripcompanion.statistics.report import (
    Group,
    halves_of,
    joined,
    label_of,
    uncovered,
    with_uncovered,
)
from trips.models import Trip
from users.models import User
from users.models.summary import summaries


class CurrencySums:
    """The expenses in trips of one currency: all of them, and by trip, category and month."""

    def __init__(self, currency: str) -> None:
        self.all = Group("", "", currency)
        self.currency = currency
        self._groups: dict[str, dict[str, Group]] = {"trip": {}, "category": {}, "month": {}}

    def add(
        self,
        labels: dict[str, tuple[str, str]],
        *,
        paid_minor: int = 0,
        share_minor: int = 0,
        count: int = 0,
    ) -> None:
        """Add to all expenses, and to a group of each kind, named by its key and label."""
        groups = [self.all]
        for kind, (key, label) in labels.items():
            groups.append(self._groups[kind].setdefault(key, Group(key, label, self.currency)))
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

    @classmethod
    def of(cls, user: User, year: int | None) -> "PersonalStatistics":
        """The number of statements is constant. Call it in a snapshot."""
        trips = {trip.pk: trip for trip in Trip.objects.of_member(user)}
        when = {} if year is None else {"expense__expense_date__year": year}
        within = {"trip__in": list(trips), **when}
        sums: dict[str, CurrencySums] = {}

        def add(key: str, **found: int) -> None:
            trip_id, category, month = key.split()
            trip = trips[int(trip_id)]
            of_currency = sums.setdefault(trip.currency, CurrencySums(trip.currency))
            labels = {
                "trip": (trip_id, trip.title),
                "category": (category, label_of("category", category)),
                "month": (month, label_of("month", month)),
            }
            of_currency.add(labels, **found)

        paid = Payer.objects.filter(user=user.pk, **within)
        for key, count, *halves in _by_key(paid).annotate(Count("pk"), **halves_of()):
            add(key, paid_minor=joined(*halves), count=count)
        parts = Split.objects.filter(participant=user.pk, **within)
        for key, *halves in _by_key(parts).annotate(**halves_of()):
            add(key, share_minor=joined(*halves))
        payers = Payer.objects.filter(expense__divided=False, **within)
        for [key], shares in uncovered(with_uncovered(payers.annotate(key=_key()), "key")):
            if user.pk in shares:
                add(key, share_minor=shares[user.pk])
        return cls(year, [sums[currency] for currency in sorted(sums)])


def _key() -> Any:
    """Trip, category and month of the expense of a row, as one text."""
    gap = Value(" ")
    trip = Cast("expense__trip", CharField())
    month = Month("expense__expense_date")
    return Concat(trip, gap, "expense__category", gap, month, output_field=CharField())


def _by_key(rows: QuerySet[Any]) -> QuerySet[Any, Any]:
    return rows.order_by().annotate(key=_key()).values_list("key")


class TripBetween:
    """What is between two people in one trip, in minor units of its currency."""

    def __init__(self, trip: Trip) -> None:
        self.trip_id, self.title, self.currency = trip.pk, trip.title, trip.currency
        #: What the caller still owes the other, and is still owed; what each handed to the other.
        self.you_owe_minor = self.owes_you_minor = self.you_sent_minor = self.sent_you_minor = 0


class CurrencyBetween(NamedTuple):
    """The open debts in trips of one currency; `net_minor` is what the other owes on balance."""

    currency: str
    you_owe_minor: int
    owes_you_minor: int

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
        both = {"members__user": other_id, "members__left_at": None}
        shared = Trip.objects.of_member(caller).filter(pk__in=Trip.objects.filter(**both))
        trips = {trip.pk: TripBetween(trip) for trip in shared.order_by("pk")}
        if not trips:
            raise NotFound
        # Nobody owes or sends themselves anything, so both sides are the two people.
        pair, within = [caller.pk, other_id], {"trip__in": list(trips)}
        debts = Debt.objects.open().filter(debtor__in=pair, creditor__in=pair, **within)
        for trip_id, debtor_id, *halves in _sums(debts, "debtor", "open_minor"):
            if debtor_id == caller.pk:
                trips[trip_id].you_owe_minor = joined(*halves)
            else:
                trips[trip_id].owes_you_minor = joined(*halves)
        sent = Settlement.objects.filter(sender__in=pair, receiver__in=pair, **within)
        for trip_id, sender_id, *halves in _sums(sent, "sender", "amount_minor"):
            if sender_id == caller.pk:
                trips[trip_id].you_sent_minor = joined(*halves)
            else:
                trips[trip_id].sent_you_minor = joined(*halves)
        rows = list(trips.values())
        currencies = [
            _in_currency(currency, rows) for currency in sorted({row.currency for row in rows})
        ]
        return cls(summaries([other_id])[other_id], currencies, rows)


def _sums(rows: QuerySet[Any], person: str, column: str) -> Iterable[tuple[Any, ...]]:
    return rows.order_by().values_list("trip", person).annotate(**halves_of(column))


def _in_currency(currency: str, rows: list[TripBetween]) -> CurrencyBetween:
    some = [row for row in rows if row.currency == currency]
    owed = (sum(row.you_owe_minor for row in some), sum(row.owes_you_minor for row in some))
    return CurrencyBetween(currency, *owed)
