"""Traces for OpenTelemetry: a span for each request, and one for each of its statements.

The settings add this only if an OTLP endpoint is configured, so nothing of OpenTelemetry is
imported otherwise. OpenTelemetry's own instrumentations of Django and psycopg are not used: they
export paths, query strings and addresses of clients, which contain e-mail addresses and tokens,
and they do not see prepared cursors. Django's `execute_wrappers` reach all statements.

Spans contain the route instead of the path, and statements with their placeholders.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponseBase
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_TIMEOUT
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tripcompanion.observability.request_ids import OTHER, current_route

#: A longer statement is mostly a list of placeholders.
MAX_CHARS = 4000
#: The only header that is read: `tracestate` may contain anything.
_HEADER = "traceparent"
_IN_META = "HTTP_TRACEPARENT"
#: Instead of ten seconds: a process that ends sends its last spans, and waits for a collector that
#: cannot be reached.
_TIMEOUT_SECONDS = "2"
_parents = TraceContextTextMapPropagator()


class Traces:
    """Traces every request, in the trace of its `traceparent` header if it has one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        connection_created.connect(trace_statements)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        method = str(request.method) if request.method in _METHODS else "_OTHER"
        parent = _parents.extract({_HEADER: request.META.get(_IN_META, "")})
        with _tracer().start_as_current_span(
            method,
            parent,
            trace.SpanKind.SERVER,
            {"http.request.method": method},
            # Messages of exceptions may contain values.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            # `RequestIds` reads it for the log.
            own: dict[str, str] = {}
            _parents.inject(own)
            request.META[_IN_META] = own.get(_HEADER, "")
            response = self.get_response(request)
            route = current_route.get()
            span.set_attribute("http.response.status_code", response.status_code)
            if route not in {"", OTHER}:
                span.update_name(f"{method} {route}")
                span.set_attribute("http.route", route)
            if response.status_code >= 500:
                span.set_status(trace.StatusCode.ERROR)
            return response


#: Any other word was chosen by the client.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def trace_statements(connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Trace the statements of a connection that Django has just opened."""
    if _traced not in connection.execute_wrappers:
        connection.execute_wrappers.append(_traced)


def _traced(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    if not trace.get_current_span().is_recording():
        # No request is traced, for example in a command.
        return execute(sql, params, many, context)
    text = str(sql)[:MAX_CHARS]
    operation = text.split(None, 1)[0].upper()[:20] if text.strip() else "SQL"
    with _tracer().start_as_current_span(
        operation,
        kind=trace.SpanKind.CLIENT,
        attributes={
            "db.system.name": context["connection"].vendor,
            "db.operation.name": operation,
            "db.query.text": text,
        },
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            return execute(sql, params, many, context)
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


@cache
def _tracer() -> trace.Tracer:
    """The tracer of this process; the environment configures exporter, sampler and batches."""
    named = Resource({"service.name": "tripcompanion"}).merge(OTELResourceDetector().detect())
    # Its thread sends the spans. At the first request, because a worker would not inherit it.
    os.environ.setdefault(OTEL_EXPORTER_OTLP_TIMEOUT, _TIMEOUT_SECONDS)
    provider = TracerProvider(resource=named)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("tripcompanion")
