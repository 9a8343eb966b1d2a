"""The budget: positive or none, exact, in the decimals of the trip's currency; the currency."""

from decimal import Decimal

import pytest

from tests.document import fields_in, problem_of
from tests.factories import spend
from tests.splits.ledger import exact
from tests.trips.bodies import lisbon
from trips.models import Trip

pytestmark = pytest.mark.either


@pytest.mark.parametrize(
    ("currency", "entered", "kept"),
    [
        ("EUR", 1200, "1200"), ("EUR", 0.01, "0.01"), ("EUR", 33.333, "33.33"),
        ("EUR", 33.335, "33.34"), ("EUR", 33.345, "33.35"), ("EUR", 0.005, "0.01"),
        ("EUR", "33.335", "33.34"), ("EUR", "1e3", "1000"), ("EUR", 0.1 + 0.2, "0.3"),
        ("EUR", 10**12, "1000000000000"), ("EUR", "999999999999.99", "999999999999.99"),
        ("EUR", 999999999999.99, "999999999999.99"), ("EUR", 1e12, "1000000000000"),
        ("JPY", 1200, "1200"), ("JPY", 1200.4, "1200"), ("JPY", 1200.5, "1201"),
        ("JPY", 0.5, "1"), ("KWD", 1.234, "1.234"), ("KWD", 1.2345, "1.235"),
        ("KWD", 0.0005, "0.001"), ("CLF", 1.23456, "1.2346"),
    ],
)  # fmt: skip
def test_a_budget_is_rounded_half_up_to_the_decimals_of_the_currency(
    api, olga, currency, entered, kept
):
    client = api(olga)
    made = client.post("/api/trips", lisbon(currency=currency, budget=entered))
    assert made.status_code == 201
    assert exact(made)["budget"] == Decimal(kept)
    assert exact(client.get(made["Location"]))["budget"] == Decimal(kept)
    assert exact(client.get("/api/trips"))["items"][0]["budget"] == Decimal(kept)


def test_a_budget_never_shows_more_decimals_than_the_currency_has(api, olga):
    client = api(olga)
    for currency, digits in (("EUR", b"1200.50,"), ("JPY", b"1201,"), ("KWD", b"1200.500,")):
        made = client.post("/api/trips", lisbon(currency=currency, budget=1200.5))
        assert b'"budget":' + digits in made.content


@pytest.mark.parametrize(
    ("currency", "entered"),
    [
        ("EUR", 0.004), ("JPY", 0.49), ("KWD", 0.0004), ("EUR", "1000000000000.01"),
    ],
    ids=lambda value: repr(value)[:24],
)  # fmt: skip
def test_what_is_no_positive_amount_is_refused_on_the_field(api, olga, currency, entered):
    response = api(olga).post("/api/trips", lisbon(currency=currency, budget=entered))
    assert fields_in(response) == ["budget"]
    assert not Trip.objects.exists()


@pytest.mark.parametrize(
    ("currency", "kept"), [("JPY", "13"), ("KWD", "12.5"), ("USD", "12.5"), ("EUR", "12.5")]
)
def test_a_budget_follows_the_currency(api, trip, olga, currency, kept):
    client = api(olga)
    client.patch(f"/api/trips/{trip.pk}", {"budget": 12.5})
    changed = exact(client.patch(f"/api/trips/{trip.pk}", {"currency": currency}))
    assert (changed["currency"], changed["budget"]) == (currency, Decimal(kept))


def test_a_budget_that_another_currency_rounds_to_nothing_is_refused(api, trip, olga):
    client = api(olga)
    client.patch(f"/api/trips/{trip.pk}", {"budget": 0.4})
    assert fields_in(client.patch(f"/api/trips/{trip.pk}", {"currency": "JPY"})) == ["budget"]
    assert client.get(f"/api/trips/{trip.pk}").json()["currency"] == "EUR"


@pytest.mark.parametrize("method", ["put", "patch"])
def test_the_currency_is_fixed_once_there_is_an_expense(api, trip, olga, method):
    spend(trip, 1000, paid_by=olga, among=[olga])
    client = api(olga)
    before = client.get(f"/api/trips/{trip.pk}").json()
    body = lisbon(title="Porto in June", currency="USD")
    response = getattr(client, method)(f"/api/trips/{trip.pk}", body)
    assert (response.status_code, response.json()["code"]) == (409, "currency_fixed")
    assert "EUR" in response.json()["detail"]
    assert client.get(f"/api/trips/{trip.pk}").json() == before


@pytest.mark.parametrize("method", ["put", "patch"])
@pytest.mark.parametrize("currency", [..., "EUR"])
def test_everything_else_can_still_be_changed(api, trip, olga, method, currency):
    spend(trip, 1000, paid_by=olga, among=[olga])
    body = lisbon(title="Porto in June", budget=800, currency=currency)
    response = getattr(api(olga), method)(f"/api/trips/{trip.pk}", body)
    assert response.json()["title"] == "Porto in June"
    assert response.json()["currency"] == "EUR"


def test_the_currency_is_fixed_too_once_there_is_a_settlement(api, trip, olga, ed):
    client = api(olga)
    settlement = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 5}
    assert client.post(f"/api/trips/{trip.pk}/settlements", settlement).status_code == 201
    problem_of(client.patch(f"/api/trips/{trip.pk}", {"currency": "JPY"}), 409, "currency_fixed")
