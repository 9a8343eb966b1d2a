"""Exact rate limits: one atomic counter for each window, shared by all processes.

Limits that protect secrets (logins, look-ups) count in Redis or, without it, in the database. The
general limits count in Redis or in the memory of each process, because a database write for every
request would cost too much.
"""

import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from tripcompanion.kit.caching import redis_error
from tripcompanion.kit.instruments import THROTTLED
from tripcompanion.kit.models import ThrottleCounter
from tripcompanion.kit.problems import Unavailable

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Spent(NamedTuple):
    """The state of a limit after a request; a window of `window_seconds` allows `quota`."""

    scope: str
    quota: int
    window_seconds: int
    taken: int
    seconds_left: float

    @property
    def is_over(self) -> bool:
        return self.taken > self.quota

    @property
    def policy(self) -> str:
        """An item of `RateLimit-Policy`."""
        return f'"{self.scope}";q={self.quota};w={self.window_seconds}'

    @property
    def state(self) -> str:
        """An item of `RateLimit`: requests that remain, and seconds until the next window."""
        remaining = max(0, self.quota - self.taken)
        return f'"{self.scope}";r={remaining};t={int(self.seconds_left) + 1}'


def limit_headers(counted: Sequence[Spent]) -> dict[str, str]:
    """The headers that tell of these limits (draft-ietf-httpapi-ratelimit-headers)."""
    return {
        "RateLimit-Policy": ", ".join(spent.policy for spent in counted),
        "RateLimit": ", ".join(spent.state for spent in counted),
    }


def spend(scope: str, identity: str, *, is_guard: bool = True) -> Spent | None:
    """Count one request of `identity`; None if the scope has no limit.

    Raises `Unavailable` if the counter of a guard cannot be reached, so that nobody can guess
    without a limit. The general limits allow the request then.
    """
    rate: Any = api_settings.DEFAULT_THROTTLE_RATES[scope]
    if not rate:
        return None
    quota, _slash, period = rate.partition("/")
    window_seconds = _SECONDS[period[0]]
    now = time.time()
    window = int(now // window_seconds)
    ends_at = (window + 1) * window_seconds
    key = f"{scope}:{window}:{sha256(identity.encode()).hexdigest()}"
    if is_guard and not settings.CACHE_URL:
        taken = ThrottleCounter.add(key, ends_at)
    else:
        taken = _count_in_cache(key, window_seconds, is_guard=is_guard)
    spent = Spent(scope, int(quota), window_seconds, taken, ends_at - now)
    if spent.is_over:
        THROTTLED.labels(scope).inc()
    return spent


def _count_in_cache(key: str, window_seconds: int, *, is_guard: bool) -> int:
    try:
        cache.add(key, 0, timeout=window_seconds)
        return cache.incr(key)
    except ValueError:  # the window ended between the two calls
        return 1
    except redis_error() as error:
        if is_guard:
            raise Unavailable from error
        return 1


def address_of(request: Request) -> str:
    """The client's address, behind `NUM_PROXIES` proxies."""
    return BaseThrottle().get_ident(request) or ""


class WindowThrottle(BaseThrottle):
    """At most N requests in each window of a scope and an identity (`THROTTLE_<SCOPE>`).

    DRF's throttles read a list, append to it and write it back, so they allow dozens of parallel
    requests too many. Here each request increments one counter atomically.
    """

    scope = ""
    is_guard: ClassVar[bool] = True
    spent: Spent | None = None

    def identity(self, request: Request, view: Any) -> str:
        """The identity that requests are counted for; by default the client's address."""
        return address_of(request)

    def allow_request(self, request: Request, view: Any) -> bool:
        self.spent = spend(self.scope, self.identity(request, view), is_guard=self.is_guard)
        if self.spent is None:
            return True
        # The view of the OpenAPI document is drf-spectacular's and has no such list.
        getattr(view, "spent", []).append(self.spent)
        return not self.spent.is_over

    def wait(self) -> float | None:
        return self.spent.seconds_left if self.spent else None


class CallerThrottle(WindowThrottle):
    """The general limit: `user` for authenticated users, `anon` by address for everybody else."""

    is_guard = False

    def allow_request(self, request: Request, view: Any) -> bool:
        self.scope = "user" if request.user.is_authenticated else "anon"
        return super().allow_request(request, view)

    def identity(self, request: Request, view: Any) -> str:
        if self.scope == "user":
            return str(request.user.pk)
        return super().identity(request, view)
