"""Rows T51-T64: nobody uses up what all share, by size, by depth, by number or by patience."""

import gzip
import json
import socket
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import time_machine
from django.contrib.auth.hashers import Argon2PasswordHasher, get_hasher
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.factories import PASSWORD, UserFactory, join, spend
from tests.security import raw
from tests.security.environment import Environment
from tests.server import Server
from tests.splits.journey import Traveller
from tests.stored import everything_stored
from tests.trips.bodies import lisbon
from tests.users.logins import try_to_log_in
from trips.roles import TripRole
from users.models import User

#: A file of more than a megabyte.
BUNDLE = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
#: In seconds: a refusal is given before any work is done.
AT_ONCE = 3.0
#: Slow clients at the same time; the server under test has 8 threads that work.
SLOW_CLIENTS = 60
LOG_INS = 32


def post(client: APIClient, url: str, body: bytes, **more: Any) -> Any:
    return client.generic("POST", url, body, "application/json", **more)


def quick(call: Callable[[], Any]) -> Any:
    start = time.monotonic()
    answer = call()
    assert time.monotonic() - start < AT_ONCE
    return answer


def test_t51_a_body_is_at_most_a_mebibyte(environment: Environment) -> None:
    """T51: A body has at most 1 MiB; one with a file has 10 MiB, for accounts only."""
    client = environment.client(environment.olga)
    before = everything_stored()
    for size in (1024**2 + 1, 3 * 1024**2, 20 * 1024**2):
        body = b'{"title": "' + b"a" * (size - 13) + b'"}'
        answer = quick(lambda b=body: post(client, "/api/trips", b))
        assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
    assert everything_stored() == before


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_t52_a_body_is_at_most_32_levels_deep(
    environment: Environment, opening: str, closing: str
) -> None:
    """T52: A body has at most 32 levels of nesting."""
    client = environment.client(environment.olga)
    for depth in (32, 1_000, 100_000):
        text = '{"title":' + opening * depth + ("1" if closing == "}" else "") + closing * depth
        for body in (f"{text}}}", f'{{"title":{opening * depth}'):
            answer = quick(lambda b=body: post(client, "/api/trips", b.encode()))
            assert (answer.status_code, answer.json()["code"]) == (400, "malformed_json")


def test_t53_a_body_names_so_many_people_and_no_more(environment: Environment) -> None:
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


def test_t54_a_page_has_at_most_100_rows(environment: Environment) -> None:
    """T54: A page has at most 100 rows."""
    for wrong in (*("0", "-1", "abc", "1e9", "1000000000", str(2**63), "9" * 400, "", "%00"), "١"):
        answer = environment.ask(
            environment.olga, "GET", f"{environment.url}/expenses?pageSize={wrong}"
        )
        assert answer.status_code == 400, wrong
    past = environment.ask(
        environment.olga, "GET", f"{environment.url}/expenses?page=999999999"
    ).json()
    assert (past["items"], past["total"]) == ([], 2)
    doubled = environment.ask(
        environment.olga, "GET", f"{environment.url}/expenses?pageSize=1&pageSize=1000"
    )
    assert doubled.status_code == 400
    for other in (f"limit={2**63}", "offset=-1", "size=x"):
        url = f"{environment.url}/expenses?{other}"
        environment.refuses(environment.olga, "GET", url, status=400)


def test_t55_a_head_of_a_request_has_an_end(server: Server) -> None:
    """T55: The size of a request head is limited."""
    long, fields = "a" * 40_000, [f"X-{at}: 1" for at in range(5_000)]
    for request, status in (
        (raw.request(f"GET /api/{long} HTTP/1.1"), 414),
        (raw.request("GET /api/health HTTP/1.1", f"X-Long: {long}"), 431),
        (raw.request("GET /api/health HTTP/1.1", *fields), 431),
    ):
        [answer] = raw.send(server, request)
        assert answer.status == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["connection"] == "close"
    healthy(server)


def test_t56_texts_have_an_end(environment: Environment) -> None:
    """T56: The length of texts is limited."""
    account = {"email": "n@example.com", "password": PASSWORD}
    for url, body in (
        ("/api/trips", {"title": "x" * 101}),
        ("/api/trips", {"description": "x" * 2001}),
        (f"{environment.url}/expenses", environment.expense_body(description="x" * 256)),
        (f"{environment.url}/expenses", environment.expense_body(notes="x" * 2001)),
        ("/api/users/register", account | {"name": "x" * 51}),
        ("/api/users/register", account | {"email": "a" * 9_000 + "@example.com"}),
        ("/api/users/register", account | {"email": "a@" + "a." * 4_000 + "com"}),
        ("/api/users/register", account | {"email": '"' + "\\a" * 2_000 + '"@example.com'}),
    ):
        assert (
            quick(lambda u=url, b=body: environment.ask(environment.ed, "POST", u, b)).status_code
            == 400
        )


def healthy(server: Server) -> None:
    """A client in good health is served without delay."""
    answer = quick(lambda: httpx.get(f"{server.url}/api/health", timeout=20, trust_env=False))
    assert answer.status_code == 200


