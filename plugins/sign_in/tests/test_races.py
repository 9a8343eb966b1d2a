"""One token, or one newcomer, many times at once."""

import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from plugins.sign_in.tests.provider import serving, token_of
from plugins.sign_in.tests.test_real_provider import signing_in
from tests.server import running_server

TIMES = 8


@pytest.fixture(scope="module")
def provider():
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def http(provider):
    """A client of a server with two processes, which knows the provider as `own`."""
    with (
        running_server(OIDC_PROVIDERS=signing_in(provider.url)) as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http,
    ):
        yield http


@pytest.fixture
def token(http, provider):
    """Makes tokens of somebody new."""
    email = f"{secrets.token_hex(8)}@example.com"

    def make(**claims):
        nonce = http.post("/api/users/login/oidc/nonce").json()["nonce"]
        claims = {"sub": email, "email": email, "nonce": nonce} | claims
        return token_of(provider.provider, **claims)

    return make


def at_once(http, tokens):
    """The statuses of log-ins that are sent at the same time, and whom they let in."""

    def send(token):
        return http.post("/api/users/login/oidc", json={"provider": "own", "idToken": token})

    with ThreadPoolExecutor(TIMES) as pool:
        answers = [*pool.map(send, tokens)]
    users = {answer.json()["user"]["id"] for answer in answers if answer.is_success}
    return Counter(answer.status_code for answer in answers), users


def test_of_many_uses_of_a_token_one_logs_in(http, token):
    """T238: An identity token that is sent many times at once logs in once."""
    first, users = at_once(http, [token()] * TIMES)
    assert first == {201: 1, 401: TIMES - 1}
    for _round in range(3):
        assert at_once(http, [token()] * TIMES) == ({200: 1, 401: TIMES - 1}, users)


def test_a_newcomer_who_logs_in_many_times_at_once_gets_one_account(http, token):
    statuses, users = at_once(http, [token() for _time in range(TIMES)])
    assert (statuses, len(users)) == ({201: 1, 200: TIMES - 1}, 1)


def test_several_people_with_one_address_get_one_account(http, token):
    statuses, users = at_once(http, [token(sub=secrets.token_hex(8)) for _time in range(TIMES)])
    assert (statuses, len(users)) == ({201: 1, 409: TIMES - 1}, 1)
