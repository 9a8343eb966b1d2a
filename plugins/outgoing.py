"""Requests to addresses that users, or what other services answer, chose.

Such a request must not reach what only this machine can: the networks behind the firewall. So the
host is looked up once, all its addresses must be public, and the connection goes to one of those
very addresses, while the certificate is verified for the name. A second lookup could give another
answer (DNS rebinding). Redirects are not followed, and proxies in the environment are not used.
"""

import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import closing
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from threading import BoundedSemaphore, Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

MAX_URL_CHARS = 2048
#: How much is read of the response to a POST.
MAX_RESPONSE_BYTES = 4096
USER_AGENT = "TripCompanion/1.0"

#: How soon a change of the certificates of authorities is noticed.
_CONTEXT_SECONDS = 3600
_STANDARD_PORTS = {"http": 80, "https": 443}
_FIRST_FREE_PORT = 1024
#: Global unicast addresses. All others map IPv4, or belong to networks that are not public.
_IPV6_UNICAST = IPv6Network("2000::/3")
#: IANA's special-purpose registries for IPv4 and IPv6, and 168.63.129.16, behind which Azure's
#: machines find their platform. Python's own tables differ from version to version.
#: See https://www.iana.org/assignments/iana-ipv4-special-registry
NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "2001::/23",
            "2001:db8::/32",
            "2002::/16",
            "2620:4f:8000::/48",
            "3fff::/20",
        ),
    )
)


#: Lookups that wait for a silent name server may take half a minute each.
_LOOKUPS = BoundedSemaphore(16)


class BadAddress(ValueError):
    """A URL to which nothing is sent. Its argument says why, translated."""


class NotAnswered(Exception):
    """No valid response: `reason` is address, timeout, tls, connection or http."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Address(NamedTuple):
    """Where a URL leads to."""

    scheme: str
    host: str
    port: int
    #: With the query.
    path: str

    @classmethod
    def of(cls, url: str, *, allow_private: bool) -> "Address":
        """The parts of `url`; raises `BadAddress`.

        It must be an HTTPS URL in printable ASCII, without user name, password and fragment, on
        port 443 or one from 1024. `allow_private` also allows HTTP and every port.
        """
        if len(url) > MAX_URL_CHARS:
            text = _("Must have at most %(chars)s characters.")
            raise BadAddress(text % {"chars": MAX_URL_CHARS})
        try:
            parts = urlsplit(url)
            is_whole = bool(parts.hostname) and parts.port != 0
        except ValueError as error:
            raise BadAddress(_("Must be an https URL.")) from error
        # `urlsplit` removes line breaks and tabs.
        if not is_whole or any(not "!" <= letter <= "~" or letter == "\\" for letter in url):
            raise BadAddress(_("Must be an https URL."))
        if parts.scheme not in ({"http", "https"} if allow_private else {"https"}):
            raise BadAddress(_("Must be an https URL."))
        if parts.username is not None or parts.password is not None:
            raise BadAddress(_("Must not contain a user name or a password."))
        if parts.fragment:
            raise BadAddress(_("Must not contain a fragment."))
        standard = _STANDARD_PORTS[parts.scheme]
        port = standard if parts.port is None else parts.port
        if not allow_private and port != standard and port < _FIRST_FREE_PORT:
            raise BadAddress(_("The port must be 443, or 1024 or higher."))
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.scheme, parts.hostname or "", port, path)

    def look_up(self, *, allow_private: bool, seconds: float) -> list[str]:
        """The IP addresses of the host.

        Raises `BadAddress` if it has none or, without `allow_private`, if any is not public, and
        `TimeoutError`.
        """
        try:
            found = _found(self.host, self.port, seconds)
        except (OSError, UnicodeError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise BadAddress(_("This host was not found.")) from error
        if not found or not (allow_private or all(map(is_public, found))):
            raise BadAddress(_("This host is not on the public internet."))
        return found


def is_public(text: str) -> bool:
    """Whether an IP address is one of a host on the public internet.

    No address is that stands for another one, such as `::ffff:127.0.0.1`.
    """
    address = ip_address(text)
    if isinstance(address, IPv6Address) and (address.scope_id or address not in _IPV6_UNICAST):
        return False
    return not any(address in network for network in NOT_PUBLIC)


def require_reachable(url: str, *, allow_private: bool, seconds: float) -> None:
    """Raise `BadAddress` unless requests can be sent to `url` now."""
    try:
        address = Address.of(url, allow_private=allow_private)
        address.look_up(allow_private=allow_private, seconds=seconds)
    except TimeoutError as error:
        raise BadAddress(_("This host was not found.")) from error


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool, seconds: float
) -> int:
    """Send a POST and return the status of the response; raises `NotAnswered`.

    Lookup, connection, request and response together may take `seconds`, however slowly bytes
    arrive.
    """
    sent = _Request("POST", body, headers, MAX_RESPONSE_BYTES)
    return _send(url, sent, allow_private=allow_private, seconds=seconds)[0]


def get(url: str, *, max_bytes: int, allow_private: bool, seconds: float) -> bytes:
    """The body of a response 200 to a GET of JSON, within `seconds`.

    Raises `NotAnswered`, with the reason `http` for another status or more than `max_bytes`.
    """
    sent = _Request("GET", None, {"Accept": "application/json"}, max_bytes + 1)
    status, body = _send(url, sent, allow_private=allow_private, seconds=seconds)
    if status != 200 or len(body) > max_bytes:
        raise NotAnswered("http")
    return body


class _Request(NamedTuple):
    method: str
    body: bytes | None
    headers: Mapping[str, str]
    #: How much of the response is read.
    max_bytes: int


def _send(url: str, request: _Request, *, allow_private: bool, seconds: float) -> tuple[int, bytes]:
    """Send a request; returns the status and the body of the response. Raises `NotAnswered`."""
    deadline = time.monotonic() + seconds
    try:
        address = Address.of(url, allow_private=allow_private)
        found = address.look_up(allow_private=allow_private, seconds=seconds)
        with _connected(address, found, deadline) as sock:
            return _exchange(sock, address, request)
    except BadAddress as error:
        raise NotAnswered("address") from error
    except TimeoutError as error:
        raise NotAnswered("timeout") from error
    except ssl.SSLError as error:
        raise NotAnswered("tls") from error
    except OSError as error:
        raise NotAnswered("connection") from error
    except (HTTPException, ValueError) as error:
        raise NotAnswered("http") from error


def _found(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a host. A thread looks them up, because the lookup has no time-out."""
    answer: Future[list[Any]] = Future()
    lookups = _LOOKUPS
    if not lookups.acquire(timeout=seconds):
        raise TimeoutError

    def look_up() -> None:
        try:
            answer.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answer.set_exception(error)
        finally:
            lookups.release()

    Thread(target=look_up, daemon=True).start()
    return list(dict.fromkeys(info[4][0] for info in answer.result(seconds)))


