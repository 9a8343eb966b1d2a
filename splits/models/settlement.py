"""Settlements and their allocations to debts. How their sums are kept is in the app's README.md."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from splits.models.allocation import Allocation, AllocationRow, recompute_credit, recompute_open
from splits.models.closing import Closings, OffsetRow
from splits.models.conflicts import ClosesTrip
from splits.models.debt import Debt, DebtQuerySet, require_few_debts
from splits.models.deleted import DeletedEntry, DeletedKind
from splits.models.rate import ExchangeRate, in_trip_currency
from tripcompanion.compiled import ArrayParam, CompiledQuery, Param, insert
from tripcompanion.currency.amounts import Amount, minor_units, to_major
from tripcompanion.currency.formats import format_amount
from tripcompanion.database.deletes import delete_leaves
from trips.models import InTripQuerySet, Member, Trip, locked_row, locked_trip, trip_key
from trips.models.client_ids import ClientNamed
from trips.models.events import Event
from trips.models.journal import Entry, plain_values, write
from trips.roles import Can, Capability
from users.models import User


def today() -> date:
    """The current date in UTC."""
    return timezone.now().date()


class Revoked(NamedTuple):
    """Settlements that were deleted, with their allocations and the offsets of what they closed."""

    settlements: Sequence["Settlement"] = ()
    allocations: Sequence[AllocationRow] = ()
    offsets: Sequence[OffsetRow] = ()


class SettlementQuerySet(InTripQuerySet["Settlement"]):
    def with_details(self) -> "SettlementQuerySet":
        """With everything that a response contains: both people and the currency."""
        return self.select_related("sender", "receiver", "trip")

    def with_credit(self) -> "SettlementQuerySet":
        """Settlements with unused credit, oldest first."""
        return self.filter(credit_minor__gt=0).order_by("id")

    def revoke(self) -> "Revoked":
        """Delete these settlements of one trip, and reopen what they covered or closed.

        Call under the lock of the trip. Raises `ClosesTrip` if another one has used up credit of
        them, or of what they closed, and `TooManyDebts`.
        """
        rows = list(self.order_by("pk"))
        if not rows:
            return Revoked()
        trip_id, ids = rows[0].trip_id, {row.pk for row in rows}
        closings = closings_in(trip_id)
        causes = closings.causes(ids)
        if later := causes - ids:
            raise ClosesTrip(max(later))
        for row in rows:
            row.has_closed = row.pk in causes
        changes = sums_of(rows, [], sign=-1)
        of_trip = Allocation.objects.filter(trip=trip_id)
        allocations = of_trip.filter(settlement__in=ids).unallocate(trip_id, changes, ids)
        of_closings, offsets = closings.reopen(causes)
        delete_leaves(self.filter(trip=trip_id))
        require_few_debts(trip_id)
        return Revoked(rows, allocations + of_closings, offsets)


_Settlements = models.Manager.from_queryset(SettlementQuerySet)


class Payments(_Settlements["Settlement"]):
    """Money that was handed over: all settlements but the offsets."""

    def get_queryset(self) -> SettlementQuerySet:
        rows: Any = super().get_queryset()
        return rows.filter(closing=None)


class Settlement(ClientNamed):
    """Money that one member handed to another.

    It covers the sender's open debts to the receiver, oldest split first. What is left over is
    credit, which covers the next debts.

    An offset is no money: it is what one person owed another when the settlement `closing` closed
    the trip. It covers these debts. What it covered of a debt that is smaller or gone is credit.
    """

    trip = trip_key("settlements")
    sender = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        related_name="settlements_sent",
        db_index=False,
        verbose_name=gettext_lazy("sender"),
    )
    receiver = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        related_name="settlements_received",
        verbose_name=gettext_lazy("receiver"),
    )
    #: In the trip's currency; this is the amount that the ledger uses.
    amount_minor = models.BigIntegerField()
    #: The amount and currency as entered, and the fixed rate, if that is not the trip's currency.
    foreign_minor = models.BigIntegerField(null=True, default=None)
    foreign_currency = models.CharField(
        gettext_lazy("other currency"), max_length=3, blank=True, default="", db_default=""
    )
    exchange_rate = models.DecimalField(
        gettext_lazy("exchange rate"),
        max_digits=24,
        decimal_places=15,
        null=True,
        blank=True,
        default=None,
    )
    rate_source = models.CharField(
        gettext_lazy("source of the rate"), max_length=10, blank=True, default="", db_default=""
    )
    rate_day = models.DateField(
        gettext_lazy("day of the rate"), null=True, blank=True, default=None
    )
    #: `amount_minor` minus its allocations.
    credit_minor = models.BigIntegerField()
    settled_on = models.DateField(gettext_lazy("date"), default=today)
    note = models.CharField(gettext_lazy("note"), max_length=2000, blank=True, default="")
    #: The split for which `pay` recorded this; null if a person recorded it.
    split = models.ForeignKey(
        "splits.Split", on_delete=models.CASCADE, null=True, related_name="settlements"
    )
    #: Only in offsets: what closed the trip.
    closing = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        null=True,
        editable=False,
        related_name="offsets",
        db_index=False,
    )
    created_by = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", verbose_name=gettext_lazy("recorded by")
    )
    created_at = models.DateTimeField(
        gettext_lazy("created at"), default=timezone.now, editable=False
    )

    objects = Payments()
    with_offsets = SettlementQuerySet.as_manager()

    #: See `plain_fields`: these have other names in the API.
    special_columns: ClassVar = {"foreign_currency", "exchange_rate", "rate_source", "rate_day"}
    caller_role: str
    #: Set by `revoke`: whether the settlement had closed the trip.
    has_closed: bool

    class Meta:
        verbose_name = gettext_lazy("settlement")
        verbose_name_plural = gettext_lazy("settlements")
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="settlement_positive"),
            models.CheckConstraint(
                condition=Q(credit_minor__gte=0, credit_minor__lte=F("amount_minor")),
                name="settlement_credit_within_amount",
            ),
            models.CheckConstraint(
                condition=~Q(sender=F("receiver")), name="settlement_between_two_people"
            ),
            models.CheckConstraint(
                condition=Q(foreign_minor=None, foreign_currency="", exchange_rate=None)
                | Q(
                    foreign_minor__isnull=False,
                    foreign_minor__gt=0,
                    foreign_currency__gt="",
                    exchange_rate__isnull=False,
                    exchange_rate__gt=0,
                ),
                name="settlement_entered_with_rate",
            ),
        ]
        indexes = [
            models.Index(
                fields=["trip", "-settled_on", "-id"],
                condition=Q(closing=None),
                name="settlement_latest",
            ),
            models.Index(
                fields=["trip", "sender", "receiver"],
                condition=Q(credit_minor__gt=0),
                name="settlement_credit",
            ),
            # For what one person sent to another, which is summed up from the index alone.
            models.Index(
                fields=["sender", "receiver", "trip", "closing", "amount_minor"],
                name="settlement_sent",
            ),
            models.Index(
                fields=["closing", "sender", "receiver"],
                condition=Q(closing__isnull=False),
                name="settlement_offsets",
            ),
        ]

    def __str__(self) -> str:
        return _("%(sender)s to %(receiver)s, %(amount)s") % {
            "sender": self.sender.shown_name,
            "receiver": self.receiver.shown_name,
            "amount": format_amount(self.entered_minor, self.currency),
        }

    @property
    def entered_minor(self) -> int:
        """The amount as entered, in minor units of `currency`."""
        return self.amount_minor if self.foreign_minor is None else self.foreign_minor

    @property
    def currency(self) -> str:
        return self.foreign_currency or self.trip.currency

    @property
    def rate(self) -> ExchangeRate | None:
        """The rate to the trip's currency; None if it was entered in that."""
        if self.exchange_rate is None or self.rate_day is None:
            return None
        return ExchangeRate(self.exchange_rate, self.rate_source, self.rate_day)

    def record(self, amount: Amount, exchange_rate: Decimal | None = None) -> None:
        """Insert this unsaved row on behalf of `created_by`, and allocate it to open debts.

        In another currency than the trip's, `exchange_rate` defaults to that of `settled_on`. The
        amount was entered while the trip had the currency of `trip`.

        Raises `ValidationError` if one of the two is not a member or `amount` is too small or too
        large, `CurrencyChanged`, and `NoRate`.
        """
        by, meant = self.created_by, self.trip.currency
        with locked_trip(
            self.trip_id, by, Can.SETTLE, lambda _trip: self.is_own(by, Can.SETTLE)
        ) as trip:
            trip.require_currency(meant)
            self.trip = trip
            self.fix_amount(amount, exchange_rate)
            trip.require_members({"fromUserId": [self.sender_id], "toUserId": [self.receiver_id]})
            self.enter()
            write(trip.pk, by, *settlement_entries(Event.SETTLEMENT_CREATED, [self], trip.currency))

    def fix_amount(self, amount: Amount, given: Decimal | None = None) -> None:
        """Set the amount as entered and in the trip's currency, and the rate.

        Raises `NoRate`, and `ValidationError` on `amount`.
        """
        entered_minor, own = minor_units("amount", *amount), self.trip.currency
        if amount.currency == own:
            self.amount_minor = entered_minor
            return
        self.foreign_minor, self.foreign_currency = entered_minor, amount.currency
        fixed = ExchangeRate.fixed(amount.currency, own, self.settled_on, given)
        self.exchange_rate, self.rate_source, self.rate_day = fixed
        self.amount_minor = in_trip_currency(entered_minor, amount.currency, own, fixed.rate)

    def enter(self) -> None:
        """Insert this row and allocate it to open debts. Call under the trip's lock."""
        self.credit_minor = self.amount_minor
        debts = Debt.objects.open().filter(
            trip=self.trip_id, debtor=self.sender_id, creditor=self.receiver_id
        )
        allocations = allocate(debts, [self])
        insert([self])
        make_allocations(self.trip_id, allocations, [self])

    @classmethod
    def pay(cls, debts: list[Debt], trip: Trip, by: User) -> tuple[int, datetime, list[Entry]]:
        """Cover the `open_debts` of a split. Call under the trip's lock.

        Credit between the two people is used first. The rest is recorded as a settlement for each
        creditor. Returns how much was open, when it was covered (UTC), and what the journal records
        of these settlements.
        """
        open_minor = sum(debt.open_minor for debt in debts)
        from_credit = []
        if any(debt.has_credit for debt in debts):
            from_credit = allocate_credit(trip.pk, debts)
        settlements = [
            cls(
                trip_id=trip.pk,
                split_id=debt.split_id,
                sender_id=debt.debtor_id,
                receiver_id=debt.creditor_id,
                amount_minor=debt.open_minor,
                credit_minor=debt.open_minor,
                created_by_id=by.pk,
            )
            for debt in debts
            if debt.open_minor
        ]
        allocations = [*from_credit, *allocate(debts, settlements)]
        insert(settlements)
        paid_at = make_allocations(trip.pk, allocations, settlements)
        recorded = settlement_entries(Event.SETTLEMENT_CREATED, settlements, trip.currency)
        return open_minor, paid_at, recorded

    def remove(self, by: User) -> None:
        """Delete the settlement, and reopen what it covered or closed."""
        rows = Settlement.objects.all
        with locked_row(
            rows, by, Can.DELETE_SETTLEMENTS, trip_id=self.trip_id, pk=self.pk
        ) as stored:
            trip, gone = stored.trip, Settlement.objects.filter(trip=self.trip_id, pk=self.pk)
            deleted, *freed = gone.revoke()
            DeletedEntry.keep(trip, DeletedKind.SETTLEMENT, stored.pk, *freed, settlement=[stored])
            entries = settlement_entries(Event.SETTLEMENT_DELETED, deleted, trip.currency)
            write(trip.pk, by, *entries)

    def covered_count(self) -> int:
        """How many debts it covers, also with the offsets of what it closed."""
        offsets = Settlement.with_offsets.filter(trip=self.trip_id, closing=self)
        rows = Allocation.objects.filter(trip=self.trip_id)
        # Two statements, because SQLite scans the whole table for conditions joined by OR.
        of_offsets = rows.filter(settlement__in=offsets.values("pk"))
        return rows.filter(settlement=self).count() + of_offsets.count()

    def close_if_settled(self) -> None:
        """Close everything that is open if every balance of the trip is zero; see `Closings`."""
        if closings_in(self.trip_id).close(self):
            self.credit_minor = 0

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether `user` recorded it or, when it is recorded, is one of the two people."""
        if can is Can.SETTLE:
            return user.pk in {self.sender_id, self.receiver_id}
        return user.pk == self.created_by_id


def make_allocations(
    trip_id: int, allocations: Iterable[Allocation], settlements: Sequence[Settlement] = ()
) -> datetime:
    """Write allocations, recompute their debts and settlements, and increment the balances.

    `settlements` are new, and were inserted with the credit that `allocate` left them. If every
    balance is zero afterwards, the last of them closes the trip.

    Returns the time (UTC) at which debts without an open amount were covered.
    """
    rows, now = list(allocations), timezone.now()
    for row in rows:
        # A new settlement had no id yet when it was allocated.
        row.settlement = row.settlement
    insert(rows)
    is_unsettled = Member.increment_balances(trip_id, sums_of(settlements, rows))
    if rows:
        recompute_open(trip=trip_id, debts={row.debt_id for row in rows}, now=now)
        if used := {row.settlement_id for row in rows}.difference(new.pk for new in settlements):
            recompute_credit(trip=trip_id, settlements=used)
    if settlements and not is_unsettled:
        settlements[-1].close_if_settled()
    return now


def closings_in(trip_id: int) -> Closings:
    return Closings(trip_id, Settlement.with_offsets.filter(trip=trip_id))


@CompiledQuery
def credit_between(
    trip: Param,
    senders: ArrayParam = ArrayParam("senders"),
    receivers: ArrayParam = ArrayParam("receivers"),
) -> SettlementQuerySet:
    """Settlements in a trip from one of `senders` to one of `receivers` with unused credit."""
    between = [ArrayParam.among(senders, "sender_id"), ArrayParam.among(receivers, "receiver_id")]
    found = Settlement.with_offsets.with_credit().filter(*between, trip=trip)
    # Ordered by the plain id, SQLite would read all settlements of the trip to avoid sorting.
    return found.order_by(F("id") + 0)


def open_debts() -> DebtQuerySet:
    """The open debts, with `has_credit`."""
    between = {"sender": OuterRef("debtor"), "receiver": OuterRef("creditor")}
    credit = Settlement.with_offsets.with_credit().filter(trip=OuterRef("trip"), **between)
    return Debt.objects.open().annotate(**{"has_credit": Exists(credit)})


@CompiledQuery
def any_credit(trip: Param) -> models.QuerySet[Settlement, tuple[int]]:
    rows = Settlement.with_offsets.filter(trip=trip, credit_minor__gt=0)
    return rows.order_by().values_list("pk")[:1]


def allocate_credit(trip_id: int, debts: Iterable[Debt]) -> list[Allocation]:
    """Unsaved allocations of unused credit to the debts, the oldest credit first."""
    if not any_credit.first(trip=trip_id):
        return []
    credits = credit_between.fetch(
        trip=trip_id,
        senders={debt.debtor_id for debt in debts},
        receivers={debt.creditor_id for debt in debts},
    )
    return allocate(debts, credits)


def sums_of(
    settlements: Iterable[Settlement], allocations: Iterable[Allocation], sign: int = 1
) -> dict[int, Counter[str]]:
    """The changes of each member's sums that these entries cause; a `sign` of -1 reverts them."""
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    for settlement in settlements:
        sums[settlement.sender_id]["sent_minor"] += sign * settlement.amount_minor
        sums[settlement.receiver_id]["received_minor"] += sign * settlement.amount_minor
    for allocation in allocations:
        if allocation.debt is not None:
            sums[allocation.debt.debtor_id]["owed_minor"] -= sign * allocation.amount_minor
    return sums


