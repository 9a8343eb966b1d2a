"""Debts, settlements, and the allocations of settlements to debts.

Two columns are stored sums: `Debt.open_minor` and `Settlement.credit_minor` are an amount minus its
allocations. Code that writes allocations calls `recompute`, which sums them again.
`AllocationQuerySet.release` adds back the sum of what it deletes, and `Debt.resize` updates the sum
together with the amount. So a paid mark and a balance cannot contradict each other.

A settlement that brings every balance of a trip to zero closes it: what is still open on either
side is used up by allocations that name only the debt, or only the settlement, and the cause in
`closed_by`. Deleting the cause releases them, and nothing that happens to other settlements does.

`Member.owed_minor` is the open part of a member's debts in a trip. It changes by the amounts when
an expense is written (`ExpensePosting.rewrite`), and by the allocations when they are inserted,
deleted, or reduced (`Debt.resize`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Any, ClassVar, NamedTuple

from django.db import connection, models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from splits.models.deleted import DeletedEntry, DeletedKind
from splits.models.in_trip import InTrip
from splits.models.journal_fields import settlement_entries
from tripcompanion.api.problems import Conflict
from tripcompanion.compiled.deletes import delete_unread
from tripcompanion.compiled.inserts import insert
from tripcompanion.compiled.queries import ArrayParam, CompiledQuery, CompiledUpdate, Param
from tripcompanion.currency.amounts import Amount
from tripcompanion.currency.formats import format_amount
from trips.models import InTripQuerySet, Member, Trip, locked_row, locked_trip
from trips.models.events import Event
from trips.models.journal import write
from trips.roles import Can
from users.models import User

#: How many open debts a trip may have.
MAX_OPEN_DEBTS = 40_000

#: Written by hand: the ORM has no INSERT ... SELECT.
_CLOSE = (
    "INSERT INTO splits_allocation (trip_id, debt_id, settlement_id, closed_by_id, amount_minor) "
    "SELECT trip_id, id, NULL, %s, open_minor FROM splits_debt "
    "WHERE trip_id = %s AND open_minor > 0 "
    "UNION ALL SELECT trip_id, NULL, id, %s, credit_minor FROM splits_settlement "
    "WHERE trip_id = %s AND credit_minor > 0"
)

#: Written by hand: the ORM has no UPDATE from a subquery, but one that runs for each row.
_GIVE_BACK = {
    "debt": (
        "UPDATE splits_debt SET open_minor = open_minor + freed.minor, covered_at = NULL "
        "FROM ({freed}) AS freed WHERE splits_debt.id = freed.row_id AND splits_debt.trip_id = %s"
    ),
    "settlement": (
        "UPDATE splits_settlement SET credit_minor = credit_minor + freed.minor "
        "FROM ({freed}) AS freed "
        "WHERE splits_settlement.id = freed.row_id AND splits_settlement.trip_id = %s"
    ),
}


class TooManyDebts(Conflict):
    """409 `too_many_debts`: the trip would have more open debts than can be closed at once."""

    default_code = "too_many_debts"
    default_detail = gettext_lazy(
        "A trip can have at most %(limit)s open debts. Please settle some of them first."
    )
    example_values: ClassVar = {"limit": MAX_OPEN_DEBTS}


def today() -> date:
    """The current date in UTC."""
    return timezone.now().date()


class DebtQuerySet(InTripQuerySet["Debt"]):
    def open(self) -> "DebtQuerySet":
        """Debts with an open amount, oldest split first."""
        return self.filter(open_minor__gt=0).order_by("split_id", "id")


class Debt(models.Model):
    """What the participant of a split owes to one creditor, who paid too much.

    `trip` and `debtor` repeat what the split says and never change: the two searches that must
    stay fast (a person's open debts, open debts between two) need one index and no join.
    """

    trip = models.ForeignKey(
        Trip, on_delete=models.CASCADE, related_name="debts", verbose_name=gettext_lazy("trip")
    )
    split = models.ForeignKey(
        "splits.Split", on_delete=models.CASCADE, related_name="debts", db_index=False
    )
    debtor = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="debts", verbose_name=gettext_lazy("debtor")
    )
    creditor = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="claims", verbose_name=gettext_lazy("creditor")
    )
    amount_minor = models.BigIntegerField()
    #: `amount_minor` minus its allocations.
    open_minor = models.BigIntegerField()
    #: When it was fully covered; null while it is not.
    covered_at = models.DateTimeField(gettext_lazy("covered at"), null=True)

    objects = DebtQuerySet.as_manager()

    #: Set by `open_debts_of`: whether the debtor has unused credit with the creditor.
    has_credit: bool

    class Meta:
        verbose_name = gettext_lazy("debt")
        verbose_name_plural = gettext_lazy("debts")
        constraints = [
            models.UniqueConstraint(fields=["split", "creditor"], name="debt_once_to_a_creditor"),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="debt_positive"),
            models.CheckConstraint(
                condition=Q(open_minor__gte=0, open_minor__lte=F("amount_minor")),
                name="debt_covered_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(open_minor=0, covered_at__isnull=False)
                | Q(open_minor__gt=0, covered_at=None),
                name="debt_covered_at_when_covered",
            ),
            models.CheckConstraint(
                condition=~Q(debtor=F("creditor")), name="debt_between_two_people"
            ),
        ]
        indexes = [
            models.Index(
                fields=["trip", "debtor", "creditor"],
                condition=Q(open_minor__gt=0),
                name="debt_open",
            ),
        ]

    def __str__(self) -> str:
        return _("%(debtor)s owes %(creditor)s %(amount)s") % {
            "debtor": self.debtor.shown_name,
            "creditor": self.creditor.shown_name,
            "amount": format_amount(self.amount_minor, self.trip.currency),
        }

    def resize(self, amount_minor: int) -> None:
        """Change the amount. Allocations above it become credit, the latest first.

        What the debtor owes moves here by the allocations alone; by the amount, with the expense.
        """
        covered_minor = self.amount_minor - self.open_minor
        excess_minor = max(0, covered_minor - amount_minor)
        if excess_minor:
            Member.increment_balances(self.trip_id, {self.debtor_id: {"owed_minor": excess_minor}})
        freed_settlement_ids = []
        allocations = self.allocations.filter(trip=self.trip_id).order_by("-id")
        for allocation in allocations if excess_minor else ():
            freed_minor = min(excess_minor, allocation.amount_minor)
            excess_minor -= freed_minor
            freed_settlement_ids.append(allocation.settlement_id)
            if freed_minor == allocation.amount_minor:
                allocation.delete()
            elif freed_minor:
                allocation.amount_minor -= freed_minor
                allocation.save(update_fields=["amount_minor"])
        self.open_minor = amount_minor - min(covered_minor, amount_minor)
        self.amount_minor = amount_minor
        self.covered_at = None if self.open_minor else self.covered_at or timezone.now()
        Debt.objects.filter(trip=self.trip_id, pk=self.pk).update(
            amount_minor=self.amount_minor, open_minor=self.open_minor, covered_at=self.covered_at
        )
        recompute(self.trip_id, [], freed_settlement_ids)


class SettlementQuerySet(InTripQuerySet["Settlement"]):
    def with_details(self) -> "SettlementQuerySet":
        """With everything that a response contains: both people and the currency."""
        return self.select_related("sender", "receiver", "trip")

    def with_credit(self) -> "SettlementQuerySet":
        """Settlements with unused credit, oldest first."""
        return self.filter(credit_minor__gt=0).order_by("id")

    def revoke(self) -> "list[Settlement]":
        """Delete these settlements of one trip, and reopen what they covered or closed.

        Call under the lock of the trip. Returns those that were deleted, for the journal.
        """
        rows = list(self.order_by("pk"))
        if not rows:
            return []
        trip_id = rows[0].trip_id
        # Two statements, because SQLite scans the whole table for conditions joined by OR.
        ids = [row.pk for row in rows]
        Allocation.objects.filter(settlement__in=ids).release(trip_id, rows)
        closing = Allocation.objects.filter(trip=trip_id, closed_by__in=ids)
        causes = set(closing.order_by().values_list("closed_by", flat=True).distinct())
        for row in rows:
            row.has_closed = row.pk in causes
        if causes:
            closing.release(trip_id)
        delete_unread(self.filter(trip=trip_id))
        return rows


class Settlement(models.Model):
    """Money that one member handed to another.

    It covers the sender's open debts to the receiver, oldest split first; what is left over is
    credit, and covers the next one.
    """

    trip = models.ForeignKey(
        Trip,
        on_delete=models.CASCADE,
        related_name="settlements",
        verbose_name=gettext_lazy("trip"),
    )
    sender = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        related_name="settlements_sent",
        verbose_name=gettext_lazy("sender"),
    )
    receiver = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        related_name="settlements_received",
        verbose_name=gettext_lazy("receiver"),
    )
    amount_minor = models.BigIntegerField()
    #: `amount_minor` minus its allocations.
    credit_minor = models.BigIntegerField()
    settled_on = models.DateField(gettext_lazy("date"), default=today)
    note = models.CharField(gettext_lazy("note"), max_length=2000, blank=True, default="")
    #: The split whose `pay` recorded this; null if a person recorded it.
    split = models.ForeignKey(
        "splits.Split", on_delete=models.CASCADE, null=True, related_name="settlements"
    )
    created_by = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", verbose_name=gettext_lazy("recorded by")
    )
    created_at = models.DateTimeField(
        gettext_lazy("created at"), default=timezone.now, editable=False
    )

    objects = SettlementQuerySet.as_manager()

    caller_role: str
    #: Set by `revoke`: whether it had closed the trip.
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
        ]
        indexes = [
            models.Index(fields=["trip", "-settled_on", "-id"], name="settlement_newest"),
            models.Index(
                fields=["trip", "sender", "receiver"],
                condition=Q(credit_minor__gt=0),
                name="settlement_credit",
            ),
        ]

    def __str__(self) -> str:
        return _("%(sender)s to %(receiver)s, %(amount)s") % {
            "sender": self.sender.shown_name,
            "receiver": self.receiver.shown_name,
            "amount": format_amount(self.amount_minor, self.trip.currency),
        }

    def record(self, amount: Amount) -> None:
        """Insert this unsaved row on behalf of `created_by`, and allocate it to open debts.

        Raises `ValidationError` if one of the two is no member or `amount` rounds to nothing, and
        `CurrencyChanged`.
        """
        by = self.created_by
        with locked_trip(
            self.trip_id, by, Can.SETTLE, lambda _trip: self.is_own(by, Can.SETTLE)
        ) as trip:
            self.trip = trip
            self.amount_minor = trip.minor_units("amount", amount)
            trip.require_members({"fromUserId": [self.sender_id], "toUserId": [self.receiver_id]})
            self.enter()
            write(trip.pk, by, *settlement_entries(Event.SETTLEMENT_CREATED, [self], trip.currency))

    def enter(self) -> None:
        """Insert this row and allocate it to open debts. Call under the trip's lock."""
        self.credit_minor = self.amount_minor
        debts = Debt.objects.open().filter(
            trip=self.trip_id, debtor=self.sender_id, creditor=self.receiver_id
        )
        allocations = allocate(debts, [self])
        insert([self])
        Allocation.make(self.trip_id, allocations, [self])

    @classmethod
    def pay(cls, split_id: int, trip: Trip, by: User) -> "SplitPayment | None":
        """Cover the open debts of a split; None if there are none. Call under the trip's lock.

        Credit between the two is used first, and the rest is recorded, a settlement for each
        creditor.
        """
        debts = open_debts_of.fetch(trip=trip.pk, split=split_id)
        if not debts:
            return None
        open_minor = sum(debt.open_minor for debt in debts)
        from_credit = []
        if any(debt.has_credit for debt in debts):
            from_credit = allocate_credit(trip.pk, debts)
        settlements = [
            cls(
                trip_id=trip.pk,
                split_id=split_id,
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
        paid_at = Allocation.make(trip.pk, allocations, settlements)
        return SplitPayment(open_minor, paid_at, settlements)

    def remove(self, by: User) -> None:
        """Delete the settlement, and reopen what it covered or closed."""
        rows = Settlement.objects.all
        with locked_row(
            rows, by, Can.DELETE_SETTLEMENTS, trip_id=self.trip_id, pk=self.pk
        ) as stored:
            DeletedEntry.keep(
                stored.trip,
                DeletedKind.SETTLEMENT,
                stored.pk,
                allocations=Allocation.objects.of(self.trip_id, [], [stored.pk]),
                settlement=[stored],
            )
            deleted = Settlement.objects.filter(trip=self.trip_id, pk=self.pk).revoke()
            write(
                self.trip_id,
                by,
                *settlement_entries(Event.SETTLEMENT_DELETED, deleted, stored.trip.currency),
            )

    def close_if_settled(self) -> None:
        """Close everything that is open if every balance of the trip is zero.

        Open debts and unused credit cancel out then, also where money went past the people who
        were owed. Deleting this settlement opens them again. It takes the same few statements for
        any number of debts.
        """
        trip_id = self.trip_id
        if unsettled_in.first(trip=trip_id):
            return
        with connection.cursor() as cursor:
            cursor.execute(_CLOSE, [self.pk, trip_id, self.pk, trip_id])
            if not cursor.rowcount:
                return
        debts, now = Debt.objects.filter(trip=trip_id, open_minor__gt=0), timezone.now()
        debts.update(open_minor=0, covered_at=now)
        Settlement.objects.filter(trip=trip_id, credit_minor__gt=0).update(credit_minor=0)
        Member.objects.filter(trip=trip_id, owed_minor__gt=0).update(owed_minor=0)

    def is_own(self, user: User, can: Can) -> bool:
        """Whether `user` recorded it; for recording it, whether `user` is one of the two people."""
        if can is Can.SETTLE:
            return user.pk in {self.sender_id, self.receiver_id}
        return user.pk == self.created_by_id


class SplitPayment(NamedTuple):
    """How the open amount of a split was covered, and when (UTC)."""

    amount_minor: int
    paid_at: datetime
    #: Those that were recorded for what credit did not cover.
    settlements: list[Settlement]


class AllocationQuerySet(models.QuerySet["Allocation"]):
    def of(
        self, trip_id: int, split_ids: Collection[int], settlement_ids: Collection[int]
    ) -> list[tuple[Any, ...]]:
        """What covers these splits, and what these settlements cover or closed, the oldest first.

        For each allocation: the ids of itself, its debt, its settlement, and what closed it, the
        amount, and when the debt was covered.
        """
        rows = self.filter(trip=trip_id)
        found: set[tuple[Any, ...]] = set()
        columns = ("pk", "debt", "settlement", "closed_by", "amount_minor")
        never = Value(None, models.DateTimeField())
        # A statement for each, because SQLite scans the whole table for conditions joined by OR.
        for condition in (
            Q(debt__split__in=split_ids),
            Q(settlement__in=settlement_ids),
            Q(closed_by__in=settlement_ids),
        ):
            of_debts = rows.filter(condition, debt__trip=trip_id)
            found.update(of_debts.values_list(*columns, "debt__covered_at"))
            of_credit = rows.filter(condition, debt=None)
            found.update(of_credit.values_list(*columns, never))
        return sorted(found)

    def release(self, trip_id: int, settlements: Iterable[Settlement] = ()) -> None:
        """Delete these allocations; their debts are open again, and their money is credit.

        The sums of the members lose them, and the `settlements` that are to go with them. Raises
        `TooManyDebts`.
        """
        rows = self.filter(trip=trip_id)
        sums = sums_of(settlements, [], sign=-1)
        covered = rows.filter(debt__trip=trip_id).order_by().values_list("debt__debtor")
        freed = list(covered.annotate(Sum("amount_minor")))
        for debtor_id, freed_minor in freed:
            sums[debtor_id]["owed_minor"] += freed_minor
        Member.increment_balances(trip_id, sums)
        with connection.cursor() as cursor:
            for side, statement in _GIVE_BACK.items():
                of_side = rows.filter(**{f"{side}__isnull": False}).order_by()
                amounts = of_side.values(row_id=F(f"{side}_id")).annotate(minor=Sum("amount_minor"))
                sql, values = amounts.query.sql_with_params()
                cursor.execute(statement.format(freed=sql), [*values, trip_id])
        rows.delete()
        if freed:
            require_few_debts(trip_id)


class Allocation(InTrip):
    """An amount of a settlement that covers an amount of a debt.

    When a settlement closes the trip (`closed_by`), what is still open on either side is used
    up without the other: then only the debt or only the settlement is named.
    """

    settlement = models.ForeignKey(
        Settlement, on_delete=models.CASCADE, null=True, related_name="allocations"
    )
    debt = models.ForeignKey(Debt, on_delete=models.CASCADE, null=True, related_name="allocations")
    amount_minor = models.BigIntegerField()
    # Null in almost all rows, so SQLite would not choose an index of all rows.
    closed_by = models.ForeignKey(
        Settlement, on_delete=models.CASCADE, null=True, related_name="closings", db_index=False
    )

    objects = AllocationQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("allocation")
        verbose_name_plural = gettext_lazy("allocations")
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="allocation_positive"),
            models.CheckConstraint(
                condition=Q(closed_by=None, settlement__isnull=False, debt__isnull=False)
                | Q(closed_by__isnull=False, settlement__isnull=False, debt=None)
                | Q(closed_by__isnull=False, settlement=None, debt__isnull=False),
                name="allocation_covers_or_closes",
            ),
        ]
        indexes = [
            models.Index(
                fields=["closed_by"],
                condition=Q(closed_by__isnull=False),
                name="allocation_closed_by",
            )
        ]

    def __str__(self) -> str:
        side: Any = self.settlement or self.debt
        amount = format_amount(self.amount_minor, side.trip.currency)
        return _("%(amount)s of: %(whole)s") % {"amount": amount, "whole": side}

    def fit(self) -> bool:
        """Reduce the unsaved amount to what its debt and its settlement still have, and take it.

        Returns whether there is any.
        """
        debt, settlement = self.debt, self.settlement
        if debt is not None:
            self.amount_minor = min(self.amount_minor, debt.open_minor)
        if settlement is not None:
            self.amount_minor = min(self.amount_minor, settlement.credit_minor)
            settlement.credit_minor -= self.amount_minor
        if debt is not None:
            debt.open_minor -= self.amount_minor
        return self.amount_minor > 0

    @classmethod
    def make(
        cls,
        trip_id: int,
        allocations: Iterable["Allocation"],
        settlements: Sequence[Settlement] = (),
    ) -> datetime:
        """Write allocations, recompute their debts and settlements, and increment the balances.

        `settlements` are new, and were inserted with the credit that `allocate` left them. If
        every balance is zero then, the last of them closes the trip.
        Returns the time (UTC) at which debts without an open amount were covered.
        """
        rows, now = list(allocations), timezone.now()
        for row in rows:
            # A new settlement had no id yet when it was allocated.
            row.settlement = row.settlement
        # What is put back has its ids again.
        (Allocation.objects.bulk_create if rows and rows[0].pk else insert)(rows)
        is_unsettled = Member.increment_balances(trip_id, sums_of(settlements, rows))
        if rows:
            new = {settlement.pk for settlement in settlements}
            used = {row.settlement_id for row in rows} - new
            recompute(trip_id, [row.debt_id for row in rows], used, now)
        if settlements and not is_unsettled:
            settlements[-1].close_if_settled()
        return now


@CompiledQuery
def unsettled_in(trip: Param) -> models.QuerySet[Member, tuple[int]]:
    """One member whose balance is not zero, if there is any."""
    return Member.objects.unsettled().filter(trip=trip).order_by().values_list("pk")[:1]


def require_few_debts(trip_id: int) -> None:
    """Raise `TooManyDebts` if the trip has more than `MAX_OPEN_DEBTS`.

    Call it after a command has opened debts: a trip with more could not be closed in time.
    """
    if debt_above_limit.first(trip=trip_id):
        raise TooManyDebts(limit=MAX_OPEN_DEBTS)


@CompiledQuery
def debt_above_limit(trip: Param) -> models.QuerySet[Debt, tuple[int]]:
    """One open debt more than a trip may have, if there is one."""
    debts = Debt.objects.filter(trip=trip, open_minor__gt=0)
    return debts.order_by().values_list("pk")[MAX_OPEN_DEBTS : MAX_OPEN_DEBTS + 1]


@CompiledQuery
def credit_between(
    trip: Param,
    senders: ArrayParam = ArrayParam("senders"),
    receivers: ArrayParam = ArrayParam("receivers"),
) -> SettlementQuerySet:
    """Settlements in a trip from one of `senders` to one of `receivers` with unused credit."""
    between = [senders.among("sender_id"), receivers.among("receiver_id")]
    found = Settlement.objects.with_credit().filter(*between, trip=trip)
    # Ordered by the plain id, SQLite would read all settlements of the trip to avoid sorting.
    return found.order_by(F("id") + 0)


@CompiledQuery
def open_debts_of(trip: Param, split: Param) -> DebtQuerySet:
    """The open debts of a split, with `has_credit`."""
    between = {"sender": OuterRef("debtor"), "receiver": OuterRef("creditor")}
    credit = Settlement.objects.with_credit().filter(trip=OuterRef("trip"), **between)
    rows = Debt.objects.open().filter(trip=trip, split=split)
    return rows.annotate(**{"has_credit": Exists(credit)})


def allocate_credit(trip_id: int, debts: Iterable[Debt]) -> list[Allocation]:
    """Unsaved allocations of unused credit to the debts, the oldest credit first."""
    credits = credit_between.fetch(
        trip=trip_id,
        senders={debt.debtor_id for debt in debts},
        receivers={debt.creditor_id for debt in debts},
    )
    return allocate(debts, credits)


def sums_of(
    settlements: Iterable[Settlement], allocations: Iterable[Allocation], sign: int = 1
) -> dict[int, Counter[str]]:
    """The changes that these entries make to the sums of each member; `sign` -1 reverts them."""
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

    Both in the given order. The rows in memory are used up as it goes.
    """
    allocations = []
    by_pair: dict[tuple[int, int], list[Settlement]] = {}
    for settlement in settlements:
        pair = (settlement.sender_id, settlement.receiver_id)
        by_pair.setdefault(pair, []).append(settlement)
    for debt in debts:
        for settlement in by_pair.get((debt.debtor_id, debt.creditor_id), ()):
            allocation = Allocation(
                trip_id=debt.trip_id,
                settlement=settlement,
                debt=debt,
                amount_minor=debt.open_minor,
            )
            if allocation.fit():
                allocations.append(allocation)
    return allocations


def recompute(
    trip_id: int,
    debt_ids: Iterable[int | None],
    settlement_ids: Iterable[int | None],
    now: datetime | None = None,
) -> None:
    """Sum `open_minor` and `credit_minor` of rows of a trip again; ids that are None are ignored.

    `now` is when debts without an open amount were covered.
    """
    if debts := {pk for pk in debt_ids if pk}:
        _recompute_debts(trip=trip_id, debts=debts, now=now or timezone.now())
    if settlements := {pk for pk in settlement_ids if pk}:
        _recompute_settlements(trip=trip_id, settlements=settlements)


@CompiledUpdate
def _recompute_debts(
    trip: Param,
    debts: ArrayParam = ArrayParam("debts"),
    now: Param = Param("now", models.DateTimeField()),
) -> tuple[DebtQuerySet, dict[str, Any]]:
    covered = _sum_of(Allocation.objects.all(), "debt")
    changes = {
        "open_minor": F("amount_minor") - covered,
        "covered_at": Case(When(amount_minor=covered, then=Coalesce(F("covered_at"), now))),
    }
    return Debt.objects.filter(debts.among("id"), trip=trip), changes


@CompiledUpdate
def _recompute_settlements(
    trip: Param,
    settlements: ArrayParam = ArrayParam("settlements"),
) -> tuple[SettlementQuerySet, dict[str, Any]]:
    used = _sum_of(Allocation.objects.all(), "settlement")
    changes = {"credit_minor": F("amount_minor") - used}
    return Settlement.objects.filter(settlements.among("id"), trip=trip), changes


def _sum_of(allocations: AllocationQuerySet, side: str) -> Coalesce:
    """The sum of these allocations for each debt, or for each settlement."""
    sums = (
        allocations.filter(**{"trip": OuterRef("trip"), side: OuterRef("pk")})
        .order_by()
        .values(side)
        .annotate(total_minor=Sum("amount_minor"))
        .values("total_minor")
    )
    return Coalesce(Subquery(sums), 0, output_field=models.BigIntegerField())
