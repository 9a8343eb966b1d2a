"""Wakes clients that wait for changes, when a trip of theirs has some.

In each process, one thread with one connection to the database does it while anybody waits. Ten
times a second it looks for new rows in the journals. So writers announce nothing, and it works with
every database and through every pooler. It wakes too many rather than too few: who is woken reads
their own changes.
"""

import logging
import time
from threading import Event, Lock, Thread
from typing import NamedTuple
from weakref import WeakSet

from django.db import Error, connection
from django.db.models import Count, Max

from plugins.sync.waiting import Waiter
from tripcompanion.api.throttling import Limits
from trips.models import JournalEntry, Member

logger = logging.getLogger(__name__)

#: How often it looks, how long it waits for a lost database, and when it ends if nobody waits.
LOOK_SECONDS, RETRY_SECONDS, IDLE_SECONDS = 0.1, 1.0, 30.0
#: How many rows it compares: a transaction that took long adds rows before those of others.
_ROWS = 1000


class ChangeWaiter(Waiter):
    """A client that waits for changes of `account`, and what it got so far."""

    #: The cursor to go on with.
    since: str | None = None
    #: The trips that it knew when it looked last.
    trips: frozenset[int] = frozenset()

    def __init__(self, account: int, seconds: float, *, is_stream: bool, limits: Limits) -> None:
        super().__init__(account, seconds, is_stream=is_stream)
        self.limits, self.woken = limits, Event()
        # Before it reads, so that it misses nothing.
        watch.add(self)

    def wait(self, seconds: float) -> bool:
        watch.start()
        is_woken = self.woken.wait(seconds)
        # Who is woken just after the time is over runs the request next time.
        if is_woken:
            self.woken.clear()
        return is_woken


class Latest(NamedTuple):
    """The latest rows of all journals, by id with their trips."""

    rows: dict[int, int]

    @classmethod
    def read(cls) -> "Latest":
        rows = JournalEntry.objects.order_by("-pk").values_list("pk", "trip")
        return cls(dict(rows[:_ROWS]))

    def is_outdated(self) -> bool:
        """Whether there are other rows by now; asked in one row, for most of the time it is no."""
        since = JournalEntry.objects.filter(pk__gte=min(self.rows, default=0))
        found = since.aggregate(newest=Max("pk"), number=Count("pk"))
        return found != {"newest": max(self.rows, default=None), "number": len(self.rows)}

    def trips_since(self, before: "Latest") -> set[int] | None:
        """The trips of rows that `before` does not have; None if there may be more than these."""
        if len(self.rows) == _ROWS and self.rows.keys().isdisjoint(before.rows):
            return None
        return {trip_id for pk, trip_id in self.rows.items() if pk not in before.rows}


class Watch:
    """The waiting clients of this process, and the thread that wakes them."""

    def __init__(self) -> None:
        self._waiters: WeakSet[ChangeWaiter] = WeakSet()
        self._lock = Lock()
        self._thread: Thread | None = None

    def add(self, waiter: ChangeWaiter) -> None:
        with self._lock:
            self._waiters.add(waiter)

    def start(self) -> None:
        """Start the thread unless it runs; not before somebody waits, in a forked process."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, daemon=True)
                self._thread.start()

    def _present(self) -> list[ChangeWaiter]:
        with self._lock:
            return list(self._waiters)

    def _has_ended(self) -> bool:
        """Whether nobody waits any more; then whoever waits next starts another thread."""
        with self._lock:
            if self._waiters:
                return False
            self._thread = None
            return True

    def _run(self) -> None:
        while not self._has_ended():
            try:
                self._follow()
            except Error:
                logger.warning("Changes are not seen while the database is away")
                time.sleep(RETRY_SECONDS)
            finally:
                connection.close()

    def _follow(self) -> None:
        """Wake clients until none has been there for a while."""
        latest = Latest.read()
        # They may have read before that.
        self._wake(self._present(), None)
        seen_at = time.monotonic()
        while time.monotonic() < seen_at + IDLE_SECONDS:
            time.sleep(LOOK_SECONDS)
            present = self._present()
            if not present:
                continue
            seen_at = time.monotonic()
            if latest.is_outdated():
                before, latest = latest, Latest.read()
                self._wake(present, latest.trips_since(before))

    def _wake(self, present: list[ChangeWaiter], trips: set[int] | None) -> None:
        """Wake those whom a change of `trips` concerns, or all for None."""
        members: set[int] = set()
        if trips:
            users = {waiter.account for waiter in present}
            rows = Member.objects.filter(trip__in=trips, user__in=users)
            members.update(rows.values_list("user", flat=True))
        for waiter in present:
            # Who has lost a trip still knows it.
            if trips is None or waiter.account in members or waiter.trips & trips:
                waiter.woken.set()


watch = Watch()