class _Deadline:
    """A mixin for sockets: all reads and writes together end at `deadline`."""

    deadline: float
    settimeout: Any

    def _limit(self) -> None:
        self.settimeout(_seconds_until(self.deadline))

    def recv_into(self, *args: Any, **options: Any) -> int:
        self._limit()
        return super().recv_into(*args, **options)

    def send(self, *args: Any, **options: Any) -> int:
        self._limit()
        return super().send(*args, **options)

    def sendall(self, *args: Any, **options: Any) -> None:
        self._limit()
        super().sendall(*args, **options)


class _Socket(_Deadline, socket.socket):
    pass


class _TlsSocket(_Deadline, ssl.SSLSocket):
    pass


def _seconds_until(deadline: float) -> float:
    """The seconds that are left; raises `TimeoutError`."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _connected(address: Address, found: list[str], deadline: float) -> _Socket | _TlsSocket:
    """A connection to the first of the addresses in `found` that accepts one."""
    for place, one in enumerate(found, 1):
        try:
            plain = socket.create_connection((one, address.port), _seconds_until(deadline))
            break
        except OSError:
            if place == len(found):
                raise
    if address.scheme == "http":
        sock: Any = _Socket(fileno=plain.detach())
    else:
        try:
            context = _context(time.monotonic() // _CONTEXT_SECONDS)
            # The time-out is one for the whole handshake.
            plain.settimeout(_seconds_until(deadline))
            sock = context.wrap_socket(plain, server_hostname=address.host)
        finally:
            plain.close()
    sock.deadline = deadline
    return sock


@lru_cache(maxsize=1)
def _context(_period: float) -> ssl.SSLContext:
    """Reading the certificates of all authorities takes longer than sending a message."""
    context = ssl.create_default_context()
    context.sslsocket_class = _TlsSocket
    return context


def _exchange(sock: _Socket | _TlsSocket, address: Address, request: _Request) -> tuple[int, bytes]:
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    # It does not connect, because it has a socket.
    connection = kind(address.host, address.port)
    connection.sock = sock
    headers = {"User-Agent": USER_AGENT, "Connection": "close", **request.headers}
    connection.request(request.method, address.path, request.body, headers)
    with closing(connection.getresponse()) as response:
        return response.status, response.read(request.max_bytes)
