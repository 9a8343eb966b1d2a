"""Rows T53-T62: nobody uses up what all share, by size, by depth, by number or by patience."""

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
from django.contrib.auth.hashers import Argon2PasswordHasher, get_hasher

from tests.security import raw
from tests.wire import Wire

#: In seconds: a refusal is given before any work is done.
AT_ONCE = 3.0
LOG_INS = 32


def post(client, url, body, **more):
    return client.generic("POST", url, body, "application/json", **more)


def quick(call):
    start = time.monotonic()
    answer = call()
    assert time.monotonic() - start < AT_ONCE
    return answer


def test_t53_a_body_names_so_many_people_and_no_more(environment):
    """T53: The number of people in a body is limited."""
    client, url = environment.client(environment.ed), f"{environment.url}/expenses"
    many = {f"key{at}": at for at in range(40_000)}
    assert quick(lambda: post(client, "/api/trips", json.dumps(many).encode())).status_code == 400
    for wrong in (list(range(1, 1002)), ["x" * 900_000], [10**17] * 1000):
        body = json.dumps(environment.expense_body(participantUserIds=wrong)).encode()
        answer = quick(lambda b=body: post(client, url, b))
        assert answer.status_code == 400
        assert len(answer.content) < 100_000
    many = json.dumps(environment.expense_body(participantUserIds=list(range(1, 1002)))).encode()
    assert "no more than 1000" in post(client, url, many).json()["message"]


def healthy(server):
    """A client in good health is served without delay."""
    answer = quick(lambda: httpx.get(f"{server.url}/api/health", timeout=20, trust_env=False))
    assert answer.status_code == 200


def test_t59_many_log_ins_at_once_leave_the_others_room(server, http, travellers):
    """T59: Many concurrent logins leave capacity for others."""
    assert get_hasher().memory_cost <= 64 * 1024
    body = {"email": "nobody@example.com", "password": "not-the-password"}
    with ThreadPoolExecutor(LOG_INS) as pool:
        logging_in = [
            pool.submit(lambda: http.post("/api/users/login", json=body)) for _at in range(LOG_INS)
        ]
        slowest = max(raw.seconds_of(lambda: http.get("/api/health")) for _turn in range(5))
        statuses = {done.result().status_code for done in logging_in}
    assert statuses <= {401, 429, 503}
    assert slowest < 5


def test_t59_a_process_makes_one_hash_at_a_time(monkeypatch):
    under_way, most = Counter[str](), Counter[str]()

    def slowly(*_given):
        under_way["now"] += 1
        most["now"] = max(most["now"], under_way["now"])
        time.sleep(0.02)
        under_way["now"] -= 1
        return True

    monkeypatch.setattr(Argon2PasswordHasher, "verify", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(get_hasher().verify, ["password"] * 4, ["hash"] * 4))
    assert most["now"] == 1


def test_t60_idle_connections_delay_nobody(server):
    """T60: Idle connections delay no other client."""
    with ExitStack() as stack:
        for number in range(200):
            wire = stack.enter_context(Wire.to(server.url)).socket
            if number % 2:
                wire.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert wire.recv(4096).startswith(b"HTTP/1.1 200")
        healthy(server)
