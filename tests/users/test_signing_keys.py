"""Keys are rotated without a log-out: several verify, one signs, each with its own algorithm."""

import hmac
import json
from functools import partial

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.users.keys import NEW, OLD, PRIVATE, PUBLIC, use_keys
from tests.users.logins import bearer, refresh
from tests.users.test_forged_tokens import assert_opens_nothing, b64, claims_of, unsigned
from users import tokens
from users.models import Session
from users.signing_keys import SigningKey, read_keys, signing_key

pytestmark = pytest.mark.once

KINDS = (OLD, *PRIVATE.values())
IDS = ("HS256", *PRIVATE)


@pytest.fixture
def ring(monkeypatch):
    """`ring(new, old)` restarts the service with these keys; the first one signs."""
    return partial(use_keys, monkeypatch)


def pair(user):
    return tokens.token_pair(Session.start(user))


def is_accepted(issued):
    """Whether both tokens of a pair are; the refresh token is then used up."""
    statuses = {
        bearer(issued.token).get("/api/users/me").status_code,
        refresh(issued.refresh_token).status_code,
    }
    assert len(statuses) == 1
    return statuses == {200}


@pytest.mark.parametrize("old", KINDS, ids=IDS)
@pytest.mark.parametrize("new", KINDS, ids=IDS)
def test_an_old_key_verifies_until_it_is_removed(olga, ring, old, new):
    """T148: A token of an old key is accepted until the key is removed."""
    new = NEW if new == old == OLD else new
    ring(old)
    issued = pair(olga)
    if new != old:
        # Before the new key signs, every host knows it.
        ring(old, new)
        assert is_accepted(pair(olga))
    ring(new, old)
    assert is_accepted(issued)
    assert is_accepted(pair(olga))
    issued = pair(olga)
    ring(new)
    assert is_accepted(issued)


@pytest.mark.parametrize("old", KINDS, ids=IDS)
def test_a_removed_key_verifies_nothing(olga, ring, old):
    ring(old)
    issued = pair(olga)
    assert bearer(issued.token).get("/api/users/me").status_code == 200
    ring(NEW)
    assert not is_accepted(issued)


def test_the_public_half_is_enough_to_verify(olga, ring):
    ring(PRIVATE["ES256"])
    issued = pair(olga)
    ring(NEW, PUBLIC["ES256"])
    assert is_accepted(issued)


@pytest.mark.parametrize("key", KINDS, ids=IDS)
def test_tokens_name_their_key_and_need_not(olga, ring, key):
    ring(NEW, key)
    claims = {kind: claims_of(olga, kind) for kind in ("token", "refresh_token")}
    ring(key)
    expected = SigningKey.read(key)
    header = jwt.get_unverified_header(pair(olga).token)
    assert (header["alg"], header["kid"]) == (expected.algorithm, expected.kid)
    assert key not in expected.kid
    for headers in ({}, {"kid": SigningKey.read(NEW).kid}):
        ring(NEW, key)
        made = jwt.encode(claims["token"], expected.signing, expected.algorithm, headers=headers)
        assert bearer(made).get("/api/users/me").status_code == 200


@pytest.mark.parametrize("name", PRIVATE)
def test_a_public_key_is_never_taken_for_a_secret(olga, ring, name):
    """T149: A public key is never taken for a secret."""
    ring(PRIVATE[name], OLD)
    claims = claims_of(olga, "token")
    key = SigningKey.read(PRIVATE[name])
    for secret in (PUBLIC[name], PUBLIC[name].strip(), json.dumps(dict(key.public_jwk))):
        for algorithm in ("HS256", "HS512"):
            head = {"alg": algorithm, "typ": "JWT", "kid": key.kid}
            signed = f"{b64(json.dumps(head).encode())}.{b64(json.dumps(claims).encode())}"
            digest = hmac.digest(secret.encode(), signed.encode(), f"sha{algorithm[2:]}")
            assert_opens_nothing(f"{signed}.{b64(digest)}", "token")


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "RS256", "ES256", "EdDSA", "PS256"])
def test_a_token_without_a_signature_opens_nothing(olga, ring, name, algorithm):
    ring(PRIVATE[name], OLD)
    assert_opens_nothing(unsigned(claims_of(olga, "token"), algorithm), "token")


def test_an_algorithm_that_no_key_has_is_refused(olga, ring):
    ring(PRIVATE["RS256"])
    claims = claims_of(olga, "token")
    for algorithm in ("RS512", "PS256"):
        assert_opens_nothing(jwt.encode(claims, PRIVATE["RS256"], algorithm), "token")


@pytest.mark.parametrize("name", PRIVATE)
def test_a_key_may_be_written_in_one_line(name):
    one_line = PRIVATE[name].strip().replace("\n", "\\n")
    assert SigningKey.read(one_line).kid == SigningKey.read(PRIVATE[name]).kid


def small_rsa():
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PUBLIC["RS256"], "must be a private key"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "RSA, P-256 or Ed25519"),
        (small_rsa(), "2048 bits"),
        ("short", "32 characters"),
    ],
    ids=["public", "broken", "small", "weak"],
)
def test_a_key_that_cannot_sign_safely_stops_the_start(text, reason):
    """T150: A weak or broken key stops the start, and is not printed."""
    with pytest.raises(SystemExit, match=reason) as refused:
        signing_key("JWT_SIGNING_KEY", text)
    assert "JWT_SIGNING_KEY" in str(refused.value)
    assert text.splitlines()[-1] not in str(refused.value)


def test_a_weak_key_does_not_verify_either():
    with pytest.raises(SystemExit, match="JWT_VERIFYING_KEYS"):
        read_keys("JWT_VERIFYING_KEYS", [OLD, "change-me" * 8])


def test_keys_are_not_in_what_is_printed():
    for text in KINDS:
        assert text[:40] not in repr(SigningKey.read(text))
