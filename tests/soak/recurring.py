"""Moves with recurring expenses, and the processes that record them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from tests.server import Server
from tests.soak.journal import Act
from tests.soak.moves import Moves
from tests.soak.world import PlayedTrip

#: They compete for the same dates.
_RECORDERS = 2


class RecurringMoves(Moves):
    """Starts and ends recurring expenses, of which some dates have passed."""

    def _recur(self, trip: PlayedTrip) -> None:
        path = f"/trips/{trip.id}/recurring"
        first = datetime.now(UTC).date() - timedelta(days=self._random.randint(0, 3))
        people = self._random.sample(trip.named, 2)
        expense = {
            "amount": self._random.randint(10, 99), "currency": trip.currency, "splitType": "EQUAL",
            "participantUserIds": people, "paidByUserId": self._random.choice(trip.spenders).id,
        }  # fmt: skip
        shown = self._send(
            Act.RECUR, self._anybody(trip), trip.id, "POST", path,
            lambda marker: {
                "rule": "FREQ=DAILY", "startsOn": str(first),
                "expense": {**expense, "description": marker},
            },
        )  # fmt: skip
        if shown:
            trip.recurrences.append(shown["id"])

    def _end_recurrence(self, trip: PlayedTrip) -> None:
        found = self._one(trip.recurrences)
        if found is not None:
            caller, path = self._anybody(trip), f"/trips/{trip.id}/recurring/{found}"
            self._send(Act.END_RECURRENCE, caller, found, "DELETE", path)


@contextmanager
def recorders(server: Server) -> Iterator[None]:
    """Record what is due in several processes at once; at the end, nothing is due any more."""
    command = [sys.executable, "manage.py", "record_recurring", "--watch"]
    processes = [
        subprocess.Popen(command, cwd=server.root, env=server.environment)
        for _number in range(_RECORDERS)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
    server.manage("record_recurring")
