"""Tokens that are wrong, old or used let nobody in, and say nothing about why."""

import base64
import hmac
import json
import time
from functools import partial
from typing import Any

import jwt
import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.signing import TimestampSigner
from jwt.algorithms import ECAlgorithm
from rest_framework.test import APIClient

from plugins.sign_in.id_tokens import new_nonce
from plugins.sign_in.models import Identity
from plugins.sign_in.tests.provider import EXAMPLE, KEYS, claims_of, jwk_of, learn, token_of
from tests.document import problem_of
from tripcompanion.database.models import ThrottleCounter
from users.models import User

pytestmark = [pytest.mark.either, pytest.mark.django_db]

STRANGER = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(autouse=True)
def provider(settings):
    settings.OIDC_PROVIDERS = [EXAMPLE]
    learn()


def send(token):
    return APIClient().post("/api/users/login/oidc", {"provider": "example", "idToken": token})


def assert_refused(token):
    problem = problem_of(send(token), 401, "bad_credentials")
    assert problem["detail"].startswith("This token does not log you in.")
    assert not User.objects.exists()
    assert not ThrottleCounter.objects.filter(key__startswith="nonce:").exists()


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(header, claims, signature=b""):
    return ".".join(
        [b64(json.dumps(header).encode()), b64(json.dumps(claims).encode()), b64(signature)]
    )


def now(seconds=0):
    return int(time.time()) + seconds


CLAIMS: dict[str, dict[str, Any]] = {
    "for another client": {"aud": "other"},
    "for a client in another case": {"aud": "Trip-Companion"},
    "for no client": {"aud": None},
    "for an empty list": {"aud": []},
    "for numbers": {"aud": [1, "trip-companion"]},
    "for several, without azp": {"aud": ["other", "trip-companion"]},
    "for several, to another": {"aud": ["other", "trip-companion"], "azp": "other"},
    "to another": {"azp": "other"},
    "of another issuer": {"iss": "https://accounts.example.org"},
    "of a prefix": {"iss": "https://accounts.example.com/"},
    "of no issuer": {"iss": None},
    "without a subject": {"sub": None},
    "of an empty subject": {"sub": ""},
    "of a long subject": {"sub": "x" * 256},
    "of a subject with NUL": {"sub": "x\x00"},
    "of a number": {"sub": 24400320},
    "expired": {"exp": partial(now, -120)},
    "without an end": {"exp": None},
    "with an end in words": {"exp": "tomorrow"},
    "of the future": {"iat": partial(now, 120)},
    "of an hour ago": {"iat": partial(now, -3600)},
    "without a time": {"iat": None},
    "not valid yet": {"nbf": partial(now, 120)},
    "without a nonce": {"nonce": None},
    "with another nonce": {"nonce": "n-0S6_WzA2Mj"},
    "with a number as nonce": {"nonce": 7},
    "with a list as nonce": {"nonce": ["x"]},
    "with a nonce that something else signed": {"nonce": TimestampSigner(salt="x").sign("x")},
    "with a changed nonce": {"nonce": "x" + new_nonce()},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_a_token_with_other_claims_is_refused(claims):
    """T232: A token for another client, of another issuer, old or without its nonce is refused."""
    assert_refused(token_of(EXAMPLE, **claims))


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["trip-companion"]},
        {"aud": ["other", "trip-companion"], "azp": "trip-companion"},
        {"azp": "trip-companion"},
        {"exp": partial(now, -10)},
        {"iat": partial(now, 10)},
        {"acr": {"deep": [[[]]]}},
    ],
    ids=["list", "several", "azp", "just expired", "clock ahead", "more"],
)
def test_a_token_within_the_rules_is_accepted(claims):
    assert send(token_of(EXAMPLE, **claims)).status_code == 201


@pytest.mark.parametrize(
    "header", [{}, {"alg": "none"}, {"alg": "None"}, {"alg": ["ES256"]}, {"alg": 1}]
)
def test_a_token_without_a_signature_is_refused(header):
    assert_refused(unsigned({"typ": "JWT", "kid": "ES256"} | header, claims_of(EXAMPLE)))


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_a_public_key_is_never_a_secret(name, algorithm):
    """T233: Neither a provider's public key nor our own client id signs a token."""
    pem = KEYS[name].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for secret in (pem, pem.strip(), json.dumps(jwk_of(name)).encode(), b"trip-companion"):
        head = {"alg": algorithm, "typ": "JWT", "kid": name}
        signed = unsigned(head, claims_of(EXAMPLE)).rpartition(".")[0]
        digest = hmac.digest(secret, signed.encode(), f"sha{algorithm[2:]}")
        assert_refused(f"{signed}.{b64(digest)}")


