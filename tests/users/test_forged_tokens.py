"""Tokens that were not made here, or hold what no token of ours holds, open nothing."""

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from django.conf import settings

from tests.document import problem_of
from tests.users.logins import bearer, refresh
from users.models import Session
from users.tokens import token_pair

pytestmark = pytest.mark.once

KEY = settings.SIMPLE_JWT["SIGNING_KEY"]
#: What makes a field of a token vanish.
ABSENT = object()
KINDS = ("token", "refresh_token")

Claims = dict[str, Any]


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def claims_of(user, kind):
    """The claims of a good token of `user`."""
    token = getattr(token_pair(Session.start(user)), kind)
    return jwt.decode(token, options={"verify_signature": False})


def signed(claims, key=KEY):
    return jwt.encode(claims, key, "HS256")


def raw_signed(claims, algorithm="HS256"):
    """Signed with the right key, whatever `claims` is: PyJWT would refuse to write some."""
    head = json.dumps({"alg": algorithm, "typ": "JWT"})
    signing_input = f"{b64(head.encode())}.{b64(claims.encode())}"
    digest = f"sha{algorithm.removeprefix('HS')}"
    return f"{signing_input}.{b64(hmac.digest(KEY.encode(), signing_input.encode(), digest))}"


def unsigned(claims, algorithm="none"):
    head = b64(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
    return f"{head}.{b64(json.dumps(claims).encode())}."


def relabelled(claims, algorithm):
    """A good signature under the name of another algorithm."""
    head = json.dumps({"alg": algorithm, "typ": "JWT"})
    return ".".join([b64(head.encode()), *signed(claims).split(".")[1:]])


def use(token, kind):
    return bearer(token).get("/api/users/me") if kind == "token" else refresh(token)


def assert_opens_nothing(token, kind):
    response = use(token, kind)
    assert problem_of(response, 401)["code"] in {"token_invalid", "token_expired"}
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.fixture(params=KINDS)
def kind(request):
    """Which token of a pair is forged."""
    return request.param


@pytest.fixture
def claims(olga, kind):
    return claims_of(olga, kind)


def test_the_claims_signed_anew_with_our_key_do_open(claims, kind):
    """Else the refusals below would prove nothing."""
    assert use(raw_signed(json.dumps(claims)), kind).status_code == 200


FORGERIES: dict[str, Callable[[Claims], str]] = {
    "another key": lambda claims: signed(claims, "k" * 64),
    "the key in another case": lambda claims: signed(claims, KEY.swapcase()),
    "alg none": unsigned,
    "alg None": lambda claims: unsigned(claims, "None"),
    "alg NONE": lambda claims: unsigned(claims, "NONE"),
    "alg RS256": lambda claims: relabelled(claims, "RS256"),
    "alg ES256": lambda claims: relabelled(claims, "ES256"),
    "alg HS384": lambda claims: relabelled(claims, "HS384"),
    "alg HS256 without a signature": lambda claims: unsigned(claims, "HS256"),
    "another algorithm": lambda claims: raw_signed(json.dumps(claims), "HS512"),
    "a claim changed": lambda claims: ".".join(
        (
            (parts := signed(claims).split("."))[0],
            b64(json.dumps(claims | {"sub": "1"}).encode()),
            parts[2],
        )
    ),
    "the last letter cut": lambda claims: signed(claims)[:-1],
    "a part too many": lambda claims: f"{signed(claims)}.e30",
    "no object inside": lambda _claims: raw_signed('"text"'),
    "an array inside": lambda _claims: raw_signed("[]"),
    "no JSON inside": lambda _claims: raw_signed("{"),
    "nothing inside": lambda _claims: raw_signed(""),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_forged_tokens(claims, kind, forge):
    """T17, T18: A token without a signature, or of another key or algorithm, is rejected."""
    assert_opens_nothing(forge(claims), kind)


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("sid", ABSENT), ("sid", None), ("sid", ""), ("sid", 5), ("sid", []), ("sid", {}),
        ("sid", "not-a-uuid"), ("sid", True), ("sid", "0123456789abcdef0123456789abcdef"),
        ("sub", ABSENT), ("sub", None), ("sub", ""), ("sub", 1), ("sub", []), ("sub", "0"),
        ("sub", "9223372036854775808"), ("sub", "x"),
        ("sub", "1\0"), ("sub", -1), ("sub", "9" * 400),
        ("exp", ABSENT), ("exp", None), ("exp", "soon"), ("exp", []), ("exp", -1), ("exp", 0),
        ("exp", 10**30), ("exp", 1e300), ("exp", True),
        ("iss", ABSENT), ("iss", "somebody"), ("iss", []), ("aud", ABSENT), ("aud", "somebody"),
        ("aud", []), ("token_type", ABSENT), ("token_type", None), ("token_type", "sliding"),
        ("jti", ABSENT), ("jti", None), ("jti", []), ("iat", "yesterday"), ("nbf", 4102444800),
    ],
    ids=lambda value: "absent" if value is ABSENT else repr(value)[:24],
)  # fmt: skip
def test_our_key_with_claims_of_no_token_of_ours(claims, kind, claim, value):
    """T21: Malformed claims under a valid signature return 401."""
    changed = claims | {claim: value}
    kept = {name: item for name, item in changed.items() if item is not ABSENT}
    assert_opens_nothing(raw_signed(json.dumps(kept)), kind)


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e999", "9" * 400])
def test_a_number_that_is_no_time(claims, kind, number):
    text = json.dumps(claims | {"exp": "HERE"}).replace('"HERE"', number)
    assert_opens_nothing(raw_signed(text), kind)


def test_the_session_of_another_user(olga, ed, kind):
    of_olga, of_ed = (claims_of(user, kind) for user in (olga, ed))
    assert_opens_nothing(signed(of_olga | {"sid": of_ed["sid"]}), kind)
