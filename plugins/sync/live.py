"""Wakes clients that wait for changes, when a trip of theirs has some.

In each process, one thread with one connection to the database does it while anybody waits. With
PostgreSQL it listens; behind a transaction pooler, which cannot pass that on, and with SQLite it
looks once a second. It wakes too many rather than too few: who is woken reads their own changes.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from threading import Event, Lock, Thread
from typing import Any
from weakref import WeakSet

import psycopg
from django.conf import settings
from django.db import Error, connection, transaction

from plugins.sync.waiting import Waiter
from tripcompanion.api.throttling import Limits
from trips.models import JournalEntry, Member

logger = logging.getLogger(__name__)

_CHANNEL = "journal"
#: How often it looks, how long it gathers what it hears, and when it ends if nobody waits.
LOOK_SECONDS, GATHER_SECONDS, IDLE_SECONDS = 1.0, 0.05, 30.0
#: How many rows of the journals it compares: those of a second, and of transactions that took long.
_ROWS = 1000


def listens() -> bool:
    """Whether changes are announced by PostgreSQL."""
    return connection.vendor == "postgresql" and settings.DATABASE_POOLER == "none"


def announce(trip_id: int, **_signal: Any) -> None:
    """Announce, after the commit, that a trip has changed.

    It is not done in the transaction: PostgreSQL commits those with announcements one by one.
    """
    if listens():
        transaction.on_commit(partial(_notify, trip_id))


def _notify(trip_id: int) -> None:
    # The change is made; who waits looks after a while anyway.
    with suppress(Error), connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [_CHANNEL, str(trip_id)])


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
            if self._thread is None:
                self._thread = Thread(target=self._run, daemon=True)
                self._thread.start()

    def _present(self) -> list[ChangeWaiter]:
        with self._lock:
            return list(self._waiters)

    def _run(self) -> None:
        try:
            while self._present():
                try:
                    self._follow()
                except (Error, psycopg.Error):
                    logger.warning("Changes are not seen while the database is away")
                    time.sleep(LOOK_SECONDS)
                finally:
                    connection.close()
        finally:
            self._thread = None

    def _follow(self) -> None:
        """Wake clients until none has been there for a while."""
        seen_at = time.monotonic()
        changed = self._listen if listens() else self._look
        for trips in changed():
            present = self._present()
            if present:
                seen_at = time.monotonic()
                if trips != set():
                    self._wake(present, trips)
            elif time.monotonic() > seen_at + IDLE_SECONDS:
                return

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

    def _listen(self) -> Iterator[set[int] | None]:
        """The trips of which PostgreSQL tells; at first None, and none while all is quiet."""
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {_CHANNEL}")
        yield None
        while True:
            notifies = connection.connection.notifies
            trips = {int(told.payload) for told in notifies(timeout=LOOK_SECONDS, stop_after=1)}
            if trips:
                time.sleep(GATHER_SECONDS)
                trips |= {int(told.payload) for told in notifies(timeout=0)}
            yield trips

    def _look(self) -> Iterator[set[int] | None]:
        """The trips of new rows, from one query a second; None if there are too many."""
        before: dict[int, int] | None = None
        while True:
            rows = JournalEntry.objects.order_by("-pk").values_list("pk", "trip")
            now = dict(rows[:_ROWS])
            if before is None or (len(now) == _ROWS and now.keys().isdisjoint(before)):
                yield None
            else:
                yield {trip_id for pk, trip_id in now.items() if pk not in before}
            before = now
            time.sleep(LOOK_SECONDS)


watch = Watch()
