"""A server that stops or reloads answers what comes over open connections, and resets none."""

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.server import running_server
from tests.wire import Wire

pytestmark = pytest.mark.once

#: More than the server has threads.
CLIENTS = 16
RELOADS = 4
#: One account whose groups have as many people as an answer may have, and one with far more.
_WIDE_ACCOUNTS = """
from tests.wide import wide_account
from users.models import Session
from users.tokens import token_pair
for people in (30, 200):
    print(token_pair(Session.start(wide_account(140, people).owner)).token)
"""
LARGE_ANSWERS = ("/api/v3.0/get_groups", "/api/v3.0/get_friends")
MOST_RESIDENT_MB = 150
#: Long enough for every worker to notice the signal, and shorter than it waits for idle clients.
NOTICED_SECONDS = 1.5


@pytest.mark.slow
def test_what_comes_over_open_connections_is_answered_at_the_end():
    """Over fresh and used connections, and over one whose request was sent in part before."""
    with running_server() as server, ExitStack() as stack:
        fresh, used, half = (
            [stack.enter_context(Wire.to(server.url)) for _client in range(CLIENTS)]
            for _kind in range(3)
        )
        for wire in used:
            wire.send("GET /api/health")
            assert not wire.answer()[0].ends_the_connection
        for wire in half:
            wire.socket.sendall(b"GET /api/nothing HTTP/1.1\r\nHost: loc")
        os.kill(server.pid, signal.SIGTERM)
        time.sleep(NOTICED_SECONDS)
        for wire in [*fresh, *used]:
            wire.send("GET /api/nothing")
        for wire in [*fresh, *used]:
            _is_the_last_answer(wire)
        # A request that has begun has longer.
        time.sleep(NOTICED_SECONDS)
        for wire in half:
            wire.socket.sendall(b"alhost\r\n\r\n")
            _is_the_last_answer(wire)


def _is_the_last_answer(wire):
    head, _body = wire.answer()
    assert (head.status, head.ends_the_connection) == (404, True)
    assert wire.rest() == b""
    wire.socket.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="/proc tells who the workers are")
def test_connections_in_the_queue_are_answered_at_the_end():
    """A worker that has not come to accept them does so before it stops."""
    with running_server(WEB_CONCURRENCY="1") as server, ExitStack() as stack:
        [worker] = (int(path.name) for path in server.workers())
        os.kill(worker, signal.SIGSTOP)
        wires = [stack.enter_context(Wire.to(server.url)) for _client in range(CLIENTS)]
        for wire in wires:
            wire.send("GET /api/nothing")
        os.kill(server.pid, signal.SIGTERM)
        time.sleep(NOTICED_SECONDS)
        os.kill(worker, signal.SIGCONT)
        for wire in wires:
            _is_the_last_answer(wire)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="/proc tells the size")
def test_large_answers_end_no_process_and_leave_none_large():
    """T206: The memory of a large answer is returned, and no process is replaced.

    Everybody else is accepted meanwhile, by all processes.
    """
    ending = threading.Event()
    with running_server(SPLITWISE_API="true") as server, ThreadPoolExecutor(CLIENTS + 1) as pool:
        before = {path.name for path in server.workers()}
        tokens = server.manage("shell", "-c", _WIDE_ACCOUNTS).stdout.split()[-2:]
        stranger = pool.submit(_ask_on, server, ending)
        try:
            paths = [server.url + path for path in LARGE_ANSWERS for _client in range(CLIENTS // 2)]
            answers, refusals = (
                list(pool.map(_answer_to, paths, [token] * len(paths))) for token in tokens
            )
        finally:
            ending.set()
        assert min(len(answer.raise_for_status().content) for answer in answers) > 500_000
        assert {*stranger.result()} == {"answered"}
        assert {path.name for path in server.workers()} == before
        assert max(map(_resident_mb, server.workers())) < MOST_RESIDENT_MB
        assert {answer.status_code for answer in refusals} == {400}


def _answer_to(url, token):
    """The server is busy, and may be asked again."""
    headers = {"Authorization": f"Bearer {token}"}
    while (answer := httpx.get(url, headers=headers, timeout=120)).status_code == 503:
        time.sleep(1)
    return answer


def _resident_mb(process):
    pages = int((process / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 10**6


@pytest.mark.slow
def test_reloads_reset_no_connection():
    ending, seen = threading.Event(), Counter[str]()
    with running_server() as server, ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(_ask_on, server, ending) for _client in range(CLIENTS)]
        try:
            for _reload in range(RELOADS):
                time.sleep(1)
                os.kill(server.pid, signal.SIGHUP)
            time.sleep(4)
        finally:
            ending.set()
        for client in clients:
            seen += client.result()
    assert {*seen} == {"answered", "answered and ended"}
    # Each client had to connect anew; the new workers answered it.
    assert seen["answered and ended"] >= CLIENTS


def _ask_on(server, ending):
    """Ask over one connection until the server says that it ends, then over the next."""
    seen = Counter[str]()
    while not ending.is_set():
        with Wire.to(server.url) as wire:
            ends = False
            while not ends and not ending.is_set():
                try:
                    wire.send("GET /api/users/me")
                    head, _body = wire.answer()
                except OSError as error:
                    seen[repr(error)] += 1
                    break
                assert head.status == 401
                ends = head.ends_the_connection
                seen["answered and ended" if ends else "answered"] += 1
                time.sleep(0.01)
    return seen