def dripping(server: Server, head: bytes) -> None:
    """Many more slow clients than the server has threads, and it goes on for others."""
    with ExitStack() as stack:
        wires = [stack.enter_context(raw.connected(server)) for _client in range(SLOW_CLIENTS)]
        for wire in wires:
            wire.sendall(head)
        for _drop in range(3):
            healthy(server)
            for wire in wires:
                wire.sendall(b"X")


def test_t57_slow_heads_delay_nobody_else(server: Server) -> None:
    """T57: Slow headers delay no other client."""
    dripping(server, b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")


def test_t58_slow_bodies_and_readers_delay_nobody_else(server: Server) -> None:
    """T58: Slow bodies and slow readers delay no other client."""
    body = b"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    dripping(server, b"POST /api/users/login HTTP/1.1\r\nHost: localhost\r\n" + body)
    with ExitStack() as stack:
        for _client in range(SLOW_CLIENTS):
            wire = stack.enter_context(raw.connected(server))
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            wire.sendall(raw.request(f"GET {BUNDLE} HTTP/1.1"))
        healthy(server)


def test_t59_many_log_ins_at_once_leave_the_others_room(
    server: Server, http: httpx.Client, travellers: list[Traveller]
) -> None:
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


def test_t59_a_process_makes_one_hash_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, most = Counter[str](), Counter[str]()

    def slowly(*_given: str) -> bool:
        under_way["now"] += 1
        most["now"] = max(most["now"], under_way["now"])
        time.sleep(0.02)
        under_way["now"] -= 1
        return True

    monkeypatch.setattr(Argon2PasswordHasher, "verify", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(get_hasher().verify, ["password"] * 4, ["hash"] * 4))
    assert most["now"] == 1


def test_t60_idle_connections_delay_nobody(server: Server) -> None:
    """T60: Idle connections delay no other client."""
    with ExitStack() as stack:
        for number in range(200):
            wire = stack.enter_context(raw.connected(server))
            if number % 2:
                wire.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert wire.recv(4096).startswith(b"HTTP/1.1 200")
        healthy(server)


def test_t61_a_refusal_says_when_to_come_back_and_means_it(db: None, limits: Any) -> None:
    """T61: A throttled response states when to retry, and a retry then succeeds."""
    limits(login="2/min")
    noon = datetime(2026, 5, 14, 12, 0, 5, tzinfo=UTC)
    with time_machine.travel(noon, tick=False) as clock:
        statuses = [try_to_log_in("n@example.com").status_code for _turn in range(3)]
        assert statuses == [401, 401, 429]
        wait = int(try_to_log_in("n@example.com")["Retry-After"])
        assert wait >= 1
        limited = try_to_log_in("n@example.com")
        assert limited["RateLimit-Policy"] == '"login";q=2;w=60'
        assert limited["RateLimit"].startswith('"login";r=0;t=')
        clock.shift(wait)
        assert try_to_log_in("n@example.com").status_code == 401


def test_t62_a_compressed_body_is_not_inflated(environment: Environment) -> None:
    """T62: A compressed body is not decompressed."""
    bomb = gzip.compress(b'{"title": "' + b"a" * 10_000_000 + b'"}')
    assert len(bomb) < 20_000
    client = environment.client(environment.olga)
    for encoding in ("gzip", "deflate", "br", "gzip, gzip"):
        answer = quick(lambda e=encoding: post(client, "/api/trips", bomb, HTTP_CONTENT_ENCODING=e))
        assert answer.status_code in {400, 415}


def test_t63_nobody_holds_more_than_their_share(environment: Environment, settings: Any) -> None:
    """T63: Quotas limit trips, members and expenses."""
    settings.QUOTA_TRIPS, settings.QUOTA_MEMBERS, settings.QUOTA_EXPENSES = 3, 4, 3
    more = UserFactory()
    for user, url, body in (
        (environment.olga, "/api/trips", lisbon()),
        (environment.olga, f"{environment.url}/members", {"userId": more.pk}),
        (environment.ed, f"{environment.url}/expenses", environment.expense_body()),
    ):
        statuses = [environment.ask(user, "POST", url, body).status_code for _turn in range(3)]
        assert statuses[-1] == 409
        environment.refuses(user, "POST", url, body, status=409, code="limit_reached")


def test_t64_the_cost_of_a_list_does_not_grow(environment: Environment) -> None:
    """T64: The number of queries of a list does not grow with its rows."""

    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert (
                environment.ask(environment.olga, "GET", environment.url + path).status_code == 200
            )
        return len(queries)

    paths = ("/expenses?pageSize=100", "/members", "/balances", "/settle-up", "/settlements")
    before = {path: cost(path) for path in paths}
    for user in UserFactory.create_batch(8):
        join(environment.trip, user, TripRole.EDITOR)
        spend(environment.trip, 1000, paid_by=user, among=[environment.olga, environment.ed, user])
    assert {path: cost(path) for path in paths} == before
    assert User.objects.count() > 10
