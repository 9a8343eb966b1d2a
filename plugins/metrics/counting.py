"""Counts and times requests."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Histogram, Summary

from tripcompanion.api.keeping import KEEPER
from tripcompanion.observability.instruments import database_time
from tripcompanion.observability.request_ids import OTHER, current_route

#: Bounds in seconds; a statement runs for at most 5 s.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
#: Any other method is counted as `other`, because a client may send any word.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_REQUESTS = Counter(
    "tripcompanion_http_requests",
    "Responses by route, method and status.",
    ["route", "method", "status"],
)
_DURATION = Histogram(
    "tripcompanion_http_request_duration_seconds",
    "Time from the first middleware to the response, without the wait for a connection.",
    ["route", "method"],
    buckets=_SECONDS,
)
_DATABASE_TIME = Summary(
    "tripcompanion_http_request_database_seconds",
    "Time that a request waited for PostgreSQL; 0 with SQLite.",
    ["route", "method"],
)


class CountRequests:
    """A middleware; a request that waits is counted once, without the time that it waits."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if KEEPER in request.META:
            return self.get_response(request)
        database_time.seconds = 0
        started = time.perf_counter()
        response = self.get_response(request)
        labels = current_route.get() or OTHER, _method(request)
        _REQUESTS.labels(*labels, response.status_code).inc()
        _DURATION.labels(*labels).observe(time.perf_counter() - started)
        _DATABASE_TIME.labels(*labels).observe(database_time.seconds)
        return response


def _method(request: HttpRequest) -> str:
    return str(request.method) if request.method in _METHODS else "other"
