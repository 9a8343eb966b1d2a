"""Making scoped tokens: what is stored of them, their scopes, when they expire, and how many."""

from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256

import pytest
import time_machine
from rest_framework.exceptions import NotAuthenticated

from tests.document import fields_in, problem_of
from tests.scoped import ALL, TOKENS, make, script_of
from tests.splits.journey import at_once, sign_up
from tests.stored import everything_stored
from users.models import MAX_ACTIVE_TOKENS, ScopedToken, User

NOON = datetime(2026, 5, 14, 12, 0, 0, tzinfo=UTC)
NEW = "five-yellow-umbrellas"
PARALLEL = 8
ROUNDS = 6


def test_a_token_is_shown_once_and_nothing_of_it_is_stored(api, trip, olga):
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


def test_tokens_are_32_random_bytes(api, olga):
    tokens = {make(api(olga)).json()["token"] for _number in range(5)}
    assert len(tokens) == 5
    assert all(token.startswith("tc_") and len(token) == 3 + 43 for token in tokens)


def test_a_repeat_with_the_same_key_makes_no_second_token_and_stores_none(api, olga):
    client = api(olga)
    client.credentials(**client._credentials, HTTP_IDEMPOTENCY_KEY="k-1")
    first, second = make(client), make(client)
    assert (first.status_code, second.status_code) == (201, 409)
    assert (second.json()["code"], second.json()["id"]) == ("already_made", first.json()["id"])
    assert first.json()["token"] not in repr(everything_stored())


def test_a_scope_that_is_named_twice_counts_once(api, olga):
    response = make(api(olga), scopes=["trips:write", "trips:read", "trips:write"])
    assert response.json()["scopes"] == ["trips:read", "trips:write"]


@pytest.mark.parametrize(
    "scopes", [[], ["trips"], ["admin:read"], ["trips:read trips:write"], ["*"], [""], [None]]
)
def test_other_words_are_no_scopes(api, olga, scopes):
    [field] = fields_in(make(api(olga), scopes=scopes))
    assert field.startswith("scopes")
    assert not ScopedToken.objects.exists()


@pytest.mark.parametrize("seconds", [1, 3600, 365 * 24 * 3600])
def test_one_says_when_it_expires_up_to_a_year_from_now(api, olga, seconds, clock):
    at = (NOON + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    assert make(api(olga), expiresAt=at).json()["expiresAt"] == at


@pytest.mark.parametrize("seconds", [-3600, 0, 365 * 24 * 3600 + 1])
def test_the_past_and_more_than_a_year_are_refused(api, olga, seconds, clock):
    at = (NOON + timedelta(seconds=seconds)).isoformat()
    assert fields_in(make(api(olga), expiresAt=at)) == ["expiresAt"]


def test_null_is_as_good_as_nothing_and_an_offset_is_understood(api, olga, clock):
    client = api(olga)
    assert make(client, expiresAt=None).json()["expiresAt"] == "2026-08-12T12:00:00Z"
    asked = "2026-06-01T02:30:00+02:00"
    assert make(client, expiresAt=asked).json()["expiresAt"] == "2026-06-01T00:30:00Z"


def test_it_may_be_confined_to_a_trip_that_one_is_a_member_of(api, trip, vera):
    assert make(api(vera), tripId=trip.pk).json()["tripId"] == trip.pk


def test_a_foreign_trip_and_none_are_refused_alike(api, trip, ed, sam, ada):
    trip.members.get(user=ed).leave(by=ed)
    for user in (ed, sam, ada):
        foreign, missing = make(api(user), tripId=trip.pk), make(api(user), tripId=999_999)
        assert fields_in(foreign) == ["tripId"]
        assert foreign.content == missing.content


def test_there_is_a_limit_of_live_tokens(api, olga, ed, clock):
    client = api(olga)
    for _number in range(MAX_ACTIVE_TOKENS):
        script_of(olga, *ALL)
    problem_of(make(api(olga)), 409, "limit_reached")
    assert make(api(ed)).status_code == 201
    clock.shift(timedelta(days=91))
    client = api(olga)
    assert make(client).status_code == 201
    assert ScopedToken.objects.filter(user=olga).count() == 1


def test_ending_one_makes_room(api, olga):
    tokens = [script_of(olga, *ALL) for _number in range(MAX_ACTIVE_TOKENS)]
    client = api(olga)
    assert make(client).status_code == 409
    client.delete(f"{TOKENS}/{tokens[0].pk}")
    assert make(client).status_code == 201


@pytest.mark.slow
def test_the_limit_holds_for_many_at_once(http):
    user, body = sign_up(http), {"name": "Import", "scopes": ["trips:read"]}
    make_one = partial(user.call, "POST", "/users/me/tokens", body)
    for _number in range(MAX_ACTIVE_TOKENS - 1):
        assert make_one().status_code == 201
    for _round in range(ROUNDS):
        outcome = at_once([make_one] * PARALLEL)
        assert outcome == {(201, ""): 1, (409, "limit_reached"): PARALLEL - 1}
        newest = user.done("GET", "/users/me/tokens")["items"][0]
        user.done("DELETE", f"/users/me/tokens/{newest['id']}")


@pytest.mark.parametrize("end", [User.deactivate, partial(User.change, password=NEW)])
def test_no_token_is_made_for_an_account_or_a_log_in_that_ended_meanwhile(olga, end):
    caller = User.objects.get(pk=olga.pk)
    end(olga, by=None)
    with pytest.raises(NotAuthenticated):
        script_of(caller, *ALL)
    assert not ScopedToken.objects.exists()
