"""The probes are answered while every thread is busy; a service is ready when it is migrated."""

import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import httpx
import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from tests.server import ROOT, running_server
from tests.splits.journey import Journey, fresh_email, register, sign_up
from tests.wire import Wire

THREADS = 2
#: Each waits for two seconds, on both databases.
WAITING = 8
#: More than the threads that are reserved for probes.
INCOMPLETE = 8
#: A bound for a busy machine. A probe that waits for a thread waits for seconds.
AT_ONCE_SECONDS = 1.5
PROBES = ("/api/health", "/api/health/ready")


#: Prints what the first probe of a process imports from the project.
FIRST_PROBE = """
import sys
from django.test import RequestFactory
from tripcompanion.serving.wsgi import application

before = set(sys.modules)
environ = RequestFactory(SERVER_NAME="localhost").get("/api/health").environ
application(environ, lambda status, headers: print(status))
ours = ("tripcompanion.", "users.", "trips.", "splits.", "plugins.")
print(*sorted(name for name in sys.modules.keys() - before if name.startswith(ours)))
"""


@contextmanager
def written_by_nobody(server):
    """Another connection holds the tables of accounts and trips, or all of SQLite's file."""
    url = server.environment["DATABASE_URL"]
    if url.startswith("postgres"):
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE users_user, trips_trip IN EXCLUSIVE MODE")
            yield
        return
    file = url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept connection", "new connection"])
def test_probes_do_not_wait_for_a_thread(is_kept):
    # Of more connections, one caller would have half.
    settings = {"WEB_CONCURRENCY": "1", "DATABASE_POOL_SIZE": "1"}
    with (
        running_server(**settings) as server,
        ThreadPoolExecutor(WAITING) as pool,
        httpx.Client(base_url=server.url, timeout=60) as http,
        ExitStack() as stack,
    ):
        wires = [stack.enter_context(Wire.to(server.url, AT_ONCE_SECONDS)) for _probe in PROBES]
        if is_kept:
            for wire in wires:
                wire.send("GET /api/users/me")
                assert wire.answer()[0].status == 401
        with written_by_nobody(server):
            waiting = [pool.submit(register, http, fresh_email()) for _one in range(WAITING)]
            time.sleep(1)
            send_probes(wires)
            # On a busy machine, some were refused meanwhile; none was written.
            assert {one.result().status_code for one in waiting if one.done()} <= {503}
        assert {one.result().status_code for one in waiting} <= {201, 503}


def send_probes(wires):
    for wire, path in zip(wires, PROBES, strict=True):
        for method in ("GET", "HEAD"):
            wire.send(f"{method} {path}")
            head = wire.head()
            assert head.status == 200
            assert method == "HEAD" or wire.body(head)


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept connection", "new connection"])
def test_probes_do_not_wait_behind_requests(is_kept):
    """More requests wait for a trip's lock than the server has threads."""
    settings = {"WEB_CONCURRENCY": "1", "GUNICORN_CMD_ARGS": f"--threads={THREADS}"}
    with (
        running_server(**settings) as server,
        ThreadPoolExecutor(WAITING) as pool,
        httpx.Client(base_url=server.url, timeout=60) as http,
        ExitStack() as stack,
    ):
        journey = Journey.start(sign_up(http))
        wires = [stack.enter_context(Wire.to(server.url, AT_ONCE_SECONDS)) for _probe in PROBES]
        if is_kept:
            send_probes(wires)
        body = journey.expense_body(12, journey.owner)
        path = f"{journey.path}/expenses"
        with written_by_nobody(server):
            waiting = [
                pool.submit(journey.owner.call, "POST", path, body) for _one in range(WAITING)
            ]
            time.sleep(0.5)
            for field in ("X-Slow: ", "Content-Length: 1\r\n\r\n"):
                for _client in range(INCOMPLETE):
                    wire = stack.enter_context(Wire.to(server.url))
                    request = f"GET {PROBES[0]} HTTP/1.1\r\nHost: localhost\r\n{field}"
                    wire.socket.sendall(request.encode())
            time.sleep(0.2)
            send_probes(wires)
            assert not all(one.done() for one in waiting)
        assert {one.result().status_code for one in waiting} <= {201, 503}


@pytest.mark.slow
def test_a_service_is_ready_when_its_database_is_migrated():
    with running_server() as server, httpx.Client(base_url=server.url) as http:
        assert http.get("/api/health/ready").status_code == 200
        server.manage("migrate", "splits", "zero", "--fake")
        assert http.get("/api/health/ready").status_code == 503
        assert http.get("/api/health").status_code == 200
        server.manage("migrate", "--fake")
        assert http.get("/api/health/ready").status_code == 200


@pytest.mark.usefixtures("db")
def test_a_service_with_an_empty_database_is_not_ready():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_migrations RENAME TO django_migrations_before")
    response = APIClient().get("/api/health/ready")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")


@pytest.mark.once
def test_workers_have_imported_everything_before_their_first_request():
    """Otherwise the first probe of each takes a tenth of a second and more."""
    shown = subprocess.run(
        [sys.executable, "-c", FIRST_PROBE],
        cwd=ROOT,
        env=os.environ | {"DEBUG": "true"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout.splitlines() == ["200 OK", ""]
