"""The worker that gunicorn runs: waitress, which reads slow clients without spending a thread.

gunicorn keeps the processes, and each of its own threaded workers stands still as soon as as many
clients as it has threads send their requests slowly. waitress collects requests and buffers
answers in one loop, and hands only whole requests to its threads.
"""

import os
import time
from typing import Any

import orjson
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import create_server
from waitress.task import ErrorTask

#: Bodies are refused by the application above 1 MiB; this bounds what is read before it can.
MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_HEADER_BYTES = 32 * 1024
#: Open connections of one process, most of which may be idle or slow.
MAX_CONNECTIONS = 1000
#: After which a client that sends nothing is hung up on.
IDLE_SECONDS = 30
_TURN_SECONDS = 1
_LAST_TURNS_SECONDS = 0.02
_CODES = {400: "bad_request", 413: "payload_too_large", 431: "headers_too_large"}


class ProblemTask(ErrorTask):
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
        self.write(body)


class UnambiguousRequest(HTTPRequestParser):
    """Refuses a body that has two lengths: where it ends would be anybody's guess (RFC 9112, 6.1).

    A proxy that guesses otherwise than waitress would hand on a second request, hidden in it.
    """

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("Content-Length and Transfer-Encoding exclude each other")


class Channel(HTTPChannel):
    """One connection."""

    parser_class = UnambiguousRequest
    error_task_class = ProblemTask


class PatientWorker(Worker):
    """A process of the service."""

    def run(self) -> None:
        sockets: dict[int, Any] = {}
        server = create_server(
            self.wsgi,
            map=sockets,
            sockets=[listener.sock for listener in self.sockets],
            threads=self.cfg.threads,
            ident="",
            connection_limit=MAX_CONNECTIONS,
            channel_timeout=IDLE_SECONDS,
            max_request_body_size=MAX_BODY_BYTES,
            max_request_header_size=MAX_HEADER_BYTES,
            asyncore_use_poll=True,
            # The application reads as many hops as NUM_PROXIES says.
            clear_untrusted_proxy_headers=False,
        )
        server.channel_class = Channel
        while self.alive and self.ppid == os.getppid():
            self.notify()
            wasyncore.loop(timeout=_TURN_SECONDS, map=sockets, use_poll=True, count=1)
        self._finish(server, sockets)

    def _finish(self, server: Any, sockets: dict[int, Any]) -> None:
        """Take no new connections, answer the requests that are under way, and hang up."""
        wasyncore.dispatcher.close(server)
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while server.active_channels and time.monotonic() < deadline:
            for channel in list(server.active_channels.values()):
                if not channel.requests and not channel.total_outbufs_len:
                    channel.handle_close()
            self.notify()
            wasyncore.loop(timeout=_LAST_TURNS_SECONDS, map=sockets, use_poll=True, count=1)
        server.task_dispatcher.shutdown()
        server.close()
