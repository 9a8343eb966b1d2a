"""Requests byte by byte, for what no HTTP library would send."""

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tests.server import Server
from tests.trips.bodies import lisbon
from tests.wire import Wire

JSON = "Content-Type: application/json"
TRIP = json.dumps(lisbon()).encode()


@dataclass(frozen=True)
class Answer:
    """One response as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


def send(server: Server, request: bytes) -> list[Answer]:
    """All answers to what is sent over one connection, until the server closes it."""
    answers: list[Answer] = []
    with Wire.to(server.url) as wire:
        # Who refuses a long request hangs up before its end, and may reset the connection.
        with suppress(OSError):
            wire.socket.sendall(request)
            wire.socket.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            # What comes in chunks is the last.
            while not answers or "transfer-encoding" not in answers[-1].headers:
                head = wire.head()
                body = wire.rest() if "transfer-encoding" in head.fields else wire.body(head)
                answers.append(Answer(head.status, head.fields, body))
    return answers


def request(line: str, *headers: str, body: bytes = b"", host: str = "Host: localhost") -> bytes:
    """A request with `Host`, closing the connection; `headers` are whole lines."""
    lines = [line, *([host] if host else []), *headers, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def seconds_of(call: Callable[[], object]) -> float:
    start = time.monotonic()
    call()
    return time.monotonic() - start


def posting(authorization: str, *headers: str, body: bytes = TRIP) -> bytes:
    """A request that creates a trip."""
    return request("POST /api/trips HTTP/1.1", authorization, JSON, *headers, body=body)


def status_of(server: Server, request: bytes) -> int:
    """The status of the first answer."""
    return send(server, request)[0].status
