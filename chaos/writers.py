"""Writers that retry until acknowledged, and the journal of what was acknowledged."""

import random
import ssl
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

PASSWORD = "four-green-suitcases"
_PAUSE_SECONDS = 0.05
_GIVE_UP_SECONDS = 60


@dataclass
class Scene:
    """A trip with four members on the service, and their tokens.

    `trust` is the certificate of a proxy in front of it.
    """

    url: str
    trip_id: int
    user_ids: list[int]
    tokens: list[str]
    trust: ssl.SSLContext | bool = True

    @classmethod
    def make(cls, url: str, trust: ssl.SSLContext | bool = True) -> "Scene":
        """Register four users; the first creates a trip with all of them."""
        with httpx.Client(base_url=f"{url}/api", timeout=30, verify=trust) as http:
            logins = [
                _post(http, "/users/register", email=f"w{uuid.uuid4().hex}@example.com",
                      password=PASSWORD)
                for _one in range(4)
            ]  # fmt: skip
            http.headers["Authorization"] = f"Bearer {logins[0]['token']}"
            trip = _post(
                http, "/trips", title="Lisbon", destination="Lisbon", currency="EUR",
                startDate="2026-05-14", endDate="2026-05-18",
            )  # fmt: skip
            for login in logins[1:]:
                user_id = login["user"]["id"]
                _post(http, f"/trips/{trip['id']}/members", userId=user_id, role="EDITOR")
                # Whoever has read the trip cannot leave it with a balance.
                own = {"Authorization": f"Bearer {login['token']}"}
                http.get(f"/trips/{trip['id']}", headers=own).raise_for_status()
        ids = [login["user"]["id"] for login in logins]
        return cls(url, trip["id"], ids, [login["token"] for login in logins], trust)


def _post(http: httpx.Client, path: str, **body: Any) -> Any:
    return http.post(path, json=body).raise_for_status().json()


@dataclass
class Intent:
    """A write to be stored once: an expense or a settlement whose text contains its key."""

    path: str
    body: dict[str, Any]
    key: str
    started: float
    acknowledged: float | None = None
    tries: int = 0


@dataclass
class Journal:
    """All attempted and acknowledged writes, and a count of the responses."""

    intents: list[Intent] = field(default_factory=list)
    answers: Counter[int | str] = field(default_factory=Counter)
    #: Times at which a fault ended or happened.
    marks: list[float] = field(default_factory=list)

    def mark(self) -> None:
        """Record that a fault has ended; recovery is measured from here."""
        self.marks.append(time.monotonic())

    @property
    def acknowledged(self) -> list[Intent]:
        return [intent for intent in self.intents if intent.acknowledged]

    @property
    def worst_recovery_ms(self) -> float:
        """The longest time from a mark to the first acknowledgement after it."""
        times = sorted(intent.acknowledged or 0.0 for intent in self.acknowledged)
        waits = [
            min((at - mark for at in times if at >= mark), default=float("inf"))
            for mark in self.marks
        ]
        return max(waits, default=0.0) * 1000

    @property
    def worst_intent_ms(self) -> float:
        """The longest time from a first attempt to its acknowledgement."""
        waits = [(one.acknowledged or 0.0) - one.started for one in self.acknowledged]
        return max(waits, default=0.0) * 1000

    @property
    def unexpected(self) -> dict[int | str, int]:
        """Responses that no fault explains, such as other 4xx or a 500."""
        fine = {200, 201, 409, 429, 502, 503, 504, "cut", "slow"}
        return {answer: count for answer, count in self.answers.items() if answer not in fine}


