"""The probes are answered while every thread of the server waits for the database."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import httpx
import psycopg
import pytest

from tests.server import Server, running_server
from tests.splits.journey import fresh_email, register
from tests.wire import Wire

THREADS = 2
#: Each waits for two seconds, on both databases.
WAITING = 8
#: A bound for a busy machine. A probe that waits for a thread waits for seconds.
AT_ONCE_SECONDS = 1.5
PROBES = ("/api/health", "/api/health/ready")


@contextmanager
def written_by_nobody(server: Server) -> Iterator[None]:
    """Another connection holds the table of accounts, or all of SQLite's file."""
    url = server.environment["DATABASE_URL"]
    if url.startswith("postgres"):
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE users_user IN EXCLUSIVE MODE")
            yield
        return
    file = url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept connection", "new connection"])
def test_probes_do_not_wait_for_a_thread(is_kept: bool) -> None:
    settings = {"WEB_CONCURRENCY": "1", "DATABASE_POOL_SIZE": str(THREADS)}
    with running_server(**settings) as server, ThreadPoolExecutor(WAITING) as pool:
        http = httpx.Client(base_url=server.url, timeout=60)
        wires = [Wire.to(server.url, AT_ONCE_SECONDS) for _probe in PROBES]
        if is_kept:
            for wire in wires:
                wire.send("GET /api/users/me")
                assert wire.answer()[0].status == 401
        with written_by_nobody(server):
            waiting = [pool.submit(register, http, fresh_email()) for _one in range(WAITING)]
            time.sleep(1)
            for wire, path in zip(wires, PROBES, strict=True):
                for method in ("GET", "HEAD"):
                    wire.send(f"{method} {path}")
                    head = wire.head()
                    assert head.status == 200
                    assert method == "HEAD" or wire.body(head)
            assert not any(one.done() for one in waiting)
        assert {one.result().status_code for one in waiting} <= {201, 503}
        for wire in wires:
            wire.socket.close()
        http.close()
