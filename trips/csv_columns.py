"""The columns of the admin site's CSV files of trips and members, and columns for money."""

from decimal import Decimal

from django.db.models import Model

from tripcompanion.adminsite.csv_export import Column, CsvColumns, named
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
    **named("created_at", "updated_at", "deleted_at"),
}
INVITATIONS: CsvColumns = {
    "id": "id",
    **TRIP,
    "invited_by": "created_by__email",
    **named("role", "email", "note", "max_uses", "uses", "created_at", "expires_at", "revoked_at"),
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
    **named("joined_at", "left_at"),
}
JOURNAL: CsvColumns = {
    **named("trip_id", "number", "at"),
    "by": "by__email",
    **named("via", "event", "object_id", "expense_id"),
    "changes": "stored_changes",
}