class Writer(threading.Thread):
    """A client that repeats each request with the same key until it is acknowledged."""

    def __init__(
        self, scene: Scene, journal: Journal, stop: threading.Event, timeout_seconds: float
    ) -> None:
        super().__init__(daemon=True)
        self._scene, self._journal, self._ending = scene, journal, stop
        self._timeout_seconds = timeout_seconds
        self._http = self._client()

    def _client(self) -> httpx.Client:
        url, trust = f"{self._scene.url}/api", self._scene.trust
        return httpx.Client(base_url=url, timeout=self._timeout_seconds, verify=trust)

    def run(self) -> None:
        while not self._ending.is_set():
            intent = self._next()
            self._journal.intents.append(intent)
            while not self._try(intent):
                if time.monotonic() - intent.started > _GIVE_UP_SECONDS:
                    return
                time.sleep(_PAUSE_SECONDS)

    def _next(self) -> Intent:
        key = uuid.uuid4().hex
        ids = self._scene.user_ids
        amount = random.randint(1, 9999) / 100
        trip = f"/trips/{self._scene.trip_id}"
        if random.random() < 0.3:
            # Back to the payer of all expenses, and more than is owed for them on average:
            # otherwise, open debts would reach their limit on a fast machine.
            sender, receiver = random.choice(ids[1:]), ids[0]
            body = {"fromUserId": sender, "toUserId": receiver, "amount": amount * 2, "note": key}
            return Intent(f"{trip}/settlements", body, key, time.monotonic())
        body = {
            "description": key, "amount": amount, "expenseDate": "2026-05-15",
            "splitType": "EQUAL", "participantUserIds": ids,
        }  # fmt: skip
        return Intent(f"{trip}/expenses", body, key, time.monotonic())

    def _try(self, intent: Intent) -> bool:
        """Send it once; True if it was acknowledged."""
        intent.tries += 1
        try:
            answer = self._http.post(intent.path, json=intent.body, headers=self._headers(intent))
        except httpx.TimeoutException:
            self._journal.answers["slow"] += 1
            self._reconnect()
            return False
        except httpx.TransportError:
            self._journal.answers["cut"] += 1
            self._reconnect()
            return False
        self._journal.answers[answer.status_code] += 1
        if not self._is_done(answer):
            return False
        intent.acknowledged = time.monotonic()
        return True

    def _headers(self, intent: Intent) -> dict[str, str]:
        bearer = f"Bearer {self._scene.tokens[0]}"
        return {"Authorization": bearer, "Idempotency-Key": intent.key}

    def _is_done(self, answer: httpx.Response) -> bool:
        return answer.status_code == 201

    def _reconnect(self) -> None:
        self._http.close()
        self._http = self._client()


class ProgramWriter(Writer):
    """A program for Splitwise's API, or an assistant, which sends the same call without a key."""

    def _next(self) -> Intent:
        key, trip = uuid.uuid4().hex, self._scene.trip_id
        cost = random.randint(1, 9999) / 100
        if random.random() < 0.5:
            body = {"cost": str(cost), "description": key, "group_id": trip, "split_equally": True}
            return Intent("/v3.0/create_expense", body, key, time.monotonic())
        arguments = {
            "trip": trip, "description": key, "amount": cost, "expenseDate": "2026-05-15",
            "splitType": "EQUAL", "participantUserIds": self._scene.user_ids,
        }  # fmt: skip
        params = {"name": "add_expense", "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return Intent("/mcp", call, key, time.monotonic())

    def _headers(self, intent: Intent) -> dict[str, str]:
        headers = super()._headers(intent)
        if intent.path == "/mcp":
            del headers["Idempotency-Key"]
        return headers | {"Accept": "application/json, text/event-stream"}

    def _is_done(self, answer: httpx.Response) -> bool:
        """A refusal is 200, too."""
        if answer.status_code != 200:
            return False
        found = answer.json()
        return bool(found.get("expenses")) or not found.get("result", {}).get("isError", True)


@contextmanager
def writing(
    *scenes: Scene, writers: int = 8, timeout_seconds: float = 8, kind: type[Writer] = Writer
) -> Iterator[Journal]:
    """Run so many writers for each scene; at the end each finishes its current write."""
    journal, stop = Journal(), threading.Event()
    threads = [
        kind(scene, journal, stop, timeout_seconds) for scene in scenes for _one in range(writers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield journal
    finally:
        stop.set()
        for thread in threads:
            thread.join(_GIVE_UP_SECONDS + 10)
