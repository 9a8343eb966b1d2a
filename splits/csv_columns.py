"""The columns of the admin site's CSV files of the ledger and of exchange rates."""

from typing import Any

from django.db.models import Aggregate, JSONField, OuterRef, Subquery

from splits.models import Expense, Payer, Settlement
from tripcompanion.adminsite.csv_export import Column, CsvColumns, named
from tripcompanion.currency.amounts import to_major
from trips.csv_columns import TRIP, amount, plain


def _person(name: str) -> CsvColumns:
    return {f"{name}_id": f"{name}_id", f"{name}_name": f"{name}__name"}


class _Rows(Aggregate):
    """A JSON array with an array of the given columns for each row."""

    template = "JSONB_AGG(JSONB_BUILD_ARRAY(%(expressions)s))"
    output_field = JSONField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "JSON_GROUP_ARRAY(JSON_ARRAY(%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, **context)


_PAYERS = (
    Payer.objects.filter(trip=OuterRef("trip"), expense=OuterRef("pk"))
    .values("expense")
    .annotate(rows=_Rows("id", "user_id", "user__name", "entered_minor"))
    .values("rows")
)


def _payers(rows: list[tuple[int, int, str, int]], currency: str) -> str:
    """`17 Olga 10.00; 18 Ed 2.50`, in the order in which they were entered."""
    return "; ".join(
        f"{user_id} {name} {to_major(minor, currency)}"
        for _pk, user_id, name, minor in sorted(rows)
    )


EXPENSES: CsvColumns = {
    "id": "id",
    **TRIP,
    **plain(Expense),
    "amount": amount("amount_minor"),
    "currency": "trip__currency",
    "entered_amount": amount("entered_minor", "currency"),
    "entered_currency": "currency",
    **named("exchange_rate", "rate_source", "rate_day"),
    "items": "stored_items",
    "payers": Column((Subquery(_PAYERS), "currency"), _payers),
    **_person("created_by"),
    **named("created_at", "updated_at"),
}
COMMENTS: CsvColumns = {
    "id": "id",
    "expense_id": "expense_id",
    "expense": "expense__description",
    **_person("created_by"),
    **named("text", "created_at", "updated_at"),
}
SETTLEMENTS: CsvColumns = {
    "id": "id",
    **TRIP,
    **plain(Settlement),
    **_person("sender"),
    **_person("receiver"),
    "amount": amount("amount_minor"),
    "credit": amount("credit_minor"),
    "currency": "trip__currency",
    "foreign_amount": amount("foreign_minor", "foreign_currency"),
    **named("foreign_currency", "exchange_rate", "rate_source", "rate_day"),
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
    **named("id", "settlement_id", "debt_id"),
    "amount": amount("amount_minor"),
    "currency": "trip__currency",
    "closed_by_id": "closed_by_id",
    "offset_by_id": "offset_by",
}
RATES = named("currency", "per_euro", "day")
AUDITS = named("id", "started_at", "finished_at", "trip_count", "difference_count", "report")
DELETED_ENTRIES: CsvColumns = {
    "id": "id",
    **TRIP,
    **named("kind", "object_id", "currency", "deleted_at"),
}
