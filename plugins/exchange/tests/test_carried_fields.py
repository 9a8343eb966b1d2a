"""What is entered for an expense or a payment goes through an import, or is on a list here."""

from typing import Any

import pytest
from django.db.models import BooleanField, IntegerField, JSONField

from plugins.exchange.columns import carried
from plugins.exchange.tests.copies import file_of
from splits.models import Expense, Settlement
from splits.models.plugin_fields import plugin_fields
from splits.serializers.expense import ExpenseRequest
from splits.serializers.settlement import SettlementRequest
from tests.factories import join
from tests.splits.ledger import exact
from tripcompanion.api.serializers import camel_case
from trips.roles import TripRole

REQUESTS: dict[str, Any] = {"expenses": ExpenseRequest, "settlements": SettlementRequest}
MODELS: dict[str, Any] = {"expenses": Expense, "settlements": Settlement}


def value_of(column):
    """Another value than the default, which every text column takes."""
    if column.choices:
        return [value for value, _label in column.choices if value != column.default][0]
    if isinstance(column, BooleanField):
        return not column.default
    return {JSONField: ["north"], IntegerField: 7}.get(type(column), "https://x.pt/7")


def bodies(kind, olga, ed):
    """The requests that together have every field; what is carried has values by its type."""
    carried_values = {name: value_of(c) for name, c in carried(MODELS[kind]).items()}
    money = {**carried_values, "amount": 10, "currency": "USD", "exchangeRate": 0.5}
    if kind == "settlements":
        return [{**money, "fromUserId": ed.pk, "toUserId": olga.pk, "settledOn": "2026-05-14"}]
    shares = {str(olga.pk): 1, str(ed.pk): 2}
    items = [{"name": "Cod", "amount": 9, "shares": shares}]
    paid = {"payers": [{"userId": ed.pk, "amount": 4}, {"userId": olga.pk, "amount": 6}]}
    return [
        {**money, "expenseDate": "2026-05-14", **body}
        for body in (
            {
                **paid,
                "splitType": "SHARES",
                "participantUserIds": [olga.pk, ed.pk],
                "splitAmounts": shares,
            },
            {
                "paidByUserId": ed.pk,
                "splitType": "ITEMIZED",
                "items": items,
                **{"tax": 1, "tip": 1, "discount": 1},
            },
        )
    ]


@pytest.mark.either
@pytest.mark.parametrize("kind", REQUESTS)
def test_every_field_of_a_request_goes_through_an_import(
    api, trip, olga, ed, plan, imported, kind, other
):
    sent = bodies(kind, olga, ed)
    # The fields of plugins are in tables of their own, and a copy has another name for clients.
    left_out = {"clientId", *(camel_case(name) for name in plugin_fields())}
    assert {name for body in sent for name in body} == REQUESTS[kind]().fields.keys() - left_out
    client = api(olga)
    for body in sent:
        answer = client.post(f"/api/trips/{trip.pk}/{kind}", body)
        assert answer.status_code == 201, answer.json()
    join(other, ed, TripRole.OWNER)
    content = file_of(api, trip, olga)
    where = {"tripId": other.pk, "mapping": {ed.shown_name: ed.pk}}
    planned = [row["object"] for row in plan(content, **where).json()["rows"]]
    assert [{**row, **body} for row, body in zip(planned, sent, strict=True)] == planned
    imported(content, **where)
    url, query = f"/api/trips/{other.pk}/{kind}", "?ordering=createdAt" * (kind == "expenses")
    before, after = (
        exact(client.get(f"/api/trips/{pk}/{kind}{query}"))["items"] for pk in (trip.pk, other.pk)
    )
    own = {"id", "tripId", "createdAt", "updatedAt", "splits"}
    assert [{**row, **dict.fromkeys(own)} for row in after] == [
        {**row, **dict.fromkeys(own)} for row in before
    ], url
