"""A closed loop of clients: each sends its next request when it has received its last response.

One process with one thread runs all clients on bare sockets. It needs a few dozen microseconds per
request, so it hardly affects the measurement.
"""

import selectors
import socket
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

_WAIT_SECONDS = 60
_NO_CONTENT = 204
_CHUNK_BYTES = 256 * 1024
#: A client reconnects after this many requests. Which server process accepts a connection is
#: random; this evens it out.
_REQUESTS_A_CONNECTION = 50


class Request(NamedTuple):
    """A request; `token` is empty for an anonymous caller."""

    method: str
    path: str
    token: str = ""
    body: dict[str, Any] | None = None

    @property
    def raw(self) -> bytes:
        body = b"" if self.body is None else orjson.dumps(self.body)
        lines = [f"{self.method} {self.path} HTTP/1.1", "Host: 127.0.0.1"]
        if self.token:
            lines.append(f"Authorization: Bearer {self.token}")
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + body


class Answer(NamedTuple):
    """A response, with the request that it belongs to."""

    request: Request
    status: int
    body: bytes

    @property
    def data(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Leg:
    """A series of requests: its duration, all latencies and all responses."""

    seconds: float = 0.0
    #: Processor time of the server processes, without the database; 0 if not on Linux.
    cpu_seconds: float = 0.0
    latencies_ms: list[float] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    @property
    def p50_ms(self) -> float:
        return statistics.median(self.latencies_ms)

    @property
    def p95_ms(self) -> float:
        return sorted(self.latencies_ms)[int(len(self.latencies_ms) * 0.95)]

    @property
    def cpu_ms(self) -> float:
        """Processor time of the server per request."""
        return self.cpu_seconds * 1000 / len(self.latencies_ms)

    @property
    def per_second(self) -> float:
        return len(self.latencies_ms) / self.seconds


class _Client:
    def __init__(self, port: int) -> None:
        self._port = port
        self._sent = 0
        self._connect()

    def _connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self._port), timeout=_WAIT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def renew(self) -> bool:
        """Reconnect if it is time to; True if so: the selector must register the new socket."""
        if self._sent < _REQUESTS_A_CONNECTION:
            return False
        self.socket.close()
        self._connect()
        self._sent = 0
        return True

    def send(self, request: Request) -> None:
        self._request, self._received, self._length = request, bytearray(), -1
        self._sent += 1
        raw = request.raw
        self._sent_at = time.perf_counter()
        self.socket.sendall(raw)

    def receive(self, leg: Leg) -> bool:
        """Read available data; True when the response is complete and added to `leg`."""
        chunk = self.socket.recv(_CHUNK_BYTES)
        if not chunk:
            raise ConnectionError(f"The server closed the connection on {self._request.path}.")
        self._received += chunk
        if self._length < 0:
            self._head_end = self._received.find(b"\r\n\r\n") + 4
            if self._head_end < 4:
                return False
            head = bytes(self._received[: self._head_end]).lower()
            self._status = int(head[9:12])
            _before, found, after = head.partition(b"\r\ncontent-length: ")
            if not found and self._status != _NO_CONTENT:
                raise ConnectionError(f"{self._request.path} is answered without length: {head!r}")
            self._length = self._head_end + int(after.partition(b"\r\n")[0] or 0)
        if len(self._received) < self._length:
            return False
        leg.latencies_ms.append((time.perf_counter() - self._sent_at) * 1000)
        body = bytes(self._received[self._head_end :])
        leg.answers.append(Answer(self._request, self._status, body))
        return True


def play(
    port: int, requests: Iterator[Request], *, clients: int, seconds: float, at_least: int
) -> Leg:
    """Send `requests` for `seconds` and until `at_least` responses, or until none are left."""
    leg = Leg()
    with selectors.DefaultSelector() as selector:
        started = time.perf_counter()
        for request in _first(requests, clients):
            client = _Client(port)
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.send(request)
        while selector.get_map():
            ready = selector.select(_WAIT_SECONDS)
            if not ready:
                raise TimeoutError(f"No response for {_WAIT_SECONDS} seconds.")
            for key, _events in ready:
                client = key.data
                if not client.receive(leg):
                    continue
                over = time.perf_counter() - started >= seconds and len(leg.answers) >= at_least
                following = None if over else next(requests, None)
                if following is None:
                    selector.unregister(client.socket)
                    client.socket.close()
                    continue
                selector.unregister(client.socket)
                client.renew()
                selector.register(client.socket, selectors.EVENT_READ, client)
                client.send(following)
        leg.seconds = time.perf_counter() - started
    return leg


def ask(port: int, request: Request) -> Answer:
    """Send one request on a new connection."""
    return play(port, iter([request]), clients=1, seconds=0, at_least=1).answers[0]


def _first(requests: Iterator[Request], count: int) -> Iterator[Request]:
    for _turn in range(count):
        request = next(requests, None)
        if request is None:
            return
        yield request
