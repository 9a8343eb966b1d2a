"""The production server itself: slow clients, broken requests, and its end."""

import json
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest

from tests.server import running_server
from tests.wire import Wire

pytestmark = pytest.mark.once

SLOW_CLIENTS = 60
#: A bound for a busy machine. A client that holds the others up does so for two seconds.
AT_ONCE_SECONDS = 5
HOST = b"Host: localhost\r\n"
END = b"\r\n\r\n"


@contextmanager
def dripping(sockets):
    """A byte on each of them twice a second."""
    ending = threading.Event()

    def drip():
        while not ending.wait(0.5):
            for one in sockets:
                with suppress(OSError):
                    one.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
        for one in sockets:
            one.close()


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"POST /api/users/login HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    ],
    ids=["headers", "body"],
)
def test_slow_clients_keep_nobody_waiting(server, begun):
    """T57: Slow headers and bodies delay no other client."""
    sockets = [Wire.to(server.url).socket for _one in range(SLOW_CLIENTS)]
    for one in sockets:
        one.sendall(begun)
    with dripping(sockets):
        for _time in range(10):
            # A new connection each time: any of the processes may get it.
            assert httpx.get(f"{server.url}/api/health", timeout=10).status_code == 200


def test_clients_that_do_not_hang_up_keep_nobody_waiting(server):
    with ExitStack() as stack:
        for _client in range(SLOW_CLIENTS):
            one = stack.enter_context(Wire.to(server.url)).socket
            one.sendall(b"GET /api/health HTTP/1.1\r\n" + HOST + b"Connection: close" + END)
        start = time.monotonic()
        for _time in range(10):
            assert httpx.get(f"{server.url}/api/health", timeout=20).status_code == 200
        assert time.monotonic() - start < AT_ONCE_SECONDS


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (
            b"GET /api/health HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 40_000 + END,
            431,
            "headers_too_large",
        ),
        (
            b"GET /api/health HTTP/1.1\r\n" + HOST + b"X: 1\r\n" * 5000 + END,
            431,
            "headers_too_large",
        ),
        (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n", 414, "uri_too_long"),
        (b"nonsense\r\n\r\n", 400, "bad_request"),
    ],
    ids=["header", "headers", "path", "line"],
)
def test_what_the_server_refuses_itself_is_a_problem_too(server, raw, status, code):
    """T55: The size of a request head is limited."""
    with Wire.to(server.url) as wire:
        wire.socket.sendall(raw)
        head, body = wire.answer()
    problem, headers = json.loads(body), head.fields
    assert (head.status, problem["status"], problem["code"]) == (status, status, code)
    assert problem["detail"] == problem["message"] != ""
    assert problem["requestId"]
    assert headers["content-type"] == "application/problem+json"
    assert headers["cache-control"] == "no-store"


def test_the_cursor_of_somebody_in_a_thousand_trips_fits_into_a_url(server):
    with Wire.to(server.url) as wire:
        wire.send(f"GET /api/changes?since={'a' * 7000}")
        assert wire.head().status == 401


def test_requests_under_way_are_answered_at_the_end():
    """All were sent before the server was asked to end, and none is lost."""
    statuses: list[int] = []
    with running_server() as server:
        body = {"email": "nobody@example.com", "password": "wrong-password"}

        def guess():
            response = httpx.post(f"{server.url}/api/users/login", json=body, timeout=30)
            statuses.append(response.status_code)

        threads = [threading.Thread(target=guess) for _one in range(6)]
        for thread in threads:
            thread.start()
        threads[0].join()
    for thread in threads:
        thread.join()
    assert statuses.count(401) == len(statuses) == 6
