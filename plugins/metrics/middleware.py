"""`/metrics` for Prometheus: what all processes measured, and a few figures from the database.

It is a middleware, so that it needs no allowed `Host`: Prometheus often knows only an address. The
database may be away. `prometheus_client` is used directly, because django-prometheus would replace
the database engine, and the service has one of its own.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connections
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from rest_framework.exceptions import NotAuthenticated

from tripcompanion.api import error_views
from tripcompanion.database.watching import DATABASE_AWAY
from tripcompanion.observability.request_ids import current_route
from tripcompanion.plugin import plugins

PATH = "/metrics"
#: How long to wait for each answer of PostgreSQL. A scrape ends after ten seconds.
_DATABASE_SECONDS = 1


class Metrics(MiddlewareMixin):
    """Answers GET and HEAD of `/metrics` with the token; 401 without."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.path_info != PATH:
            return None
        current_route.set(PATH)
        given = request.headers.get("Authorization", "")
        if not constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}"):
            response = error_views.refusal(request, NotAuthenticated())
            response["WWW-Authenticate"] = "Bearer"
            return response
        if request.method not in {"GET", "HEAD"}:
            return error_views.method_not_allowed(request, ["GET", "HEAD"])
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return HttpResponse(encode(_registry()), content_type=content_type)


def _registry() -> Collector:
    """What all processes have measured so far, and the current figures of the database."""
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)
    else:
        # A single process, such as `manage.py runserver`.
        registry.register(REGISTRY)
    registry.register(_StoredFigures())
    return registry


class _StoredFigures(Collector):
    """The figures of all apps; only `tripcompanion_database_up 0` without the database."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            with _briefly():
                figures = [figure for app in plugins() for figure in app.figures()]
        except (*DATABASE_AWAY, ProgrammingError):
            # The latter if it is not migrated yet.
            figures = []
        yield GaugeMetricFamily(
            "tripcompanion_database_up",
            "Whether the database answered within a second.",
            value=bool(figures),
        )
        yield from figures


@contextmanager
def _briefly() -> Iterator[None]:
    """Limit the wait for each answer of PostgreSQL."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    connection = database.connection
    if database.vendor != "postgresql":
        yield
        return
    before, connection.wait_seconds = connection.wait_seconds, _DATABASE_SECONDS
    try:
        yield
    finally:
        connection.wait_seconds = before
