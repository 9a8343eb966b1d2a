"""Refresh tokens: each is good once, and a second use ends the whole log-in."""

from datetime import timedelta
from functools import partial

import pytest
import time_machine
from django.conf import settings
from django.utils import timezone

from tests.document import problem_of
from tests.factories import PASSWORD
from tests.splits.journey import answers_at_once, fresh_email, register
from tests.users.logins import is_alive, log_in, refresh

PARALLEL = 6
ROUNDS = 5


def assert_refused(response, code="token_invalid"):
    problem_of(response, 401, code)
    assert response["WWW-Authenticate"] == "Bearer"


def test_refreshing_gives_a_new_pair_in_the_shape_of_a_log_in(olga):
    first = log_in(olga)
    response = refresh(first["refreshToken"])
    second = response.json()
    assert response.status_code == 200
    assert set(second) == set(first)
    assert second["user"] == first["user"]
    assert second["refreshToken"] != first["refreshToken"]
    assert is_alive(second["token"])


def test_a_second_use_ends_the_whole_family(olga):
    """T28: A refresh token works once; reusing it ends the session."""
    first = log_in(olga)
    second = refresh(first["refreshToken"]).json()
    third = refresh(second["refreshToken"]).json()
    assert_refused(refresh(first["refreshToken"]))
    assert_refused(refresh(third["refreshToken"]))
    assert_refused(refresh(second["refreshToken"]))
    assert not any(is_alive(pair["token"]) for pair in (first, second, third))


def test_a_second_use_ends_no_other_log_in(olga, ed):
    first, elsewhere, of_ed = log_in(olga), log_in(olga), log_in(ed)
    refresh(first["refreshToken"])
    assert_refused(refresh(first["refreshToken"]))
    assert is_alive(elsewhere["token"])
    assert refresh(elsewhere["refreshToken"]).status_code == 200
    assert refresh(of_ed["refreshToken"]).status_code == 200


def test_a_refresh_token_lives_exactly_its_lifetime_and_each_refresh_starts_it_anew(olga):
    start = timezone.now().replace(microsecond=0)
    lifetime, second = timedelta(seconds=settings.REFRESH_TOKEN_LIFETIME), timedelta(seconds=1)
    with time_machine.travel(start, tick=False) as clock:
        pair, other = log_in(olga), log_in(olga)
        clock.move_to(start + lifetime - second)
        response = refresh(pair["refreshToken"])
        assert response.status_code == 200
        clock.move_to(start + lifetime)
        assert_refused(refresh(other["refreshToken"]), "token_expired")
        clock.move_to(start + 2 * lifetime - 2 * second)
        assert refresh(response.json()["refreshToken"]).status_code == 200


@pytest.mark.parametrize(
    "token", ["x", "a.b.c", "..", "eyJhbGciOiJIUzI1NiJ9.e30.", "ñandú", "x" * 4096, "Bearer x"]
)
@pytest.mark.django_db
def test_junk_is_refused(token):
    assert_refused(refresh(token))


def test_of_simultaneous_uses_at_most_one_wins_and_the_family_ends(http):
    """T29: Of concurrent uses of a refresh token, one succeeds, and the session ends.

    Several rounds, since each is a race.
    """
    body = {"email": fresh_email(), "password": PASSWORD}
    register(http, body["email"])
    for _round in range(ROUNDS):
        pair = http.post("/api/users/login", json=body).json()
        spent = {"refreshToken": pair["refreshToken"]}
        use = partial(http.post, "/api/users/token/refresh", json=spent)
        answers = answers_at_once([use] * PARALLEL)
        [winner] = [answer for answer in answers if answer.status_code == 200]
        assert {answer.status_code for answer in answers} == {200, 401}
        for token in (pair["token"], winner.json()["token"]):
            me = http.get("/api/users/me", headers={"Authorization": f"Bearer {token}"})
            assert me.status_code == 401