def allocate(debts: Iterable[Debt], settlements: Iterable[Settlement]) -> list[Allocation]:
    """Unsaved allocations of the settlements' credit to the debts of the same two people.

    Both are processed in the given order. The open amounts and the credit of the rows in memory are
    reduced.
    """
    allocations = []
    by_pair: dict[tuple[int, int], list[Settlement]] = {}
    for settlement in settlements:
        pair = (settlement.sender_id, settlement.receiver_id)
        by_pair.setdefault(pair, []).append(settlement)
    for debt in debts:
        for settlement in by_pair.get((debt.debtor_id, debt.creditor_id), ()):
            amount_minor = min(debt.open_minor, settlement.credit_minor)
            if amount_minor:
                debt.open_minor -= amount_minor
                settlement.credit_minor -= amount_minor
                parts = {"trip_id": debt.trip_id, "settlement": settlement, "debt": debt}
                allocations.append(Allocation(**parts, amount_minor=amount_minor))
    return allocations


def settlement_entries(
    event: Event, settlements: Iterable[Settlement], currency: str
) -> list[Entry]:
    """A journal entry for each settlement that was created, restored or deleted.

    `currency` is the trip's.
    """
    is_deleted = event is Event.SETTLEMENT_DELETED
    entries: list[Entry] = []
    for row in settlements:
        entered_in = row.foreign_currency or currency
        fields = {
            "fromUserId": row.sender_id,
            "toUserId": row.receiver_id,
            "amount": to_major(row.entered_minor, entered_in),
            "currency": entered_in,
            **plain_values(row),
        }
        if row.exchange_rate is not None:
            fields["tripAmount"] = to_major(row.amount_minor, currency)
            fields |= ExchangeRate.fields(row.exchange_rate, row.rate_source, row.rate_day)
        if is_deleted and row.has_closed:
            fields["closed"] = True
        changes = {n: (value, None) if is_deleted else (None, value) for n, value in fields.items()}
        entries.append(Entry(event, row.pk, changes))
    return entries
