"""Questions about a whole trip, or about all trips of a person: balances, the plan, the debt."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from django.db.models import Q, Sum
from django.utils.translation import gettext_lazy

from splits.models.settlement import Debt
from splits.settling import fewest_transfers
from tripcompanion.kit.currencies import to_major
from tripcompanion.kit.problems import Conflict
from trips.models import Member, Trip
from users.models import User


class NoRate(Conflict):
    """409 `no_rate`: the amounts cannot be converted."""

    default_code = "no_rate"
    default_detail = gettext_lazy("There is no rate from %(source)s to %(target)s.")
    example_values: ClassVar = {"source": "JPY", "target": "EUR"}


@dataclass(frozen=True)
class PlannedTransfer:
    """One payment of a settle-up plan, in minor units of `currency`."""

    sender: User
    receiver: User
    amount_minor: int
    currency: str


def balances_of(trip: Trip) -> list[Member]:
    """Present members and everybody else with an entry, by the time they joined."""
    has_entry = Q(paid_minor__gt=0) | Q(share_minor__gt=0) | Q(sent_minor__gt=0)
    has_entry |= Q(received_minor__gt=0)
    rows = trip.members.filter(Q(left_at=None) | has_entry)
    return list(rows.select_related("user", "trip").order_by("joined_at", "id"))


def plan_of(trip: Trip) -> list[PlannedTransfer]:
    """The fewest transfers that bring every balance of the trip to zero, in a stable order."""
    members = {m.user_id: m for m in trip.members.unsettled().select_related("user")}
    return [
        PlannedTransfer(
            sender=members[transfer.sender_id].user,
            receiver=members[transfer.receiver_id].user,
            amount_minor=transfer.amount_minor,
            currency=trip.currency,
        )
        for transfer in fewest_transfers(
            {user_id: member.balance_minor for user_id, member in members.items()}
        )
    ]


def total_debt(user: User, currency: str) -> Decimal:
    """What `user` still owes in all trips, in major units of `currency`.

    Raises `NoRate` if something is owed in a currency that cannot be converted.
    """
    open_debts = Debt.objects.filter(debtor=user, open_minor__gt=0)
    sums = open_debts.values_list("trip__currency").annotate(Sum("open_minor")).order_by()
    total_minor = 0
    for owed_currency, open_minor in sums:
        if owed_currency != currency:
            raise NoRate(source=owed_currency, target=currency)
        total_minor += open_minor
    return to_major(total_minor, currency)
