"""What is owed, what was handed over, and which money covered which debt.

Two columns are sums, kept for speed: `Debt.open_minor` and `Settlement.credit_minor`, an amount
less its allocations. Whoever writes allocations calls `restate`, which sums them anew;
`AllocationQuerySet.release` gives back the sum of what it deletes, and `Debt.resize` restates
together with the amount. So a debt's "paid" and a balance cannot tell two stories.

Closing a trip leaves both columns as they are, and closes the period that the rows date from; see
`splits.models.period`. So `open()` asks for the period too. Whatever changes a closed row alone
calls `itemise` first: an allocation then says what was closed of it, and it is as any other.

`Member.owed_minor` is what is open of a member's debts in a trip: their amounts less their
allocations, and nothing of what is closed. So it moves by the amounts where an expense is written
into the book (`Entry.rewrite`), by the allocations where these are made (`Allocation.make`),
released, or cut (`Debt.resize`), and as a whole where a trip is closed and opened again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from splits.models.period import (
    InPeriodQuerySet,
    close,
    closed_period,
    current_period,
    reopen,
    take_out,
)
from tripcompanion.kit.currencies import Amount
from tripcompanion.kit.deleting import delete_unread
from tripcompanion.kit.inserting import insert
from tripcompanion.kit.prepared import Given, GivenMany, Prepared, PreparedUpdate
from trips.models import Member, Trip, locked_row, locked_trip
from trips.roles import Can
from users.models import User


def today() -> date:
    """The current date in UTC."""
    return timezone.now().date()


class DebtQuerySet(InPeriodQuerySet["Debt"]):
    amount_column = "open_minor"

    def open(self) -> "DebtQuerySet":
        """Debts of which something is still owed, oldest split first."""
        return super().open().order_by("split_id", "id")

    def itemise(self) -> None:
        """Give each closed debt of these an allocation that says so; see the module."""
        columns = ("pk", "debtor_id", "open_minor", "closed_by")
        rows = list(self.closed().with_state().order_by("pk").values_list(*columns))
        if not rows:
            return
        taken: Counter[tuple[int, int]] = Counter()
        for _pk, debtor_id, open_minor, closed_by in rows:
            taken[closed_by, debtor_id] += open_minor
        take_out(taken)
        insert(
            Allocation(debt_id=pk, amount_minor=open_minor, closed_by_id=closed_by)
            for pk, _debtor_id, open_minor, closed_by in rows
        )
        restate([row[0] for row in rows], [])


class Debt(models.Model):
    """What the participant of a split owes to one of those who paid too much.

    `trip` and `debtor` repeat what the split says and never change: the two searches that must
    stay fast (a person's open debts, open debts between two) need one index and no join.
    """

    trip = models.ForeignKey(Trip, on_delete=models.CASCADE, related_name="debts")
    split = models.ForeignKey("splits.Split", on_delete=models.CASCADE, related_name="debts")
    debtor = models.ForeignKey(User, on_delete=models.PROTECT, related_name="debts")
    creditor = models.ForeignKey(User, on_delete=models.PROTECT, related_name="claims")
    amount_minor = models.BigIntegerField()
    #: `amount_minor` less its allocations; not owed any more if `period` is closed.
    open_minor = models.BigIntegerField()
    #: Since when it is covered whole; null while it is not.
    covered_at = models.DateTimeField(null=True)
    #: The period of the trip in which `open_minor` last came to be.
    period = models.IntegerField(default=0, db_default=0)

    objects = DebtQuerySet.as_manager()

    class Meta:
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
                fields=["debtor", "trip", "period", "creditor"],
                condition=Q(open_minor__gt=0),
                name="debt_open_since",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.debtor_id} owes {self.creditor_id} {self.open_minor}/{self.amount_minor}"

    def resize(self, amount_minor: int) -> None:
        """Make it a debt of another amount; allocations above it, the latest first, are credit.

        What the debtor owes moves here by the allocations alone; by the amount, with the expense.
        """
        Debt.objects.filter(pk=self.pk).itemise()
        self.refresh_from_db(fields=["open_minor", "covered_at"])
        covered_minor = self.amount_minor - self.open_minor
        excess_minor = max(0, covered_minor - amount_minor)
        if excess_minor:
            Member.shift(self.trip_id, {self.debtor_id: {"owed_minor": excess_minor}})
            Settlement.objects.filter(allocations__debt=self).itemise()
        freed_settlement_ids = []
        for allocation in self.allocations.order_by("-id") if excess_minor else ():
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
        Debt.objects.filter(pk=self.pk).update(
            amount_minor=self.amount_minor,
            open_minor=self.open_minor,
            covered_at=self.covered_at,
            period=current_period(),
        )
        restate([], freed_settlement_ids)


class SettlementQuerySet(InPeriodQuerySet["Settlement"]):
    amount_column = "credit_minor"

    def shown(self) -> "SettlementQuerySet":
        """With all that an answer shows: the two people and the currency."""
        return self.select_related("sender", "receiver", "trip")

    def with_credit(self) -> "SettlementQuerySet":
        """Settlements with money that covers no debt yet, oldest first."""
        return self.open().order_by("id")

    def itemise(self) -> None:
        """Give each closed credit of these an allocation that says so; see the module."""
        columns = ("pk", "credit_minor", "closed_by")
        rows = list(self.closed().with_state().order_by("pk").distinct().values_list(*columns))
        insert(
            Allocation(settlement_id=pk, amount_minor=credit_minor, closed_by_id=closed_by)
            for pk, credit_minor, closed_by in rows
        )
        if rows:
            restate([], [row[0] for row in rows])

    def revoke(self) -> None:
        """Delete these settlements of one trip: what they covered or closed is open again.

        Call under the lock of the trip.
        """
        rows = list(self.only("trip_id", "sender_id", "receiver_id", "amount_minor"))
        if not rows:
            return
        reopen(rows[0].trip_id, self)
        # One after the other: of two conditions with an OR between them, SQLite makes a full scan.
        ids = [row.pk for row in rows]
        Allocation.objects.filter(settlement__in=ids).release(rows[0].trip_id, rows)
        Allocation.objects.filter(closed_by__in=ids).release(rows[0].trip_id)
        delete_unread(self)


class Settlement(models.Model):
    """Money that one member handed to another.

    It covers the sender's open debts to the receiver, oldest split first; what is left over is
    credit, and covers the next one.
    """

    trip = models.ForeignKey(Trip, on_delete=models.CASCADE, related_name="settlements")
    sender = models.ForeignKey(User, on_delete=models.PROTECT, related_name="settlements_sent")
    receiver = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="settlements_received"
    )
    amount_minor = models.BigIntegerField()
    #: `amount_minor` less its allocations; used up if `period` is closed.
    credit_minor = models.BigIntegerField()
    #: The period of the trip in which `credit_minor` last came to be.
    period = models.IntegerField(default=0, db_default=0)
    settled_on = models.DateField(default=today)
    note = models.CharField(max_length=2000, blank=True, default="")
    #: The split whose `pay` recorded this; null for one that somebody entered.
    split = models.ForeignKey(
        "splits.Split", on_delete=models.CASCADE, null=True, related_name="settlements"
    )
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SettlementQuerySet.as_manager()

    caller_role: str

    class Meta:
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
                fields=["trip", "sender", "receiver", "period"],
                condition=Q(credit_minor__gt=0),
                name="settlement_credit_since",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sender_id} to {self.receiver_id}: {self.amount_minor}"

    def record(self, amount: Amount) -> None:
        """Enter this unsaved row in the name of `created_by`; the money covers what it can.

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

    def enter(self) -> None:
        """Write this row, and let the money cover what it can. Call under the trip's lock."""
        self.credit_minor, self.period = self.amount_minor, self.trip.period
        self.save()
        debts = Debt.objects.open().filter(
            trip=self.trip_id, debtor=self.sender_id, creditor=self.receiver_id
        )
        Allocation.make(self.trip_id, cover(debts, [self]), [self])
        self.close_if_square()

    def remove(self, by: User) -> None:
        """Delete the settlement: what it covered or closed is open again."""
        rows = Settlement.objects.all
        with locked_row(rows, by, Can.DELETE_SETTLEMENTS, trip_id=self.trip_id, pk=self.pk):
            Settlement.objects.filter(pk=self.pk).revoke()

    def close_if_square(self) -> None:
        """If every balance of the trip is zero now, nobody owes anybody: close all that is open.

        Open debts and unused credit cancel out then, also where money went past the people who
        were owed. This settlement is noted as the cause, so that deleting it opens them again.
        """
        if unsettled_in(trip=self.trip_id).first():
            return
        periods = open_periods_of(trip=self.trip_id).first()
        if periods is not None:
            close(self, *periods)

    def is_own(self, user: User, can: Can) -> bool:
        """Whether `user` recorded it or, for recording it, is one of the two."""
        if can is Can.SETTLE:
            return user.pk in {self.sender_id, self.receiver_id}
        return user.pk == self.created_by_id


class AllocationQuerySet(models.QuerySet["Allocation"]):
    def release(self, trip_id: int, settlements: Iterable[Settlement] = ()) -> None:
        """Delete these allocations; debts are open again, and money is credit again.

        The sums of the members lose them, and the `settlements` that are to go with them.
        """
        debts = Debt.objects.filter(pk__in=self.values("debt"))
        money = Settlement.objects.filter(pk__in=self.values("settlement"))
        # What else was closed of the same rows stays closed.
        debts.itemise()
        money.itemise()
        sums = sums_of(settlements, [], sign=-1)
        covered = self.filter(debt__isnull=False).order_by().values_list("debt__debtor")
        for debtor_id, freed_minor in covered.annotate(Sum("amount_minor")):
            sums[debtor_id]["owed_minor"] += freed_minor
        Member.shift(trip_id, sums)
        debts.update(
            open_minor=F("open_minor") + _sum_of(self, "debt"),
            covered_at=None,
            period=current_period(),
        )
        money.update(
            credit_minor=F("credit_minor") + _sum_of(self, "settlement"), period=current_period()
        )
        self.delete()


class Allocation(models.Model):
    """So much of a settlement's money covers so much of a debt.

    When a settlement closes the trip (`closed_by`), what is still open on either side is used
    up without the other: then only the debt or only the settlement is named.
    """

    settlement = models.ForeignKey(
        Settlement, on_delete=models.CASCADE, null=True, related_name="allocations"
    )
    debt = models.ForeignKey(Debt, on_delete=models.CASCADE, null=True, related_name="allocations")
    amount_minor = models.BigIntegerField()
    # Null in almost all rows: an index of them all looks to SQLite as if it found nothing quickly.
    closed_by = models.ForeignKey(
        Settlement, on_delete=models.CASCADE, null=True, related_name="closings", db_index=False
    )

    objects = AllocationQuerySet.as_manager()

    class Meta:
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
        return f"{self.settlement_id} covers {self.amount_minor} of {self.debt_id}"

    @classmethod
    def make(
        cls,
        trip_id: int,
        allocations: Iterable["Allocation"],
        settlements: Iterable[Settlement] = (),
    ) -> None:
        """Write allocations and restate what they touch.

        The sums of the members gain them, and the `settlements` that are new.
        """
        rows = insert(allocations)
        Member.shift(trip_id, sums_of(settlements, rows))
        if rows:
            restate([row.debt_id for row in rows], [row.settlement_id for row in rows])


@Prepared
def settlements_of(trip: Given) -> SettlementQuerySet:
    """The settlements of a trip as they are shown, the latest day first."""
    return Settlement.objects.shown().filter(trip=trip).order_by("-settled_on", "-id")


@Prepared
def unsettled_in(trip: Given) -> QuerySet[Member, tuple[int]]:
    """One of the members whose balance is not zero, if there is any."""
    return Member.objects.unsettled().filter(trip=trip).order_by().values_list("pk")[:1]


@Prepared
def open_periods_of(trip: Given) -> QuerySet[Trip, tuple[int, int]]:
    """The oldest and the newest open period of a trip; nothing if nothing dates from them."""
    owing = Member.objects.filter(trip=trip, owed_minor__gt=0)
    credits = Settlement.objects.with_credit().filter(trip=trip)
    rows = Trip.objects.filter(Exists(owing) | Exists(credits), pk=trip)
    return rows.values_list("oldest_open_period", "period")


@Prepared
def credit_between(
    trip: Given,
    senders: GivenMany = GivenMany("senders"),
    receivers: GivenMany = GivenMany("receivers"),
) -> SettlementQuerySet:
    """Settlements in a trip from one of `senders` to one of `receivers` with unused money."""
    between = [senders.among("sender_id"), receivers.among("receiver_id")]
    found = Settlement.objects.with_credit().filter(*between, trip=trip)
    # Ordered by the bare id, SQLite reads all settlements of the trip to save itself the sorting.
    return found.order_by(F("id") + 0)


@Prepared
def open_debts_of(split: Given) -> DebtQuerySet:
    """The open debts of a split."""
    return Debt.objects.open().filter(split=split)


def sums_of(
    settlements: Iterable[Settlement], allocations: Iterable[Allocation], sign: int = 1
) -> dict[int, Counter[str]]:
    """By how much these entries move the sums of each member; `sign` -1 takes them back."""
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    for settlement in settlements:
        sums[settlement.sender_id]["sent_minor"] += sign * settlement.amount_minor
        sums[settlement.receiver_id]["received_minor"] += sign * settlement.amount_minor
    for allocation in allocations:
        if allocation.debt is not None:
            sums[allocation.debt.debtor_id]["owed_minor"] -= sign * allocation.amount_minor
    return sums


def cover(debts: Iterable[Debt], settlements: Iterable[Settlement]) -> list[Allocation]:
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
            amount_minor = min(debt.open_minor, settlement.credit_minor)
            if amount_minor:
                debt.open_minor -= amount_minor
                settlement.credit_minor -= amount_minor
                allocations.append(
                    Allocation(settlement=settlement, debt=debt, amount_minor=amount_minor)
                )
    return allocations


def restate(debt_ids: Iterable[int | None], settlement_ids: Iterable[int | None]) -> None:
    """Sum `open_minor` and `credit_minor` anew for the given rows (None is passed over)."""
    _restate_debts(debts={pk for pk in debt_ids if pk}, now=timezone.now())
    _restate_settlements(settlements={pk for pk in settlement_ids if pk})


@PreparedUpdate
def _restate_debts(
    debts: GivenMany = GivenMany("debts"),
    now: Given = Given("now", models.DateTimeField()),
) -> tuple[DebtQuerySet, dict[str, Any]]:
    covered = _sum_of(Allocation.objects.all(), "debt")
    since = Coalesce(F("covered_at"), Subquery(closed_period().values("closed_at")), now)
    changes = {
        "open_minor": F("amount_minor") - covered,
        "covered_at": Case(When(amount_minor=covered, then=since), default=None),
        "period": current_period(),
    }
    return Debt.objects.filter(debts.among("id")), changes


@PreparedUpdate
def _restate_settlements(
    settlements: GivenMany = GivenMany("settlements"),
) -> tuple[SettlementQuerySet, dict[str, Any]]:
    used = _sum_of(Allocation.objects.all(), "settlement")
    changes = {"credit_minor": F("amount_minor") - used, "period": current_period()}
    return Settlement.objects.filter(settlements.among("id")), changes


def _sum_of(allocations: AllocationQuerySet, side: str) -> Coalesce:
    """How much of these covers each debt, or is of each settlement."""
    sums = (
        allocations.filter(**{side: OuterRef("pk")})
        .order_by()
        .values(side)
        .annotate(total_minor=Sum("amount_minor"))
        .values("total_minor")
    )
    return Coalesce(Subquery(sums), 0, output_field=models.BigIntegerField())
