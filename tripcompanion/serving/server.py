"""The gunicorn worker: its own threaded worker, with some methods overridden.

Each fixes a problem that a proxy in front cannot: queued connections are not reset when the process
ends, probes do not wait behind queued requests, a client that does not close its connection blocks
nobody else, connections are spread evenly over the processes, the next request of a connection
takes no detour, and errors from gunicorn itself are problem documents. chaos/README.md compares it
with other servers and with the unchanged `gthread`.

gunicorn does not document what it uses; docs/private-names.md lists it. To go back, set
`worker_class = "gthread"` in gunicorn.conf.py.
"""

import os
import select
import socket
import struct
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson
from gunicorn import glogging, util
from gunicorn.http import errors
from gunicorn.workers.gthread import _DEFER, ThreadWorker

from tripcompanion.api.keeping import draining
from tripcompanion.observability.probes import MAX_HEAD_BYTES, is_probe

#: How long, and how much, a client may continue to send after the last response.
LINGER_SECONDS = 5
LINGER_BYTES = 32 * 1024 * 1024
#: How long a thread waits for the next request of its client before it returns the connection.
NEXT_REQUEST_MS = 5
#: For each of its own open connections, up to twenty, a process waits this long before it accepts
#: another.
ACCEPT_WAIT_SECONDS = 50e-6
MOST_COUNTED = 20
#: Threads that are used only for probes, and only while all others are busy.
PROBE_THREADS = 4
#: `struct linger` for a socket that resets its connection when it is closed.
_RESET = struct.pack("ii", 1, 0)
#: The first match determines status and code; anything else is an internal error.
_REFUSALS = (
    (errors.LimitRequestLine, HTTPStatus.REQUEST_URI_TOO_LONG, "uri_too_long"),
    (errors.LimitRequestHeaders, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large"),
    (errors.UnsupportedTransferCoding, HTTPStatus.NOT_IMPLEMENTED, "not_implemented"),
    (errors.ExpectationFailed, HTTPStatus.EXPECTATION_FAILED, "expectation_failed"),
    (errors.InvalidResponseHeader, HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"),
    (errors.InvalidResponseHeaderName, HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"),
    (errors.ParseException, HTTPStatus.BAD_REQUEST, "bad_request"),
    (Exception, HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"),
)


#: As in RFC 9110; Python has it since 3.13.
_PHRASES = {HTTPStatus.REQUEST_URI_TOO_LONG: "URI Too Long"}


class Logger(glogging.Logger):
    """gunicorn's logger without its access log, whose lines cost time even if nothing prints them.

    `api/middleware.py` logs requests.
    """

    def access(self, *_request: Any) -> None:
        """Log nothing."""


class DrainingWorker(ThreadWorker):
    """A worker process that answers probes under any load, and drains its queue before it ends."""

    def init_process(self) -> None:
        self.probe_threads = ThreadPoolExecutor(PROBE_THREADS)
        super().init_process()

    def set_accept_enabled(self, enabled: bool) -> None:
        """When the process ends, accept the queued connections, then stop listening immediately.

        gunicorn keeps listening until it has sent its last response, but accepts no connections.
        Those that arrive in between would be reset.
        """
        super().set_accept_enabled(enabled)
        if not self.alive:
            # Clients that wait come back to another process.
            draining.set()
        while not enabled and not self.alive and self.sockets:
            listener, before = self.sockets.pop(), -1
            while self.nr_conns > before:
                before = self.nr_conns
                self.accept(listener)
            listener.close()

    def accept(self, listener: socket.socket) -> None:
        """Leave the connection to a process with fewer connections, by waiting a little.

        Otherwise the process that wakes up first gets most of the connections that are opened at
        the same time, and keeps them.
        """
        if self.alive and self.cfg.workers > 1:
            time.sleep(min(self.nr_conns, MOST_COUNTED) * ACCEPT_WAIT_SECONDS)
        super().accept(listener)

    def enqueue_req(self, conn: Any) -> None:
        """While all threads are busy, handle a probe in a thread of its own.

        A new connection that has sent nothing yet may become a probe, so it waits in the loop
        instead of the queue.
        """
        if self._has_free_threads():
            super().enqueue_req(conn)
            return
        received = _received(conn)
        if is_probe(received):
            done = self.probe_threads.submit(self.handle, conn)
            done.add_done_callback(
                lambda done: self.method_queue.defer(self.finish_request, conn, done)
            )
        elif not (received or conn.initialized or conn.data_ready) and self.alive:
            deferred: Future[object] = Future()
            deferred.set_result(_DEFER)
            self.finish_request(conn, deferred)
        else:
            super().enqueue_req(conn)

    def _has_free_threads(self) -> bool:
        waiting_for_data = len(self.keepalived_conns) + len(self.pending_conns)
        return bool(self.nr_conns - waiting_for_data <= self.cfg.threads)

    def handle(self, conn: Any) -> Any:
        """Handle a request, and those that follow immediately, in this thread.

        gunicorn returns the connection to the loop after every response, which takes a third of the
        processor time of a small request.

        After the last response, wait here until the client has it. gunicorn waits in the loop that
        all connections share, and reads less. Closing a socket while the client is sending resets
        the connection, and the client may lose the response (RFC 9112, 9.6).
        """
        is_kept = super().handle(conn)
        while is_kept and self._has_free_threads() and self.alive and _is_readable(conn.sock):
            is_kept = super().handle(conn)
        if not is_kept:
            with suppress(OSError):
                util.close_graceful(conn.sock.dup(), LINGER_SECONDS, LINGER_BYTES)
                # A client that is still sending is reset. Otherwise the kernel acknowledges its
                # attempts for another minute.
                conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                # So gunicorn does not wait again when it closes the socket.
                conn.sock.shutdown(socket.SHUT_RD)
        return is_kept

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Send a problem document and close the connection.

        gunicorn's own method also logs the client's address and parts of the request.
        """
        status, code = next(
            (status, code) for kind, status, code in _REFUSALS if isinstance(exc, kind)
        )
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            self.log.exception("The server failed")
        phrase = _PHRASES.get(status, status.phrase)
        text = f"{phrase}."
        request_id = os.urandom(16).hex()
        body = orjson.dumps(
            {
                "type": "about:blank",
                "title": phrase,
                "status": status.value,
                "detail": text,
                "message": text,
                "code": code,
                "requestId": request_id,
            }
        )
        head = (
            f"HTTP/1.1 {status.value} {phrase}\r\n"
            "Connection: close\r\n"
            "Content-Type: application/problem+json\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            f"X-Request-ID: {request_id}\r\n"
            "\r\n"
        )
        with suppress(OSError):
            client.sendall(head.encode() + body)


def _is_readable(sock: socket.socket) -> bool:
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(NEXT_REQUEST_MS))


def _received(conn: Any) -> bytes:
    """What the socket has received and nobody has read; empty if a request was read ahead."""
    if conn.initialized and conn.parser.unreader.buf.getvalue():
        return b""
    with suppress(OSError):
        return bytes(conn.sock.recv(MAX_HEAD_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    return b""
