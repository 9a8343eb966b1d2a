"""The worker that gunicorn runs: waitress, which reads slow clients without spending a thread.

gunicorn keeps the processes, but each of its own threaded workers stands still as soon as as many
clients as it has threads send their requests slowly. waitress collects requests and buffers
answers in one loop, and hands only whole requests to its threads.

pyproject.toml bounds the versions of both, because some names here are not documented. In waitress:
`create_server(_dispatcher=…)`; `wasyncore.loop` and `wasyncore.dispatcher.close`; of a server
`channel_class`, `accepting`, `active_channels` and `handle_accept`; of a channel `parser_class`,
`task_class`, `error_task_class`, `request`, `requests`, `total_outbufs_len`, `will_close`,
`connected`, `socket`, `readable`, `received` and `handle_close`; of a parser `parse_header`,
`received`, `header_plus`, `headers`, `command`, `path`, `error`, `completed`, `expect_continue`,
`chunked`, `content_length`, `body_bytes_received` and `body_rcv`; of what reads chunks `received`,
`buf`, `control_line`, `trailer` and `error`; of a task `build_response_header`, `execute` and what
`ErrorTask.execute` itself uses; and `ThreadedTaskDispatcher`. gunicorn documents its `Worker`.
"""

import os
import re
import socket
import time
from typing import Any

import orjson
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver
from waitress.server import create_server
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask
from waitress.utilities import BadRequest

#: The server reads no body above this; the application refuses it (`DATA_UPLOAD_MAX_MEMORY_SIZE`).
MAX_BODY_BYTES = 1024 * 1024
MAX_HEADER_BYTES = 32 * 1024
#: The line before a chunk, with its extensions, and what follows the last chunk.
MAX_CHUNK_LINE_BYTES = 1024
MAX_TRAILER_BYTES = 8 * 1024
#: Open connections of one process, most of which may be idle or slow.
MAX_CONNECTIONS = 1000
#: After which a client that sends nothing is hung up on.
IDLE_SECONDS = 30
#: For so long, and for so much, a client may go on sending after the last answer.
LINGER_SECONDS = 5
LINGER_BYTES = 32 * 1024 * 1024
#: At the end of a process: how long idle connections, and half-sent requests, still have.
LAST_IDLE_SECONDS = 2
LAST_SLOW_SECONDS = 5
#: Each of these paths has a thread of its own. One thread for both would not do: `ready` may wait
#: for the database.
PROBES = ("/api/health", "/api/health/ready")
_TURN_SECONDS = 1
_LAST_TURNS_SECONDS = 0.02
_CODES = {400: "bad_request", 431: "headers_too_large", 500: "internal_error"}
_TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)


class BoundedChunks(ChunkedReceiver):
    """A body in chunks. waitress looks through unfinished lines again with all that comes."""

    def received(self, data: bytes) -> int:
        consumed = super().received(data)
        is_line_too_long = len(self.control_line) > MAX_CHUNK_LINE_BYTES
        if is_line_too_long or len(self.trailer) > MAX_TRAILER_BYTES:
            self.error = BadRequest("A chunk line or a trailer has no end")
        return consumed


class Request(HTTPRequestParser):
    """One request, whose body is read only if it is short.

    Any other body stays unread. The request goes to the application at once, which refuses it by
    its header (`kit/bodies.py`), and the connection ends with the answer.
    """

    body_rcv: Any
    error: Any

    def parse_header(self, header_plus: bytes) -> None:
        """Raise `ParsingError` if the body has two lengths.

        Where it ends would be anybody's guess (RFC 9112, 6.1). A proxy that guesses otherwise than
        waitress would hand on a second request, hidden in it.
        """
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # A number of thousands of digits, or an address that is none.
            raise ParsingError("A value is out of range") from error
        is_coded = bool(_TRANSFER_ENCODING.search(header_plus))
        if is_coded and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("Content-Length and Transfer-Encoding exclude each other")
        if self.chunked:
            self.body_rcv = BoundedChunks(self.body_rcv.buf)
        elif is_coded:
            # Of HTTP/1.0, or without a value: waitress took it out, and would read nothing.
            self.headers["TRANSFER_ENCODING"] = "unknown"
            self._leave_unread()
        elif self.content_length > MAX_BODY_BYTES:
            self._leave_unread()

    def _leave_unread(self) -> None:
        self.chunked, self.content_length, self.body_rcv = False, 0, None
        self.expect_continue = False
        self.headers["CONNECTION"] = "close"

    def received(self, data: bytes) -> int:
        consumed = super().received(data)
        if self.chunked and self.body_bytes_received > MAX_BODY_BYTES:
            self.error, self.completed = None, True
            self.headers["CONTENT_LENGTH"] = str(self.body_bytes_received)
            self._leave_unread()
        if self.error:
            # A refused request may be one that waitress has read nothing of.
            is_head = (self.header_plus + data).lstrip().startswith(b"HEAD ")
            self.command = "HEAD" if is_head else "GET"
            self.expect_continue = False
        return consumed


class Answer(WSGITask):
    """The application's answer; the last on its connection when the process ends."""

    def build_response_header(self) -> bytes:
        if not self.channel.server.accepting:
            self.request.headers["CONNECTION"] = "close"
        return super().build_response_header()


