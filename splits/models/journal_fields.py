"""The fields of expenses, splits and settlements in the journal, as the API shows them."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from splits.models.division import SCALE, Part, Payment
from tripcompanion.currency.amounts import to_major
from trips.models.journal import Entry, Event, entries_between

if TYPE_CHECKING:
    from splits.models.expense import Expense
    from splits.models.settlement import Settlement


def expense_fields(
    expense: "Expense", paid_by_user: Mapping[int, Payment], parts: Mapping[int, Part]
) -> dict[str, Any]:
    """The fields of an expense that is paid and divided like this; people by their ids."""
    currency, rate = expense.trip.currency, expense.exchange_rate
    return {
        "description": expense.description,
        "amount": to_major(expense.entered_minor, expense.currency),
        "currency": expense.currency,
        "tripAmount": to_major(expense.amount_minor, currency),
        "exchangeRate": None if rate is None else rate.normalize(),
        "exchangeRateSource": expense.rate_source,
        "exchangeRateDate": expense.rate_day,
        "expenseDate": expense.expense_date,
        "category": str(expense.category),
        "splitType": str(expense.split_type),
        "payers": [
            {"userId": user_id, "amount": to_major(payment.entered_minor, expense.currency)}
            for user_id, payment in paid_by_user.items()
        ],
        "splits": [part_fields(user_id, parts[user_id], currency) for user_id in sorted(parts)],
        "receiptUrl": expense.receipt_url,
        "notes": expense.notes,
    }


def part_fields(user_id: int, part: Part, currency: str) -> dict[str, Any]:
    """A person's part of an expense; `currency` is that of the trip."""
    percentage_e4 = part.percentage_e4
    return {
        "participantUserId": user_id,
        "amount": to_major(part.amount_minor, currency),
        "percentage": None
        if percentage_e4 is None
        else (Decimal(percentage_e4) / SCALE).normalize(),
    }


def settlement_entries(
    event: Event, settlements: Iterable["Settlement"], currency: str
) -> list[Entry]:
    """An entry for each settlement that was created, restored, or deleted."""
    entries: list[Entry] = []
    for row in settlements:
        shown = {
            "fromUserId": row.sender_id,
            "toUserId": row.receiver_id,
            "amount": to_major(row.amount_minor, currency),
            "settledOn": row.settled_on,
            "note": row.note,
        }
        sides = (shown, {}) if event is Event.SETTLEMENT_DELETED else ({}, shown)
        entries += entries_between(event, row.pk, *sides)
    return entries
