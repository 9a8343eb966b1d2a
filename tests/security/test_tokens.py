"""Rows T19, T20, T22 and T42: what a token is worth."""

from datetime import timedelta

import jwt
import pytest
from django.conf import settings
from django.utils import timezone

from tests.document import problem_of
from tests.security.environment import no_connections
from tests.users.logins import bearer, is_alive, log_in, refresh
from tests.users.test_forged_tokens import KEY, assert_opens_nothing, b64, claims_of, signed
from tripcompanion import environment
from users.scopes import Scope

pytestmark = pytest.mark.either

KINDS = ("token", "refresh_token")


def seconds_from_now(seconds):
    return int((timezone.now() + timedelta(seconds=seconds)).timestamp())


@pytest.mark.parametrize("kind", KINDS)
def test_t19_a_token_is_good_from_its_first_second_to_its_last(olga, kind):
    """T19: A token is valid from its first second to its last."""
    claims = claims_of(olga, kind)
    for wrong in ({"nbf": seconds_from_now(60)}, {"iat": seconds_from_now(60)}):
        assert_opens_nothing(signed(claims | wrong), kind)
    over = signed(claims | {"exp": seconds_from_now(-1)})
    answer = bearer(over).get("/api/users/me") if kind == "token" else refresh(over)
    problem_of(answer, 401, "token_expired")
    long_over = claims | {"nbf": seconds_from_now(600), "iat": seconds_from_now(600)}
    assert_opens_nothing(signed(long_over), kind)
    soon = signed(claims | {"iat": seconds_from_now(5)})
    assert is_alive(soon) if kind == "token" else refresh(soon).status_code == 200


def test_t20_a_token_is_for_one_use_by_one_service(olga):
    """T20: A token is valid for one purpose and one service."""
    tokens = log_in(olga)
    assert_opens_nothing(tokens["refreshToken"], "token")
    assert_opens_nothing(tokens["token"], "refresh_token")
    body = {"name": "script", "scopes": [scope.value for scope in Scope]}
    scoped = bearer(tokens["token"]).post("/api/users/me/tokens", body).json()["token"]
    assert bearer(scoped).get("/api/trips").status_code == 200
    assert_opens_nothing(scoped, "refresh_token")
    for path in ("me", "me/sessions", "me/tokens", str(olga.pk)):
        problem_of(bearer(scoped).get(f"/api/users/{path}"), 403, "insufficient_scope")


def test_t22_what_the_header_of_a_token_says_leads_nowhere(olga):
    """T22: The header of a token cannot select a key or cause a request."""
    claims = claims_of(olga, "token")
    harmless = {
        "kid": "' or 1=1--",
        "jku": "http://127.0.0.1:9/keys",
        "x5u": "http://127.0.0.1:9/chain",
        "jwk": {"kty": "oct", "k": b64(b"k" * 32)},
    }
    with no_connections():
        for name, value in harmless.items():
            assert is_alive(jwt.encode(claims, KEY, "HS256", headers={name: value}))
            foreign = jwt.encode(claims, "k" * 32, "HS256", headers={name: value})
            assert_opens_nothing(foreign, "token")
        for critical in ({"crit": ["x"], "x": 1}, {"crit": ["b64"], "b64": False}):
            assert_opens_nothing(jwt.encode(claims, KEY, "HS256", headers=critical), "token")


def test_t42_no_published_key_signs_anything(olga):
    """T42: Tokens signed with published keys are rejected, and weak keys are refused at startup."""
    claims = claims_of(olga, "token")
    published = (
        *("secret", "changeme", "change-me" * 8, "your-256-bit-secret", "django-insecure-key" * 4),
        *("404E635266556A586E3272357538782F413F4428472B4B6250645367566B5970", "a" * 64),
    )
    for key in published:
        assert_opens_nothing(jwt.encode(claims, key.ljust(32), "HS256"), "token")
    for key in (*published[:5], "a" * 64, "", "x" * 31):
        with pytest.raises(SystemExit, match="JWT_SIGNING_KEY"):
            environment.strong("JWT_SIGNING_KEY", key)
    assert len(settings.SECRET_KEY) >= 32
