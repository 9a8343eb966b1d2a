"""Exact rate limits: one atomic counter for each window, shared by all processes.

Limits that protect secrets (logins, look-ups) count in Redis or, without it, in the database. The
general limits count in Redis or in the memory of each process, because a database write for every
request would cost too much. While Redis is away, all of them count in the memory of each process.
"""

import logging
import os
import re
import time
from hashlib import sha256
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any, ClassVar, NamedTuple

from django.conf import settings
from django.core.cache import cache, caches
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from tripcompanion.api.caching import redis_error
from tripcompanion.database.models import ThrottleCounter
from tripcompanion.observability.instruments import THROTTLED

logger = logging.getLogger(__name__)

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
#: An IPv6 client has a network of this length to choose its addresses from.
_IPV6_CLIENT_BITS = 64
#: Some proxies add the port of the client, which changes with each connection.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]+)?")
#: A response costs one request for each of these bytes, and a body for each of these values.
BYTES_OF_A_REQUEST, VALUES_OF_A_REQUEST = 64 * 1024, 20
#: What reads many rows costs one more for each of these.
ROWS_OF_A_REQUEST = 100
#: An export or import counts as one more for each of these seconds of processor time. So no account
#: keeps more than a quarter of a processor busy, however much is in its trips.
SECONDS_OF_A_REQUEST = {"export": 5.0, "import": 10.0}
#: How many exceeded limits a process remembers.
_MAX_EXCEEDED = 10_000
#: The exceeded counters, and the ends of their windows: these are not counted any further.
_exceeded: dict[str, float] = {}


class LimitState(NamedTuple):
    """The state of a limit after a request; a window of `window_seconds` allows `quota`."""

    scope: str
    quota: int
    window_seconds: int
    taken: int
    seconds_left: float
    #: The counter, and whether the database or Redis has it in any case.
    key: str
    is_guard: bool = False

    @property
    def is_general(self) -> bool:
        """Whether this is the limit of all requests that have none of their own."""
        return self.scope in {"user", "anon"}

    @property
    def is_over(self) -> bool:
        return self.taken > self.quota


