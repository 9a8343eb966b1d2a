"""Rate limits with an atomic counter in the cache: exact under any concurrency."""

import time
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_over(scope: str, identity: str) -> float:
    """Count one request; 0 if it is within the limit, else the seconds until the next window."""
    rate: Any = api_settings.DEFAULT_THROTTLE_RATES[scope]
    if not rate:
        return 0
    limit, _slash, period = rate.partition("/")
    window_seconds = _SECONDS[period[0]]
    now = time.time()
    window = int(now // window_seconds)
    key = f"limit:{scope}:{window}:{sha256(identity.encode()).hexdigest()}"
    cache.add(key, 0, timeout=window_seconds)
    try:
        is_over = cache.incr(key) > int(limit)
    except ValueError:  # the window ended between the two calls
        is_over = False
    return (window + 1) * window_seconds - now if is_over else 0


def address_of(request: Request) -> str:
    """The client's address, as many proxies back as `NUM_PROXIES` says."""
    return BaseThrottle().get_ident(request) or ""


class Limit(BaseThrottle):
    """At most N requests in each window of a scope and an identity (`THROTTLE_<SCOPE>`).

    The stock throttles read a list, append and write it back, and let dozens of parallel
    requests through; here each request increments one counter and looks at the sum.
    """

    scope = ""

    def identity(self, request: Request, view: Any) -> str:
        """Whom the requests are counted for: by default the client's address."""
        return address_of(request)

    def allow_request(self, request: Request, view: Any) -> bool:
        self._wait_seconds = seconds_over(self.scope, self.identity(request, view))
        return not self._wait_seconds

    def wait(self) -> float:
        return self._wait_seconds


class CallerThrottle(Limit):
    """The general limit: `user` for who is logged in, `anon` by address for everybody else."""

    def allow_request(self, request: Request, view: Any) -> bool:
        self.scope = "user" if request.user.is_authenticated else "anon"
        return super().allow_request(request, view)

    def identity(self, request: Request, view: Any) -> str:
        if self.scope == "user":
            return str(request.user.pk)
        return super().identity(request, view)
