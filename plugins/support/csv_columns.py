"""The columns of the admin site's CSV files, and columns for money."""

from decimal import Decimal
from typing import Any

from django.db.models import Aggregate, JSONField, Model, OuterRef, Subquery

from plugins.csv_export import Column, CsvColumns, named
from splits.models import Expense, Payer, Settlement
from tripcompanion.currency.amounts import to_major
from trips.models import Trip
from trips.models.journal import plain_fields
from trips.models.member import KEPT_SUMS, SUMS


def plain(model: type[Model]) -> CsvColumns:
    return named(*(field.name for field in plain_fields(model).values()))


def amount(name: str, currency: str = "trip__currency") -> Column:
    """The exact amount of the lookup `name` in major units. Put its currency in the next column."""
    return Column((name, currency), _major)


def _major(amount_minor: int | None, currency: str | None) -> Decimal | None:
    return None if amount_minor is None or currency is None else to_major(amount_minor, currency)


def _balance(paid: int, share: int, sent: int, received: int, currency: str) -> Decimal:
    return to_major(paid - share + sent - received, currency)


TRIP: CsvColumns = {"trip_id": "trip_id", "trip_title": "trip__title"}
TRIPS: CsvColumns = {
    "id": "id",
    **plain(Trip),
    "members": "member_count",
    "budget": amount("budget_minor", "currency"),
    "default_division": "stored_default_division",
    "category_budgets": "stored_category_budgets",
    **named("created_at", "updated_at", "deleted_at", "client_id"),
}
MEMBERS: CsvColumns = {
    "id": "id",
    **TRIP,
    "user_id": "user_id",
    "user_email": "user__email",
    "user_name": "user__name",
    "guest": "user__is_guest",
    "role": "role",
    "balance": Column((*SUMS, "trip__currency"), _balance),
    **{name.removesuffix("_minor"): amount(name) for name in KEPT_SUMS},
    "currency": "trip__currency",
    **named("joined_at", "left_at", "client_id"),
}
JOURNAL: CsvColumns = {
    **named("trip_id", "number", "at"),
    "by": "by__email",
    **named("via", "event", "object_id", "expense_id"),
    "changes": "stored_changes",
}


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
    **named("created_at", "updated_at", "client_id"),
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
    **named("created_at", "client_id"),
}
DEBTS: CsvColumns = {
    "id": "id",
    **TRIP,
    "expense_id": "of_expense",
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
