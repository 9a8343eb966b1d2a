"""Every column of the ledger is in all that shows rows, or on a list of exceptions."""

from decimal import Decimal

import pytest
from django.db.models import Model

from splits.models import Expense, Payer, Settlement, Split
from splits.models.plugin_fields import plugin_fields
from splits.serializers.expense import ExpenseRequest
from splits.serializers.expense_response import ExpenseSerializer, PayerSerializer
from splits.serializers.settlement import SettlementRequest, SettlementSerializer
from splits.serializers.split import ExpenseSplitSerializer
from tests.factories import settle, spend
from tripcompanion.api.serializers import camel_case
from tripcompanion.currency.amounts import Amount
from trips.models import JournalEntry, Trip
from trips.models.journal import plain_fields
from trips.serializers import ADDED_NAMES, TripDetailSerializer, TripRequest

Columns = set[str]


def sources_of(serializer):
    """The first attributes that the fields of a serializer read."""
    return {str(field.source).split(".")[0] for field in serializer().fields.values()}


#: What `entered_minor` and `currency` of a settlement read.
ENTERED = {"foreign_minor", "foreign_currency"}
#: What a response shows of each, and the columns that it leaves out on purpose.
SHOWN: list[tuple[type[Model], Columns, Columns]] = [
    (Expense, sources_of(ExpenseSerializer), {"number", "divided", "merged_guests", "created_by"}),
    (Payer, sources_of(PayerSerializer), {"id", "trip", "expense", "amount_minor"}),
    (
        Split,
        sources_of(ExpenseSplitSerializer),
        {"trip", "entered_minor", "weight_e4", "created_at"},
    ),
    (
        Settlement,
        sources_of(SettlementSerializer) | ENTERED,
        {"credit_minor", "split", "created_by", "closing"},
    ),
    (
        Trip,
        sources_of(TripDetailSerializer),
        {"expenses_recorded", "expenses_that_day", "counted_on", "claimed_guests", "deleted_at"},
    ),
]
#: What is entered for each.
REQUESTS = [(Expense, ExpenseRequest), (Settlement, SettlementRequest), (Trip, TripRequest)]


@pytest.mark.once
@pytest.mark.parametrize(("model", "shown", "left_out"), SHOWN)
def test_every_column_is_shown_or_left_out_on_purpose(model, shown, left_out):
    columns = {field.name: {field.name, field.attname} for field in model._meta.concrete_fields}
    assert {name for name, names in columns.items() if not names & shown} == left_out


@pytest.mark.once
@pytest.mark.parametrize(("model", "request_shape"), REQUESTS)
def test_every_plain_field_can_be_entered(model, request_shape):
    assert plain_fields(model).keys() <= request_shape().fields.keys()


#: The fields of a response that the journal does not have, because they do not change by a command.
NOT_IN_JOURNAL = {
    "expense": {
        *("id", "tripId", "clientId", "tripCurrency", "rate", "paidBy", "createdAt", "updatedAt"),
        # Of other split types; see `test_divisions.py`.
        *("items", "tax", "tip", "discount"),
        # They follow from `splitType` and `splits`.
        *("participantUserIds", "splitAmounts"),
    },
    "settlement": {"id", "tripId", "clientId", "tripCurrency", "rate", "from", "to", "createdAt"},
    "trip": {
        *("id", "clientId", "members", "currentUserRole", "createdAt", "updatedAt", *ADDED_NAMES)
    },
}


@pytest.mark.parametrize("kind", NOT_IN_JOURNAL)
def test_every_field_of_a_response_is_in_the_journal(api, trip, olga, ed, kind):
    client = api(olga)
    # None of the fields is null, because the journal has no null for a new object.
    if kind == "trip":
        body = {"title": "Wine", "destination": "Porto", "imageUrl": "/porto.jpg", "budget": 900}
        body["defaultDivision"] = {"splitType": "EQUAL"}
        body["categoryBudgets"] = {"FOOD": 300}
        dates = {"startDate": "2026-05-14", "endDate": "2026-05-16"}
        shown = client.post("/api/trips", {**body, **dates})
        trip = Trip.objects.get(pk=shown.json()["id"])
    else:
        fields = {"currency": "USD", "exchange_rate": Decimal("0.5"), "receipt_url": "/7.pdf"}
        dinner = spend(trip, 1000, paid_by=olga, among=[olga, ed], **fields)
        paid = Amount(Decimal(2), "USD"), Decimal("0.5")
        row = settle(trip, ed, olga, *paid) if kind == "settlement" else dinner
        shown = client.get(f"/api/trips/{trip.pk}/{kind}s/{row.pk}")
    created = JournalEntry.objects.get(trip=trip, event=f"{kind}.created")
    of_plugins = {camel_case(name) for name in plugin_fields()} if kind == "expense" else set()
    left_out = NOT_IN_JOURNAL[kind] | of_plugins
    assert shown.json().keys() - created.changes.keys() == left_out
