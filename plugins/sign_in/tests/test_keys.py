"""The keys of a provider are fetched by its discovery document, rarely and within limits."""

import time
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from rest_framework.test import APIClient

from plugins.outgoing import NotAnswered, get
from plugins.sign_in import keys
from plugins.sign_in.providers import Provider
from plugins.sign_in.tests.provider import (
    DISCOVERY,
    JWKS,
    answers,
    dripping,
    huge,
    jwk_of,
    never,
    serving,
    shows,
    token_of,
)
from tests.document import problem_of
from tests.factories import UserFactory
from tripcompanion.database.lending import returning
from users.models import User

pytestmark = [pytest.mark.either, pytest.mark.django_db]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(keys, "FETCH_SECONDS", 0.6)
    with serving() as server:
        yield server


def send(server, **options):
    body = {"provider": "local", "idToken": token_of(server.provider, **options)}
    return APIClient().post("/api/users/login/oidc", body)


def test_keys_are_fetched_once(server):
    assert send(server).status_code == 201
    assert send(server, algorithm="RS256").status_code == 200
    assert server.asked == [DISCOVERY, JWKS]


def test_an_issuer_may_have_a_path(server):
    provider = server.provider._replace(issuer=f"{server.url}/realms/trips/")
    about = {"issuer": provider.issuer, "jwks_uri": server.url + JWKS}
    server.answers[f"/realms/trips{DISCOVERY}"] = shows(about)
    assert keys.keys_of(provider).find("ES256")


def test_a_new_key_is_found_within_a_minute_and_forged_ones_ask_nobody(server):
    send(server)
    new = ec.generate_private_key(ec.SECP256R1())
    server.publish(jwk_of("ES256", new, kid="new"))
    for _round in range(5):
        problem_of(send(server, key=new, headers={"kid": "new"}), 401, "bad_credentials")
    assert len(server.asked) == 2
    keys.keys_of(server.provider)._next_at = 0
    assert send(server, key=new, headers={"kid": "new"}).status_code == 200
    # The old one is withdrawn.
    problem_of(send(server), 401, "bad_credentials")


def test_a_key_that_is_withdrawn_ends_after_an_hour(server):
    send(server)
    server.publish(jwk_of("RS256"))
    assert send(server).status_code == 200
    cache = keys.keys_of(server.provider)
    cache._old_at = cache._next_at = 0
    problem_of(send(server), 401, "bad_credentials")


BROKEN = {
    "never": (DISCOVERY, never),
    "slowly": (JWKS, dripping),
    "megabytes": (JWKS, huge),
    "an error": (DISCOVERY, answers(b"{}", 500)),
    "a redirect": (JWKS, answers(b"", 302, Location="http://127.0.0.1/keys")),
    "nothing": (JWKS, answers(b"")),
    "a list": (DISCOVERY, shows([])),
    "deep": (JWKS, answers(b'{"keys":' + b"[" * 100_000)),
    "no keys": (JWKS, shows({})),
    "keys by name": (JWKS, shows({"keys": 7})),
    "no address": (DISCOVERY, shows({"issuer": "x"})),
    "another issuer": (DISCOVERY, shows({"issuer": "https://evil.example", "jwks_uri": "x"})),
}


@pytest.mark.parametrize(("path", "answer"), BROKEN.values(), ids=BROKEN)
def test_a_provider_that_misbehaves_is_503_and_not_asked_again_at_once(server, path, answer):
    """T235: A provider that is silent, slow or huge costs a log-in five seconds, and is 503."""
    server.answers[path] = answer
    started = time.monotonic()
    response = send(server)
    problem_of(response, 503, "provider_unavailable")
    assert response["Retry-After"] == "10"
    assert time.monotonic() - started < 1.5
    asked = len(server.asked)
    problem_of(send(server), 503, "provider_unavailable")
    assert len(server.asked) == asked
    assert not User.objects.exists()


def test_it_works_again_after_a_pause(server):
    right = server.answers.pop(DISCOVERY)
    problem_of(send(server), 503, "provider_unavailable")
    server.answers[DISCOVERY] = right
    keys.keys_of(server.provider)._next_at = 0
    assert send(server).status_code == 201


def test_a_key_that_is_no_object_is_left_out(server):
    server.publish(7, "x", jwk_of("RS256", use="enc"), jwk_of("ES256"))
    assert send(server).status_code == 201
    problem_of(send(server, algorithm="RS256"), 401, "bad_credentials")


@contextmanager
def lending(server):
    """How many documents the provider was asked for, when a connection is given back and taken."""
    asked: list[int] = []

    @contextmanager
    def give_back():
        asked.append(len(server.asked))
        yield
        asked.append(len(server.asked))

    token = returning.set(give_back)
    try:
        yield asked
    finally:
        returning.reset(token)


@pytest.mark.django_db(transaction=True)
def test_waiting_for_a_provider_holds_no_connection(server):
    with lending(server) as asked:
        assert send(server).status_code == 201
    assert asked == [0, 2]


@pytest.mark.django_db(transaction=True)
def test_nor_does_a_request_that_can_be_repeated(server, api):
    body = {"provider": "local", "idToken": token_of(server.provider)}
    with lending(server) as asked:
        caller = api(UserFactory.create())
        linked = caller.post("/api/users/me/identities", body, headers={"Idempotency-Key": "link"})
    assert (linked.status_code, asked) == (201, [0, 2])


def test_threads_wait_for_one_that_fetches(server):
    found: list[Any] = []
    cache = keys.KeyCache(server.provider)
    threads = [Thread(target=lambda: found.append(cache.find("ES256"))) for _each in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(each) for each in found] == [1] * 8
    assert server.asked == [DISCOVERY, JWKS]


@pytest.mark.parametrize(
    "url", ["http://accounts.example.com/", "https://127.0.0.1/", "https://169.254.169.254/", "x"]
)
def test_keys_come_from_the_public_internet_over_tls(url):
    """T236: The keys of a provider are not fetched from networks behind the firewall."""
    with pytest.raises(NotAnswered) as refused:
        get(url, max_bytes=10, allow_private=False, seconds=1)
    assert refused.value.reason == "address"


def test_a_public_provider_cannot_lead_inside(monkeypatch, server):
    provider = Provider("public", "Public", "https://accounts.example.com", "x")
    about = b'{"issuer": "https://accounts.example.com", "jwks_uri": "%s"}'
    asked: list[tuple[str, bool]] = []

    def answer(url, *, allow_private, **_options):
        asked.append((url, allow_private))
        return about % f"{server.url}/keys".encode()

    monkeypatch.setattr(keys, "get", answer)
    with pytest.raises(keys.ProviderUnavailable):
        keys.keys_of(provider).find("ES256")
    assert {allowed for _url, allowed in asked} == {False}
