"""The people and trips of a soak, which all threads share, and how a request is sent."""

import itertools
import json
import math
import random
import secrets
import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

PASSWORD = "four-green-suitcases"
CURRENCIES = ("EUR", "JPY", "KWD", "USD")
#: How many trips are used at a time: few, so that many wait for the lock of the same one.
_TRIPS = 2
_PEOPLE = 12
#: After so many moves a trip gives way to a new one, in which the currency may still change.
_SHORTEST_LIFE, _LONGEST_LIFE = 60, 400
_TIMEOUT_SECONDS = 30
#: Of a client that gives up before most answers come.
_IMPATIENT_SECONDS = 0.02
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Person:
    """An account with a token."""

    id: int
    token: str


@dataclass
class Request:
    """One request, and what the journal has if it succeeds.

    `event` is that of the command's first row in the trip `trip_id`, which is 0 for any trip, about
    `object_id`, which is None for any object. If the request `is_certain`, it never succeeds
    without writing. `marker` is a text that no other request has in its body.
    """

    caller: int
    method: str = ""
    path: str = ""
    body: Any = None
    event: str = ""
    trip_id: int = 0
    object_id: int | None = None
    is_certain: bool = True
    started: float = 0
    ended: float = math.inf
    #: None if the connection was cut before there was an answer.
    status: int | None = None
    number: int = field(default_factory=_NUMBERS.__next__)

    @property
    def marker(self) -> str:
        return f"request {self.number:06}"

    @property
    def succeeded(self) -> bool:
        return self.status is not None and self.status < 400

    @property
    def is_refused(self) -> bool:
        return self.status is not None and 400 <= self.status < 500

    def __str__(self) -> str:
        sent = f"{self.marker}: user {self.caller} {self.method} {self.path} {self.body}"
        return f"{sent}, {self.started:.3f} to {self.ended:.3f}: {self.status or 'no answer'}"


@dataclass
class PlayedTrip:
    """A trip as the players know it, which may be out of date."""

    id: int
    code: str
    #: Its first owner, who is hardly ever removed.
    chief: Person
    people: list[Person]
    currency: str
    #: How many moves it lives for.
    life: int
    moves: int = 0
    #: By the name of the placeholder in a path: ids, or tuples that begin with one.
    rows: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))

    @property
    def spenders(self) -> list[Person]:
        """Who is named in expenses. The others keep a balance of zero, so they can be removed."""
        return [self.chief, *self.people[1:4]]

    @property
    def named(self) -> list[int]:
        """The users of the spenders, and of the last two guests."""
        return [*(person.id for person in self.spenders), *self.rows["guest"][-2:]]


class Client:
    """One thread's way to the server; notes each request in `requests`."""

    def __init__(self, url: str, requests: list[Request]) -> None:
        self._url, self.requests = url, requests
        self._http = self._open()
        #: Of the last answer, without quotes.
        self.etag = ""

    def _open(self) -> httpx.Client:
        return httpx.Client(base_url=f"{self._url}/api", timeout=_TIMEOUT_SECONDS, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def register(self) -> Person:
        """A new account."""
        return self.enter("/users/register", f"{secrets.token_hex(8)}@example.com")

    def enter(self, path: str, email: str) -> Person:
        """Log in or register."""
        body = {"email": email, "password": PASSWORD}
        login = self._http.post(path, json=body).raise_for_status().json()
        return Person(login["user"]["id"], login["token"])

    def show_trip(self, person: Person, trip_id: int) -> None:
        """Let somebody read a trip to which they were added, so that they leave as members do."""
        with suppress(httpx.TransportError):
            self._http.get(f"/trips/{trip_id}", headers=_headers(person))

    def send(self, request: Request, caller: Person, *, is_impatient: bool = False) -> Any:
        """Send it; the JSON of the answer, or None if it did not succeed or there is none."""
        self.requests.append(request)
        timeout = _IMPATIENT_SECONDS if is_impatient else _TIMEOUT_SECONDS
        request.started = time.time()
        try:
            response = self._http.request(
                request.method, request.path,
                json=request.body, headers=_headers(caller), timeout=timeout,
            )  # fmt: skip
        except httpx.TransportError:
            self._http.close()
            self._http = self._open()
            return None
        request.ended, request.status = time.time(), response.status_code
        self.etag = response.headers.get("ETag", "").strip('"')
        return json.loads(response.content) if request.succeeded and response.content else None


class World:
    """Who there is, and which trips are played in."""

    def __init__(self, client: Client, seed: str) -> None:
        self.people = [client.register() for _number in range(_PEOPLE)]
        self.trips: list[PlayedTrip] = []
        self._replacing = threading.Lock()
        rng = random.Random(seed)
        for _number in range(_TRIPS):
            self.trips.append(self._start(client, rng))

    def pick(self, client: Client, rng: random.Random) -> PlayedTrip:
        """One of the trips; a new one in the place of one that has had its time."""
        slot = rng.randrange(_TRIPS)
        trip = self.trips[slot]
        trip.moves += 1
        if trip.moves > trip.life and self._replacing.acquire(blocking=False):
            try:
                trip = self.trips[slot] = self._start(client, rng)
            finally:
                self._replacing.release()
        return trip

    def replace(self, person: Person, successor: Person) -> None:
        """Have `successor` play in the place of an account that was closed."""
        self.people = [successor if one == person else one for one in self.people]

    def _start(self, client: Client, rng: random.Random) -> PlayedTrip:
        """A new trip of two owners, four editors and two viewers; the others are strangers.

        Most are of the same people as another one, and start in its currency, so that expenses can
        go from one to the other.
        """
        answer: Any = None
        while answer is None:
            people, currency = rng.sample(self.people, _PEOPLE), rng.choice(CURRENCIES)
            if self.trips and rng.random() < 0.8:
                twin = rng.choice(self.trips)
                currency = twin.currency
                known = [person for person in twin.people if person in people]
                people = known + [person for person in people if person not in known]
            chief = people[0]
            request = Request(chief.id, "POST", "/trips", event="trip.created")
            request.body = {
                "title": request.marker, "destination": "Lisbon",
                "startDate": "2026-05-14", "endDate": "2026-05-18",
                "budget": amount(rng), "currency": currency, "joinRole": "EDITOR",
            }  # fmt: skip
            answer = client.send(request, chief)
        trip_id = request.trip_id = request.object_id = answer["id"]
        path, event = f"/trips/{trip_id}/members", "member.added"
        roles = ("OWNER", "EDITOR", "EDITOR", "EDITOR", "EDITOR", "VIEWER", "VIEWER")
        for person, role in zip(people[1:], roles, strict=False):
            body = {"userId": person.id, "role": role}
            client.send(Request(chief.id, "POST", path, body, event, trip_id, person.id), chief)
            client.show_trip(person, trip_id)
        life = rng.randint(_SHORTEST_LIFE, _LONGEST_LIFE)
        return PlayedTrip(trip_id, answer["tripCode"], chief, people, currency, life)


def amount(rng: random.Random) -> str:
    """An amount with three decimals: another number of minor units with 0, 2 and 3 of them."""
    return f"{rng.randint(10, 99)}.{rng.randint(100, 999)}"


def _headers(person: Person) -> dict[str, str]:
    return {"Authorization": f"Bearer {person.token}"}
