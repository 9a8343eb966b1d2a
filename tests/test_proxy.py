"""Behind a proxy with deploy/haproxy.cfg, the server never meets a slow client."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.proxy import haproxy
from tests.server import Server, running_server
from tests.wire import Wire

pytestmark = pytest.mark.once

#: More than the threads of one process.
SLOW_CLIENTS = 300
BEGUN = {
    "head": b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "body": (
        b"POST /api/users/login HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    ),
}
#: What deploy/haproxy.cfg sets for a whole request, and some more.
GIVEN_UP_SECONDS = 15
AT_ONCE_SECONDS = 3.0


@pytest.fixture(scope="module")
def one_process() -> Iterator[Server]:
    with running_server(WEB_CONCURRENCY="1") as server:
        yield server


@pytest.fixture
def proxy(one_process: Server, tmp_path: Path) -> Iterator[str]:
    with haproxy(one_process.url, tmp_path) as url:
        yield url


@pytest.mark.parametrize("kind", BEGUN)
def test_slow_clients_delay_nobody_and_are_given_up(proxy: str, kind: str) -> None:
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


def test_clients_that_do_not_hang_up_delay_nobody(proxy: str) -> None:
    with ExitStack() as stack:
        for _client in range(SLOW_CLIENTS):
            wire = stack.enter_context(Wire.to(proxy))
            wire.send("GET /api/health", "Connection: close")
        start = time.monotonic()
        assert httpx.get(f"{proxy}/api/health", trust_env=False).status_code == 200
        assert time.monotonic() - start < AT_ONCE_SECONDS


def test_slow_clients_do_not_hold_the_end_up(tmp_path: Path) -> None:
    with running_server() as server, haproxy(server.url, tmp_path) as url, ExitStack() as stack:
        for begun in (b"", *BEGUN.values()):
            stack.enter_context(Wire.to(url)).socket.sendall(begun)
        time.sleep(0.2)
        os.kill(server.pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while Path(f"/proc/{server.pid}").exists() and server.workers():
            assert time.monotonic() < deadline
            time.sleep(0.1)
