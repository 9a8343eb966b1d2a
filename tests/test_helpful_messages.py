"""Messages say what to do, not only what is wrong."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from tests.conftest import Api
from tests.document import problem_of
from tests.users.logins import log_in
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.either

HOW = "Send the header as Authorization: Bearer <token>."


def detail(response: Any, status: int) -> str:
    return problem_of(response, status)["detail"]


@pytest.mark.parametrize("amount", ["10,50", "1.000,50", "1 000.50", "1'000"])
def test_an_amount_with_a_comma(api: Api, trip: Trip, olga: User, amount: str) -> None:
    body = {
        "description": "Dinner", "amount": amount, "expenseDate": "2026-05-14",
        "splitType": "EQUAL", "participantUserIds": [olga.pk],
    }  # fmt: skip
    errors = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400)["errors"]
    text = "A number has a point before its decimals, and no other separators: 10.50."
    assert errors == {"amount": [text]}


def test_a_list_that_is_none(api: Api, trip: Trip, olga: User) -> None:
    body = {
        "description": "Dinner", "amount": 10, "expenseDate": "2026-05-14", "splitType": "EQUAL",
        "participantUserIds": "7", "payers": [7],
    }  # fmt: skip
    errors = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400)["errors"]
    assert errors["participantUserIds"] == ["Must be a list."]
    assert "Must be an object." in str(errors)


def test_a_rate_that_is_not_stored(api: Api, trip: Trip, olga: User) -> None:
    body = {
        "description": "Dinner", "amount": 10, "expenseDate": "2026-05-14", "splitType": "EQUAL",
        "participantUserIds": [olga.pk], "currency": "AED",
    }  # fmt: skip
    refused = api(olga).post(f"/api/trips/{trip.pk}/expenses", body)
    assert detail(refused, 409) == "There is no rate from AED to EUR. Please send exchangeRate."


def test_types_that_are_not_json(api: Api, olga: User) -> None:
    form = api(olga).generic("POST", "/api/trips", b"a=1", "application/x-www-form-urlencoded")
    how = "Send JSON: with a body in UTF-8, and Content-Type: application/json."
    assert detail(form, 415) == how
    wanted = api(olga).get("/api/trips", HTTP_ACCEPT="application/xml")
    assert detail(wanted, 406) == (
        "This path has application/json: send one of them in Accept, or leave it out."
    )


def test_tokens_that_are_sent_in_another_way(olga: User) -> None:
    pair = log_in(olga)
    for header in (pair["token"], f"Token {pair['token']}", "Bearer", "Bearer "):
        refused = APIClient(HTTP_AUTHORIZATION=header).get("/api/users/me")
        assert detail(refused, 401) == HOW
    refresh = APIClient(HTTP_AUTHORIZATION=f"Bearer {pair['refreshToken']}").get("/api/users/me")
    assert detail(refresh, 401) == "This is a refresh token; send the access token."
    forged = APIClient(HTTP_AUTHORIZATION="Bearer forged").get("/api/users/me")
    assert detail(forged, 401) == "The token is not valid."


def test_a_path_and_a_host_that_do_not_exist(settings: Any) -> None:
    assert detail(Client().get("/api/trps"), 404) == "There is no such path."
    assert detail(Client().get("/api/trips/0"), 404) == "Not found."
    settings.ALLOWED_HOSTS = ["api.example.com"]
    unknown = {"HTTP_HOST": "other.example.com"}
    here = Client().get("/api/health", **unknown)
    assert detail(here, 400) == "This host is not in ALLOWED_HOSTS."
    elsewhere = Client(REMOTE_ADDR="192.0.2.1").get("/api/health", **unknown)
    assert detail(elsewhere, 400) == "The request is not acceptable."
