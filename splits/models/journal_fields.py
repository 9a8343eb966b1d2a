"""The fields of expenses, splits and settlements in the journal, as the API shows them."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from splits.models.division import SCALE, Part, Payment
from tripcompanion.currency.amounts import all_to_major, to_major
from trips.models.events import Event
from trips.models.journal import Entry

if TYPE_CHECKING:
    from splits.models.expense import Expense
    from splits.models.settlement import Settlement, SplitPayment
    from splits.models.split import Split


def expense_fields(
    expense: "Expense", paid_by_user: Mapping[int, Payment], parts: Mapping[int, Part]
) -> dict[str, Any]:
    """The fields of an expense that is paid and divided like this; people by their ids."""
    rate, user_ids = expense.exchange_rate, sorted(parts)
    entered_minor = [payment.entered_minor for payment in paid_by_user.values()]
    entered = all_to_major([expense.entered_minor, *entered_minor], expense.currency)
    shares_minor = [parts[user_id].amount_minor for user_id in user_ids]
    shares = all_to_major([expense.amount_minor, *shares_minor], expense.trip.currency)
    return {
        "description": expense.description,
        "amount": entered[0],
        "currency": expense.currency,
        "tripAmount": shares[0],
        "exchangeRate": None if rate is None else rate.normalize(),
        "exchangeRateSource": expense.rate_source,
        "exchangeRateDate": expense.rate_day,
        "expenseDate": expense.expense_date,
        "category": str(expense.category),
        "splitType": str(expense.split_type),
        "payers": [
            {"userId": user_id, "amount": amount}
            for user_id, amount in zip(paid_by_user, entered[1:], strict=True)
        ],
        "splits": [
            _part_fields(user_id, parts[user_id], share)
            for user_id, share in zip(user_ids, shares[1:], strict=True)
        ],
        "receiptUrl": expense.receipt_url,
        "notes": expense.notes,
    }


def part_fields(user_id: int, part: Part, currency: str) -> dict[str, Any]:
    """A person's part of an expense; `currency` is that of the trip."""
    return _part_fields(user_id, part, to_major(part.amount_minor, currency))


def _part_fields(user_id: int, part: Part, amount: Decimal) -> dict[str, Any]:
    percentage_e4 = part.percentage_e4
    return {
        "participantUserId": user_id,
        "amount": amount,
        "percentage": None
        if percentage_e4 is None
        else (Decimal(percentage_e4) / SCALE).normalize(),
    }


def payment_entries(split: "Split", payment: "SplitPayment", currency: str) -> list[Entry]:
    """The entries for a split that was paid, and for each settlement that was recorded for it."""
    before_minor, recorded = split.amount_minor - payment.amount_minor, payment.settlements
    recorded_minor = [settlement.amount_minor for settlement in recorded]
    before, after, *sent = all_to_major(
        [before_minor, split.amount_minor, *recorded_minor], currency
    )
    changes = {"paid": (False, True), "paidAmount": (before, after)}
    paid = Entry(Event.SPLIT_PAID, split.pk, changes, split.expense_id, split.participant_id)
    return [paid, *_settlement_entries(Event.SETTLEMENT_CREATED, recorded, sent, currency)]


def settlement_entries(
    event: Event, settlements: Iterable["Settlement"], currency: str
) -> list[Entry]:
    """An entry for each settlement that was created, restored, or deleted."""
    rows = list(settlements)
    amounts = all_to_major([row.amount_minor for row in rows], currency)
    return _settlement_entries(event, rows, amounts, currency)


def _settlement_entries(
    event: Event, rows: Iterable["Settlement"], amounts: Iterable[Decimal], currency: str
) -> list[Entry]:
    is_deleted = event is Event.SETTLEMENT_DELETED
    entries: list[Entry] = []
    for row, amount in zip(rows, amounts, strict=True):
        shown = {
            "fromUserId": row.sender_id,
            "toUserId": row.receiver_id,
            "amount": amount,
            "currency": currency,
            "settledOn": row.settled_on,
            "note": row.note,
        }
        if is_deleted and row.has_closed:
            shown["closed"] = True
        changes = {n: (value, None) if is_deleted else (None, value) for n, value in shown.items()}
        entries.append(Entry(event, row.pk, changes))
    return entries
