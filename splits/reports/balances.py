"""Balances and the settle-up plan of a trip, and a person's total debt in all trips."""

from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256

from django.db.models import F, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy

from splits.models.rate import ExchangeRate, Rate
from splits.models.settlement import Settlement, settlement_entries
from splits.settling import fewest_transfers
from tripcompanion.api.problems import Conflict
from tripcompanion.compiled import CompiledQuery, Param
from tripcompanion.currency.amounts import convert, to_major
from tripcompanion.database.snapshots import snapshot
from trips.models import CompiledForViewer, Member, Trip, ViewerParam, locked_trip
from trips.models.events import Event
from trips.models.journal import write
from trips.models.member import SUMS, MemberQuerySet
from trips.roles import Can, Capability
from users.models import User, summary_of

#: SQLite adds up no more than 64 bits, so each half of an amount is added up by itself.
_UPPER = 2**32


class PlanChanged(Conflict):
    """409 `plan_changed`: the balances have changed since the plan was read."""

    default_code = "plan_changed"
    default_detail = gettext_lazy("The plan has changed since you read it. Please reload it.")


class Plan:
    """The fewest transfers that bring every balance of a trip to zero, in a stable order."""

    caller_role: str

    def __init__(self, trip: Trip) -> None:
        members = {member.user_id: member for member in _unsettled.fetch(trip=trip.pk)}
        balances = {user_id: member.balance_minor for user_id, member in members.items()}
        #: Unsaved settlements, one for each transfer.
        self.transfers = [
            Settlement(
                trip=trip,
                sender=members[transfer.sender_id].user,
                receiver=members[transfer.receiver_id].user,
                amount_minor=transfer.amount_minor,
            )
            for transfer in fewest_transfers(balances)
        ]

    @property
    def tag(self) -> str:
        """A hash that changes when the plan changes."""
        text = ";".join(f"{t.sender_id}>{t.receiver_id}:{t.amount_minor}" for t in self.transfers)
        return sha256(text.encode()).hexdigest()[:16]

    @classmethod
    def record(cls, trip: Trip, by: User, tag: str | None) -> list[Settlement]:
        """Record the whole plan in one transaction, if its tag is still the given one, or without.

        Former members are included if their balance changed after they left. Raises `PlanChanged`.
        """
        with locked_trip(
            trip.pk, by, Can.SETTLE, lambda locked: cls(locked).is_own(by, Can.SETTLE)
        ) as locked:
            plan = cls(locked)
            if tag not in {None, plan.tag}:
                raise PlanChanged
            for settlement in plan.transfers:
                settlement.created_by = by
                settlement.enter()
            recorded = settlement_entries(Event.SETTLEMENT_CREATED, plan.transfers, locked.currency)
            write(locked.pk, by, *recorded)
            return plan.transfers

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether `user` is the sender or the receiver of every transfer."""
        return all(transfer.is_own(user, can) for transfer in self.transfers)


@CompiledForViewer
def balances_of(user: ViewerParam, trip: Param) -> MemberQuerySet:
    """Current members and others with an entry, in the order in which they joined.

    Somebody who has left is not listed if refunds cancel all that they paid and bear. No rows if
    the caller may not see the trip, or if everybody has left it.
    """
    has_sum = ~Q(paid_minor=0, share_minor=0, sent_minor=0, received_minor=0)
    rows = Member.objects.visible_to(user).filter(Q(left_at=None) | has_sum, trip=trip)
    columns = (*SUMS, "trip__currency", *summary_of("user"))
    return rows.select_related("user", "trip").only(*columns).order_by("joined_at", "id")


@CompiledQuery
def _unsettled(trip: Param) -> MemberQuerySet:
    rows = Member.objects.unsettled().filter(trip=trip)
    return rows.select_related("user").only(*SUMS, "trip", *summary_of("user"))


def _owed_by(user: ViewerParam | User) -> QuerySet[Member, tuple[str, int, int]]:
    """Open debts by trip currency, including former trips; see `in_token_scope`."""
    owing = Member.objects.in_token_scope(user).filter(user=user, owed_minor__gt=0).in_kept_trips()
    sums = {"upper": Sum(F("owed_minor") / _UPPER), "lower": Sum(F("owed_minor") % _UPPER)}
    return owing.values_list("trip__currency").annotate(**sums).order_by()


_owed_sums = CompiledForViewer(_owed_by)


def total_debt(user: User, currency: str, *, answered: bool | None = None) -> Decimal:
    """What `user` still owes in all trips, in major units of `currency`, at the latest rates.

    If a scoped token restricts `user` to one trip, only in that trip. `answered` restricts the sum
    to trips in which the user has answered, or has not; see `Member.introduced_by`. Raises
    `NoLatestRate` if something is owed in a currency that cannot be converted.
    """

    def owed() -> dict[str, int]:
        if answered is None:
            rows = _owed_sums(user)
        else:
            rows = _owed_by(user).filter(introduced_by__isnull=answered)
        return {code: int(upper) * _UPPER + int(lower) for code, upper, lower in rows}

    sums = owed()
    rates: Mapping[str, ExchangeRate] = {}
    if sums.keys() - {currency}:
        # The sums and the rates must be from one snapshot, so the sums are read again.
        with snapshot():
            sums = owed()
            rates = Rate.objects.latest_to(currency, sums)
    total_minor = sums.pop(currency, 0)
    for owed_currency, owed_minor in sums.items():
        total_minor += convert(owed_minor, owed_currency, currency, rates[owed_currency].rate)
    return to_major(total_minor, currency)
