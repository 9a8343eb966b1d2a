"""A receiver of webhooks on this machine, with TLS, that can also misbehave."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import trustme

#: The name in the certificate, which no resolver knows.
HOST = "hooks.example"


@dataclass
class Received:
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[["Handler"], None]


def status(code: int) -> Answer:
    """Answers with this status."""

    def answer(handler: "Handler") -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def never(handler: "Handler") -> None:
    """Never answers."""
    handler.server.ended.wait(20)


def redirect_to(url: str) -> Answer:
    def answer(handler: "Handler") -> None:
        handler.send_response(307)
        handler.send_header("Location", url)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def megabytes(handler: "Handler") -> None:
    """Answers 200 with 10 MB."""
    handler.send_response(200)
    handler.end_headers()
    for _number in range(160):
        handler.wfile.write(b"x" * 65536)
        handler.server.sent_bytes += 65536


def dripping(start: bytes) -> Answer:
    """Sends `start`, and then a byte every 50 ms for longer than anybody should wait."""

    def answer(handler: "Handler") -> None:
        handler.wfile.write(start)
        for _number in range(200):
            if handler.server.ended.wait(0.05):
                return
            handler.wfile.write(b"x")
            handler.wfile.flush()

    return answer


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: "Receiver"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, body))
        with suppress(OSError):
            self.server.answers.get(self.path, self.server.answer)(self)

    def log_message(self, *_arguments: Any) -> None:
        pass


class Receiver(ThreadingHTTPServer):
    """Keeps what arrives in `received`; `answer` decides what it says, `answers` by path."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.received: list[Received] = []
        self.answer: Answer = status(204)
        self.answers: dict[str, Answer] = {}
        self.ended = Event()
        self.sent_bytes = 0
        #: How many connections were accepted.
        self.connections = 0
        super().__init__(("127.0.0.1", 0), Handler)
        self.context = context
        self.port = self.server_address[1]

    def get_request(self) -> Any:
        connection, address = super().get_request()
        self.connections += 1
        if self.context is not None:
            connection = self.context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        return connection, address

    def handle_error(self, *_arguments: Any) -> None:
        pass


@dataclass
class Authority:
    """A certificate authority, which the senders of a test trust."""

    file: Path
    ca: trustme.CA = field(default_factory=trustme.CA)

    def context(self, *names: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*names).configure_cert(context)
        return context


@contextmanager
def receiving(context: ssl.SSLContext | None) -> Iterator[Receiver]:
    """A receiver until the end of the block; without `context`, over plain HTTP."""
    with Receiver(context) as receiver:
        thread = Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield receiver
        finally:
            receiver.ended.set()
            receiver.shutdown()
            thread.join()


def resolving(monkeypatch: Any, **addresses: list[str]) -> None:
    """Let `hooks_example=["93.184.216.34"]` be what the resolver says of `hooks.example`.

    Each lookup takes the next list of addresses, separated by a space, until the last.
    """
    answers = {name.replace("_", "."): list(found) for name, found in addresses.items()}
    asked = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host not in answers:
            return asked(host, port, *args, **options)
        rounds = answers[host]
        found = rounds.pop(0) if len(rounds) > 1 else rounds[0]
        if found == "hang":
            time.sleep(30)
        return [answer for one in found.split() for answer in asked(one, port, *args, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
