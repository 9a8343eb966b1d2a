"""The periods of a trip's ledger: which were closed, and by which settlement.

Periods are numbered from 0 in each trip. Each debt and each settlement stores the period in which
its open amount was last set. Closing a trip closes its open periods: one row for each period,
usually one, and one for each member who owed something. The cost does not depend on the number of
open debts.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from django.apps import apps
from django.db import connection, models
from django.db.models import Case, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Least
from django.utils import timezone

from splits.models.in_trip import InTrip
from tripcompanion.compiled.inserts import insert
from tripcompanion.compiled.queries import CompiledQuery, Param
from trips.models import InTripQuerySet, Member, Trip

if TYPE_CHECKING:
    from splits.models.settlement import Settlement, SettlementQuerySet

Row = TypeVar("Row", bound=models.Model)

#: Written by hand: the ORM has no INSERT ... SELECT, and no UPDATE from a list of values.
_KEEP_OWED = (
    "INSERT INTO splits_closedsum (trip_id, settlement_id, member_id, owed_minor) "
    "SELECT trip_id, %s, id, owed_minor FROM trips_member WHERE trip_id = %s AND owed_minor > 0 "
    # A settlement closes a second time what was restored since.
    "ON CONFLICT {once} "
    "DO UPDATE SET owed_minor = splits_closedsum.owed_minor + EXCLUDED.owed_minor"
)
#: On PostgreSQL the constraint by its name: in a distributed table it has one more column.
_ONCE = {
    "postgresql": "ON CONSTRAINT closed_sum_once_for_a_member",
    "sqlite": "(settlement_id, member_id)",
}
_TAKE_OUT = (
    "UPDATE splits_closedsum AS closed SET owed_minor = closed.owed_minor - taken.column3 "
    "FROM (VALUES %s) AS taken JOIN trips_member AS member "
    "ON member.user_id = taken.column2 AND member.trip_id = %%s "
    "WHERE member.id = closed.member_id AND closed.settlement_id = taken.column1 "
    "AND closed.trip_id = %%s"
)


class ClosedPeriod(models.Model):
    """A closed period of a trip: nothing from it is open any more.

    Deleting `settlement` deletes this row, which reopens the period.
    """

    # The unique constraint has an index that begins with the trip.
    trip = models.ForeignKey(
        Trip, on_delete=models.CASCADE, related_name="closed_periods", db_index=False
    )
    number = models.PositiveIntegerField()
    settlement = models.ForeignKey(
        "splits.Settlement", on_delete=models.CASCADE, related_name="closed_periods"
    )
    closed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["trip", "number"], name="period_closed_once"),
        ]

    def __str__(self) -> str:
        return f"period {self.number}, closed by {self.settlement_id}"


class ClosedSum(InTrip):
    """How much of a member's debts a settlement closed; without it they owe this again."""

    settlement = models.ForeignKey(
        "splits.Settlement", on_delete=models.CASCADE, related_name="closed_sums", db_index=False
    )
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="closed_sums")
    owed_minor = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["settlement", "member"], name="closed_sum_once_for_a_member"
            ),
            models.CheckConstraint(condition=Q(owed_minor__gte=0), name="closed_sum_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.settlement_id} closed {self.owed_minor} of {self.member_id}"


def closed_period() -> QuerySet[ClosedPeriod]:
    """The closed period of a debt or a settlement; a subquery for either."""
    return ClosedPeriod.objects.filter(trip=OuterRef("trip"), number=OuterRef("period"))


def current_period() -> Subquery:
    """The current period of the trip of a debt or a settlement."""
    return Subquery(Trip.objects.filter(pk=OuterRef("trip")).values("period"))


class InPeriodQuerySet(InTripQuerySet[Row]):
    """Debts or settlements: rows whose amount is open until it is covered or closed."""

    #: The column of the stored amount, which closing does not change.
    amount_column: str

    def open(self) -> Any:
        """Rows with an amount that is neither covered nor closed."""
        # With this comparison an index skips the rows that were closed before.
        since = Q(period__gte=F("trip__oldest_open_period"))
        return self._with_amount().filter(since, ~Exists(closed_period()))

    def closed(self) -> Any:
        """Rows with an amount that was closed with its period."""
        return self._with_amount().filter(Exists(closed_period()))

    def with_open_amounts(self) -> Any:
        """Rows with their open amount (`left_minor`), `closed_at` and `closed_by`."""
        return self.annotate(
            left_minor=Case(
                # Checked first: most are covered, and the subquery runs once for each row.
                When(**{self.amount_column: 0}, then=0),
                When(Exists(closed_period()), then=0),
                default=F(self.amount_column),
                output_field=models.BigIntegerField(),
            ),
            closed_at=Subquery(closed_period().values("closed_at")),
            closed_by=Subquery(closed_period().values("settlement")),
        )

    def _with_amount(self) -> Any:
        return self.filter(**{f"{self.amount_column}__gt": 0})


def close(settlement: "Settlement", oldest: int, newest: int) -> None:
    """Close the open periods from `oldest` to `newest`, the current one, and start the next.

    Call it under the trip's lock.
    """
    trip_id = settlement.trip_id
    closed = ClosedPeriod.objects.filter(trip=trip_id, number__gte=oldest)
    numbers = set(range(oldest, newest + 1)).difference(closed.values_list("number", flat=True))
    now = timezone.now()
    insert(
        ClosedPeriod(trip_id=trip_id, number=number, settlement=settlement, closed_at=now)
        for number in sorted(numbers)
    )
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_OWED.format(once=_ONCE[connection.vendor]), [settlement.pk, trip_id])
    Member.objects.filter(trip=trip_id, owed_minor__gt=0).update(owed_minor=0)
    Trip.objects.filter(pk=trip_id).update(period=newest + 1, oldest_open_period=newest + 1)


