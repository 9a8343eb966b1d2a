"""What HAProxy and nginx, with the files in deploy/, forward, refuse and repeat."""

import socketserver
import threading
from collections import Counter
from contextlib import contextmanager, suppress

import httpx
import pytest
from django.conf import settings

from tests.proxy import PROXIES
from tests.server import running_server
from tests.splits.journey import sign_up
from tests.walked import all_of
from tripcompanion.api.middleware import is_large_body

pytestmark = pytest.mark.once

both = pytest.mark.parametrize("start", PROXIES)
KEYED = {"Idempotency-Key": "a-key-of-this-test"}


@pytest.fixture(scope="module")
def behind():
    with running_server(NUM_PROXIES="1", HSTS="true") as server:
        yield server


@pytest.fixture(params=PROXIES)
def http(request, behind, tmp_path):
    with (
        request.param([behind.url, behind.url], tmp_path) as proxy,
        httpx.Client(base_url=proxy.url, verify=proxy.trust, timeout=30) as client,
    ):
        yield client


def test_a_body_may_be_as_long_as_the_service_permits(http):
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    json = {"Content-Type": "application/json", **sign_up(http).headers}
    statuses = [
        http.post("/api/trips", content=b" " * length, headers=json).status_code
        for length in (limit, limit + 1)
    ]
    assert statuses == [400, 413]


def test_a_body_with_a_file_may_be_longer(http):
    paths = all_of("LARGE_BODIES")
    assert all(is_large_body(path) for path in paths)
    account, file = sign_up(http).headers, b" " * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    for path in paths:
        assert http.post(path, files={"file": file}, headers=account).status_code != 413, path


def test_the_service_knows_the_client_and_that_it_uses_tls(http):
    user = sign_up(http)
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    answer = user.call("GET", "/users/me/sessions", **forged)
    # Only over TLS.
    assert "Strict-Transport-Security" in answer.headers
    assert [session["address"] for session in answer.json()["items"]] == ["127.0.0.1"]


@contextmanager
def host_that_hangs_up():
    """A host that answers probes, and closes the connection of any other request unanswered."""
    seen = Counter[str]()

    class Hangup(socketserver.StreamRequestHandler):
        def handle(self):
            method, path, _version = self.rfile.readline().decode().split()
            while self.rfile.readline().strip():
                pass
            if path == "/api/health/ready":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            else:
                seen[method] += 1

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Hangup) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", seen
        finally:
            server.shutdown()


@pytest.mark.slow
@both
@pytest.mark.parametrize(
    ("method", "headers", "is_repeated"),
    [("GET", {}, True), ("POST", KEYED, True), ("POST", {}, False), ("PATCH", KEYED, False)],
    ids=["read", "with key", "without key", "other method"],
)
def test_only_requests_that_take_effect_once_are_repeated(
    start, method, headers, is_repeated, tmp_path
):
    with (
        host_that_hangs_up() as (first, seen),
        host_that_hangs_up() as (second, also_seen),
        start([first, second], tmp_path) as proxy,
        httpx.Client(base_url=proxy.url, verify=proxy.trust, timeout=30) as http,
    ):
        # HAProxy hangs up, too, so that the client decides.
        with suppress(httpx.RemoteProtocolError):
            assert http.request(method, "/api/trips", headers=headers).status_code == 502
        assert (seen + also_seen)[method] == (seen + also_seen).total() > 0
        assert ((seen + also_seen)[method] > 1) is is_repeated
