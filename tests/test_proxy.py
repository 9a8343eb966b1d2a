"""Behind a proxy with deploy/haproxy.cfg, the server never meets a slow client."""

import os
import signal
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from tests.clusters import wait_until
from tests.proxy import HAPROXY, haproxy
from tests.server import running_server
from tests.splits.journey import sign_up
from tests.wire import Wire

pytestmark = [pytest.mark.once, HAPROXY]

#: More than the threads of one process.
SLOW_CLIENTS = 300
BEGUN = {
    "head": b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "body": (
        b"POST /api/users/login HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    ),
}
#: More than the proxy reads before it forwards a request.
LARGE_BODY = (
    b"POST /api/trips HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n" + b" " * 40_000
)
#: What deploy/haproxy.cfg sets for a whole request, and some more.
GIVEN_UP_SECONDS = 15
AT_ONCE_SECONDS = 3.0


@pytest.fixture(scope="module")
def one_process():
    with running_server(WEB_CONCURRENCY="1") as server:
        yield server


@pytest.fixture
def proxy(one_process, tmp_path):
    with haproxy(one_process.url, tmp_path, MAX_CONNECTIONS_OF_A_CLIENT="1000") as url:
        yield url


@pytest.mark.slow
@pytest.mark.parametrize("kind", BEGUN)
def test_slow_clients_delay_nobody_and_are_given_up(proxy, kind):
    """T143: Behind HAProxy, slow clients delay nobody and are disconnected."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire.to(proxy)) for _client in range(SLOW_CLIENTS)]
        for wire in wires:
            wire.socket.sendall(BEGUN[kind])
        for _time in range(5):
            start = time.monotonic()
            assert httpx.get(f"{proxy}/api/health", trust_env=False).status_code == 200
            assert time.monotonic() - start < AT_ONCE_SECONDS
        wires[0].socket.settimeout(GIVEN_UP_SECONDS)
        assert wires[0].head().status == 408


@pytest.mark.slow
def test_bodies_that_trickle_through_the_proxy_delay_nobody_and_are_given_up(proxy, one_process):
    with ExitStack() as stack, httpx.Client(base_url=proxy, trust_env=False, timeout=30) as client:
        user = sign_up(client)
        wires = [stack.enter_context(Wire.to(proxy)) for _client in range(SLOW_CLIENTS)]
        for wire in wires:
            wire.socket.sendall(LARGE_BODY)
        started = time.monotonic()
        for _time in range(5):
            start = time.monotonic()
            assert user.call("GET", "/trips").status_code == 200
            assert time.monotonic() - start < AT_ONCE_SECONDS
            for wire in wires:
                with suppress(OSError):
                    wire.socket.send(b" ")
        # Most are refused at once, as too many of one client; the others end with their deadline.
        heads = []
        for wire in wires:
            wire.socket.settimeout(max(0.1, GIVEN_UP_SECONDS - (time.monotonic() - started)))
            # The connection ends with an answer or, since the client is still sending, without one.
            with suppress(ConnectionError):
                heads.append(wire.head().status)
        assert set(heads) <= {408, 429, 502, 503}
        assert one_process.workers()


def answers(url):
    """Whether the proxy lets one more connection through."""
    try:
        return httpx.get(f"{url}/api/health", trust_env=False).is_success
    except httpx.TransportError:
        return False


def test_a_client_has_a_limited_number_of_connections(one_process, tmp_path):
    limit = {"MAX_CONNECTIONS_OF_A_CLIENT": "5"}
    with haproxy(one_process.url, tmp_path, **limit) as url, ExitStack() as stack:
        # The connection that saw the proxy start may still count, so one of five may be refused.
        for _client in range(10):
            with suppress(OSError):
                stack.enter_context(Wire.to(url)).socket.sendall(BEGUN["head"])
            time.sleep(0.1)
        assert not answers(url)
        stack.close()
        wait_until(lambda: answers(url))


def test_clients_that_do_not_hang_up_delay_nobody(proxy):
    with ExitStack() as stack:
        for _client in range(SLOW_CLIENTS):
            stack.enter_context(Wire.to(proxy)).send("GET /api/health", "Connection: close")
        start = time.monotonic()
        assert httpx.get(f"{proxy}/api/health", trust_env=False).status_code == 200
        assert time.monotonic() - start < AT_ONCE_SECONDS


@pytest.mark.slow
def test_slow_clients_do_not_hold_the_end_up(tmp_path):
    with running_server() as server, haproxy(server.url, tmp_path) as url, ExitStack() as stack:
        for begun in (b"", *BEGUN.values()):
            stack.enter_context(Wire.to(url)).socket.sendall(begun)
        time.sleep(0.2)
        os.kill(server.pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while Path(f"/proc/{server.pid}").exists() and server.workers():
            assert time.monotonic() < deadline
            time.sleep(0.1)
