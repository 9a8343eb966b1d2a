"""Whose turn it is, among threads that wait for the same thing."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from tripcompanion.api.problems import Unavailable

#: How long a request may wait for a connection to the database.
WAIT_SECONDS = 2.0


class Turns:
    """A semaphore whose waiters have their turns in the order in which they came.

    With Python's, a thread that has released it and asks again is mostly faster than those that
    were waiting, so that some wait for seconds although each request takes milliseconds.
    """

    def __init__(self, free: int) -> None:
        self._free = free
        self._lock = Lock()
        self._waiting: deque[Lock] = deque()

    @contextmanager
    def acquired(self, until: float) -> Iterator[None]:
        """Have a turn during the block; raises `Unavailable` if none comes until `until`."""
        self._wait(until)
        try:
            yield
        finally:
            self._pass_on()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let the next have the turn of this thread during the block, and then wait for another."""
        self._pass_on()
        try:
            yield
        finally:
            self._wait(None)

    def _wait(self, until: float | None) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=-1 if until is None else max(0.0, until - time.monotonic())):
            return
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                raise Unavailable
        # It came in the meantime.
        self._pass_on()
        raise Unavailable

    def _pass_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
