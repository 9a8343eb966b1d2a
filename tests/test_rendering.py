"""How answers are written: exact numbers, UTC instants, UTF-8, and JSON unless asked otherwise."""

import re
from decimal import Decimal

import pytest

from tests.factories import join, overwrite, owned_trip, spend
from tests.splits.ledger import exact
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.either

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def every_value(node, key=""):
    if isinstance(node, dict):
        for name, value in node.items():
            yield from every_value(value, name)
    elif isinstance(node, list):
        for item in node:
            yield from every_value(item, key)
    else:
        yield key, node


@pytest.mark.parametrize(
    ("currency", "amount_minor", "text"),
    [
        ("EUR", 1, "0.01"),
        ("EUR", 10, "0.10"),
        ("EUR", 1234, "12.34"),
        ("EUR", 10**14, "1000000000000.00"),
        ("EUR", 10**14 - 1, "999999999999.99"),
        ("JPY", 1200, "1200"),
        ("KWD", 1, "0.001"),
        ("KWD", 10**15 - 1, "999999999999.999"),
        ("CLF", 10**16 - 1, "999999999999.9999"),
    ],
)
def test_an_amount_has_the_decimals_of_its_currency_and_no_others(
    api, olga, currency, amount_minor, text
):
    """T97: The smallest and the largest amount are returned unchanged."""
    trip = owned_trip(olga, currency=currency)
    expense = spend(trip, amount_minor, paid_by=olga, among=[olga])
    response = api(olga).get(f"/api/trips/{trip.pk}/expenses/{expense.pk}")
    assert f'"amount":{text},'.encode() in response.content
    assert exact(response)["splits"][0]["amount"] == Decimal(text)


def test_sums_beyond_the_precision_of_a_float_keep_their_last_digit(api, olga, ed):
    trip = owned_trip(olga, currency="CLF")
    join(trip, ed)
    for _count in range(3):
        spend(trip, 10**16 - 1, paid_by=olga, among=[ed])
    mine, eds = exact(api(olga).get(f"/api/trips/{trip.pk}/balances"))
    assert mine["balance"] == Decimal("2999999999999.9997")
    assert eds["balance"] == Decimal("-2999999999999.9997")
    assert float("2999999999999.9997") != Decimal("2999999999999.9997")
    overwrite(ed, currency="CLF")
    assert api(ed).get(f"/api/users/{ed.pk}/total-debt").content == b"2999999999999.9997"


def test_money_that_is_nothing_is_zero_and_money_that_is_not_there_is_null(api, olga, trip):
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    balance = exact(api(olga).get(f"/api/trips/{trip.pk}/balances"))[1]
    assert {name: balance[name] for name in ("paid", "share", "sent", "received", "balance")} == (
        dict.fromkeys(("paid", "share", "sent", "received", "balance"), 0)
    )
    assert exact(api(olga).get(f"/api/trips/{trip.pk}"))["budget"] is None
    assert exact(api(olga).get(f"/api/expenses/{expense.pk}/splits"))[0]["percentage"] is None
    assert api(olga).get(f"/api/users/{olga.pk}/total-debt").content in {b"0", b"0.00"}


def test_instants_are_utc_with_a_z_and_days_are_days(api, olga, trip):
    spend(trip, 1000, paid_by=olga, among=[olga])
    seen = set()
    for path in ("/api/users/me", "/api/trips", f"/api/trips/{trip.pk}/expenses"):
        for name, value in every_value(api(olga).get(path).json()):
            if name.endswith("At") and value is not None:
                assert INSTANT.fullmatch(value), (path, name, value)
                seen.add(name)
            if name.endswith("Date") and value is not None:
                assert re.fullmatch(r"\d{4}-\d\d-\d\d", value), (path, name, value)
                seen.add(name)
    assert seen >= {"createdAt", "updatedAt", "paidAt", "startDate", "endDate", "expenseDate"}


def test_names_on_the_wire_are_camel_case(api, olga, trip):
    spend(trip, 1000, paid_by=olga, among=[olga])
    for path in ("/api/users/me", f"/api/trips/{trip.pk}", f"/api/trips/{trip.pk}/expenses"):
        for name, _value in every_value(api(olga).get(path).json()):
            assert re.fullmatch(r"[a-z][a-zA-Z]*", name), (path, name)


def test_texts_are_utf_8_and_nothing_in_them_is_escaped_or_lost(api, olga):
    title = 'Olá, Ítaca \U0001f9f3 <b>&amp;</b> "quoted" \\ \u2028 \u202e'
    response = api(olga).post("/api/trips", lisbon(title=title))
    assert response.headers["Content-Type"] == "application/json"
    assert response.json()["title"] == title
    assert "Olá, Ítaca \U0001f9f3".encode() in response.content


def test_an_empty_answer_has_neither_body_nor_type(api, olga, trip):
    response = api(olga).delete(f"/api/trips/{trip.pk}")
    assert response.status_code == 204
    assert response.content == b""
    assert "Content-Type" not in response.headers


@pytest.mark.parametrize(
    "accept", [None, "", " ", "\t", "*/*", "application/json", "application/*;q=0.1, text/csv"]
)
@pytest.mark.parametrize("path", ["/api/trips", "/api/trips?format=json", "/api/schema"])
def test_programs_get_json(api, olga, accept, path):
    headers = {} if accept is None else {"Accept": accept}
    response = api(olga).get(path, headers=headers)
    assert response.status_code == 200
    assert path == "/api/schema" or response.headers["Content-Type"] == "application/json"
    assert "Accept" in response.headers["Vary"]


def test_head_answers_like_get_without_the_body(api, olga, trip):
    url = f"/api/trips/{trip.pk}"
    get, head = api(olga).get(url), api(olga).head(url)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["Content-Length"] == str(len(get.content))
    assert head.headers["ETag"] == get.headers["ETag"]
