"""HEAD is answered as GET is, without the body, on every path and every listener."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.proxy import HAPROXY, haproxy
from tests.server import running_server
from tests.splits.journey import Journey, sign_up
from tests.wire import HOST, Wire

pytestmark = pytest.mark.once

STATIC = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css"
PATHS = [
    ("/api/health", 200),
    ("/api/health/ready", 200),
    ("/api/schema", 200),
    ("/api/docs", 200),
    ("/admin/login/", 200),
    (STATIC, 200),
    ("/admin", 302),
    ("/admin/", 302),
    ("/api/users/me", 401),
    ("/api/nothing", 404),
    ("/static/nothing.css", 404),
    ("/api/users/login", 405),
    ("/api/session/logout", 405),
]
#: The document is slow to make.
PROXIED = [(path, status) for path, status in PATHS if path != "/api/schema"]
TOO_LONG = "X-Long: " + "x" * 40_000
REFUSED = [
    (("Content-Length: -1",), 400),
    (("Content-Length: 5", "Transfer-Encoding: chunked"), 400),
    (("Transfer-Encoding:",), 501),
    ((TOO_LONG,), 431),
]
CLIENTS, TURNS = 16, 40


@pytest.fixture(scope="module")
def owner(http):
    return sign_up(http)


@pytest.mark.parametrize(("path", "status"), PATHS)
def test_nothing_follows_the_head_and_the_connection_stays(server, path, status):
    with Wire.to(server.url) as wire:
        wire.send(f"HEAD {path}")
        head = wire.head()
        # Whatever comes after it would be taken for this answer.
        wire.send("GET /api/health")
        health, body = wire.answer()
        wire.send(f"GET {path}")
        full, _body = wire.answer()
    assert (head.status, health.status, full.status) == (status, 200, status)
    assert not head.ends_the_connection
    assert json.loads(body) == {"status": "ok"}
    changing = {"date", "expires", "x-request-id", "set-cookie", "content-length"}
    assert head.fields.keys() == full.fields.keys()
    for name in head.fields.keys() - changing:
        assert head.fields[name] == full.fields[name], name


def test_pipelined_answers_stay_in_step(server):
    lines = [f"{method} {path}" for path, _status in PATHS for method in ("HEAD", "GET")]
    request = "".join(f"{line} HTTP/1.1\r\n{HOST}\r\n\r\n" for line in lines)
    with Wire.to(server.url) as wire:
        wire.socket.sendall(request.encode())
        for line in lines:
            head = wire.head()
            assert head.status == dict(PATHS)[line.split()[1]]
            if line.startswith("GET"):
                wire.body(head)
        assert wire.received == b""


def test_what_belongs_to_somebody_and_what_is_unchanged_has_no_body_either(server, owner):
    url = f"/api{Journey.start(owner).path}"
    authorization = f"Authorization: {owner.headers['Authorization']}"
    with Wire.to(server.url) as wire:
        for path in (url, f"{url}/expenses", f"{url}/balances"):
            wire.send(f"HEAD {path}", authorization)
            assert wire.head().status == 200
        wire.send(f"HEAD {STATIC}")
        unchanged = f"If-Modified-Since: {wire.head().fields['last-modified']}"
        wire.send(f"HEAD {STATIC}", unchanged, "Connection: close")
        assert wire.head().status == 304
        assert wire.rest() == b""
    with Wire.to(server.url) as wire:
        wire.send("HEAD /api/health", host="Host: evil.example")
        assert wire.head().status == 400
        wire.send("GET /api/health")
        assert wire.answer()[0].status == 200


@pytest.mark.parametrize(("fields", "status"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_refused_head_ends_the_connection(server, fields, status):
    """Whatever follows it is taken for no answer to another request."""
    with Wire.to(server.url) as wire:
        wire.send("HEAD /api/health", *fields)
        wire.send("GET /api/nothing")
        head, _body = wire.answer()
        assert (head.status, head.ends_the_connection) == (status, True)
        assert wire.rest() == b""


def test_a_refused_body_of_head_has_no_answer_of_its_own(server):
    with Wire.to(server.url) as wire:
        wire.send("HEAD /api/health", "Content-Length: 2000000")
        assert wire.head().status == 413
        assert wire.rest() == b""


@pytest.mark.slow
def test_the_server_does_not_complain_of_a_missing_body(capfd):
    with running_server() as own, Wire.to(own.url) as wire:
        for path, status in PATHS:
            wire.send(f"HEAD {path}")
            assert wire.head().status == status
    logged = capfd.readouterr().err
    assert "no-body" not in logged
    assert "Traceback" not in logged


# -- Behind a proxy -------------------------------------------------------------------------------


@HAPROXY
def test_clients_of_a_proxy_get_their_own_answers(server, tmp_path):
    def ask(url, number):
        seen: Counter[tuple[str, int]] = Counter()
        with httpx.Client(base_url=url, timeout=20, trust_env=False) as http:
            for turn in range(TURNS):
                path, _status = PROXIED[(number + turn) % len(PROXIED)]
                method = "HEAD" if number % 2 else "GET"
                answer = http.request(method, path)
                seen[(path, answer.status_code)] += 1
                assert bool(answer.content) == (method == "GET" and answer.status_code != 302)
        return seen

    with haproxy(server.url, tmp_path, MAXCONN="4") as url, ThreadPoolExecutor(CLIENTS) as pool:
        asked = [pool.submit(ask, url, number) for number in range(CLIENTS)]
        seen = sum((one.result() for one in asked), Counter())
    assert set(seen) == set(PROXIED)
    assert seen.total() == CLIENTS * TURNS