class Problem(ErrorTask):
    """What the server itself refuses, before there is a request, in the form of all errors."""

    def execute(self) -> None:
        error = self.request.error
        text = f"{error.reason}: {error.body}."
        body = orjson.dumps(
            {
                "type": "about:blank",
                "title": error.reason,
                "status": error.code,
                "detail": text,
                "message": text,
                "code": _CODES.get(error.code, "not_implemented"),
                "requestId": os.urandom(16).hex(),
            }
        )
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", "application/problem+json"),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        # The request of the channel: after a fault, that of the task is an empty one.
        self.write(b"" if self.channel.requests[0].command == "HEAD" else body)


class Channel(HTTPChannel):
    """One connection."""

    parser_class = Request
    task_class = Answer
    error_task_class = Problem

    will_close = False
    #: When the server stops to read what it no longer answers; None before the last answer.
    _lingers_until: float | None = None
    _lingering_bytes = 0

    def handle_close(self) -> None:
        """Close at once if the client has hung up; else let it read the last answer first.

        A socket that is closed while the client sends resets the connection, and the client may
        lose the answer that was on its way (RFC 9112, 9.6).
        """
        is_last_answer_sent = self.will_close and self.connected and not self.total_outbufs_len
        if not is_last_answer_sent or self._lingers_until is not None:
            super().handle_close()
            return
        self.will_close = False
        self._lingers_until = time.monotonic() + LINGER_SECONDS
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            super().handle_close()

    def readable(self) -> bool:
        # waitress asks every connection in every turn.
        if self._lingers_until is not None and time.monotonic() > self._lingers_until:
            self.will_close = True
        return super().readable()

    def received(self, data: bytes) -> bool:
        if self._lingers_until is None:
            return super().received(data)
        self._lingering_bytes += len(data)
        if self._lingering_bytes > LINGER_BYTES:
            self.will_close = True
        return False

    def hang_up_at_the_end(self, seconds: float) -> None:
        """End the connection if it is still idle so many seconds after the process was to end."""
        patience = LAST_IDLE_SECONDS if self.request is None else LAST_SLOW_SECONDS
        is_idle = not self.requests and not self.total_outbufs_len
        if is_idle and self._lingers_until is None and seconds > patience:
            self.will_close = True


class Dispatcher(ThreadedTaskDispatcher):
    """The threads that answer requests, and one for each of the probes.

    So an orchestrator hears that the process is alive while all other threads are busy.
    """

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.set_thread_count(threads)
        self._probes = {path: ThreadedTaskDispatcher() for path in PROBES}
        for probe in self._probes.values():
            probe.set_thread_count(1)

    def add_task(self, task: Channel) -> None:
        probe = self._probes.get(getattr(task.requests[0], "path", ""))
        if probe is None:
            super().add_task(task)
        else:
            probe.add_task(task)

    def shutdown(self, *arguments: Any, **more: Any) -> bool:
        for probe in self._probes.values():
            probe.shutdown(*arguments, **more)
        return super().shutdown(*arguments, **more)


class PatientWorker(Worker):
    """A process of the service."""

    def run(self) -> None:
        sockets: dict[int, Any] = {}
        dispatcher = Dispatcher(self.cfg.threads)
        servers = [self._serve(one.sock, sockets, dispatcher) for one in self.sockets]
        while self.alive and self.ppid == os.getppid():
            self._turn(sockets, _TURN_SECONDS)
        self._finish(servers, sockets)
        dispatcher.shutdown()
        for server in servers:
            server.close()

    def _serve(self, listener: Any, sockets: dict[int, Any], dispatcher: Dispatcher) -> Any:
        # One server for each listener: what waitress makes for several has no `channel_class`.
        server = create_server(
            self.wsgi,
            map=sockets,
            sockets=[listener],
            _dispatcher=dispatcher,
            ident="",
            connection_limit=MAX_CONNECTIONS,
            channel_timeout=IDLE_SECONDS,
            # waitress refuses a body that is as long as its limit.
            max_request_body_size=MAX_BODY_BYTES + 1,
            max_request_header_size=MAX_HEADER_BYTES,
            asyncore_use_poll=True,
            # The application reads as many hops as NUM_PROXIES says.
            clear_untrusted_proxy_headers=False,
        )
        server.channel_class = Channel
        return server

    def _turn(self, sockets: dict[int, Any], seconds: float) -> None:
        self.notify()
        wasyncore.loop(timeout=seconds, map=sockets, use_poll=True, count=1)

    def _finish(self, servers: list[Any], sockets: dict[int, Any]) -> None:
        """Take no new connections, answer what comes over those that there are, and hang up."""
        for server in servers:
            _accept_all(server)
            wasyncore.dispatcher.close(server)
        start = time.monotonic()
        while (seconds := time.monotonic() - start) < self.cfg.graceful_timeout:
            channels = [one for server in servers for one in server.active_channels.values()]
            if not channels:
                break
            for channel in channels:
                channel.hang_up_at_the_end(seconds)
            self._turn(sockets, _LAST_TURNS_SECONDS)


def _accept_all(server: Any) -> None:
    """Accept the connections that wait; the kernel resets those that nobody accepts."""
    before = -1
    while len(server.active_channels) > before:
        before = len(server.active_channels)
        server.handle_accept()
