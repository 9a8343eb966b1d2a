"""What a sentence says of fields that are no single values, of currencies and of newer events."""

from datetime import date
from decimal import Decimal

import pytest

from splits.models import DailyRate
from tests.document import problem_of
from tests.factories import settle, spend
from tests.test_unknown_names import LENIENT
from trips.models import JournalEntry

pytestmark = pytest.mark.either


def texts(ledger, user):
    """The sentences, the newest first."""
    return [row["text"] for row in ledger.answer(user, "get", "history").json()["items"]]


def test_fields_that_are_no_single_values_are_named_only(ledger, olga):
    for fields, text in (
        ({"defaultDivision": {"splitType": "EQUAL"}}, "how expenses are split by default"),
        ({"categoryBudgets": {"FOOD": 200.5}}, "the budgets of categories"),
    ):
        assert ledger.answer(olga, "patch", ledger.url, fields).status_code == 200
        assert texts(ledger, olga)[0] == f"Olga Owner changed {text}."
    ledger.change(ledger.spend(olga, 60, olga, tags=["fish"]), olga, tags=["fish", "beach"])
    assert texts(ledger, olga)[0].startswith("Olga Owner changed the tags in ")


def test_what_follows_from_the_amount_is_not_named(ledger, olga, ed):
    items = [{"name": "Wine", "amount": 60, "shares": {str(olga.pk): 1, str(ed.pk): 1}}]
    added = {"tax": 6, "tip": 4.5, "discount": 1.5}
    dinner = ledger.spend(olga, 69, olga, ed, splitType="ITEMIZED", items=items, **added)
    ledger.change(dinner, olga, amount=61, items=items, tip=1)
    assert texts(ledger, olga)[0].startswith(
        "Olga Owner changed the amount from 69.00 to 61.00, the tax, the tip from 4.50 to 1.00 "
        "and the discount in "
    )


def test_a_settlement_has_the_amount_as_it_was_entered(ledger, olga, ed):
    DailyRate.objects.create(currency="JPY", per_euro=Decimal(160), day=date(2026, 5, 2))
    ledger.spend(olga, 40, ed)
    body = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 5000, "currency": "JPY"}
    made = ledger.answer(ed, "post", "settlements", {**body, "settledOn": "2026-05-14"}).json()
    ledger.delete_settlement(made, olga)
    deleted, created, *_others = texts(ledger, olga)
    assert created == "Ed Editor gave Olga Owner 5,000 JPY."
    assert "5,000 JPY" in deleted


def test_amounts_stay_in_the_currency_of_their_time(api, trip, ledger, olga, ed):
    dinner = spend(trip, 3000, paid_by=olga, among=[ed])
    payment = settle(trip, ed, olga, 3000, by=olga)
    before = texts(ledger, olga)
    for path in (f"settlements/{payment.pk}", f"expenses/{dinner.pk}"):
        assert ledger.answer(olga, "delete", path).status_code == 204
    assert api(olga).patch(ledger.url, {"currency": "JPY"}).status_code == 200
    assert texts(ledger, olga)[-len(before) :] == before


def test_an_unknown_event_is_a_general_sentence(api, olga, trip):
    spend(trip, 1000, paid_by=olga, among=[olga])
    rows = JournalEntry.objects.filter(trip=trip.pk)
    api(olga).post(f"/api/trips/{trip.pk}/guests", {"name": "Grandma"})
    rows.filter(event="guest.added").update(event="ferry.sunk", object_id=12)
    shown = api(olga).get(f"/api/trips/{trip.pk}/history").json()["items"][0]
    assert (shown["event"], shown["object"]) == ("ferry.sunk", {"type": "ferry", "id": 12})
    assert shown["text"] == "Olga Owner changed something in the trip."


def test_a_filter_is_sent_once_and_by_its_name(api, trip, olga):
    client, path = api(olga), f"/api/trips/{trip.pk}/history"
    [text] = problem_of(client.get(f"{path}?evnt=trip.created"), 400)["errors"]["evnt"]
    assert "did you mean event?" in text
    twice = f"{path}?event=trip.created&event=trip.changed"
    assert problem_of(client.get(twice), 400)["errors"] == {"event": ["Send this parameter once."]}
    assert client.get(twice, **LENIENT).status_code == 200
    since = problem_of(client.get(f"{path}?since=2026-02-30T00:00:00Z"), 400)
    assert "format" not in str(since["errors"])
