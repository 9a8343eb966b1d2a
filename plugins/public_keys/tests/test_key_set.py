"""The public keys of tokens are published, and nothing secret."""

import base64
import json
from functools import partial

import httpx
import jwt
import pytest

from tests.document import problem_of
from tests.server import running_server
from tests.splits.journey import fresh_email, register
from tests.users.keys import NEW, OLD, PRIVATE, PUBLIC, use_keys
from users.signing_keys import SigningKey

pytestmark = pytest.mark.once

KEY_SET = "/.well-known/jwks.json"
#: The private parts of RSA, EC and OKP keys, and the value of a secret (RFC 7518, section 6).
PRIVATE_MEMBERS = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}


@pytest.fixture
def ring(monkeypatch):
    """`ring(new, old)` restarts the service with these keys; the first one signs."""
    return partial(use_keys, monkeypatch)


def published(client):
    response = client.get(KEY_SET)
    assert response["Content-Type"] == "application/jwk-set+json"
    document = response.json()
    assert document.keys() == {"keys"}
    return document["keys"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIVATE)
def test_a_service_verifies_tokens_with_the_published_keys_alone(name):
    with (
        running_server(JWT_SIGNING_KEY=PRIVATE[name]) as server,
        httpx.Client(base_url=server.url) as http,
    ):
        login = register(http, fresh_email()).json()
        token = login["token"]
        keys = jwt.PyJWKClient(f"{server.url}{KEY_SET}")
        claims = jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token),
            algorithms=[name],
            audience="tripcompanion",
            issuer="tripcompanion",
        )
        assert (claims["sub"], claims["token_type"]) == (str(login["user"]["id"]), "access")


def test_public_keys_are_published_once_and_nothing_secret(client, ring):
    """T156: The published key set contains public keys only."""
    ring(PRIVATE["EdDSA"], NEW, PRIVATE["RS256"], PUBLIC["ES256"], PUBLIC["EdDSA"], OLD)
    keys = published(client)
    for jwk, name in zip(keys, ("EdDSA", "RS256", "ES256"), strict=True):
        assert (jwk["alg"], jwk["use"]) == (name, "sig")
        assert jwk["kid"] == SigningKey.read(PRIVATE[name]).kid
        assert not PRIVATE_MEMBERS & jwk.keys()
    text = json.dumps(keys)
    for secret in (OLD, NEW):
        encoded = base64.urlsafe_b64encode(secret.encode()).rstrip(b"=").decode()
        assert not [form for form in (secret, encoded, SigningKey.read(secret).kid) if form in text]


def test_secrets_alone_publish_nothing(client, ring):
    ring(NEW, OLD)
    assert published(client) == []


def test_caches_keep_the_keys_until_they_change(client, ring):
    ring(PRIVATE["ES256"])
    first = client.get(KEY_SET)
    assert first["Cache-Control"] == "public, max-age=300"
    assert "Cookie" not in first.get("Vary", "")
    known = {"If-None-Match": first["ETag"]}
    again = client.get(KEY_SET, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert (again["ETag"], again["Cache-Control"]) == (first["ETag"], first["Cache-Control"])
    ring(PRIVATE["EdDSA"], PRIVATE["ES256"])
    changed = client.get(KEY_SET, headers=known)
    assert (changed.status_code, len(changed.json()["keys"])) == (200, 2)


@pytest.mark.parametrize("header", [None, "Bearer stale", "Basic eDp5"])
def test_the_keys_are_open_to_everybody_and_read_only(client, header):
    headers = {"Authorization": header} if header else {}
    assert client.get(KEY_SET, headers=headers).status_code == 200
    assert client.head(KEY_SET, headers=headers).status_code == 200
    response = client.post(KEY_SET, {}, headers=headers)
    problem_of(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD"
