"""Scoped tokens: how one is shown, used and ended, and that none reaches the account."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import PASSWORD
from tests.scoped import ALL, TOKENS, make, script_of
from tests.trips.bodies import lisbon
from tests.users.logins import bearer, log_in
from trips.models import Trip
from users.models import ScopedToken

NOON = datetime(2026, 5, 14, 12, 0, 0, tzinfo=UTC)
NEW = "five-yellow-umbrellas"


def opens(token):
    """Whether a token with `trips:read` still opens something."""
    response = bearer(token).get("/api/trips")
    assert response.status_code in {200, 401}
    return response.status_code == 200


# -- Showing and ending -----------------------------------------------------------------------


def test_the_newest_comes_first_and_those_of_others_are_not_shown(api, olga, ed):
    script_of(ed, *ALL)
    client = api(olga)
    ids = [make(client).json()["id"] for _number in range(3)]
    page = client.get(f"{TOKENS}?pageSize=2").json()
    assert ([row["id"] for row in page["items"]], page["total"]) == (ids[:0:-1], 3)
    assert not any("token" in row for row in page["items"])


def test_ending_a_token_kills_it_at_once_and_no_other(api, olga):
    client = api(olga)
    first, second = make(client).json(), make(client).json()
    assert opens(first["token"])
    response = client.delete(f"{TOKENS}/{first['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert not opens(first["token"])
    assert opens(second["token"])


@pytest.mark.parametrize("method", ["get", "delete"])
def test_foreign_unknown_ended_and_expired_ids_are_the_same_404(api, olga, ed, method):
    client = api(olga)
    foreign, ended, expired = script_of(ed, *ALL), script_of(olga, *ALL), script_of(olga, *ALL)
    client.delete(f"{TOKENS}/{ended.pk}")
    ScopedToken.objects.filter(pk=expired.pk).update(expires_at=NOON - timedelta(days=999))
    ids = (foreign.pk, ended.pk, expired.pk, 999_999)
    answers = [getattr(client, method)(f"{TOKENS}/{each}") for each in ids]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert opens(foreign.token)


# -- Life and death ---------------------------------------------------------------------------


def test_a_token_expires_to_the_second(olga, clock):
    token = script_of(olga, *ALL).token
    clock.move_to(NOON + timedelta(days=90, seconds=-1))
    assert opens(token)
    clock.move_to(NOON + timedelta(days=90))
    response = bearer(token).get("/api/trips")
    assert (response.status_code, response.json()["code"]) == (401, "token_expired")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("route", ["", "/profile"])
def test_a_changed_password_ends_every_scoped_token(olga, ed, route):
    token, of_ed, own = script_of(olga, *ALL).token, script_of(ed, *ALL).token, log_in(olga)
    body = {"currentPassword": PASSWORD, "newPassword": NEW}
    if not route:
        body = {"name": "Olga Owner", "email": olga.email, "password": NEW}
    assert bearer(own["token"]).put(f"/api/users/{olga.pk}{route}", body).status_code == 200
    assert not opens(token)
    assert not ScopedToken.objects.filter(user=olga).exists()
    assert opens(of_ed)


def test_deleting_an_account_ends_them(api, olga, ada):
    token = script_of(olga, *ALL).token
    assert api(ada).delete(f"/api/users/{olga.pk}").status_code == 204
    assert not opens(token)
    assert not ScopedToken.objects.exists()


def test_a_token_that_is_confined_to_a_deleted_trip_sees_no_other_and_goes_with_it(api, trip, olga):
    """Without its trip a token would be confined to nothing, and see everything."""
    token = script_of(olga, *ALL, trip=trip).token
    assert opens(token)
    assert api(olga).post("/api/trips", lisbon()).status_code == 201
    assert api(olga).delete(f"/api/trips/{trip.pk}").status_code == 204
    assert bearer(token).get("/api/trips").json()["items"] == []
    Trip.objects.filter(pk=trip.pk).purge()
    assert not opens(token)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-1],
        lambda token: token + "x",
        lambda token: token.swapcase(),
        lambda token: "tc_",
        lambda token: "tc_" + "x" * 8000,
        lambda token: "tc_\xff\xfe",
        lambda token: token + "\x00",
        lambda token: sha256(token.encode()).hexdigest(),
        lambda token: "tc_" + sha256(token.encode()).hexdigest(),
        lambda token: token[3:],
    ],
)
def test_what_is_almost_the_token_opens_nothing(olga, spoil):
    token = script_of(olga, *ALL).token
    response = bearer(spoil(token)).get("/api/trips")
    assert (response.status_code, response.json()["code"]) == (401, "token_invalid")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["login", "token/refresh", "logout", "register"])
def test_a_token_is_no_way_to_a_log_in(olga, path):
    token = script_of(olga, *ALL).token
    body = {"refreshToken": token, "email": olga.email, "password": token}
    lenient = {"HTTP_PREFER": "handling=lenient"}
    response = bearer(token).post(f"/api/users/{path}", body, **lenient)
    assert response.status_code == (409 if path == "register" else 401)


def test_a_use_is_noted_once_in_ten_minutes(api, olga, clock):
    made = ScopedToken.issue(olga, name="Import", scopes=ALL)
    client, noted = bearer(made.token), []
    for minutes in (5, 9, 1, 9):
        clock.shift(timedelta(minutes=minutes))
        with CaptureQueriesContext(connection) as captured:
            client.get("/api/trips")
        noted.append(any("UPDATE" in query["sql"] for query in captured))
    assert noted == [True, False, True, False]
    assert api(olga).get(f"{TOKENS}/{made.pk}").json()["lastUsedAt"] == "2026-05-14T12:15:00Z"


def test_requests_count_for_the_user_however_they_come(api, limits, olga, ed):
    limits(user="3/min")
    with time_machine.travel(NOON, tick=False):
        clients = [
            bearer(script_of(olga, *ALL).token),
            api(olga),
            bearer(script_of(ed, *ALL).token),
        ]
        statuses = [clients[at].get("/api/trips").status_code for at in (0, 1, 0, 0, 1, 2)]
    assert statuses == [200, 200, 200, 429, 429, 200]
