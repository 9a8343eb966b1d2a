"""A thread's part in the soak: whose turn it is, what there is, and how it is asked for."""

import random
import time
from typing import Any

from tests.soak.journal import Act, Journal, Key
from tests.soak.world import Client, Person, PlayedTrip

_SHARE_IMPATIENT = 0.01
#: Nobody gives up in the end, so that the server is at rest when all have ended.
_PATIENT_SECONDS = 6


class Moves:
    """Base of the moves: it chooses who does what, and sends requests until `deadline`."""

    def __init__(self, client: Client, journal: Journal, seed: str, deadline: float) -> None:
        self._client, self._journal, self._deadline = client, journal, deadline
        self._random = random.Random(seed)

    def _anybody(self, trip: PlayedTrip) -> Person:
        return self._random.choice(trip.people)

    def _manager(self, trip: PlayedTrip) -> Person:
        """Mostly the first owner, also the second, and anybody who may have been one."""
        [person] = self._random.choices(
            [trip.chief, trip.people[1], self._anybody(trip)], [60, 20, 20]
        )
        return person

    def _target(self, trip: PlayedTrip) -> Person:
        """Somebody to be removed or given another role; the first owner rarely."""
        is_chief = self._random.random() < 0.03
        return trip.chief if is_chief else self._random.choice(trip.people[1:])

    def _one(self, rows: list[Any]) -> Any:
        """One of the latest rows, which others are likely to choose too; None if there are none."""
        return self._random.choice(rows[-6:]) if rows else None

    def _send(
        self, act: Act, caller: Person, key: Key, method: str, path: str,
        body: Any = None, expense: int = 0,
    ) -> Any:  # fmt: skip
        request = self._client.request(act, caller, key)
        request.expense = expense
        body = body(request.marker) if callable(body) else body
        is_impatient = self._random.random() < _SHARE_IMPATIENT
        is_impatient &= time.monotonic() < self._deadline - _PATIENT_SECONDS
        answer = self._client.send(request, caller, method, path, body, is_impatient=is_impatient)
        if request.succeeded and act is Act.RENEW_CODE:
            request.code = answer["tripCode"]
        return answer if request.succeeded else None
