"""Rate limits that hold: one atomic counter for each window, shared by all processes.

Guards of secrets (log-ins, look-ups) count in Redis or, without one, in the database. The general
limits count in Redis or in the memory of each process: a write for every read would cost more than
it protects.
"""

import time
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from tripcompanion.kit.models import Tally
from tripcompanion.kit.problems import Unavailable

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Spent(NamedTuple):
    """What is left of a limit after a request; a window of `window_seconds` allows `quota`."""

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
        """An item of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers)."""
        return f'"{self.scope}";q={self.quota};w={self.window_seconds}'

    @property
    def state(self) -> str:
        """An item of `RateLimit`: requests that remain, and seconds until the next window."""
        remaining = max(0, self.quota - self.taken)
        return f'"{self.scope}";r={remaining};t={int(self.seconds_left) + 1}'


def spend(scope: str, identity: str, *, is_guard: bool = True) -> Spent | None:
    """Count one request of `identity`; None if the scope has no limit.

    Raises `Unavailable` if a guard's counter cannot be reached: who cannot count lets nobody
    guess. The general limits let everybody pass then.
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
        taken = Tally.add(key, ends_at)
    else:
        taken = _count_in_cache(key, window_seconds, is_guard=is_guard)
    return Spent(scope, int(quota), window_seconds, taken, ends_at - now)


def _count_in_cache(key: str, window_seconds: int, *, is_guard: bool) -> int:
    try:
        cache.add(key, 0, timeout=window_seconds)
        return cache.incr(key)
    except ValueError:  # the window ended between the two calls
        return 1
    except _redis_error() as error:
        if is_guard:
            raise Unavailable from error
        return 1


def _redis_error() -> type[Exception]:
    """Asked for when there is an error; loading the library takes memory from every process."""
    from redis.exceptions import RedisError  # noqa: PLC0415 -- see above

    return RedisError


def address_of(request: Request) -> str:
    """The client's address, as many proxies back as `NUM_PROXIES` says."""
    return BaseThrottle().get_ident(request) or ""


class Limit(BaseThrottle):
    """At most N requests in each window of a scope and an identity (`THROTTLE_<SCOPE>`).

    The stock throttles read a list, append and write it back, and let dozens of parallel
    requests through; here each request increments one counter and looks at the sum.
    """

    scope = ""
    is_guard: ClassVar[bool] = True
    spent: Spent | None = None

    def identity(self, request: Request, view: Any) -> str:
        """Whom the requests are counted for: by default the client's address."""
        return address_of(request)

    def allow_request(self, request: Request, view: Any) -> bool:
        self.spent = spend(self.scope, self.identity(request, view), is_guard=self.is_guard)
        if self.spent is None:
            return True
        # The view of the document is drf-spectacular's, and says nothing about its limits.
        getattr(view, "spent", []).append(self.spent)
        return not self.spent.is_over

    def wait(self) -> float | None:
        return self.spent.seconds_left if self.spent else None


class CallerThrottle(Limit):
    """The general limit: `user` for who is logged in, `anon` by address for everybody else."""

    is_guard = False

    def allow_request(self, request: Request, view: Any) -> bool:
        self.scope = "user" if request.user.is_authenticated else "anon"
        return super().allow_request(request, view)

    def identity(self, request: Request, view: Any) -> str:
        if self.scope == "user":
            return str(request.user.pk)
        return super().identity(request, view)
