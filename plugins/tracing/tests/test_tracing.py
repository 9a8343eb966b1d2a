"""Traces: what a collector gets from a real server, and what it must not get."""

import gzip
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest
from django.conf import settings

from tests.server import ROOT, running_server
from tests.splits.journey import Journey, sign_up

needs_opentelemetry = pytest.mark.skipif(
    importlib.util.find_spec("opentelemetry") is None, reason="OpenTelemetry is not installed"
)
TRIP_ROUTE = "/api/trips/<id:trip_id>"
CANARY = "Canary7391"
DEADLINE_SECONDS = 20
Attributes = dict[str, Any]


class Collector(ThreadingHTTPServer):
    """An OTLP collector that keeps what it gets, as bytes and as spans."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []
        self.spans: list[Any] = []
        self.resource: Attributes = {}

    def keep(self, body):
        trace_service = importlib.import_module(
            "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
        )
        sent = trace_service.ExportTraceServiceRequest.FromString(body)
        self.bodies.append(body)
        for of_resource in sent.resource_spans:
            self.resource = attributes(of_resource.resource)
            for of_scope in of_resource.scope_spans:
                self.spans += of_scope.spans

    def wait_for(self, is_it):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            if found := [span for span in self.spans if is_it(span)]:
                return found[0]
            assert time.monotonic() < deadline, sorted({span.name for span in self.spans})
            time.sleep(0.05)


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self):  # noqa: N802 -- as in http.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_short = self.headers.get("Content-Encoding") == "gzip"
        self.server.keep(gzip.decompress(body) if is_short else body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments):
        """Print nothing."""


def attributes(owner):
    return {each.key: each.value.int_value or each.value.string_value for each in owner.attributes}


@contextmanager
def collecting():
    with Collector() as collector:
        thread = Thread(target=collector.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def collector():
    with collecting() as found:
        yield found


@pytest.fixture(scope="module")
def server(collector):
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    variables = {"OTEL_BSP_SCHEDULE_DELAY": "100", "DEBUG": "false"}
    with running_server(OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, **variables) as running:
        yield running


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server.url, timeout=30, trust_env=False) as client:
        yield client


def parent_of(trace_id):
    return f"00-{trace_id}-{secrets.token_hex(8)}-01"


@needs_opentelemetry
def test_a_request_and_its_statements_are_one_trace_of_the_caller(collector, http):
    olga, trace_id = sign_up(http), secrets.token_hex(16)
    trip = Journey.start(olga)
    trip.spend(30, olga)
    header = {"traceparent": parent_of(trace_id)}
    assert olga.call("GET", f"{trip.path}/expenses", **header).status_code == 200

    def is_in_trace(span):
        return bool(span.trace_id.hex() == trace_id)

    request = collector.wait_for(
        lambda span: is_in_trace(span) and span.name == f"GET {TRIP_ROUTE}/expenses"
    )
    assert attributes(request) == {
        "http.request.method": "GET",
        "http.route": f"{TRIP_ROUTE}/expenses",
        "http.response.status_code": 200,
    }
    assert request.parent_span_id.hex() == header["traceparent"].split("-")[2]
    statements = [span for span in collector.spans if is_in_trace(span) and span is not request]
    assert {span.parent_span_id for span in statements} == {request.span_id}
    texts = [attributes(span)["db.query.text"] for span in statements]
    assert any('"splits_expense"' in text for text in texts)
    is_sqlite = settings.DATABASE_URL.startswith("sqlite")
    systems = {attributes(span)["db.system.name"] for span in statements}
    assert systems == {"sqlite" if is_sqlite else "postgresql"}
    assert collector.resource["service.name"] == "tripcompanion"


@needs_opentelemetry
def test_no_span_contains_a_value_of_a_request(collector, http):
    """T180: No span contains a value of a request."""
    email = f"{CANARY}@example.com"
    body = {"name": CANARY, "email": email, "password": f"{CANARY}-four-green"}
    headers = {"User-Agent": CANARY, "X-Request-ID": CANARY, "tracestate": f"a={CANARY}"}
    registered = http.post("/api/users/register", json=body, headers=headers).json()
    # A violated constraint names the value, and so do paths, queries and unknown methods.
    assert http.post("/api/users/register", json=body, headers=headers).status_code == 409
    headers |= {"Authorization": f"Bearer {registered['token']}"}
    for path in (f"/users/email/{email}", f"/trips?search={CANARY}", f"/invitations/{CANARY}"):
        http.get(f"/api{path}", headers=headers)
    http.get(f"/{CANARY}", headers=headers)
    http.request(CANARY, "/api/trips", headers=headers)
    trip = {"title": CANARY, "destination": CANARY, "currency": "EUR"}
    dates = {"startDate": "2026-05-14", "endDate": "2026-05-18"}
    assert http.post("/api/trips", json=trip | dates, headers=headers).status_code == 201
    last = secrets.token_hex(16)
    http.get("/api/trips", headers=headers | {"traceparent": parent_of(last)})
    collector.wait_for(lambda span: span.trace_id.hex() == last and span.name == "GET /api/trips")
    time.sleep(0.5)
    assert any(span.name.startswith("GET /api/users/email/<") for span in collector.spans)
    sent = b"".join(collector.bodies).lower()
    assert CANARY.lower().encode() not in sent
    assert b"127.0.0.1" not in sent
    assert registered["token"].encode() not in sent


@needs_opentelemetry
def test_the_trace_id_is_in_the_log_line_beside_the_request_id():
    script = f"""
import django
django.setup()
from django.test import Client
parent = {parent_of("ab" * 16)!r}
Client().get("/api/health", headers={{"X-Request-ID": "first"}})
Client().get("/api/health", headers={{"X-Request-ID": "second", "traceparent": parent}})
"""
    with collecting() as collector:
        done = _python(
            script, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.server_port}"
        )
        found = {span.trace_id.hex() for span in collector.spans}
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    logged = {line["requestId"]: line["traceId"] for line in lines if "traceId" in line}
    assert logged["second"] == "ab" * 16
    assert {logged["first"], logged["second"]} == found


def test_without_an_endpoint_nothing_is_imported():
    script = (
        "import django, sys; django.setup(); import tripcompanion.serving.wsgi; "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    assert _python(script).stdout.strip() == "[]"


@pytest.mark.slow
@needs_opentelemetry
def test_a_collector_that_is_away_costs_requests_nothing():
    script = """
import django, time
django.setup()
from django.test import Client
started = time.monotonic()
print([Client().get("/api/health").status_code for _time in range(20)])
print(time.monotonic() - started)
"""
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    answers, seconds = _python(script, **endpoint, OTEL_BSP_SCHEDULE_DELAY="1").stdout.splitlines()
    assert answers == str([200] * 20)
    assert float(seconds) < 5


def _python(script, **variables):
    environment = {
        **{name: value for name, value in _inherited() if not name.startswith("OTEL_")},
        "DJANGO_SETTINGS_MODULE": "tripcompanion.settings",
        "DATABASE_URL": "sqlite://:memory:",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "DEBUG": "false",
        "LOG_LEVEL": "INFO",
        "ALLOWED_HOSTS": "testserver",
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip


def _inherited():
    return list(os.environ.items())
