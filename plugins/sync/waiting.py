"""Clients that wait for something, without a connection to the database.

A waiting client has a thread that sleeps. Threads are counted: a process has `MOST_WAITING` for
them, beside those for requests that run, and an account has `MOST_OF_ACCOUNT` on a host.
"""

import errno
import os
import random
import socket
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, lockf
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

from django.conf import settings

from tripcompanion.api.keeping import Kept, draining
from tripcompanion.api.problems import TooManyAtOnce, Unavailable
from tripcompanion.api.turns import WAIT_SECONDS, Turns
from tripcompanion.observability import request_ids
from tripcompanion.observability.instruments import Gauge

MOST_WAITING = 512
MOST_OF_ACCOUNT = 5
#: A request is run again after this time, even if nothing has happened: it notices a session that
#: has ended, and its comment in a stream notices a client that is gone.
LOOK_SECONDS = 15.0
#: How soon a waiting client is let go when it disconnects or the process ends.
_STEP_SECONDS = 1.0

Parts = Iterable[bytes]

_WAITING = Gauge(
    "tripcompanion_waiting_requests",
    "Requests that wait for a change, without a database connection.",
    multiprocess_mode="livesum",
)


class Slots:
    """So many slots for each key, shared by the processes that were forked from this one.

    A slot is a locked byte of a file, so the system frees those of a process that is killed. A
    process does not lock out itself, so it remembers its own.
    """

    def __init__(self, count: int) -> None:
        self._count, self._own, self._lock = count, set[int](), Lock()
        with TemporaryFile() as file:
            self._file = os.dup(file.fileno())

    @contextmanager
    def taken(self, key: int) -> Iterator[None]:
        """Have a slot during the block; raises `TooManyAtOnce` if none is free."""
        with self._lock:
            slot = self._take(key)
        try:
            yield
        finally:
            with self._lock:
                lockf(self._file, LOCK_UN, 1, slot)
                self._own.remove(slot)

    def _take(self, key: int) -> int:
        first = key % 2**56 * self._count
        for slot in range(first, first + self._count):
            if slot not in self._own:
                try:
                    lockf(self._file, LOCK_EX | LOCK_NB, 1, slot)
                except OSError as error:
                    if error.errno not in {errno.EACCES, errno.EAGAIN}:
                        raise
                else:
                    self._own.add(slot)
                    return slot
        raise TooManyAtOnce


class Waiter:
    """A waiting client of an account; `is_stream` if its responses make a stream of events.

    It is the keeper of its request.
    """

    #: Whether to wait before the request is run again; the view sets it.
    is_waiting = False

    def __init__(self, account: int, seconds: float, *, is_stream: bool) -> None:
        self.account, self.is_stream = account, is_stream
        self.ends_at = time.monotonic() + seconds

    @property
    def has_time(self) -> bool:
        return time.monotonic() < self.ends_at and not draining.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so many seconds; return whether to run the request again."""
        raise NotImplementedError

    def __call__(self, kept: Kept, parts: Parts) -> Parts:
        """What the request answers, at once or after a while.

        The client is counted until it has the response. Raises `TooManyAtOnce` and `Unavailable`.
        """
        if not (_succeeded(kept.head) and (self.is_stream or self.is_waiting)):
            return parts
        kept.until_sent.enter_context(_slots.taken(self.account))
        kept.until_sent.enter_context(_room.acquired(time.monotonic()))
        kept.until_sent.enter_context(_WAITING.track_inprogress())
        # All responses have the id of the request.
        kept.environ["HTTP_X_REQUEST_ID"] = dict(kept.head[1])[request_ids.HEADER]
        if self.is_stream:
            kept.head[1] = [field for field in kept.head[1] if field[0] != "Content-Length"]
            return self._stream(kept, parts)
        # A refusal is sent at once: the view, which would end the waiting, was not asked.
        while _succeeded(kept.head) and self.is_waiting and self._is_due(_socket_of(kept)):
            parts = _look(kept)
        return parts

    def _stream(self, kept: Kept, parts: Parts) -> Generator[bytes]:
        """The parts of all responses until one is refused or the time is over.

        Ends with when to come back.
        """
        with suppress(Unavailable):
            while _succeeded(kept.head):
                for part in parts:
                    yield from _sent(kept, part)
                if not self.has_time or (self.is_waiting and not self._is_due(_socket_of(kept))):
                    break
                parts = _look(kept)
        yield from _sent(kept, hint())

    def _is_due(self, sock: socket.socket | None) -> bool:
        """Wait until the request is to run again; False if the process ends or the client left."""
        until = min(time.monotonic() + LOOK_SECONDS, self.ends_at)
        while not (draining.is_set() or _is_gone(sock)):
            left = until - time.monotonic()
            if left <= 0 or self.wait(min(left, _STEP_SECONDS)):
                return True
        return False


def hint() -> bytes:
    """Tells the client of a stream when to come back, in milliseconds: not all at the same time."""
    return b"retry: %d\n\n" % random.randint(500, 3000)  # noqa: S311 -- no secret


def _sent(kept: Kept, part: bytes) -> Generator[bytes]:
    with kept.sending():
        yield part


def _look(kept: Kept) -> Parts:
    with _looks.acquired(time.monotonic() + WAIT_SECONDS):
        return kept.run()


def _socket_of(kept: Kept) -> socket.socket | None:
    found: socket.socket | None = kept.environ.get("gunicorn.socket")
    return found


def _succeeded(head: list[Any]) -> bool:
    return str(head[0]).startswith("200 ")


def _is_gone(sock: socket.socket | None) -> bool:
    """Whether the client has closed its connection."""
    if sock is None:
        return False
    try:
        return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


# Made before the server forks its processes, which share the slots.
_slots, _room = Slots(MOST_OF_ACCOUNT), Turns(MOST_WAITING)
#: How many waiting clients may be answered at once, so that others come first.
_looks = Turns(max(1, (settings.DATABASE_POOL_SIZE or 4) // 2))
