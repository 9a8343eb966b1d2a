"""Scoped tokens: how one is made, shown and ended, and that none reaches the account."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import httpx
import pytest
import time_machine
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.exceptions import NotAuthenticated
from rest_framework.response import Response
from rest_framework.test import APIClient

from tests.conftest import Api
from tests.factories import PASSWORD, TripFactory, overwrite
from tests.scoped import script_of
from tests.server import Server
from tests.stored import everything_stored
from tests.trips.bodies import lisbon
from tests.users.logins import bearer, log_in
from trips.models import Trip
from users.models import MAX_ACTIVE_TOKENS, ScopedToken, User
from users.scopes import Scope

TOKENS = "/api/users/me/tokens"
NOON = datetime(2026, 5, 14, 12, 0, 0, tzinfo=UTC)
ALL = [scope.value for scope in Scope]
NEW = "five-yellow-umbrellas"
PARALLEL = 8
ROUNDS = 6


def make(client: APIClient, **body: Any) -> Response:
    return client.post(TOKENS, {"name": "Import", "scopes": ["trips:read"], **body})


def opens(token: str) -> bool:
    """Whether a token with `trips:read` still opens something."""
    response = bearer(token).get("/api/trips")
    assert response.status_code in {200, 401}
    return response.status_code == 200


def refused_for(response: Response) -> list[str]:
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    return list(response.json()["errors"])


# -- Making -----------------------------------------------------------------------------------


def test_a_token_is_shown_once_and_nothing_of_it_is_stored(
    api: Api, trip: Trip, olga: User
) -> None:
    with time_machine.travel(NOON, tick=False):
        client = api(olga)
        response = make(client, name=" Import ", scopes=["expenses:write", "trips:read"])
        answer = response.json()
        token = answer.pop("token")
        assert response.status_code == 201
        assert response["Location"] == f"{TOKENS}/{answer['id']}"
        assert answer == {
            "id": ScopedToken.objects.get().pk,
            "name": "Import",
            "scopes": ["trips:read", "expenses:write"],
            "tripId": None,
            "hint": token[:8],
            "createdAt": "2026-05-14T12:00:00Z",
            "expiresAt": "2026-08-12T12:00:00Z",
            "lastUsedAt": None,
        }
        assert client.get(response["Location"]).json() == answer
        assert client.get(TOKENS).json()["items"] == [answer]
    assert token not in repr(everything_stored())
    assert ScopedToken.objects.get().digest == sha256(token.encode()).hexdigest()


def test_tokens_are_32_random_bytes(api: Api, olga: User) -> None:
    tokens = {make(api(olga)).json()["token"] for _number in range(5)}
    assert len(tokens) == 5
    assert all(token.startswith("tc_") and len(token) == 3 + 43 for token in tokens)


def test_an_idempotency_key_is_ignored_so_that_no_answer_keeps_a_token(
    api: Api, olga: User
) -> None:
    client = api(olga)
    client.credentials(**client._credentials, HTTP_IDEMPOTENCY_KEY="k-1")
    first, second = make(client), make(client)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["token"] != second.json()["token"]
    assert first.json()["token"] not in repr(everything_stored())


def test_a_scope_that_is_named_twice_counts_once(api: Api, olga: User) -> None:
    response = make(api(olga), scopes=["trips:write", "trips:read", "trips:write"])
    assert response.json()["scopes"] == ["trips:read", "trips:write"]


@pytest.mark.parametrize(
    "scopes", [[], ["trips"], ["admin:read"], ["trips:read trips:write"], ["*"], [""], [None]]
)
def test_other_words_are_no_scopes(api: Api, olga: User, scopes: list[Any]) -> None:
    [field] = refused_for(make(api(olga), scopes=scopes))
    assert field.startswith("scopes")
    assert not ScopedToken.objects.exists()


@pytest.mark.parametrize("seconds", [1, 3600, 365 * 24 * 3600])
def test_one_says_when_it_expires_up_to_a_year_from_now(api: Api, olga: User, seconds: int) -> None:
    with time_machine.travel(NOON, tick=False):
        at = (NOON + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
        assert make(api(olga), expiresAt=at).json()["expiresAt"] == at


@pytest.mark.parametrize("seconds", [-3600, 0, 365 * 24 * 3600 + 1])
def test_the_past_and_more_than_a_year_are_refused(api: Api, olga: User, seconds: int) -> None:
    with time_machine.travel(NOON, tick=False):
        at = (NOON + timedelta(seconds=seconds)).isoformat()
        assert refused_for(make(api(olga), expiresAt=at)) == ["expiresAt"]


def test_null_is_as_good_as_nothing_and_an_offset_is_understood(api: Api, olga: User) -> None:
    with time_machine.travel(NOON, tick=False):
        client = api(olga)
        assert make(client, expiresAt=None).json()["expiresAt"] == "2026-08-12T12:00:00Z"
        asked = "2026-06-01T02:30:00+02:00"
        assert make(client, expiresAt=asked).json()["expiresAt"] == "2026-06-01T00:30:00Z"


def test_it_may_be_confined_to_a_trip_that_one_is_a_member_of(
    api: Api, trip: Trip, vera: User
) -> None:
    assert make(api(vera), tripId=trip.pk).json()["tripId"] == trip.pk


def test_a_foreign_trip_and_none_are_refused_alike(
    api: Api, trip: Trip, ed: User, sam: User, ada: User
) -> None:
    trip.members.get(user=ed).leave(by=ed)
    for user in (ed, sam, ada):
        foreign, missing = make(api(user), tripId=trip.pk), make(api(user), tripId=999_999)
        assert refused_for(foreign) == ["tripId"]
        assert foreign.content == missing.content


def test_there_is_a_limit_of_live_tokens(api: Api, olga: User, ed: User) -> None:
    client = api(olga)
    with time_machine.travel(NOON, tick=False) as clock:
        for _number in range(MAX_ACTIVE_TOKENS):
            script_of(olga, *ALL)
        response = make(api(olga))
        assert (response.status_code, response.json()["code"]) == (409, "limit_reached")
        assert make(api(ed)).status_code == 201
        clock.shift(timedelta(days=91))
        client = api(olga)
        assert make(client).status_code == 201
        assert ScopedToken.objects.filter(user=olga).count() == 1


def test_ending_one_makes_room(api: Api, olga: User) -> None:
    tokens = [script_of(olga, *ALL) for _number in range(MAX_ACTIVE_TOKENS)]
    client = api(olga)
    assert make(client).status_code == 409
    client.delete(f"{TOKENS}/{tokens[0].pk}")
    assert make(client).status_code == 201


def test_the_limit_holds_for_many_at_once(server: Server) -> None:
    users = f"{server.url}/api/users"
    account = {"email": "scripts@example.com", "password": PASSWORD}
    login = httpx.post(f"{users}/register", json=account, timeout=30).json()
    headers = {"Authorization": f"Bearer {login['token']}"}
    body = {"name": "Import", "scopes": ["trips:read"]}

    def make_one(_at: int) -> int:
        url = f"{users}/me/tokens"
        return httpx.post(url, json=body, headers=headers, timeout=30).status_code

    for number in range(MAX_ACTIVE_TOKENS - 1):
        assert make_one(number) == 201
    for _round in range(ROUNDS):
        with ThreadPoolExecutor(PARALLEL) as pool:
            outcome = Counter(pool.map(make_one, range(PARALLEL)))
        assert outcome == {201: 1, 409: PARALLEL - 1}
        newest = httpx.get(f"{users}/me/tokens", headers=headers, timeout=30).json()["items"][0]
        httpx.delete(f"{users}/me/tokens/{newest['id']}", headers=headers, timeout=30)


def test_an_account_that_was_barred_meanwhile_gets_none(olga: User) -> None:
    caller = User.objects.get(pk=olga.pk)
    olga.deactivate(by=None)
    with pytest.raises(NotAuthenticated):
        script_of(caller, *ALL)
    assert not ScopedToken.objects.exists()


def test_no_token_is_made_with_a_log_in_that_ended_meanwhile(olga: User) -> None:
    caller = User.objects.get(pk=olga.pk)
    olga.change(by=None, password=NEW)
    with pytest.raises(NotAuthenticated):
        script_of(caller, *ALL)
    assert not ScopedToken.objects.exists()


# -- Showing and ending -----------------------------------------------------------------------


def test_the_newest_comes_first_and_those_of_others_are_not_shown(
    api: Api, olga: User, ed: User
) -> None:
    script_of(ed, *ALL)
    client = api(olga)
    ids = [make(client).json()["id"] for _number in range(3)]
    page = client.get(f"{TOKENS}?pageSize=2").json()
    assert ([row["id"] for row in page["items"]], page["total"]) == (ids[:0:-1], 3)
    assert not any("token" in row for row in page["items"])


def test_ending_a_token_kills_it_at_once_and_no_other(api: Api, olga: User) -> None:
    client = api(olga)
    first, second = make(client).json(), make(client).json()
    assert opens(first["token"])
    response = client.delete(f"{TOKENS}/{first['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert not opens(first["token"])
    assert opens(second["token"])


@pytest.mark.parametrize("method", ["get", "delete"])
def test_foreign_unknown_ended_and_expired_ids_are_the_same_404(
    api: Api, olga: User, ed: User, method: str
) -> None:
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


def test_a_token_expires_to_the_second(olga: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        token = script_of(olga, *ALL).token
        clock.move_to(NOON + timedelta(days=90, seconds=-1))
        assert opens(token)
        clock.move_to(NOON + timedelta(days=90))
        response = bearer(token).get("/api/trips")
        assert (response.status_code, response.json()["code"]) == (401, "token_expired")
        assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("route", ["", "/profile"])
def test_a_changed_password_ends_every_scoped_token(olga: User, ed: User, route: str) -> None:
    token, of_ed, own = script_of(olga, *ALL).token, script_of(ed, *ALL).token, log_in(olga)
    body = {"currentPassword": PASSWORD, "newPassword": NEW}
    if not route:
        body = {"name": "Olga Owner", "email": olga.email, "password": NEW}
    response = bearer(own["token"]).put(f"/api/users/{olga.pk}{route}", body)
    assert response.status_code == 200
    assert not opens(token)
    assert not ScopedToken.objects.filter(user=olga).exists()
    assert opens(of_ed)


def test_the_same_password_again_ends_nothing(olga: User) -> None:
    token, own = script_of(olga, *ALL).token, log_in(olga)
    body = {"currentPassword": PASSWORD, "newPassword": PASSWORD}
    bearer(own["token"]).put(f"/api/users/{olga.pk}/profile", body)
    assert opens(token)


def test_a_password_that_is_set_behind_the_api_ends_them_too(olga: User) -> None:
    token = script_of(olga, *ALL).token
    overwrite(olga, password=make_password(NEW))
    assert not opens(token)


def test_barring_an_account_ends_them_for_good(olga: User) -> None:
    token = script_of(olga, *ALL).token
    olga.deactivate(by=None)
    assert not opens(token)
    User.objects.filter(pk=olga.pk).update(is_active=True)
    assert not opens(token)


def test_a_row_that_is_barred_behind_the_api_opens_nothing(olga: User) -> None:
    token = script_of(olga, *ALL).token
    User.objects.filter(pk=olga.pk).update(is_active=False)
    assert not opens(token)


def test_deleting_an_account_ends_them(api: Api, olga: User, ada: User) -> None:
    token = script_of(olga, *ALL).token
    assert api(ada).delete(f"/api/users/{olga.pk}").status_code == 204
    assert not opens(token)
    assert not ScopedToken.objects.exists()


def test_a_token_that_is_confined_to_a_deleted_trip_sees_no_other_and_goes_with_it(
    api: Api, trip: Trip, olga: User
) -> None:
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
def test_what_is_almost_the_token_opens_nothing(olga: User, spoil: Any) -> None:
    token = script_of(olga, *ALL).token
    response = bearer(spoil(token)).get("/api/trips")
    assert (response.status_code, response.json()["code"]) == (401, "token_invalid")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["bearer {}", "BEARER {}", "Bearer  {}"])
def test_the_scheme_may_be_spelt_as_for_log_ins(olga: User, header: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header.format(script_of(olga, *ALL).token))
    assert client.get("/api/trips").status_code == 200


@pytest.mark.parametrize("path", ["login", "token/refresh", "logout", "register"])
def test_a_token_is_no_way_to_a_log_in(olga: User, path: str) -> None:
    token = script_of(olga, *ALL).token
    body = {"refreshToken": token, "email": olga.email, "password": token}
    response = bearer(token).post(f"/api/users/{path}", body)
    assert response.status_code == (409 if path == "register" else 401)


def test_a_use_is_noted_once_in_ten_minutes(api: Api, olga: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        made = ScopedToken.issue(olga, name="Import", scopes=ALL)
        client, noted = bearer(made.token), []
        for minutes in (5, 9, 1, 9):
            clock.shift(timedelta(minutes=minutes))
            with CaptureQueriesContext(connection) as captured:
                client.get("/api/trips")
            noted.append(any("UPDATE" in query["sql"] for query in captured))
        assert noted == [True, False, True, False]
        shown = api(olga).get(f"{TOKENS}/{made.pk}").json()
        assert shown["lastUsedAt"] == "2026-05-14T12:15:00Z"


def test_requests_count_for_the_user_however_they_come(
    api: Api, limits: Any, olga: User, ed: User
) -> None:
    limits(user="3/min")
    with time_machine.travel(NOON, tick=False):
        clients = [
            bearer(script_of(olga, *ALL).token),
            api(olga),
            bearer(script_of(ed, *ALL).token),
        ]
        statuses = [clients[at].get("/api/trips").status_code for at in (0, 1, 0, 0, 1, 2)]
    assert statuses == [200, 200, 200, 429, 429, 200]


def test_no_token_reaches_the_account_not_even_to_look(ada: User, trip: Trip) -> None:
    """The routes are in `test_permissions`; here are the ways that matter most, for an ADMIN."""
    client, other = bearer(script_of(ada, *ALL).token), TripFactory()
    for method, path, body in (
        ("post", "me/tokens", {"name": "More", "scopes": ALL}),
        ("get", "me/tokens", None),
        ("get", "me/sessions", None),
        ("post", "me/logout-everywhere", None),
        ("get", "me", None),
        ("put", f"{ada.pk}", {"name": "X", "email": "x@example.com", "password": NEW}),
        ("put", f"{ada.pk}/profile", {"name": "Xx"}),
        ("delete", f"{trip.members.first().user_id}", None),
    ):
        response = getattr(client, method)(f"/api/users/{path}", body)
        assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")
    assert client.get(f"/api/trips/{other.pk}").status_code == 404
