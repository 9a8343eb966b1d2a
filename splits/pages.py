"""The rows that paths of the ledger name, for HTML pages, and where their pages are."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from django.db.models import F
from django.utils.translation import gettext as _

from splits.models import Comment, Expense, Settlement, Split
from splits.models.division import ENTERED_COLUMN, SCALE, SplitType
from tripcompanion.api.navigation import Link
from tripcompanion.currency.amounts import to_major
from trips.models import Member
from trips.pages import NamedRow


def _split_with_trip() -> Any:
    rows = Split.objects.select_related("participant", "expense__trip")
    return rows.filter(expense__trip=F("trip"))


def _comment_with_trip() -> Any:
    rows = Comment.objects.select_related("created_by", "expense__trip")
    return rows.filter(expense__trip=F("trip"))


def _member_with_user() -> Any:
    return Member.objects.select_related("user")


EXPENSE = NamedRow(
    Expense.objects.with_trip,
    {"trip_id": "trip_id", "pk": "expense_id"},
    attrgetter("description"),
)
#: An expense in a path without its trip.
SPLIT_EXPENSE = NamedRow(Expense.objects.with_trip, {"pk": "expense_id"}, EXPENSE.name)
SPLIT = NamedRow(
    _split_with_trip,
    {"expense_id": "expense_id", "pk": "split_id"},
    attrgetter("participant.name"),
)
COMMENT = NamedRow(
    _comment_with_trip,
    {"expense_id": "expense_id", "pk": "comment_id"},
    attrgetter("created_by.name"),
)
SETTLEMENT = NamedRow(
    Settlement.objects.with_details,
    {"trip_id": "trip_id", "pk": "settlement_id"},
    lambda found: f"{found.sender.name} → {found.receiver.name}",
)


#: Somebody with a balance, who may have left.
BALANCE = NamedRow(
    _member_with_user, {"trip_id": "trip_id", "user_id": "user_id"}, attrgetter("user.name")
)


def pages_above_splits(expense: Expense) -> list[Link]:
    """The breadcrumbs of the splits of `expense`, whose path does not contain the trip."""
    trip = f"/api/trips/{expense.trip_id}"
    return [
        Link(_("Trips"), "/api/trips"),
        Link(expense.trip.title, trip),
        Link(_("Expenses"), f"{trip}/expenses"),
        Link(expense.description, f"{trip}/expenses/{expense.pk}"),
    ]


def division_of(expense: Expense, shown: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body that divide `expense` as it is divided; `shown` represents it."""
    people = [split["participant"]["id"] for split in shown["splits"]]
    division: dict[str, Any] = {"participantUserIds": people}
    column = ENTERED_COLUMN.get(SplitType(expense.split_type))
    if column:
        entered = dict(expense.splits.order_by("pk").values_list("participant_id", column))
        division["splitAmounts"] = {
            str(user_id): _entered(column, value, expense.currency)
            for user_id, value in entered.items()
            if value is not None
        }
    return division


def _entered(column: str, value: int, currency: str) -> Any:
    return to_major(value, currency) if column == "entered_minor" else value / SCALE
