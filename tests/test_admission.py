"""One caller gets a share of a process's threads and connections; the others are served."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from io import BytesIO
from threading import Event
from urllib.parse import urlsplit

import httpx
import pytest
from django.core.wsgi import get_wsgi_application

from tests.document import problem_of
from tests.locks import holding
from tests.server import running_server
from tests.splits.journey import Journey, sign_up
from tests.wire import Wire
from tripcompanion.api.problems import Unavailable
from tripcompanion.api.turns import WAIT_SECONDS, Turns
from tripcompanion.database.lending import without_connection
from tripcompanion.serving import wsgi
from tripcompanion.serving.admission import BODY_SECONDS, MOST_AT_ONCE, SEND_SECONDS

MORE = 20


@pytest.fixture(scope="module")
def server():
    with running_server(WEB_CONCURRENCY="1") as running:
        yield running


@pytest.fixture
def people(server):
    limits = httpx.Limits(max_connections=None)
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False, limits=limits) as client:
        yield [sign_up(client) for _number in range(4)]


def test_t191_too_many_requests_of_one_account_are_refused_at_once(server, people):
    """T191: One caller holds 64 threads and half of the connections at most."""
    owner, stranger, *_others = people
    journey = Journey.start(owner)
    expense = journey.spend(10, owner)
    path = f"{journey.path}/expenses/{expense['id']}"
    number = MOST_AT_ONCE + MORE
    with ThreadPoolExecutor(number) as pool, holding(server, "trips_trip", journey.id) as other:
        calls = [
            pool.submit(owner.call, "PATCH", path, {"amount": 11}) for _number in range(number)
        ]
        # Those that are refused do not wait for the lock.
        deadline = time.monotonic() + WAIT_SECONDS
        while sum(call.done() for call in calls) < MORE:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for refused in [call.result() for call in calls if call.done()][:MORE]:
            problem_of(refused, 429, "too_many_at_once")
            assert refused.headers["Retry-After"] == "1"
        # Nobody else notices.
        assert stranger.call("GET", "/trips").status_code == 200
        # Of the others, few hold a connection, and no more than wait for the lock.
        if not other.is_sqlite:
            other.wait_for(2)
        time.sleep(WAIT_SECONDS + 1)
        other.commit()
        answers = [call.result() for call in calls]
    statuses = {answer.status_code for answer in answers}
    assert statuses <= {200, 429, 503}
    for answer in answers:
        if answer.status_code == 503:
            assert int(answer.headers["Retry-After"]) >= 1
    assert owner.done("GET", path)["amount"] in {10, 11}
    journey.adds_up()


def test_a_request_that_gets_no_connection_in_time_is_a_503(monkeypatch, client, db):
    monkeypatch.setattr(wsgi, "WAIT_SECONDS", 0.05)
    dispatcher = wsgi.Dispatcher(get_wsgi_application(), 1)
    dispatcher._connections.get()
    answered: list[tuple[str, dict[str, str]]] = []
    environ = {**client._base_environ(), "PATH_INFO": "/api/trips", "wsgi.input": BytesIO()}

    def start(status, headers, *_error):
        answered.append((status, dict(headers)))

    body = b"".join(dispatcher(environ, start))
    [(status, headers)] = answered
    assert status == "503 Service Unavailable"
    assert int(headers["Retry-After"]) >= 1
    assert b'"unavailable"' in body


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_who_waits_without_a_connection_holds_up_nobody(client, method):
    """T239: A request that waits for another service has no share of its caller or its trip."""
    waits, goes_on = Event(), Event()

    def application(environ, start):
        if not waits.is_set():
            with without_connection():
                waits.set()
                assert goes_on.wait(10)
        start("200 OK", [])
        return [b"refused" if wsgi.REFUSAL in environ else b"done"]

    dispatcher = wsgi.Dispatcher(application, 1)
    request = {"REQUEST_METHOD": method, "PATH_INFO": "/api/trips/1"}

    def ask():
        environ = {**client._base_environ(), **request, "wsgi.input": BytesIO()}
        return b"".join(dispatcher(environ, lambda *_head: None))

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask)
        assert waits.wait(10)
        try:
            assert pool.submit(ask).result() == b"done"
        finally:
            goes_on.set()
        assert first.result() == b"done"


def test_who_has_had_a_turn_waits_behind_those_who_were_waiting():
    turns, had = Turns(1), []

    def wait(number):
        with turns.acquired(time.monotonic() + 10):
            had.append(number)

    with ThreadPoolExecutor(5) as pool:
        with turns.acquired(time.monotonic() + 10):
            for number in range(5):
                pool.submit(wait, number)
                while len(turns._waiting) <= number:
                    time.sleep(0.001)
        wait(5)
    assert had == [0, 1, 2, 3, 4, 5]


def test_a_turn_that_comes_too_late_goes_to_the_next():
    turns = Turns(1)
    with turns.acquired(time.monotonic() + 10):
        with pytest.raises(Unavailable), turns.acquired(time.monotonic() + 0.01):
            pytest.fail("It had no turn.")
        assert not turns._waiting
    with turns.acquired(time.monotonic()):
        pass


@pytest.mark.slow
def test_t190_a_body_that_trickles_is_given_up(server):
    """T190: A body and the reader of a response have a limited time."""
    with Wire.to(server.url) as wire:
        wire.send("POST /api/trips", "Content-Type: application/json", "Content-Length: 100000")
        started = time.monotonic()
        wire.socket.settimeout(0.5)
        ended = False
        while not ended:
            assert time.monotonic() - started < BODY_SECONDS + 5
            try:
                wire.socket.sendall(b" ")
                ended = wire.socket.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
        assert time.monotonic() - started > BODY_SECONDS / 2


SLOW_READERS = MOST_AT_ONCE + MORE
AT_ONCE_SECONDS = 3
#: In memory, and a file.
LARGE = ("/api/schema", "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js")


def slowly_reading(stack, server, path):
    """A client that reads nothing; on both sides there is little room for what it did not read."""
    wire = stack.enter_context(Wire(socket.socket()))
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    wire.socket.settimeout(20)
    wire.socket.connect(("127.0.0.1", urlsplit(server.url).port))
    wire.send(f"GET {path}")
    return wire


@pytest.mark.parametrize("path", LARGE)
def test_t191_slow_readers_of_one_address_do_not_hold_all_threads(server, people, path):
    """T58: Slow readers delay no other client."""
    with ExitStack() as stack:
        for _number in range(SLOW_READERS):
            slowly_reading(stack, server, path)
        time.sleep(1)
        with Wire.to(server.url) as late:
            late.send("GET /api/nothing")
            assert late.head().status == 429
        started = time.monotonic()
        assert people[0].call("GET", "/trips").status_code == 200
        assert time.monotonic() - started < AT_ONCE_SECONDS
    deadline = time.monotonic() + 20
    while status_of_another(server) != 404:
        assert time.monotonic() < deadline
        time.sleep(0.5)


def status_of_another(server):
    with Wire.to(server.url) as another:
        another.send("GET /api/nothing")
        return another.head().status


@pytest.mark.slow
def test_t190_a_response_in_memory_is_given_up(server):
    with ExitStack() as stack:
        wire = slowly_reading(stack, server, LARGE[0])
        started = time.monotonic()
        # It reads on, but too slowly to end in time.
        while time.monotonic() - started < SEND_SECONDS + 3:
            wire.received += wire.socket.recv(1)
            time.sleep(0.5)
        with pytest.raises(ConnectionError):
            wire.body(wire.head())


@pytest.mark.parametrize(("line", "status"), [("POST /api/trips", 429), ("GET /api/health", 429)])
def test_a_request_with_an_unread_body_is_not_followed_by_another(server, people, line, status):
    """Of one address without an account, whose bodies do not arrive."""
    with ExitStack() as stack:
        for _number in range(MOST_AT_ONCE):
            stack.enter_context(Wire.to(server.url)).send(line, "Content-Length: 10")
        time.sleep(0.5)
        late = stack.enter_context(Wire.to(server.url))
        late.send(line, "Content-Length: 10")
        head = late.head()
        # At once; the body has not arrived.
        assert head.status == status
        late.socket.settimeout(10)
        late.rest()
        # Accounts are not addresses.
        assert people[0].call("GET", "/trips").status_code == 200
