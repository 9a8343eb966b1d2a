"""What the core measures. Without `settings.INSTRUMENTS` this measures nothing.

The library is then not imported, because it takes memory in every process. No label contains an id,
an address or anything else that a client chooses.
"""

import threading
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from django.conf import settings


class _Unmeasured:
    """Takes the place of every instrument and measures nothing."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        pass

    def labels(self, *_values: Any) -> "_Unmeasured":
        return self

    def inc(self, amount: float = 1) -> None:
        pass

    observe = inc

    def track_inprogress(self) -> Any:
        return nullcontext()

    def time(self) -> Any:
        """A decorator that leaves the function as it is."""
        return lambda function: function


_library = import_module(settings.INSTRUMENTS[0]) if settings.INSTRUMENTS else None
Counter, Gauge, Histogram = (
    getattr(_library, name, _Unmeasured) for name in ("Counter", "Gauge", "Histogram")
)

#: Bounds in seconds; a statement waits for a lock for at most 2 s.
_WAIT_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5)

REQUESTS_IN_PROGRESS = Gauge(
    "tripcompanion_http_requests_in_progress",
    "Requests that run or wait for a database connection.",
    multiprocess_mode="livesum",
)
CONNECTION_WAIT = Histogram(
    "tripcompanion_connection_wait_seconds",
    "Time that a request waited for one of the process's database connections.",
    buckets=_WAIT_SECONDS,
)
TRIP_LOCK_WAIT = Histogram(
    "tripcompanion_trip_lock_wait_seconds",
    "Time until a command had the lock of its trip; with SQLite, without the wait for the file.",
    buckets=_WAIT_SECONDS,
)
THROTTLED = Counter(
    "tripcompanion_throttled_requests", "Requests beyond a limit, by its scope.", ["scope"]
)
PROBLEMS = Counter("tripcompanion_problems", "Problem documents by code.", ["code"])
REPLAYS = Counter(
    "tripcompanion_idempotent_replays", "Responses that were replayed for an Idempotency-Key."
)


class _DatabaseTime(threading.local):
    """The time that this thread has waited for PostgreSQL, in seconds."""

    seconds = 0.0


database_time = _DatabaseTime()
