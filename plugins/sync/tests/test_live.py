"""Clients that wait for changes, on the real server."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Event

import httpx
import pytest

from plugins.sync.live import ChangeWaiter, watch
from plugins.sync.waiting import MOST_OF_ACCOUNT
from tests.document import problem_of
from tests.server import running_server
from tests.splits.journey import Journey, sign_up
from tripcompanion.api.throttling import Limits

#: By looking ten times a second; on a machine that does other things too.
SEEN_SECONDS = 2.0


@pytest.fixture(scope="module")
def server():
    with running_server() as running:
        yield running


@pytest.fixture
def http(server):
    limits = httpx.Limits(max_connections=None)
    with httpx.Client(base_url=server.url, timeout=40, trust_env=False, limits=limits) as client:
        yield client


@pytest.fixture
def journey(http):
    return Journey.start(sign_up(http))


@pytest.fixture
def user(http, journey):
    """A member of the trip, who waits for what its owner does."""
    member = sign_up(http)
    journey.admit(member)
    return member


def cursor_of(user):
    return str(user.done("GET", "/changes")["cursor"])


def wait(user, cursor, seconds=20):
    return user.call("GET", f"/changes?since={cursor}&wait={seconds}")


@contextmanager
def waiting(call):
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(call)
        time.sleep(0.5)
        assert not future.done()
        yield future


@contextmanager
def stream(user, cursor="", **headers):
    headers = {**user.headers, "Accept": "text/event-stream", **headers}
    query = f"?since={cursor}" if cursor else ""
    with user.http.stream("GET", f"/api/changes{query}", headers=headers) as response:
        yield response


def events(response):
    """The events with their fields, without comments."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        name, _colon, value = line.partition(": ")
        if not line and fields:
            yield fields
            fields = {}
        elif line and not line.startswith(":"):
            fields[name] = value


def test_a_waiting_client_gets_the_first_change_of_its_trips(http, journey, user):
    stranger = sign_up(http)
    cursor, theirs = cursor_of(user), cursor_of(stranger)
    with (
        waiting(lambda: wait(stranger, theirs, 4)) as none,
        waiting(lambda: wait(user, cursor)) as it,
    ):
        expense = journey.spend(10, journey.owner)
        since = time.monotonic()
        answer = it.result().json()
        assert time.monotonic() - since < SEEN_SECONDS
    [change] = answer["items"]
    assert change["object"] == {"type": "expense", "id": expense["id"]}
    assert change["state"] == user.done("GET", f"{journey.path}/expenses/{expense['id']}")
    assert none.result().json()["items"] == []
    # A new trip is of nobody whom the process knows to wait for it.
    with waiting(lambda: wait(stranger, none.result().json()["cursor"])) as it:
        journey.admit(stranger)
        assert it.result().json()["items"][0]["object"]["type"] == "trip"


def test_it_does_not_wait_for_what_is_there_or_without_a_cursor(journey, user):
    cursor, since = cursor_of(user), time.monotonic()
    journey.spend(10, journey.owner)
    assert len(wait(user, cursor).json()["items"]) == 1
    assert user.done("GET", "/changes?wait=20")["items"] == []
    assert user.http.head(f"/api/changes?since={cursor}&wait=20", headers=user.headers).is_success
    assert time.monotonic() - since < 10
    problem_of(wait(user, cursor, 26), 400, "invalid")


def test_a_stream_goes_on_after_the_last_event(journey, user):
    with stream(user) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Accel-Buffering"] == "no"
        assert "Content-Length" not in response.headers
        got = events(response)
        assert int(next(got)["retry"]) >= 500
        start = next(got)["id"]
        first = journey.spend(10, journey.owner)
        event = next(got)
        assert event["event"] == "change"
        change = json.loads(event["data"])
        assert (change["object"]["id"], change["cursor"]) == (first["id"], event["id"])
        # To whom it is gone, it is gone; what happens then is not seen.
        next(got)
        journey.owner.done("DELETE", f"{journey.path}/members/{user.id}")
        journey.spend(11, journey.owner)
        gone = json.loads(next(got)["data"])
        assert (gone["object"]["type"], gone["state"]) == ("trip", None)
    with stream(user, **{"Last-Event-ID": start}) as response:
        got = events(response)
        assert "retry" in next(got)
        assert json.loads(next(got)["data"])["state"] is None
    problem_of(user.call("GET", "/changes", **{"Accept": "image/png"}), 406)
    problem_of(user.http.get("/api/changes", headers={"Accept": "text/event-stream"}), 401)


def test_a_session_that_has_ended_sees_nothing_more(journey, user):
    with stream(user) as response:
        got = events(response)
        next(got), next(got)
        [session] = user.done("GET", "/users/me/sessions")["items"]
        user.done("DELETE", f"/users/me/sessions/{session['id']}")
        journey.spend(10, journey.owner)
        assert [*next(got)] == ["retry"]
        assert [*got] == []


def test_who_waits_while_the_session_ends_is_refused(journey, user):
    cursor = cursor_of(user)
    [session] = user.done("GET", "/users/me/sessions")["items"]
    with waiting(lambda: wait(user, cursor)) as it:
        user.done("DELETE", f"/users/me/sessions/{session['id']}")
        journey.spend(10, journey.owner)
        problem_of(it.result(SEEN_SECONDS * 5), 401, "token_invalid")


def test_an_account_waits_with_five_at_once(journey, user):
    cursor = cursor_of(user)
    with ExitStack() as open_streams:
        for _number in range(MOST_OF_ACCOUNT):
            response = open_streams.enter_context(stream(user))
            assert response.is_success
        refused = wait(user, cursor)
        problem_of(refused, 429, "too_many_at_once")
        assert refused.headers["Retry-After"]
        with stream(user) as response:
            assert response.status_code == 429
        # Others may, and the account may do other things.
        with stream(journey.owner) as response:
            assert response.is_success
        assert user.call("GET", "/trips").is_success
    # A client that leaves frees its place.
    deadline = time.monotonic() + 10
    while wait(user, cursor, 1).status_code == 429:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_server_that_ends_sends_its_clients_back():
    with running_server() as server, httpx.Client(base_url=server.url, timeout=40) as http:
        user = sign_up(http)
        cursor = cursor_of(user)
        with stream(user) as response, waiting(lambda: wait(user, cursor)) as it:
            got = events(response)
            next(got), next(got)
            os.kill(server.pid, signal.SIGTERM)
            since = time.monotonic()
            assert [*next(got)] == ["retry"]
            assert it.result().json()["items"] == []
            assert time.monotonic() - since < SEEN_SECONDS


def test_who_is_woken_just_after_the_time_is_over_looks_next_time(monkeypatch):
    class WokenLate(Event):
        def wait(self, timeout=None):
            is_set = super().wait(timeout)
            self.set()
            return is_set

    monkeypatch.setattr(watch, "start", lambda: None)
    waiter = ChangeWaiter(1, 20, is_stream=True, limits=Limits())
    waiter.woken = WokenLate()
    assert not waiter.wait(0)
    assert waiter.wait(0)
