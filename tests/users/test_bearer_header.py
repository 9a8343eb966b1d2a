"""The `Authorization` header in all the forms that clients and crawlers send."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from tests.document import problem_of
from tests.users.logins import log_in

pytestmark = pytest.mark.once

GOOD: dict[str, Callable[[str], str]] = {
    "as specified": lambda token: f"Bearer {token}",
    "lower case": lambda token: f"bearer {token}",
    "upper case": lambda token: f"BEARER {token}",
    "two spaces": lambda token: f"Bearer  {token}",
}
BAD: dict[str, Callable[[str], str]] = {
    "no token": lambda _token: "Bearer",
    "an empty token": lambda _token: "Bearer ",
    "no scheme": lambda token: token,
    "no space": lambda token: f"Bearer{token}",
    "a tab": lambda token: f"Bearer\t{token}",
    "quotes": lambda token: f'Bearer "{token}"',
    "two tokens": lambda token: f"Bearer {token} {token}",
    "a list": lambda token: f"Bearer {token}, Bearer {token}",
    "a comma behind": lambda token: f"Bearer {token},",
    "8 kB": lambda _token: f"Bearer {'x' * 8192}",
    "8 kB of dots": lambda _token: f"Bearer {'.' * 8192}",
    "not ASCII": lambda _token: "Bearer ñandú.é.ü",
    "not ASCII behind": lambda token: f"Bearer {token}é",
    "Basic": lambda _token: "Basic b2xnYUBleGFtcGxlLmNvbTpmb3VyLWdyZWVuLXN1aXRjYXNlcw==",
    "Basic with a good token": lambda token: f"Basic {token}",
    "Token": lambda token: f"Token {token}",
    "JWT": lambda token: f"JWT {token}",
    "null": lambda _token: "Bearer null",
    "undefined": lambda _token: "Bearer undefined",
}


@pytest.mark.parametrize("form", GOOD.values(), ids=GOOD)
def test_the_scheme_has_no_case_and_any_number_of_spaces(olga, form):
    header = form(log_in(olga)["token"])
    response = APIClient().get("/api/users/me", HTTP_AUTHORIZATION=header)
    assert response.json()["id"] == olga.pk


@pytest.mark.parametrize("form", BAD.values(), ids=BAD)
def test_every_other_form_is_401_with_a_challenge(olga, form):
    """T23: A token is read from one header only."""
    header = form(log_in(olga)["token"])
    response = APIClient().get("/api/users/me", HTTP_AUTHORIZATION=header)
    problem_of(response, 401, "token_invalid")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("headers", [{}, {"HTTP_AUTHORIZATION": ""}], ids=["none", "empty"])
@pytest.mark.django_db
def test_no_header_is_401_with_a_challenge(headers):
    response = APIClient().get("/api/users/me", **headers)
    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("query", ["access_token", "token", "jwt"])
def test_a_token_in_the_address_a_cookie_or_the_body_opens_nothing(olga, query):
    token, client = log_in(olga)["token"], APIClient()
    client.cookies[query] = token
    assert client.get(f"/api/users/me?{query}={token}").status_code == 401
    assert client.post("/api/trips", {"title": "x", query: token}).status_code == 401
