"""Keeps clients waiting; see `api/waiting.py`.

A waiting client has a thread that sleeps, and no connection to the database. Threads are counted: a
process has `MOST_WAITING` for them, beside those for requests that run, and an account has
`MOST_OF_ACCOUNT` on a host.
"""

import errno
import os
import socket
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, lockf
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

from tripcompanion.api.problems import TooManyAtOnce, Unavailable
from tripcompanion.api.waiting import WAITER, Waiter, draining, hint
from tripcompanion.observability import request_ids
from tripcompanion.observability.instruments import WAITING
from tripcompanion.serving.admission import SEND_SECONDS, WAIT_SECONDS, Deadlines, Turns

MOST_WAITING = 512
MOST_OF_ACCOUNT = 5
#: A request is run again after this time, even if nothing has happened: it notices a session that
#: has ended, and its comment in a stream notices a client that is gone.
LOOK_SECONDS = 15.0
#: How soon a waiting client is let go when it disconnects or the process ends.
_STEP_SECONDS = 1.0

Parts = Iterable[bytes]


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


class Waits:
    """The waiting clients of a process."""

    def __init__(self, looks: int, deadlines: Deadlines) -> None:
        """`looks` is how many of them may be answered at once, so that others come first."""
        self._slots, self._room = Slots(MOST_OF_ACCOUNT), Turns(MOST_WAITING)
        self._turns, self._deadlines = Turns(looks), deadlines

    def answer(
        self,
        environ: dict[str, Any],
        head: list[Any],
        run: Callable[[], Parts],
        until_sent: ExitStack,
    ) -> Parts:
        """What `run` answers, at once or after a while; each time, it sets the status and headers.

        A client that waits is counted until `until_sent` is closed. Raises `TooManyAtOnce` and
        `Unavailable`.
        """
        parts = run()
        waiter: Waiter | None = environ.get(WAITER)
        if waiter is None or not _succeeded(head) or not (waiter.is_stream or waiter.is_waiting):
            return parts
        until_sent.enter_context(self._slots.taken(waiter.account))
        until_sent.enter_context(self._room.acquired(time.monotonic()))
        until_sent.enter_context(WAITING.track_inprogress())
        # All responses have the id of the request.
        environ["HTTP_X_REQUEST_ID"] = dict(head[1])[request_ids.HEADER]
        sock = environ.get("gunicorn.socket")
        if waiter.is_stream:
            head[1] = [field for field in head[1] if field[0] != "Content-Length"]
            return self._stream(waiter, sock, parts, run, head)
        while waiter.is_waiting and self._is_due(waiter, sock):
            parts = self._look(run)
        return parts

    def _stream(
        self,
        waiter: Waiter,
        sock: socket.socket | None,
        parts: Parts,
        run: Callable[[], Parts],
        head: list[Any],
    ) -> Generator[bytes]:
        """The parts of all responses until one is refused or the time is over.

        Ends with when to come back.
        """
        with suppress(Unavailable):
            while _succeeded(head):
                for part in parts:
                    yield from self._sent(sock, part)
                if not waiter.has_time or (waiter.is_waiting and not self._is_due(waiter, sock)):
                    break
                parts = self._look(run)
        yield from self._sent(sock, hint())

    def _sent(self, sock: socket.socket | None, part: bytes) -> Generator[bytes]:
        if sock is None:
            yield part
            return
        with self._deadlines.watching(sock, SEND_SECONDS):
            yield part

    def _look(self, run: Callable[[], Parts]) -> Parts:
        with self._turns.acquired(time.monotonic() + WAIT_SECONDS):
            return run()

    def _is_due(self, waiter: Waiter, sock: socket.socket | None) -> bool:
        """Wait until the request is to run again; False if the process ends or the client left."""
        until = min(time.monotonic() + LOOK_SECONDS, waiter.ends_at)
        while not (draining.is_set() or _is_gone(sock)):
            left = until - time.monotonic()
            if left <= 0 or waiter.wait(min(left, _STEP_SECONDS)):
                return True
        return False


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
