"""Reads on a replica: own changes at once, those of others soon, and no error without it."""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import httpx
import pytest
from django.conf import settings

from tests.clusters import (
    homes,
    new_cluster,
    run,
    serving,
    stopped_at_the_end,
    wait_until,
)
from tests.meanwhile import meanwhile
from tests.postgres import Cluster
from tests.scrape import TOKEN, samples, total
from tests.server import Server
from tests.silence import SilentProxy, silent_proxy
from tests.splits.journey import Journey, Traveller, sign_up
from tests.test_snapshots import Flipping

pytestmark = [
    pytest.mark.skipif(
        not settings.DATABASE_URL.startswith("postgres"), reason="SQLite has no replica"
    ),
    # They start clusters of their own, which `make cluster` hurts for longer.
    pytest.mark.slow,
]
#: Long enough for a few requests of a busy machine while the replica is paused.
MAX_LAG_SECONDS = 3
#: Each changes a trip and reads the change in four ways. 500 take a minute.
ROUNDS = 100
#: Of the silent replica, a request waits for a second, and for the cancellation for another.
LIMIT_SECONDS = 4


@dataclass(frozen=True)
class Pair:
    """A primary and its replica, the proxy in front of that, and the service on both."""

    primary: Cluster
    replica: Cluster
    proxy: SilentProxy
    server: Server

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The replica receives changes but does not apply them."""
        self.catch_up()
        run(self.replica, "SELECT pg_wal_replay_pause()")
        try:
            yield
        finally:
            run(self.replica, "SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        wrote = run(self.primary, "SELECT pg_current_wal_flush_lsn()")[0][0]
        has_it = f"SELECT pg_last_wal_replay_lsn() >= '{wrote}'"
        wait_until(lambda: run(self.replica, has_it) == [(True,)])

    def reads(self, database: str) -> float:
        return total(self.server, "reads_total", database=database)

    def fallbacks(self, reason: str) -> float:
        return total(self.server, "replica_fallbacks_total", reason=reason)

    def wait_until_it_is_read(self, reader: Traveller) -> None:
        before = self.reads("replica")

        def is_read() -> bool:
            for _time in range(10):
                reader.done("GET", "/trips")
            return self.reads("replica") > before

        wait_until(is_read)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        folders = stack.enter_context(homes(2))
        primary = stack.enter_context(new_cluster(folders[0]))
        replica = stack.enter_context(stopped_at_the_end(primary.standby(folders[1])))
        proxy, url = stack.enter_context(silent_proxy(replica.url))
        limits = {"DATABASE_REPLICA_MAX_LAG": str(MAX_LAG_SECONDS), "METRICS_TOKEN": TOKEN}
        server, _owner = stack.enter_context(
            serving(primary.url, DATABASE_REPLICA_URL=url, **limits)
        )
        yield Pair(primary, replica, proxy, server)


@pytest.fixture
def http(pair: Pair) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=pair.server.url, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def olga(http: httpx.Client) -> Traveller:
    return sign_up(http)


@pytest.fixture
def ed(http: httpx.Client) -> Traveller:
    return sign_up(http)


def title_of(reader: Traveller, trip: Journey, **headers: str) -> str:
    answer = reader.call("GET", trip.path, **headers)
    assert answer.status_code == 200
    return str(answer.json()["title"])


def outdated(olga: Traveller, rounds: int) -> int:
    """How many of four reads after each of so many changes did not show it."""
    trip, stale = Journey.start(olga), 0
    for number in range(rounds):
        title = f"Trip {number}"
        olga.done("PATCH", trip.path, {"title": title})
        stale += title_of(olga, trip) != title
        for path in ("/trips", "/trips/my-trips"):
            stale += olga.done("GET", path)["items"][0]["title"] != title
        newest = olga.done("GET", f"{trip.path}/history?pageSize=1")["items"][0]["changes"]
        stale += newest["title"]["new"] != title
    return stale


@contextmanager
def pausing_at_random(pair: Pair) -> Iterator[None]:
    def pause(ended: Event) -> None:
        chance = random.Random(4)
        while not ended.wait(chance.uniform(0.02, 0.3)):
            with pair.paused():
                ended.wait(chance.uniform(0.02, 1.5))

    with meanwhile(pause):
        yield


@pytest.mark.slow
def test_own_changes_are_read_at_once_however_far_the_replica_is_behind(
    pair: Pair, olga: Traveller, http: httpx.Client
) -> None:
    others = [olga, sign_up(http)]
    with pausing_at_random(pair), ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(lambda one: outdated(one, ROUNDS // 2), others)) == 0
    # Both databases took part, so the test would have seen it.
    assert pair.reads("replica") > ROUNDS / 10
    assert pair.fallbacks("behind_caller") > ROUNDS / 10


@pytest.mark.slow
def test_others_see_a_change_after_the_greatest_lag_or_at_once_with_its_position(
    pair: Pair, olga: Traveller, ed: Traveller
) -> None:
    trip = Journey.start(olga)
    trip.admit(ed)
    before = title_of(ed, trip)
    with pair.paused():
        changed = olga.call("PATCH", trip.path, {"title": "Changed"})
        position = changed.headers["X-Consistency"]
        assert title_of(ed, trip) == before
        assert title_of(ed, trip, **{"X-Consistency": position}) == "Changed"
        assert title_of(ed, trip, **{"X-Consistency": "0/0"}) == before
        # Nobody can tell what this means, so the primary answers.
        for unknown in ("now", "-1", "0/", f"{position},0/0", "1" * 9 + "/0", "0/१"):
            assert title_of(ed, trip, **{"X-Consistency": unknown.encode()}) == "Changed"
        time.sleep(1.25 * MAX_LAG_SECONDS)
        assert title_of(ed, trip) == "Changed"
        assert pair.fallbacks("behind") > 0


def test_rights_hold_at_once(pair: Pair, olga: Traveller, ed: Traveller) -> None:
    trip = Journey.start(olga)
    with pair.paused():
        assert ed.call("GET", trip.path).status_code == 404
        trip.admit(ed)
        assert [row["id"] for row in ed.done("GET", "/trips")["items"]] == [trip.id]
    with pair.paused():
        assert title_of(ed, trip)
        olga.done("DELETE", f"{trip.path}/members/{ed.id}")
        assert ed.call("GET", trip.path).status_code == 404
        assert ed.done("GET", "/trips")["items"] == []
        trip.admit(ed)
    with pair.paused():
        assert title_of(ed, trip)
        olga.done("DELETE", trip.path)
        assert ed.call("GET", trip.path).status_code == 404
    with pair.paused():
        assert ed.done("GET", "/trips")["items"] == []
        olga.done("POST", f"{trip.path}/restore")
        assert [row["id"] for row in ed.done("GET", "/trips")["items"]] == [trip.id]


def test_what_the_replica_does_not_know_yet_is_found(
    pair: Pair, olga: Traveller, ed: Traveller
) -> None:
    trip = Journey.start(olga)
    trip.admit(ed)
    with pair.paused():
        expense = trip.spend(30, olga, ed)
        assert ed.done("GET", f"{trip.path}/expenses/{expense['id']}")["amount"] == 30
    assert pair.fallbacks("refused") > 0


def test_every_kind_of_read_works_there_and_shows_the_same(
    pair: Pair, olga: Traveller, ed: Traveller
) -> None:
    trip = Journey.start(olga)
    trip.admit(ed)
    expense = trip.spend(30, olga, ed)
    of_trip = (
        *(
            "",
            "/members",
            f"/members/{ed.id}",
            "/expenses",
            "/expenses?search=Dinner&ordering=amount",
        ),
        *("/expenses?deleted=true", f"/expenses/{expense['id']}", "/settlements", "/balances"),
        *("/statistics", f"/balances/{ed.id}", "/settle-up", "/history", "/invitations"),
        f"/expenses/{expense['id']}/history",
    )
    paths = [f"{trip.path}{rest}" for rest in of_trip] + [
        *("/trips", "/users/me", f"/users/{olga.id}", "/users/me/export", "/users/me/tokens"),
        *("/users/me/sessions", "/webhooks", f"/users/{olga.id}/pending-debts"),
        *(f"/users/{olga.id}/total-debt", f"/expenses/{expense['id']}/comments"),
        *(f"/expenses/{expense['id']}/splits",),
    ]
    end = {"X-Consistency": "FFFFFFFF/FFFFFFFF"}
    pair.catch_up()
    before = pair.reads("replica")
    for path in paths:
        there, here = olga.call("GET", path), olga.call("GET", path, **end)
        assert (there.status_code, here.status_code) == (200, 200), path
        assert there.json() == here.json()
    assert pair.reads("replica") == before + len(paths)
    assert pair.fallbacks("failed") == 0


def test_an_answer_is_of_one_moment(pair: Pair, http: httpx.Client) -> None:
    flipping = Flipping(http)
    routes = ("expense", "list", "filtered list", "balances", "plan")
    for route in routes:
        # Whoever writes would read on the primary.
        flipping.routes[route] = (flipping.vera, flipping.routes[route][1])
    states: dict[str, list[Any]] = {route: [] for route in routes}
    for state in (0, 1):
        flipping.flip(state)
        pair.catch_up()
        for route, seen in states.items():
            seen.append(flipping.shown(route))
    before, deadline = pair.reads("replica"), time.monotonic() + 2
    with flipping.writing():
        while time.monotonic() < deadline:
            for route, seen in states.items():
                assert flipping.shown(route) in seen, route
    assert pair.reads("replica") > before + len(routes)


def test_an_audit_can_read_there(pair: Pair, olga: Traveller) -> None:
    Journey.start(olga).spend(9, olga)
    pair.catch_up()
    audit = pair.server.manage("audit_ledger", "--replica")
    assert "no difference" in audit.stdout
    assert audit.stderr == ""


def durations(reader: Traveller, count: int) -> list[float]:
    """How long each of so many successful reads took."""
    took = []
    for _time in range(count):
        started = time.monotonic()
        reader.done("GET", "/trips")
        took.append(time.monotonic() - started)
    return took


def lost(pair: Pair, how: str) -> Callable[[], None]:
    """Lose the replica; returns what brings it back."""
    if how == "silent":
        pair.proxy.silent = True
        return pair.proxy.talk
    pair.replica.stop("immediate")
    return pair.replica.start


@pytest.mark.parametrize("how", ["silent", "stopped"])
def test_a_lost_replica_costs_no_error_and_little_time(
    pair: Pair, olga: Traveller, how: str
) -> None:
    pair.wait_until_it_is_read(olga)
    come_back = lost(pair, how)
    try:
        took = durations(olga, 100)
        assert max(took) < LIMIT_SECONDS
        # One read of each process found it out.
        assert len([seconds for seconds in took if seconds > 0.5]) <= 2
        assert olga.call("GET", "/health/ready").status_code == 200
        measured = {sample.name: sample.value for sample in samples(pair.server)}
        assert measured["tripcompanion_replica_up"] == 0
        assert "tripcompanion_replica_lag_bytes" not in measured
        assert pair.fallbacks("away") > 0
    finally:
        come_back()
    pair.wait_until_it_is_read(olga)


def test_the_lag_is_measured(pair: Pair, olga: Traveller) -> None:
    pair.catch_up()
    assert total(pair.server, "replica_up") == 1
    with pair.paused():
        Journey.start(olga)
        time.sleep(0.2)
        assert total(pair.server, "replica_lag_bytes") > 0
        assert total(pair.server, "replica_lag_seconds") >= 0.2
    pair.catch_up()
    wait_until(lambda: total(pair.server, "replica_lag_seconds") == 0)


@pytest.mark.slow
def test_it_works_as_behind_a_pooler(pair: Pair) -> None:
    urls = {"DATABASE_REPLICA_URL": pair.replica.url, "DATABASE_POOLER": "transaction"}
    limits = {"DATABASE_REPLICA_MAX_LAG": "1", "METRICS_TOKEN": TOKEN, "WEB_CONCURRENCY": "1"}
    with serving(pair.primary.url, **urls, **limits) as (server, owner):
        assert outdated(owner, 10) == 0
        pair.catch_up()
        owner.done("GET", "/trips")
        assert total(server, "reads_total", database="replica") > 0
        assert total(server, "replica_fallbacks_total", reason="failed") == 0


def test_a_replica_that_was_promoted_is_not_read(pair: Pair, olga: Traveller) -> None:
    pair.wait_until_it_is_read(olga)
    # It is read until the server has noticed, at the latest with the next read.
    pair.replica.promote()
    run(pair.replica, "UPDATE users_user SET name = 'Somebody else'")
    assert {olga.done("GET", "/users/me")["name"] for _time in range(10)} == {"Tess Traveller"}
    assert pair.fallbacks("no_standby") > 0