def test_a_secret_among_the_keys_signs_nothing():
    secret = b64(b"0123456789abcdef0123456789abcdef")
    learn({"kty": "oct", "k": secret, "kid": "one", "alg": "HS256"}, {"kty": "oct", "k": secret})
    token = jwt.encode(
        claims_of(EXAMPLE), b"0123456789abcdef0123456789abcdef", headers={"kid": "one"}
    )
    assert_refused(token)


def test_a_key_of_somebody_else_signs_nothing():
    assert_refused(token_of(EXAMPLE, key=STRANGER))
    assert_refused(token_of(EXAMPLE, key=STRANGER, headers={}))
    for trick in ({"jwk": jwk_of("ES256", STRANGER)}, {"jku": "https://evil.example/keys"}):
        assert_refused(token_of(EXAMPLE, key=STRANGER, headers={"kid": "ES256", **trick}))


def test_a_key_is_for_its_algorithm_and_for_signatures():
    learn(jwk_of("RS256", alg="RS256"))
    assert_refused(token_of(EXAMPLE, "PS256", KEYS["RS256"], headers={"kid": "RS256"}))
    learn(jwk_of("RS256", kid="ES256"))
    assert_refused(token_of(EXAMPLE))


def test_a_key_that_can_be_broken_signs_nothing():
    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505
    learn(jwk_of("RS256", small))
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = token_of(EXAMPLE, "RS256", small)
    assert_refused(token)


def test_a_provider_that_names_no_keys_has_all_of_them_tried():
    other = jwk_of("ES256", STRANGER)
    learn(*({**key, "kid": None} for key in (other, jwk_of("RS256"), jwk_of("ES256"))))
    assert send(token_of(EXAMPLE, headers={})).status_code == 201


@pytest.mark.parametrize("typ", ["at+jwt", "logout+jwt", "application/at+jwt"])
def test_a_token_of_another_kind_is_refused(typ):
    assert_refused(token_of(EXAMPLE, headers={"kid": "ES256", "typ": typ}))


@pytest.mark.parametrize(
    "token",
    [
        *("x", "a.b.c", "..", "e30.e30.e30", "é.é.é", "ey" * 4000),
        unsigned({"alg": "ES256", "kid": 5}, {}),
        unsigned([], []),
        b64(b'{"a":' * 1200) + ".e30.x",
        unsigned({"alg": "ES256", "kid": "ES256", "crit": ["b64"], "b64": False}, {}),
    ],
    ids=range(10),
)
def test_what_is_no_token_is_refused(token):
    assert_refused(token)


def test_a_payload_that_no_library_makes_is_refused():
    algorithm = ECAlgorithm(ECAlgorithm.SHA256)
    issuers = claims_of(EXAMPLE) | {"iss": [EXAMPLE.issuer]}
    for payload in (b"[" * 6000, b"[]", b"7", b"\xff", json.dumps(issuers).encode()):
        head, body = b64(b'{"alg": "ES256", "kid": "ES256"}'), b64(payload)
        signature = algorithm.sign(f"{head}.{body}".encode(), KEYS["ES256"])
        assert_refused(f"{head}.{body}.{b64(signature)}")


def test_a_token_logs_in_once():
    """T234: An identity token logs in once, also to an account that there is."""
    for _round in range(2):
        token = token_of(EXAMPLE)
        assert send(token).status_code in {200, 201}
        for _again in range(3):
            problem_of(send(token), 401, "bad_credentials")
    assert Identity.objects.count() == 1


def test_a_nonce_is_for_one_token():
    nonce = new_nonce()
    assert send(token_of(EXAMPLE, nonce=nonce)).status_code == 201
    problem_of(send(token_of(EXAMPLE, "RS256", nonce=nonce)), 401, "bad_credentials")


def test_a_nonce_ends():
    nonce = new_nonce()
    with time_machine.travel(time.time() + 601, tick=False):
        assert_refused(token_of(EXAMPLE, nonce=nonce))
        assert send(token_of(EXAMPLE)).status_code == 201
