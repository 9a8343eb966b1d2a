"""A TCP proxy in front of PostgreSQL that can stop forwarding but stay connected.

This simulates a proxy that drops packets, and a server whose processes are stopped.
"""

import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit, urlunsplit

_TURN_SECONDS = 0.1
#: After this time a silent proxy disconnects, so that a client without a time-out fails its test.
_MAX_SILENCE_SECONDS = 20


class SilentProxy:
    """Forwards bytes in both directions until it is `silent` or a client sends `trigger`."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self.silent = False
        #: Become silent when a client sends this; these bytes are not forwarded.
        self.trigger = b""
        self._connect, self._ended = connect, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run)

    def talk(self) -> None:
        """Forward everything again."""
        self.silent, self.trigger = False, b""

    def __enter__(self) -> "SilentProxy":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended = True
        self._thread.join()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            talked_at = time.monotonic()
            while not self._ended:
                if not self.silent:
                    talked_at = time.monotonic()
                elif time.monotonic() - talked_at > _MAX_SILENCE_SECONDS:
                    self._hang_up(selector)
                for key, _events in selector.select(_TURN_SECONDS):
                    if key.fileobj is self._listener:
                        self._accept(selector)
                    else:
                        self._pass_on(selector, key.fileobj, *key.data)
            for key in list(selector.get_map().values()):
                key.fileobj.close()

    def _hang_up(self, selector: selectors.BaseSelector) -> None:
        for key in list(selector.get_map().values()):
            if key.fileobj is not self._listener:
                selector.unregister(key.fileobj)
                key.fileobj.close()

    def _accept(self, selector: selectors.BaseSelector) -> None:
        client = self._listener.accept()[0]
        if self.silent:
            # The client is accepted but never served.
            selector.register(client, selectors.EVENT_READ, (None, False))
            return
        try:
            server = self._connect()
        except ConnectionRefusedError:
            client.close()
            return
        selector.register(client, selectors.EVENT_READ, (server, True))
        selector.register(server, selectors.EVENT_READ, (client, False))

    def _pass_on(
        self, selector: selectors.BaseSelector, source: socket.socket, target: socket.socket | None,
        is_client: bool,
    ) -> None:  # fmt: skip
        data = b""
        with suppress(OSError):
            data = source.recv(65536)
        if not data:
            for end in filter(None, (source, target)):
                # The other end may have been closed a moment ago, in the same turn.
                with suppress(KeyError, ValueError):
                    selector.unregister(end)
                end.close()
            return
        if is_client and self.trigger and self.trigger in data:
            self.silent = True
        if not self.silent and target is not None:
            with suppress(OSError):
                target.sendall(data)


def server_behind(database_url: str) -> socket.socket:
    """A new connection to the server of `database_url`."""
    parts = urlsplit(database_url)
    folder = parse_qs(parts.query).get("host", [""])[0]
    if folder.startswith("/"):
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{folder}/.s.PGSQL.{parts.port or 5432}")
        return server
    return socket.create_connection((parts.hostname or "localhost", parts.port or 5432))


@contextmanager
def silent_proxy(database_url: str) -> Iterator[tuple[SilentProxy, str]]:
    """A proxy in front of the server of `database_url`, and the URL through the proxy."""
    parts = urlsplit(database_url)
    login = parts.netloc.rpartition("@")[0] or "postgres"
    with SilentProxy(lambda: server_behind(database_url)) as proxy:
        # A server on a Unix socket may have no TLS; no other options are needed.
        netloc = f"{login}@127.0.0.1:{proxy.port}"
        query = "sslmode=disable"
        yield proxy, urlunsplit(parts._replace(netloc=netloc, query=query))
