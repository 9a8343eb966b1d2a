"""How much of a process one caller may hold at once, so that nobody takes the service from others.

A caller is an account or, without one, an address. Each may hold a share of the threads; beyond it,
requests are refused at once. Each may use half of the database connections; further requests wait.
Requests that change a trip which others are changing also wait here. Otherwise they would hold a
connection while they wait for its lock. No wait is longer than `WAIT_SECONDS`.
"""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from types import SimpleNamespace
from typing import Any

from django.http.request import HttpHeaders

from tripcompanion.api.middleware import is_large_body
from tripcompanion.api.problems import TooManyAtOnce
from tripcompanion.api.throttling import client_of
from tripcompanion.api.turns import Turns
from users.tokens import account_of

#: How many threads of a process a caller may hold.
MOST_AT_ONCE = 64
#: How long a body may take to arrive.
BODY_SECONDS = 10
#: How long a large one may take, such as a file to import.
LARGE_BODY_SECONDS = 60
#: How long a client may take to read a response that is in memory.
SEND_SECONDS = 60

#: What a write changes: a trip, or an expense of one.
_LOCKED = re.compile(r"/api/(?:trips|expenses)/[0-9]{1,19}(?=/|$)")
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def caller_of(environ: dict[str, Any]) -> str:
    """The account of the token, or else the client's address."""
    if account := account_of(environ.get("HTTP_AUTHORIZATION", "")):
        return f"account {account}"
    request: Any = SimpleNamespace(META=environ, headers=HttpHeaders(environ))
    return f"address {client_of(request)}"


def changed_by(environ: dict[str, Any]) -> str | None:
    """The path of the trip or expense that a request may change, or None.

    A file is stored before anything is locked.
    """
    if environ["REQUEST_METHOD"] in _READS or is_large_body(environ["PATH_INFO"]):
        return None
    found = _LOCKED.match(environ["PATH_INFO"])
    return found.group() if found else None


class Shares:
    """How many requests each key has. It may have `at_once`, of which `running` may run."""

    def __init__(self, *, at_once: int, running: int) -> None:
        self._at_once, self._running = at_once, running
        self._lock = Lock()
        self._held: dict[str, tuple[int, Turns]] = {}

    @contextmanager
    def held(self, key: str) -> Iterator[Turns]:
        """Count a request during the block; yields what it has to acquire before it runs.

        Raises `TooManyAtOnce`.
        """
        with self._lock:
            count, running = self._held.get(key) or (0, Turns(self._running))
            if count >= self._at_once:
                raise TooManyAtOnce
            self._held[key] = count + 1, running
        try:
            yield running
        finally:
            with self._lock:
                count, _running = self._held.pop(key)
                if count > 1:
                    self._held[key] = count - 1, running


class Deadlines:
    """Ends the use of sockets by clients that take too long, however slowly bytes move."""

    def __init__(self) -> None:
        self._watched: dict[object, tuple[float, socket.socket]] = {}
        self._thread: Thread | None = None

    @contextmanager
    def watching(self, sock: socket.socket | None, seconds: float) -> Iterator[None]:
        """During the block, nothing is read from or written to a `sock` after so many seconds."""
        key = object()
        if sock is not None:
            self._watched[key] = time.monotonic() + seconds, sock
        if self._thread is None:
            # Not earlier: the server forks its processes, and a thread would not follow.
            self._thread = Thread(target=self._watch, daemon=True)
            self._thread.start()
        try:
            yield
        finally:
            self._watched.pop(key, None)

    def _watch(self) -> None:
        while True:
            time.sleep(1)
            now = time.monotonic()
            for ends_at, sock in list(self._watched.values()):
                if ends_at <= now:
                    with suppress(OSError):
                        sock.shutdown(socket.SHUT_RDWR)
