"""Rows T17-T23, T41 and T42: what a token is worth."""

import json
from datetime import timedelta
from itertools import product

import jwt
import pytest
from django.conf import settings
from django.utils import timezone
from rest_framework.test import APIClient

from tests.document import problem_of
from tests.factories import PASSWORD
from tests.security.environment import no_connections
from tests.users.logins import bearer, is_alive, log_in, refresh
from tests.users.test_forged_tokens import (
    FORGERIES,
    KEY,
    assert_opens_nothing,
    b64,
    claims_of,
    raw_signed,
    signed,
    unsigned,
)
from tripcompanion import environment
from users.models import User
from users.scopes import Scope

pytestmark = pytest.mark.either

KINDS = ("token", "refresh_token")


def seconds_from_now(seconds: float) -> int:
    return int((timezone.now() + timedelta(seconds=seconds)).timestamp())


@pytest.mark.parametrize("kind", KINDS)
def test_t17_a_token_without_a_signature_opens_nothing(olga: User, kind: str) -> None:
    """T17: A token without a signature is rejected."""
    claims = claims_of(olga, kind)
    for algorithm in ("none", "NoNe", "NONE", "HS256"):
        assert_opens_nothing(unsigned(claims, algorithm), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_t18_a_token_of_another_key_or_algorithm_opens_nothing(olga: User, kind: str) -> None:
    """T18: A token signed with another key or algorithm is rejected."""
    claims = claims_of(olga, kind)
    for name in ("another key", "the key in another case", "another algorithm", "a claim changed"):
        assert_opens_nothing(FORGERIES[name](claims), kind)
    for algorithm in ("RS256", "ES256", "PS256", "HS384"):
        head = json.dumps({"alg": algorithm, "typ": "JWT"})
        good = signed(claims).split(".")
        assert_opens_nothing(f"{b64(head.encode())}.{good[1]}.{good[2]}", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_t19_a_token_is_good_from_its_first_second_to_its_last(olga: User, kind: str) -> None:
    """T19: A token is valid from its first second to its last."""
    claims = claims_of(olga, kind)
    for wrong in ({"nbf": seconds_from_now(60)}, {"iat": seconds_from_now(60)}):
        assert_opens_nothing(signed(claims | wrong), kind)
    without = {name: value for name, value in claims.items() if name != "exp"}
    assert_opens_nothing(raw_signed(json.dumps(without)), kind)
    over = signed(claims | {"exp": seconds_from_now(-1)})
    answer = bearer(over).get("/api/users/me") if kind == "token" else refresh(over)
    problem_of(answer, 401, "token_expired")
    long_over = claims | {"nbf": seconds_from_now(600), "iat": seconds_from_now(600)}
    assert_opens_nothing(signed(long_over), kind)
    soon = signed(claims | {"iat": seconds_from_now(5)})
    assert is_alive(soon) if kind == "token" else refresh(soon).status_code == 200


def test_t20_a_token_is_for_one_use_by_one_service(olga: User) -> None:
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
    for kind, claim in product(KINDS, ("aud", "iss", "token_type", "jti")):
        claims = claims_of(olga, kind)
        if claim != "jti":
            assert_opens_nothing(raw_signed(json.dumps(claims | {claim: "somebody"})), kind)
        del claims[claim]
        assert_opens_nothing(raw_signed(json.dumps(claims)), kind)


def test_t21_junk_under_the_right_key_is_401(olga: User) -> None:
    """T21: Malformed claims under a valid signature return 401."""
    claims = claims_of(olga, "token")
    for name in ("sub", "sid"):
        for junk in ("abc", ["1"], "1\u0000", 2**63, -1, 1.5, True, {}, "9" * 400):
            assert_opens_nothing(raw_signed(json.dumps(claims | {name: junk})), "token")
    for number in ('"9999"', "1e20", "9" * 400, "-1", "true", "{}", "1e999"):
        text = json.dumps(claims | {"exp": "HERE"}).replace('"HERE"', number)
        assert bearer(raw_signed(text)).get("/api/users/me").status_code in {200, 401}
    for text in ("[]", "5", '"x"', "{", "", "\u0000"):
        assert_opens_nothing(raw_signed(text), "token")


def test_t22_what_the_header_of_a_token_says_leads_nowhere(olga: User) -> None:
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


def test_t23_a_token_is_read_from_one_header_only(olga: User) -> None:
    """T23: A token is read from one header only."""
    token = log_in(olga)["token"]
    client = APIClient()

    def status(**header: str) -> int:
        return client.get("/api/users/me", **header).status_code

    assert [status(HTTP_AUTHORIZATION=f"{scheme} {token}") for scheme in ("Bearer", "bearer")] == [
        200,
        200,
    ]
    for text in (
        *("", "Bearer", "Bearer ", token, f"Token {token}", f"Basic {token}", f"Bearer {token} x"),
        *(f"Bearer {'a' * 8000}", "Bearer \u00e9\u00e9.\u00e9.\u00e9", f"Bearer,{token}"),
    ):
        assert status(HTTP_AUTHORIZATION=text) == 401, text
    client.cookies["token"] = client.cookies["access"] = client.cookies["jwt"] = token
    for query in (f"?token={token}", f"?access_token={token}", f"?Authorization=Bearer+{token}"):
        assert client.get(f"/api/users/me{query}").status_code == 401
    body = {"title": "x", "token": token, "access_token": token}
    assert client.post("/api/trips", body).status_code == 401


def test_t41_a_stale_token_bars_nobody_from_open_endpoints(olga: User) -> None:
    """T41: An expired token does not block endpoints that need no authentication."""
    body = {"email": olga.email, "password": PASSWORD}
    for junk in ("Bearer x.y.z", "Bearer ", "nonsense", f"Bearer {unsigned({})}"):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=junk)
        assert client.post("/api/users/login", body).status_code == 200
        assert client.post("/api/users/register", {}).status_code == 400
        for path in ("health", "health/ready", "docs"):
            assert client.get(f"/api/{path}").status_code == 200
    assert client.get("/api/schema").status_code == 200


def test_t42_no_published_key_signs_anything(olga: User) -> None:
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
