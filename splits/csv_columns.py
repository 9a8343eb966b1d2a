"""The columns of the admin site's CSV files of the ledger and of exchange rates."""

from tripcompanion.adminsite.csv_export import CsvColumns
from trips.csv_columns import TRIP, amount


def _person(name: str) -> CsvColumns:
    return {f"{name}_id": f"{name}_id", f"{name}_name": f"{name}__name"}


EXPENSES: CsvColumns = {
    "id": "id",
    **TRIP,
    "expense_date": "expense_date",
    "description": "description",
    "category": "category",
    "split_type": "split_type",
    "amount": amount("amount_minor"),
    "currency": "trip__currency",
    "entered_amount": amount("entered_minor", "currency"),
    "entered_currency": "currency",
    "exchange_rate": "exchange_rate",
    **_person("created_by"),
    "notes": "notes",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
COMMENTS: CsvColumns = {
    "id": "id",
    "expense_id": "expense_id",
    "expense": "expense__description",
    **_person("created_by"),
    "text": "text",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
SETTLEMENTS: CsvColumns = {
    "id": "id",
    **TRIP,
    "settled_on": "settled_on",
    **_person("sender"),
    **_person("receiver"),
    "amount": amount("amount_minor"),
    "credit": amount("credit_minor"),
    "currency": "trip__currency",
    "note": "note",
    "paid_split_id": "split_id",
    **_person("created_by"),
    "created_at": "created_at",
}
DEBTS: CsvColumns = {
    "id": "id",
    **TRIP,
    "expense_id": "split__expense_id",
    "split_id": "split_id",
    **_person("debtor"),
    **_person("creditor"),
    "amount": amount("amount_minor"),
    "open": amount("open_minor"),
    "currency": "trip__currency",
    "covered_at": "covered_at",
}
ALLOCATIONS: CsvColumns = {
    "id": "id",
    "settlement_id": "settlement_id",
    "debt_id": "debt_id",
    "amount": amount("amount_minor"),
    "currency": "trip__currency",
    "closed_by_id": "closed_by_id",
}
RATES: CsvColumns = {"currency": "currency", "per_euro": "per_euro", "day": "day"}
AUDITS: CsvColumns = {
    name: name
    for name in ("id", "started_at", "finished_at", "trip_count", "difference_count", "report")
}
WEBHOOKS: CsvColumns = {
    "id": "id",
    "user_email": "user__email",
    "trip_id": "trip_id",
    **{
        name: name
        for name in ("state", "last_at", "last_status", "failing_since", "due_at", "created_at")
    },
}
DELETED_ENTRIES: CsvColumns = {
    "id": "id",
    **TRIP,
    **{name: name for name in ("kind", "object_id", "currency", "deleted_at")},
}
