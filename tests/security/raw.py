"""Requests byte by byte, for what no HTTP library would send."""

import json
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.server import Server
from tests.trips.bodies import lisbon

JSON = "Content-Type: application/json"
TRIP = json.dumps(lisbon()).encode()


@dataclass(frozen=True)
class Answer:
    """One response as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


def connected(server: Server, timeout_seconds: float = 20) -> socket.socket:
    url = urlsplit(server.url)
    return socket.create_connection(("127.0.0.1", url.port), timeout_seconds)


def send(server: Server, request: bytes) -> list[Answer]:
    """All answers to what is sent over one connection, until the server closes it."""
    with connected(server) as wire:
        received = b""
        # Who refuses a long request hangs up before its end, and may reset the connection.
        with suppress(ConnectionError, OSError):
            wire.sendall(request)
            wire.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while chunk := wire.recv(65536):
                received += chunk
    return list(_answers(received))


def request(line: str, *headers: str, body: bytes = b"", host: str = "Host: localhost") -> bytes:
    """A request with `Host`, closing the connection; `headers` are whole lines."""
    lines = [line, *([host] if host else []), *headers, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def _answers(received: bytes) -> list[Answer]:
    answers = []
    while received:
        head, _blank, rest = received.partition(b"\r\n\r\n")
        status_line, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _colon, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", 0))
        if headers.get("transfer-encoding") == "chunked":
            length = len(rest)
        answers.append(Answer(int(status_line.split()[1]), headers, rest[:length]))
        received = rest[length:]
    return answers


def seconds_of(call: object) -> float:
    start = time.monotonic()
    call()  # type: ignore[operator]
    return time.monotonic() - start


def posting(authorization: str, *headers: str, body: bytes = TRIP) -> bytes:
    """A request that creates a trip."""
    return request("POST /api/trips HTTP/1.1", authorization, JSON, *headers, body=body)


def status_of(server: Server, request: bytes) -> int:
    """The status of the first answer."""
    return send(server, request)[0].status
