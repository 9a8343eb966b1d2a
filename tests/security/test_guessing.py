"""Rows T35 and T37: how slow guessing is, also from many connections at once."""

import time
from collections import Counter

import httpx
import pytest

from tests.factories import PASSWORD
from tests.server import running_server
from tests.splits.journey import answers_at_once

#: How often a wrong password is tried in series.
GUESSES = 60


@pytest.fixture(scope="module")
def guarded():
    """A server with limits, two processes and one proxy in front, which says who asks."""
    limits = {"THROTTLE_LOGIN": "10/day", "THROTTLE_LOGIN_ADDRESS": "30/day"}
    with running_server(NUM_PROXIES="1", THROTTLE_REGISTER="10/day", **limits) as server:
        yield server


def at_the_same_time(server, path, bodies, address):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        headers = {"X-Forwarded-For": address}

        def send(body):
            """Send it, again when the host is too busy with the passwords of others."""
            for _attempt in range(60):
                answer = http.post(path, json=body, headers=headers)
                if answer.status_code != 503:
                    break
                time.sleep(int(answer.headers["Retry-After"]))
            return answer

        calls = [lambda b=body: send(b) for body in bodies]
        return Counter(answer.status_code for answer in answers_at_once(calls))


def test_t35_no_more_guesses_pass_at_once_than_one_by_one(guarded):
    """T35: Concurrent guesses get no more attempts than sequential ones."""
    guesses = [{"email": "olga@example.com", "password": f"wrong-{at}"} for at in range(GUESSES)]
    outcome = at_the_same_time(guarded, "/api/users/login", guesses, "192.0.2.35")
    assert outcome == {401: 10, 429: GUESSES - 10}


def test_t37_one_password_on_many_accounts_and_many_accounts_are_slow_too(guarded):
    """T37: Trying one password on many accounts, or many accounts in turn, is slow too."""
    spraying = [{"email": f"n{at}@example.com", "password": "Password"} for at in range(50)]
    outcome = at_the_same_time(guarded, "/api/users/login", spraying, "192.0.2.37")
    assert outcome == {401: 30, 429: 20}
    signing_up = [{"email": f"m{at}@example.com", "password": PASSWORD} for at in range(15)]
    outcome = at_the_same_time(guarded, "/api/users/register", signing_up, "192.0.2.38")
    assert outcome == {201: 10, 429: 5}
