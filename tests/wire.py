"""One connection to the server, on which answers are read one after the other, byte by byte."""

import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

HOST = "Host: localhost"


@dataclass(frozen=True)
class Head:
    """The first line and the fields of an answer."""

    status: int
    fields: dict[str, str]

    @property
    def ends_the_connection(self) -> bool:
        return self.fields.get("connection", "").lower() == "close"


@dataclass
class Wire:
    """Everything that the server sends is in an answer, or is still unread."""

    socket: socket.socket
    received: bytes = field(default=b"")

    @classmethod
    def to(cls, address: str, timeout_seconds: float = 20) -> "Wire":
        """Connect to `http://localhost:8000`, `[::1]:8000` or `unix:/path`."""
        if address.startswith("unix:"):
            own = socket.socket(socket.AF_UNIX)
            own.settimeout(timeout_seconds)
            own.connect(address.removeprefix("unix:"))
            return cls(own)
        url = urlsplit(address if "://" in address else f"//{address}")
        host = "127.0.0.1" if url.hostname == "localhost" else url.hostname
        return cls(socket.create_connection((host, url.port), timeout_seconds))

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_error: object) -> None:
        self.socket.close()

    def send(self, line: str, *fields: str, body: bytes = b"", host: str = HOST) -> None:
        """Send a request of these lines; the connection is kept."""
        head = "\r\n".join((f"{line} HTTP/1.1", host, *fields, "", ""))
        self.socket.sendall(head.encode("latin-1") + body)

    def head(self) -> Head:
        """Read the head of the next answer; raises `ConnectionError` if there is none."""
        while b"\r\n\r\n" not in self.received:
            self._read()
        head, _blank, self.received = self.received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        assert first.startswith("HTTP/1."), first
        pairs = (line.partition(":") for line in lines)
        fields = {name.strip().lower(): value.strip() for name, _colon, value in pairs}
        return Head(int(first.split()[1]), fields)

    def body(self, head: Head) -> bytes:
        """Read the body that belongs to `head`, which says its length."""
        length = int(head.fields.get("content-length", 0))
        while len(self.received) < length:
            self._read()
        body, self.received = self.received[:length], self.received[length:]
        return body

    def answer(self) -> tuple[Head, bytes]:
        head = self.head()
        return head, self.body(head)

    def rest(self) -> bytes:
        """All that comes until the server closes the connection."""
        while chunk := self.socket.recv(65536):
            self.received += chunk
        return self.received

    def _read(self) -> None:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError(f"closed after {self.received!r}")
        self.received += chunk
