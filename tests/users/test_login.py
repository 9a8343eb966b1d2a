"""Log-in: who gets tokens, and that a refusal does not say why."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth import hashers
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from tests.document import fields_in, problem_of
from tests.factories import PASSWORD
from tests.users.logins import bearer, is_alive, log_in, refresh, try_to_log_in

pytestmark = pytest.mark.either


def test_logging_in_gives_a_pair_of_tokens_and_the_account(olga):
    answer = log_in(olga)
    assert set(answer) == {
        "token", "type", "expiresIn", "refreshToken", "refreshExpiresIn", "user",
    }  # fmt: skip
    assert answer["type"] == "Bearer"
    assert answer["user"] == bearer(answer["token"]).get("/api/users/me").json()
    assert answer["user"]["id"] == olga.pk
    assert refresh(answer["refreshToken"]).status_code == 200


@pytest.mark.parametrize(
    "password", [PASSWORD.upper(), f" {PASSWORD}", f"{PASSWORD} ", PASSWORD[:-1], "x"]
)
def test_a_password_must_match_to_the_letter(olga, password):
    assert_bad_credentials(try_to_log_in("olga@example.com", password))


def test_all_refusals_are_byte_for_byte_alike(api, ada, olga, ed, vera):
    """T31: Every rejected login has the same response and the same cost."""
    ed.deactivate(by=None)
    api(ada).delete(f"/api/users/{vera.pk}")
    refusals = {
        "unknown": try_to_log_in("nobody@example.com"),
        "wrong": try_to_log_in("olga@example.com", "not-her-password"),
        "deactivated": try_to_log_in("ed@example.com"),
        "deactivated and wrong": try_to_log_in("ed@example.com", "not-his-password"),
        "deleted": try_to_log_in("vera@example.com"),
        "no address": try_to_log_in("olga"),
        "look-alike": try_to_log_in("o\u212aga@example.com"),
    }
    for refusal in refusals.values():
        assert_bad_credentials(refusal)
    assert len({refusal.content for refusal in refusals.values()}) == 1
    assert len({repr(sorted(refusal.headers.items())) for refusal in refusals.values()}) == 1


def test_all_refusals_hash_once(olga, ed, monkeypatch):
    """The time of a log-in is that of its hash, so equal hashes are equal times."""
    hashed: list[str] = []
    hasher = type(hashers.get_hasher())
    for name in ("encode", "verify"):
        original = getattr(hasher, name)

        def counted(self, password, *rest, original=original):
            hashed.append(password)
            return original(self, password, *rest)

        monkeypatch.setattr(hasher, name, counted)
    ed.deactivate(by=None)
    costs = set()
    for email in ("nobody@example.com", "olga@example.com", "ed@example.com", "no address"):
        hashed.clear()
        with CaptureQueriesContext(connection) as queries:
            assert_bad_credentials(try_to_log_in(email, "not-the-password"))
        assert hashed == ["not-the-password"]
        if "@" in email:
            costs.add(len(queries))
    assert len(costs) == 1


@pytest.mark.parametrize(("field", "chars"), [("email", 255), ("password", 129)])
def test_an_overlong_field_is_refused_before_any_hashing(olga, field, chars, monkeypatch):
    def no_hashing(*_args):
        raise AssertionError("hashed")

    for name in ("encode", "verify"):
        monkeypatch.setattr(type(hashers.get_hasher()), name, no_hashing)
    body = {"email": "olga@example.com", "password": PASSWORD, field: "x" * chars}
    assert fields_in(APIClient().post("/api/users/login", body)) == [field]


def test_the_access_token_lives_exactly_its_lifetime(olga):
    start = timezone.now().replace(microsecond=0)
    lifetime = timedelta(seconds=settings.ACCESS_TOKEN_LIFETIME)
    with time_machine.travel(start, tick=False) as clock:
        token = log_in(olga)["token"]
        clock.move_to(start + lifetime - timedelta(seconds=1))
        assert is_alive(token)
        clock.move_to(start + lifetime)
        response = bearer(token).get("/api/users/me")
    assert (response.status_code, response.json()["code"]) == (401, "token_expired")
    assert response["WWW-Authenticate"] == "Bearer"


def assert_bad_credentials(response):
    problem_of(response, 401, "bad_credentials")
    assert response["WWW-Authenticate"] == "Bearer"
