"""A pooler like PgBouncer in transaction mode, without support for prepared statements.

Each transaction runs on the server connection that has been idle the longest, whichever client
opened it. Clients get their own process ids, as from every pooler that supports cancellation.
"""

import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.silence import server_behind

#: Types of messages that the server answers (Query, Sync, a password) or that end a connection.
_ASKS, _ENDS = b"QSp", b"X"
_READY, _IDLE, _KEY = b"Z", b"I", b"K"


class Pooler:
    """Listens on `port` and assigns the server connections in rotation."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._free: deque[socket.socket] = deque()
        self._clients: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> "Pooler":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        # Shutting it down wakes the thread; closing it would not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for client in self._clients:
            client.join(timeout=2)
        while self._free:
            self._free.pop().close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                self._clients.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        server: socket.socket | None = None
        try:
            server = server_behind(self._database_url)
            length = _exactly(client, 4)
            server.sendall(length + _exactly(client, struct.unpack("!I", length)[0] - 4))
            while True:
                if server and _answer(server, client):
                    self._free.append(server)
                    server = None
                kind = b""
                while kind not in _ASKS or not kind:
                    kind, message = _message(client)
                    if kind in _ENDS:
                        return
                    server = server or self._free.popleft()
                    server.sendall(message)
        except (EOFError, OSError):
            pass
        finally:
            client.close()
            # Who leaves in a transaction has a connection that nobody else can use.
            if server:
                server.close()


def _answer(server: socket.socket, client: socket.socket) -> bool:
    """Forward messages until the server waits; returns whether it is outside a transaction then."""
    while True:
        kind, message = _message(server)
        if kind == _KEY:
            message = message[:5] + bytes(4) + message[9:]
        client.sendall(message)
        if kind == _READY:
            return message[-1:] == _IDLE
        if kind == b"R" and message[5:9] not in {bytes(4), bytes([0, 0, 0, 12])}:
            # The server requests a password, or the next part of the authentication.
            return False


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    """The type of the next message, and the whole message."""
    head = _exactly(source, 5)
    return head[:1], head + _exactly(source, struct.unpack("!I", head[1:])[0] - 4)


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = source.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


@contextmanager
def pooler(database_url: str) -> Iterator[int]:
    """The port of a pooler in front of the server of `database_url`."""
    with Pooler(database_url) as found:
        yield found.port