class Limits(list[LimitState]):
    """The limits that a request was counted for."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell of them (draft-ietf-httpapi-ratelimit-headers).

        `RateLimit` has the requests that remain, and the seconds until the next window.
        """
        policies = [f'"{state.scope}";q={state.quota};w={state.window_seconds}' for state in self]
        current = [
            f'"{state.scope}";r={max(0, state.quota - state.taken)};t={int(state.seconds_left) + 1}'
            for state in self
        ]
        return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(current)}

    @property
    def has_general(self) -> bool:
        return any(state.is_general for state in self)

    def charge(self, requests: int) -> None:
        """Count the request as so many more, for what it has read."""
        for state in self:
            if state.is_general:
                _charge(state, requests)

    def charge_body(self, body: Any) -> LimitState | None:
        """Count a body with many objects as many requests; returns the limit that they exceed.

        They are at most as many as the window has, or the one that was counted. A body that does
        not fit costs nothing more than a request, so that smaller ones still fit.
        """
        requests = requests_of(body)
        for place, state in enumerate(self):
            if state.is_general:
                more = min(requests, state.quota) - 1
                charged = _charge(state, more)
                if charged.is_over:
                    _charge(state, -more)
                    return charged
                self[place] = charged
        return None

    def charge_rows(self, rows: int) -> None:
        """Count a request that has read so many rows as several."""
        self.charge(rows // ROWS_OF_A_REQUEST)

    def charge_time(self, seconds: float) -> None:
        """Count an export or import that took so much processor time as several."""
        for state in self:
            if state.scope in SECONDS_OF_A_REQUEST:
                _charge(state, int(seconds / SECONDS_OF_A_REQUEST[state.scope]))


def count_against_limit(
    scope: str,
    identity: str,
    *,
    request: Any,
    is_guard: bool = True,
    rate: tuple[int, int] | None = None,
) -> LimitState | None:
    """Count one request of `identity`; None if the scope has no limit.

    In development, `request` has none if it comes from this machine and none was set. `rate` are
    the quota and the seconds of a limit that has no setting.
    """
    limit = rate or _limit_of(scope)
    if limit is None or _is_free(request, scope):
        return None
    quota, window_seconds = limit
    now = time.time()
    key, ends_at = _counter(scope, identity, window_seconds)
    if _exceeded.get(key, 0) > now:
        taken = quota + 1
    elif is_guard and not settings.CACHE_URL:
        taken = ThrottleCounter.add(key, ends_at + window_seconds)
    else:
        taken = _count_in_cache(key, window_seconds)
    state = LimitState(scope, quota, window_seconds, taken, ends_at - now, key, is_guard)
    if state.is_over:
        THROTTLED.labels(scope).inc()
        _note_exceeded(key, ends_at)
    return state


def is_exceeded(scope: str, identity: str) -> bool:
    """Whether `identity` has used up the limit of a guard; this counts no request."""
    limit = _limit_of(scope)
    return limit is not None and _has_reached(scope, identity, *limit)


def was_counted(scope: str, identity: str, rate: tuple[int, int]) -> bool:
    """Whether a guard with this rate counted a request of `identity` in its last window."""
    _quota, window_seconds = rate
    return _has_reached(scope, identity, 1, window_seconds, ago=1)


def _has_reached(scope: str, identity: str, count: int, window_seconds: int, ago: int = 0) -> bool:
    key, _ends_at = _counter(scope, identity, window_seconds, ago)
    if not settings.CACHE_URL:
        return ThrottleCounter.objects.filter(key=key, count__gte=count).exists()
    try:
        return int(cache.get(key, 0)) >= count
    except redis_error():
        return int(caches["local"].get(key, 0)) >= count


def _charge(state: LimitState, requests: int) -> LimitState:
    """Count more requests in a limit that counted one already; returns its new state."""
    if not requests:
        return state
    if state.is_guard and not settings.CACHE_URL:
        kept_until = time.time() + state.seconds_left + state.window_seconds
        return state._replace(taken=ThrottleCounter.add(state.key, kept_until, requests))
    try:
        return state._replace(taken=cache.incr(state.key, requests))
    except (ValueError, redis_error()):
        return state


def requests_of(body: Any) -> int:
    """How many requests a body counts as: one for each object in its lists, or for 20 values."""
    objects = values = 0
    waiting = [body]
    while waiting:
        each = waiting.pop()
        for value in each.values() if isinstance(each, dict) else each:
            if isinstance(value, dict | list):
                objects += isinstance(value, dict) and isinstance(each, list)
                waiting.append(value)
            else:
                values += 1
    return max(1, objects, values // VALUES_OF_A_REQUEST)


def _limit_of(scope: str) -> tuple[int, int] | None:
    """The quota and the seconds of the window of a scope that has a limit."""
    rate: Any = api_settings.DEFAULT_THROTTLE_RATES[scope]
    if not rate:
        return None
    quota, _slash, period = rate.partition("/")
    return int(quota), _SECONDS[period[0]]


def _counter(scope: str, identity: str, window_seconds: int, ago: int = 0) -> tuple[str, int]:
    """The key of the counter of the current window, and the window's end, in seconds since 1970.

    With `ago`, the counter of that many windows before. A counter outlives its window by one.
    """
    window = int(time.time() // window_seconds) - ago
    key = f"{scope}:{window}:{sha256(identity.encode()).hexdigest()}"
    return key, (window + 1) * window_seconds


def _is_free(request: Any, scope: str) -> bool:
    """Whether a developer on the same machine is exempt from the limit of this scope."""
    is_set = f"THROTTLE_{scope.upper()}" in os.environ
    return settings.DEBUG and not is_set and is_local(request)


def _note_exceeded(key: str, ends_at: float) -> None:
    if len(_exceeded) >= _MAX_EXCEEDED:
        _exceeded.clear()
    _exceeded[key] = ends_at


def _count_in_cache(key: str, window_seconds: int) -> int:
    try:
        return _count_in(cache, key, window_seconds)
    except redis_error() as error:
        logger.error("Redis cannot be used; limits count in each process: %s", error)
        return _count_in(caches["local"], key, window_seconds)


def _count_in(counters: Any, key: str, window_seconds: int) -> int:
    try:
        counters.add(key, 0, timeout=2 * window_seconds)
        return counters.incr(key)
    except ValueError:  # the window ended between the two calls
        return 1


def address_of(request: Request) -> str:
    """The client's address, behind `NUM_PROXIES` proxies."""
    text = BaseThrottle().get_ident(request) or ""
    with_port = _WITH_PORT.fullmatch(text)
    return with_port[1] or with_port[2] if with_port else text


def is_local(request: Any) -> bool:
    try:
        return ip_address(address_of(request)).is_loopback
    except ValueError:
        return False


def client_of(request: Request) -> str:
    """The client as limits count it: its IPv4 address, or the /64 network of its IPv6 address."""
    return client_at(address_of(request))


def client_at(text: str) -> str:
    """The same for an address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((address, _IPV6_CLIENT_BITS), strict=False))


class WindowThrottle(BaseThrottle):
    """At most N requests in each window of a scope and an identity (`THROTTLE_<SCOPE>`).

    DRF's throttles read a list, append to it and write it back, so they allow dozens of parallel
    requests too many. Here each request increments one counter atomically.
    """

    scope = ""
    is_guard: ClassVar[bool] = True
    state: LimitState | None = None

    def identity(self, request: Request, view: Any) -> str:
        """The identity that requests are counted for; by default the client."""
        return client_of(request)

    def allow_request(self, request: Request, view: Any) -> bool:
        identity = self.identity(request, view)
        self.state = count_against_limit(
            self.scope, identity, request=request, is_guard=self.is_guard
        )
        if self.state is None:
            return True
        # The view of the OpenAPI document is drf-spectacular's and has no such list.
        getattr(view, "limits", []).append(self.state)
        return not self.state.is_over

    def wait(self) -> float | None:
        return self.state.seconds_left if self.state else None


class UserThrottle(WindowThrottle):
    """The same for each user, whatever client they use; only for those who are logged in."""

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk)


class CallerThrottle(WindowThrottle):
    """The general limit: `user` for authenticated users, `anon` by address for everybody else."""

    is_guard = False

    def allow_request(self, request: Request, view: Any) -> bool:
        self.scope = "user" if request.user.is_authenticated else "anon"
        return super().allow_request(request, view)

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk) if self.scope == "user" else super().identity(request, view)
