"""The WSGI entry point that the production server loads."""

import errno
import os
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from io import BytesIO
from queue import Empty, LifoQueue
from tempfile import SpooledTemporaryFile
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from tripcompanion.database.lending import returning
from tripcompanion.database.schema_floor import migrations_of_code
from tripcompanion.observability.probes import PROBES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")

from tripcompanion.observability import instruments  # noqa: E402 -- it reads the settings

#: How long a probe may wait for the one before it.
PROBE_SECONDS = 10.0
_COPIED_BYTES = 64 * 1024


class _Parts(list[bytes]):
    """A response, to which the server's `close` is added."""

    close: Callable[[], None]


class _Stream:
    """A generator, to which the server's `close` is added."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    close: Callable[[], None]


class Dispatcher:
    """Runs `application` with one of a few database connections, whichever is free.

    The server has many threads, because a thread waits for its client while it reads the body and
    writes the response. Only while it runs the application does it borrow a connection, which
    therefore never waits for a client. Each probe has a connection of its own: an orchestrator
    sees that the process is alive even when all others are busy.
    """

    def __init__(self, application: WSGIApplication, connection_count: int) -> None:
        self._application = application
        self._connections = _connections(connection_count)
        self._probes = {path: _connections(1) for path in PROBES}
        half = max(1, connection_count // 2)
        self._callers = admission.Shares(at_once=admission.MOST_AT_ONCE, running=half)
        self._trips = admission.Shares(at_once=sys.maxsize, running=half)
        self._deadlines = admission.Deadlines()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # With a body, a probe is a request like any other: its client may be slow.
        path = None if _has_body(environ) else environ["PATH_INFO"]
        if path in settings.NEVER_QUEUED:
            return self._answer_with_new_connection(environ, start_response)
        try:
            if path in self._probes:
                since, free = time.monotonic(), self._probes[path]
                until = since + PROBE_SECONDS
                return self._answer_with(free, environ, start_response, since, until)
            with ExitStack() as until_sent:
                running = until_sent.enter_context(self._callers.held(admission.caller_of(environ)))
                self._read_body(environ)
                head: list[Any] = []
                run = partial(self._run, environ, head, running)
                parts = run()
                if (keep := environ.get(KEEPER)) is not None:
                    sock = environ.get("gunicorn.socket")
                    sending = partial(self._deadlines.watching, sock, admission.SEND_SECONDS)
                    parts = keep(Kept(environ, head, run, until_sent, sending), parts)
                start_response(*head)
                return self._sending(environ, parts, until_sent.pop_all())
        except (TooManyAtOnce, Unavailable) as refusal:
            environ[REFUSAL] = refusal
            environ.pop(KEEPER, None)
            _give_up_body(environ, start_response)
            return self._answer(environ, start_response)

    def _run(self, environ: WSGIEnvironment, head: list[Any], running: "Turns") -> Iterable[bytes]:
        """The response, with a free connection; `head` becomes its status and headers."""

        def start_response(*arguments: Any) -> Any:
            head[:] = arguments[:2]

        since = time.monotonic()
        until = since + WAIT_SECONDS
        with (
            instruments.REQUESTS_IN_PROGRESS.track_inprogress(),
            self._acquired(environ, running, until) as turns,
        ):
            free = self._connections
            return self._answer_with(free, environ, start_response, since, until, turns)

    def _read_body(self, environ: WSGIEnvironment) -> None:
        sock = environ.get("gunicorn.socket") if _has_body(environ) else None
        is_large = is_large_body(environ["PATH_INFO"])
        seconds = admission.LARGE_BODY_SECONDS if is_large else admission.BODY_SECONDS
        with self._deadlines.watching(sock, seconds):
            _read_body(environ)

    def _sending(
        self, environ: WSGIEnvironment, parts: Iterable[bytes], until_sent: ExitStack
    ) -> Iterable[bytes]:
        """`parts`, which close `until_sent` when the client has read them or has been given up.

        A file may take longer than a response in memory.
        """
        response: Any = parts
        if isinstance(parts, list):
            response = _Parts(parts)
            sock = environ.get("gunicorn.socket")
            until_sent.enter_context(self._deadlines.watching(sock, admission.SEND_SECONDS))
        elif hasattr(parts, "close"):
            until_sent.callback(parts.close)
            response = _Stream(parts) if isinstance(parts, Generator) else parts
        response.close = until_sent.close
        return response

    @contextmanager
    def _acquired(
        self, environ: WSGIEnvironment, running: "Turns", until: float
    ) -> Iterator[tuple["Turns", ...]]:
        """Wait for others of the caller, then for those who change the same trip; the turns."""
        trip = admission.changed_by(environ)
        with running.acquired(until):
            if trip is None:
                yield (running,)
                return
            with self._trips.held(trip) as of_trip, of_trip.acquired(until):
                yield running, of_trip

    def _answer_with(
        self,
        free: "LifoQueue[BaseDatabaseWrapper]",
        environ: WSGIEnvironment,
        start_response: StartResponse,
        since: float,
        until: float,
        turns: Sequence["Turns"] = (),
    ) -> Iterable[bytes]:
        """The response, with a free connection; raises `Unavailable` if there is none in time.

        The request has waited `since`; both times are monotonic. While it lends its connection, it
        lends the `turns`, too.
        """
        try:
            connection = free.get(timeout=max(0.0, until - time.monotonic()))
        except Empty as error:
            raise Unavailable from error
        finally:
            instruments.CONNECTION_WAIT.observe(time.monotonic() - since)
        connections[DEFAULT_DB_ALIAS] = connection
        returning.set(partial(_returned, free, turns))
        try:
            return self._answer(environ, start_response)
        finally:
            returning.set(None)
            free.put(connections[DEFAULT_DB_ALIAS])
            del connections[DEFAULT_DB_ALIAS]

    def _answer_with_new_connection(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """For requests that need not wait. Django opens the connection if it is used."""
        try:
            return self._answer(environ, start_response)
        finally:
            connections[DEFAULT_DB_ALIAS].close()
            del connections[DEFAULT_DB_ALIAS]

    def _answer(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        parts = self._application(environ, start_response)
        is_head = environ["REQUEST_METHOD"] == "HEAD"
        file_wrapper = environ.get("wsgi.file_wrapper")
        if file_wrapper is not None and not is_head and isinstance(parts, file_wrapper):
            # The kernel sends the file, and none of it is in memory.
            return parts
        try:
            return [] if is_head else list(parts)
        finally:
            if hasattr(parts, "close"):
                # Django ends the request here, while the thread has its database connection.
                parts.close()


@contextmanager
def _returned(free: "LifoQueue[BaseDatabaseWrapper]", turns: Sequence["Turns"]) -> Iterator[None]:
    """Let others use the connection of this thread, and its turns, during the block."""
    free.put(connections[DEFAULT_DB_ALIAS])
    del connections[DEFAULT_DB_ALIAS]
    try:
        with ExitStack() as stack:
            # They come back in the order in which everybody waits for them.
            for one in reversed(turns):
                stack.enter_context(one.lent())
            yield
    finally:
        connections[DEFAULT_DB_ALIAS] = free.get()


def _connections(count: int) -> "LifoQueue[BaseDatabaseWrapper]":
    """Connections that are opened when first used; the one that was used last comes first."""
    free: LifoQueue[BaseDatabaseWrapper] = LifoQueue()
    for _number in range(count):
        connection = connections.create_connection(DEFAULT_DB_ALIAS)
        # It is used by many threads, but never by two at the same time.
        connection.inc_thread_sharing()
        free.put(connection)
    return free


def _give_up_body(environ: WSGIEnvironment, start_response: StartResponse) -> None:
    """Make the server close the connection after the response, if a body was left unread.

    Otherwise it would read the rest for as long as the client takes to send it. What has arrived is
    read: otherwise, closing the socket would reset the connection, and the client would lose the
    response.
    """
    sock = environ.get("gunicorn.socket")
    is_read = isinstance(environ["wsgi.input"], BytesIO | SpooledTemporaryFile)
    if sock is not None and not is_read and _has_body(environ):
        # The response of gunicorn; then it says that the connection ends.
        if force_close := getattr(getattr(start_response, "__self__", None), "force_close", None):
            force_close()
        with suppress(OSError):
            while sock.recv(65536, socket.MSG_DONTWAIT):
                pass
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RD)


def _has_body(environ: WSGIEnvironment) -> bool:
    length = environ.get("CONTENT_LENGTH")
    return length not in {None, "", "0"} or "HTTP_TRANSFER_ENCODING" in environ


def _read_body(environ: WSGIEnvironment) -> None:
    """Read a body within the limit; `BodyLimits` rejects a longer one by its length.

    A chunked body, which Django would treat as empty, gets its length here. Raises
    `ConnectionResetError` if the client disconnects before the end.
    """
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    limit = body_limit(environ["PATH_INFO"], lambda: bool(account_of(authorization)))
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    length = limit + 1 if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)
    if length > limit and not is_chunked:
        return
    if limit == settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        content = environ["wsgi.input"].read(length)
        body, size = BytesIO(content), len(content)
    else:
        body, size = _spooled(environ["wsgi.input"], length)
    if is_chunked:
        environ["CONTENT_LENGTH"] = str(size)
    elif size < length:
        raise ConnectionResetError(errno.ECONNRESET, "The body is incomplete")
    environ["wsgi.input"] = body


def _spooled(body: Any, length: int) -> tuple[Any, int]:
    """A copy of a body with a file, on a disk if it is long, and its size.

    Raises `Unavailable` if that disk is full.
    """
    copy = SpooledTemporaryFile(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)  # noqa: SIM115 -- is returned
    while (left := length - copy.tell()) and (piece := body.read(min(left, _COPIED_BYTES))):
        try:
            copy.write(piece)
        except OSError as error:
            raise Unavailable from error
    size = copy.tell()
    copy.seek(0)
    return copy, size


_django = get_wsgi_application()

# They need the applications to be loaded.
from tripcompanion.api.keeping import KEEPER, Kept  # noqa: E402
from tripcompanion.api.middleware import REFUSAL, body_limit, is_large_body  # noqa: E402
from tripcompanion.api.problems import TooManyAtOnce, Unavailable  # noqa: E402
from tripcompanion.api.turns import WAIT_SECONDS, Turns  # noqa: E402
from tripcompanion.serving import admission  # noqa: E402
from users.tokens import account_of  # noqa: E402

application = Dispatcher(_django, settings.DATABASE_POOL_SIZE or 4)
# Loaded before the workers are forked, because loading takes longer than a probe may. Django would
# import the views with the first request of each worker, and no two workers would share them.
import_module(settings.ROOT_URLCONF)
migrations_of_code()
