"""Why a balance is what it is: the entries behind it, with the running sum."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Q

from splits import money
from tripcompanion.kit.snapshots import snapshot
from trips.models import Trip


@dataclass
class Line:
    """One entry behind a balance, in minor units, with the balance after it."""

    kind: str
    id: int
    day: date
    description: str
    recorded_at: datetime
    currency: str
    paid_minor: int = 0
    share_minor: int = 0
    sent_minor: int = 0
    received_minor: int = 0
    balance_minor: int = 0

    @property
    def change_minor(self) -> int:
        return self.paid_minor - self.share_minor + self.sent_minor - self.received_minor


def explain(trip: Trip, user_id: int) -> list[Line]:
    """The entries that make up a balance, as they were recorded, with the running sum."""
    with snapshot():
        lines = [*_expense_lines(trip, user_id), *_settlement_lines(trip, user_id)]
    lines.sort(key=lambda line: (line.recorded_at, line.kind, line.id))
    balance_minor = 0
    for line in lines:
        balance_minor += line.change_minor
        line.balance_minor = balance_minor
    return lines


def _expense_lines(trip: Trip, user_id: int) -> list[Line]:
    entries = trip.expenses.filter(Q(payers__user=user_id) | Q(splits__participant=user_id))
    lines = []
    for expense in entries.distinct().prefetch_related("payers", "splits"):
        put_in = {payer.user_id: payer.amount_minor for payer in expense.payers.all()}
        shares = {split.participant_id: split.amount_minor for split in expense.splits.all()}
        own_parts = money.own_parts(shares, put_in, expense.number)
        lines.append(
            Line(
                "EXPENSE",
                expense.pk,
                expense.expense_date,
                expense.description,
                expense.created_at,
                trip.currency,
                paid_minor=put_in.get(user_id, 0),
                share_minor=own_parts.get(user_id, 0),
            )
        )
    return lines


def _settlement_lines(trip: Trip, user_id: int) -> list[Line]:
    settlements = trip.settlements.filter(Q(sender=user_id) | Q(receiver=user_id))
    return [
        Line(
            "SETTLEMENT",
            settlement.pk,
            settlement.settled_on,
            settlement.note,
            settlement.created_at,
            trip.currency,
            sent_minor=settlement.amount_minor if settlement.sender_id == user_id else 0,
            received_minor=settlement.amount_minor if settlement.receiver_id == user_id else 0,
        )
        for settlement in settlements
    ]