def reopen(trip_id: int, settlements: "SettlementQuerySet") -> None:
    """Reopen what `settlements` closed; call it under the trip's lock."""
    periods = ClosedPeriod.objects.filter(trip=trip_id, settlement__in=settlements.values("pk"))
    oldest = periods.aggregate(oldest=Min("number"))["oldest"]
    if oldest is None:
        return
    sums = ClosedSum.objects.filter(trip=trip_id, settlement__in=settlements.values("pk"))
    theirs = sums.filter(member=OuterRef("pk")).order_by().values("member")
    owed_minor = Subquery(theirs.annotate(answer=Sum("owed_minor")).values("answer"))
    owing = Member.objects.filter(trip=trip_id, pk__in=sums.values("member"))
    owing.update(owed_minor=F("owed_minor") + owed_minor)
    Trip.objects.filter(pk=trip_id).update(
        oldest_open_period=Least("oldest_open_period", Value(oldest))
    )
    sums.delete()
    periods.delete()


def take_out(trip_id: int, owed: Mapping[tuple[int, int], int]) -> None:
    """Reduce what settlements of a trip closed; `owed` is minor units by settlement and debtor."""
    rows = ", ".join(["(%s, %s, %s)"] * len(owed))
    values = [value for pair, owed_minor in owed.items() for value in (*pair, owed_minor)]
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_OUT % rows, [*values, trip_id, trip_id])


@CompiledQuery
def unsettled_in(trip: Param) -> QuerySet[Member, tuple[int]]:
    """One member whose balance is not zero, if there is any."""
    return Member.objects.unsettled().filter(trip=trip).order_by().values_list("pk")[:1]


@CompiledQuery
def open_periods_of(trip: Param) -> QuerySet[Trip, tuple[int, int]]:
    """The oldest and the newest open period of a trip; no row if nothing in it is open."""
    owing = Member.objects.filter(trip=trip, owed_minor__gt=0)
    credits = _settlements().with_credit().filter(trip=trip)
    rows = Trip.objects.filter(Exists(owing) | Exists(credits), pk=trip)
    return rows.values_list("oldest_open_period", "period")


def _settlements() -> Any:
    # `splits.models.settlement` imports this module.
    return apps.get_model("splits", "Settlement").objects
