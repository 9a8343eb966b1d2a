"""What the service measures for Prometheus. Without METRICS_TOKEN this measures nothing.

`prometheus_client` is then not imported, because it takes memory in every process. No label
contains an id, an address or anything else that a client chooses.
"""

import threading
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from tripcompanion.observability.request_ids import OTHER, current_route


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


if settings.METRICS_TOKEN:
    from prometheus_client import Counter, Gauge, Histogram, Summary
else:
    Counter = Gauge = Histogram = Summary = _Unmeasured  # type: ignore[assignment, misc]

#: Bounds in seconds; a statement waits for a lock for at most 2 s and runs for at most 5 s.
_REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_WAIT_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5)
#: Any other method is counted as `other`, because a client may send any word.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_REQUESTS = Counter(
    "tripcompanion_http_requests",
    "Responses by route, method and status.",
    ["route", "method", "status"],
)
_REQUEST_DURATION = Histogram(
    "tripcompanion_http_request_duration_seconds",
    "Time from the first middleware to the response, without the wait for a connection.",
    ["route", "method"],
    buckets=_REQUEST_SECONDS,
)
_REQUEST_DATABASE_TIME = Summary(
    "tripcompanion_http_request_database_seconds",
    "Time that a request waited for PostgreSQL; 0 with SQLite.",
    ["route", "method"],
)
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


def count_request(request: HttpRequest, status: int, duration_seconds: float) -> None:
    """Count a request whose thread started it with a `database_time` of 0."""
    method = request.method if request.method in _METHODS else "other"
    labels = current_route.get() or OTHER, method
    _REQUESTS.labels(*labels, status).inc()
    _REQUEST_DURATION.labels(*labels).observe(duration_seconds)
    _REQUEST_DATABASE_TIME.labels(*labels).observe(database_time.seconds)
