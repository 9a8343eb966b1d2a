"""Clients that follow changes while a worker, a host or the database goes away."""

import json
import random
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from chaos.environment import Environment, Failed
from chaos.writers import PASSWORD, Journal, Scene

#: An account may have five streams at once.
_ACCOUNTS, _STREAMS = 40, 5
_CATCH_UP_SECONDS = 30


class Follower(threading.Thread):
    """A client with a stream of the changes of an account; it comes back when it is cut off."""

    def __init__(self, scene: Scene, token: str, ending: threading.Event) -> None:
        super().__init__(daemon=True)
        self._url, self._trust = f"{scene.url}/api/changes", scene.trust
        self._token, self._ending = token, ending
        #: The texts of all expenses and settlements that it was told of.
        self.keys: set[str] = set()
        #: The statuses of its requests; "cut" for a connection that broke.
        self.answers: Counter[int | str] = Counter()
        self.cursor = ""

    def run(self) -> None:
        while not self._ending.is_set():
            try:
                self._follow()
            except httpx.TransportError:
                self.answers["cut"] += 1
            self._ending.wait(random.uniform(0.2, 1))

    def _follow(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "text/event-stream"}
        if self.cursor:
            headers["Last-Event-ID"] = self.cursor
        options: Any = {"headers": headers, "timeout": 40, "verify": self._trust}
        with httpx.stream("GET", self._url, **options) as response:
            self.answers[response.status_code] += 1
            if response.is_success:
                for line in response.iter_lines():
                    self._read(line)
                    if self._ending.is_set():
                        return

    def _read(self, line: str) -> None:
        name, _colon, value = line.partition(": ")
        if name == "id":
            self.cursor = value
        elif name == "data":
            state: dict[str, Any] = json.loads(value).get("state") or {}
            self.keys.add(state.get("description") or state.get("note") or "")


def followers_lose_a_worker(environment: Environment) -> Journal:
    """F43: a worker is killed with its share of 200 followers; each comes back, misses nothing."""
    return _followed(environment, lambda: environment.service.signal_worker(signal.SIGKILL))


def followers_lose_the_database(environment: Environment) -> Journal:
    """F44: PostgreSQL restarts under 200 followers; none of them misses a change."""
    cluster = environment.cluster
    if cluster is None:
        raise LookupError("this environment has no PostgreSQL")

    def restart() -> None:
        cluster.stop("fast")
        cluster.start()

    return _followed(environment, restart)


def _followed(environment: Environment, fault: Callable[[], object]) -> Journal:
    with following(environment.scene) as followers:
        before = answers_of(followers).total()
        with environment.load(writers=1) as journal:
            fault()
            journal.mark()
        waited = require_all_told(followers, journal)
        environment.note(f"all know all {waited:.1f} s after the last write")
        answers = answers_of(followers)
        environment.note(f"{answers.total() - before} came back")
        # 429: the place of a connection that has just been cut is not free yet.
        environment.require(answers.keys() <= {200, 429, 503, "cut"}, f"followers got {answers}")
    return journal


def answers_of(followers: Iterable[Follower]) -> Counter[int | str]:
    """The statuses of the requests of all, and how many connections broke."""
    return sum((follower.answers for follower in followers), Counter[int | str]())


def require_all_told(followers: Iterable[Follower], journal: Journal) -> float:
    """Wait until each was told of each acknowledged write; returns the seconds.

    Raises `Failed` if it takes too long.
    """
    keys, ended = {intent.key for intent in journal.acknowledged}, time.monotonic()
    while missing := sum(1 for follower in followers if keys - follower.keys):
        waited = time.monotonic() - ended
        if waited > _CATCH_UP_SECONDS:
            raise Failed(f"{missing} followers missed a change for {waited:.0f} s")
        time.sleep(0.1)
    return time.monotonic() - ended


@contextmanager
def following(scene: Scene, accounts: int = _ACCOUNTS) -> Iterator[list[Follower]]:
    """Followers of new members of the trip, five of each, who have their cursors."""
    own, ending = {"Authorization": f"Bearer {scene.tokens[0]}"}, threading.Event()
    followers = []
    with httpx.Client(base_url=f"{scene.url}/api", timeout=30, verify=scene.trust) as http:
        for _number in range(accounts):
            account = {"email": f"f{uuid.uuid4().hex}@example.com", "password": PASSWORD}
            made = http.post("/users/register", json=account).raise_for_status().json()
            member = {"userId": made["user"]["id"], "role": "VIEWER"}
            path = f"/trips/{scene.trip_id}/members"
            http.post(path, json=member, headers=own).raise_for_status()
            followers += [Follower(scene, made["token"], ending) for _one in range(_STREAMS)]
        for follower in followers:
            follower.start()
        until = time.monotonic() + _CATCH_UP_SECONDS
        while not all(follower.cursor for follower in followers):
            if time.monotonic() > until:
                raise Failed("not everybody got a stream")
            time.sleep(0.1)
        try:
            yield followers
        finally:
            ending.set()
            # A line for each, at which it ends.
            http.patch(f"/trips/{scene.trip_id}", json={"title": "The end"}, headers=own)
            for follower in followers:
                follower.join(_CATCH_UP_SECONDS)
