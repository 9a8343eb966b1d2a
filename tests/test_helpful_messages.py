"""Messages say what to do, not only what is wrong."""

import gzip

import pytest
from django.test import Client
from rest_framework.test import APIClient

from tests.document import problem_of
from tests.trips.bodies import dinner
from tests.users.logins import log_in

pytestmark = pytest.mark.either

HOW = "Send the header as Authorization: Bearer <token>."


def detail(response, status):
    return problem_of(response, status)["detail"]


@pytest.mark.parametrize("amount", ["10,50", "1.000,50", "1 000.50", "1'000"])
def test_an_amount_with_a_comma(api, trip, olga, amount):
    body = dinner(olga, amount=amount)
    errors = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400)["errors"]
    text = "A number has a point before its decimals, and no other separators: 10.50."
    assert errors == {"amount": [text]}


def test_a_list_that_is_none(api, trip, olga):
    body = dinner(participantUserIds="7", payers=[7])
    errors = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400)["errors"]
    texts = {"participantUserIds": ["Must be a list."], "payers.0": ["Must be an object."]}
    assert errors == texts


def test_a_rate_that_is_not_stored(api, trip, olga):
    body = dinner(olga, currency="AED")
    refused = api(olga).post(f"/api/trips/{trip.pk}/expenses", body)
    assert detail(refused, 409) == "There is no rate from AED to EUR. Please send exchangeRate."


def test_types_that_are_not_json(api, olga):
    form = api(olga).generic("POST", "/api/trips", b"a=1", "application/x-www-form-urlencoded")
    how = "Send JSON: with a body in UTF-8, and Content-Type: application/json."
    assert detail(form, 415) == how
    wanted = api(olga).get("/api/trips", HTTP_ACCEPT="application/xml")
    assert detail(wanted, 406) == (
        "This path has application/json: send one of them in Accept, or leave it out."
    )


def test_tokens_that_are_sent_in_another_way(olga):
    pair = log_in(olga)
    for header in (pair["token"], f"Token {pair['token']}", "Bearer", "Bearer "):
        assert detail(APIClient(HTTP_AUTHORIZATION=header).get("/api/users/me"), 401) == HOW
    refresh = APIClient(HTTP_AUTHORIZATION=f"Bearer {pair['refreshToken']}").get("/api/users/me")
    assert detail(refresh, 401) == "This is a refresh token; send the access token."
    forged = APIClient(HTTP_AUTHORIZATION="Bearer forged").get("/api/users/me")
    assert detail(forged, 401) == "The token is not valid."


NO_TOKEN = {
    "en": "is not a token, but what an empty variable becomes. Log in at POST /api/users/login,",
    "es": "no es ningún token, sino lo que resulta de una variable vacía. Inicia sesión",
}
LOG_IN = {
    "en": "Log in at POST /api/users/login, and send its token as Authorization: Bearer <token>.",
    "es": "Inicia sesión en POST /api/users/login y envía su token como "
    "Authorization: Bearer <token>.",
}
#: What an empty variable becomes in the text of a client.
UNSET = [
    "undefined",
    "null",
    "NaN",
    "None",
    "[object Object]",
    "{{token}}",
    "<token>",
    ":id",
    "$ID",
]


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_request_without_a_token_says_where_to_get_one(language):
    client = APIClient(HTTP_ACCEPT_LANGUAGE=language)
    assert detail(client.get("/api/trips"), 401) == LOG_IN[language]
    assert detail(client.delete("/api/trips/7"), 401) == LOG_IN[language]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("word", UNSET)
def test_a_variable_without_a_value_is_no_token(word, language):
    for header in (f"Bearer {word}", f"bearer  {word} "):
        client = APIClient(HTTP_AUTHORIZATION=header, HTTP_ACCEPT_LANGUAGE=language)
        said = detail(client.get("/api/trips"), 401)
        assert said.startswith(f"{word} {NO_TOKEN[language]}"), said


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "is not an id: put the value of the variable into the path."),
        ("es", "no es ningún id: pon el valor de la variable en la ruta."),
    ],
)
def test_a_variable_without_a_value_is_no_id_in_a_path(api, trip, olga, language, text):
    client = api(olga)
    for word in UNSET:
        for path in (
            f"/api/trips/{word}",
            f"/api/trips/{trip.pk}/expenses/{word}",
            f"/api/trips/{word}/balances",
            f"/api/users/{word}/total-debt",
            f"/api/expenses/{word}/splits",
        ):
            refused = client.get(path, headers={"Accept-Language": language})
            assert detail(refused, 404) == f"{word} {text}", path
    assert detail(client.get("/api/trips/999999"), 404) == "Not found."


@pytest.mark.parametrize(
    ("language", "no_day", "form"),
    [
        ("en", "There is no such day in the calendar: 2026-02-30.", "Must be a date such as"),
        ("es", "Ese día no existe en el calendario: 2026-02-30.", "Debe ser una fecha como"),
    ],
)
def test_a_date_that_is_none(  # noqa: PLR0913 -- the cast
    api, trip, olga, language, no_day, form
):
    client, url = api(olga), f"/api/trips/{trip.pk}"
    says = {"Accept-Language": language}

    def answers(day):
        sent = [
            client.post(f"{url}/expenses", dinner(olga, expenseDate=day), headers=says),
            client.patch(url, {"endDate": day}, headers=says),
            client.get(f"{url}/expenses", {"dateFrom": day}, headers=says),
            client.get(f"{url}/expenses", {"to": day}, headers=says),
        ]
        return [text for one in sent for text in problem_of(one, 400)["errors"].popitem()[1]]

    assert answers("2026-02-30") == [no_day] * 4
    for word in ("undefined", "NaN", "Invalid Date", "14.05.2026"):
        texts = answers(word)
        assert [text.startswith(form) for text in texts] == [True] * 4, texts


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Send the body as it is, without Content-Encoding: {}."),
        ("es", "Envía el cuerpo tal cual, sin Content-Encoding: {}."),
    ],
)
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "GZIP"])
def test_a_compressed_body(api, olga, coding, language, text):
    """T62: A compressed body is not decompressed."""
    client = api(olga)
    body = gzip.compress(b'{"title": "Lisbon"}')
    says = {"Content-Encoding": coding, "Accept-Language": language}
    for path, kind in (("trips", "application/json"), ("trips", "multipart/form-data")):
        refused = client.generic("POST", f"/api/{path}", body, kind, headers=says)
        assert detail(refused, 415) == text.format(coding.lower())
        assert refused.headers["Accept-Encoding"] == "identity"
    assert client.get("/api/trips", headers=says).status_code == 200
    plain = {"Content-Encoding": "identity"}
    assert client.post("/api/trips", {"title": "x"}, headers=plain).status_code == 400


def test_a_path_and_a_host_that_do_not_exist(settings):
    assert detail(Client().get("/api/trps"), 404) == "There is no such path."
    assert detail(Client().get("/api/trips/0"), 404) == "Not found."
    settings.ALLOWED_HOSTS = ["api.example.com"]
    unknown = {"HTTP_HOST": "other.example.com"}
    here = Client().get("/api/health", **unknown)
    assert detail(here, 400) == "This host is not in ALLOWED_HOSTS."
    elsewhere = Client(REMOTE_ADDR="192.0.2.1").get("/api/health", **unknown)
    assert detail(elsewhere, 400) == "The request is not acceptable."
