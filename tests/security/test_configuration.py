"""Rows T105-T128: headers, origins, odd HTTP and odd input; nothing is open that is not meant."""

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.cache.backends.redis import RedisCache
from django.core.management import call_command
from django.test import Client

from tests.document import OPERATIONS, problem_of
from tests.hostile import World
from tests.security import raw
from tests.security.environment import Environment, no_connections
from tests.server import Server
from tests.trips.access import endpoints
from tests.trips.rows import ROWS
from tests.users.logins import try_to_log_in
from tests.walked import all_of
from users.models import User

pytestmark = pytest.mark.once

ORIGIN = "http://localhost:4200"


# -- What leaves the service ----------------------------------------------------------------------


def test_t105_no_address_in_a_body_is_ever_opened(environment: Environment) -> None:
    """T105: No URL in a body is ever fetched."""
    profile = f"/api/users/{environment.olga.pk}/profile"
    with no_connections():
        for url in ("http://169.254.169.254/latest", "/images/a.webp", "https://x.example/a.png"):
            for method, path, field in (
                ("PATCH", environment.url, "imageUrl"),
                ("PATCH", environment.dinner_url, "receiptUrl"),
                ("PUT", profile, "profilePicture"),
            ):
                answer = environment.ask(environment.olga, method, path, {field: url})
                assert (answer.status_code, answer.json()[field]) == (200, url)


def test_t128_nothing_but_the_database_is_ever_called(world: World) -> None:
    """T128: The service connects to nothing but the database."""
    with no_connections():
        for operation in OPERATIONS:
            for body in world.bodies.get(str(operation), [{}]):
                answer = world.send(operation, json.dumps(body).encode())
                assert answer.status_code < 500


# -- Other origins --------------------------------------------------------------------------------


def test_t108_a_foreign_host_is_refused_and_leads_nowhere(
    server: Server, authorization: str
) -> None:
    """T108: A request for an unknown host is rejected and never redirected to it."""
    [evil] = raw.send(server, raw.request("GET /api/health HTTP/1.1", host="Host: evil.example"))
    assert evil.status == 400
    two = raw.request("GET /api/health HTTP/1.1", "Host: evil.example")
    assert raw.status_of(server, two) == 400
    forwarded = ("X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "Forwarded: host=e")
    length = f"Content-Length: {len(raw.TRIP)}"
    [made] = raw.send(server, raw.posting(authorization, length, *forwarded))
    assert made.status == 201
    assert re.fullmatch(r"/api/trips/[0-9]+", made.headers["location"])
    assert b"evil" not in made.body


def test_t109_every_answer_protects_itself(
    world: World, server: Server, authorization: str
) -> None:
    """T109: Every response has security headers."""
    asked = [world.client.get(path) for path in ("/", "/api/nothing", "/api/users/me")]
    asked += [world.client.get(world.url(op)) for op in OPERATIONS if op.method == "GET"]
    asked += [world.send(op, b"[]") for op in OPERATIONS if op.body]
    # The same for everybody, for a week.
    lists = [world.client.get(path) for path in ("/api/currencies", "/api/categories")]
    assert {answer["Cache-Control"] for answer in lists} == {"public, max-age=604800"}
    contents = {answer.content for answer in lists}
    for answer in asked:
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        assert (
            answer["Cache-Control"] == "no-store"
            or answer.content in contents
            or (kind in all_of("PRIVATELY_CACHED") and "private" in answer["Cache-Control"])
        )
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        assert answer["X-Request-ID"]
    for path in ("/api/users/me", "/api/nothing", "/nothing"):
        [answer] = raw.send(server, raw.request(f"GET {path} HTTP/1.1", authorization))
        assert not re.search(r"[0-9]", answer.headers.get("server", ""))
        assert "x-powered-by" not in answer.headers


def test_t111_options_needs_no_log_in_and_lists_no_fields(environment: Environment) -> None:
    """T111: OPTIONS needs no authentication and lists no fields."""
    for user in (None, environment.olga):
        answer = environment.ask(user, "OPTIONS", "/api/trips")
        assert answer.status_code in {401, 405}
        assert b"title" not in answer.content.replace(b'"title":"', b"")
    preflight = Client().options(
        "/api/trips", headers={"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    )
    assert (preflight.status_code, preflight.content) == (200, b"")


def test_without_redis_limits_count_in_the_process_and_readiness_says_so(
    olga: User, limits: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limits(login="2/min", user="10/min")
    monkeypatch.setattr(settings, "CACHE_URL", "redis://127.0.0.1:1/0")
    broken = RedisCache("redis://127.0.0.1:1/0", {})
    for module in ("throttling", "caching"):
        monkeypatch.setattr(f"tripcompanion.api.{module}.cache", broken)
    answers = [try_to_log_in(olga.email, "wrong-password").status_code for _try in range(3)]
    assert answers == [401, 401, 429]
    assert "Redis cannot be used" in caplog.text
    assert Client().get("/api/health/ready").json() == {"status": "ok", "degraded": ["redis"]}
    assert Client().get("/api/health").json() == {"status": "ok"}


def test_t126_only_what_is_meant_is_served(environment: Environment) -> None:
    """T126: Only the documented paths are served."""
    for path in (
        *("/metrics", "/.git/config", "/.env", "/static/../tripcompanion/settings.py", "/debug"),
        *("/static/%2e%2e/%2e%2e/.env", "/static//etc/passwd", "/server-status", "/api/admin"),
        *(
            "/actuator",
            "/__debug__/",
            "/openapi.yaml",
            "/db.sqlite3",
            "/manage.py",
            "/wp-login.php",
        ),
    ):
        problem_of(Client().get(path), 404, "not_found")
    for path in ("/api/health", "/api/health/ready"):
        assert Client().get(path).json() == {"status": "ok"}
    assert environment.ask(None, "GET", "/api/schema").status_code == 200


def test_t127_routes_document_and_matrix_are_the_same_set() -> None:
    """T127: URL routes, OpenAPI document and permission tests cover the same endpoints."""
    served = {str(endpoint) for endpoint in endpoints()}
    assert served == {str(row) for row in ROWS}
    around = {name for name in served if re.search(r"/(schema|docs|mcp|session/\w+)$", name)}
    snake = re.compile(r"{(\w+)}")

    def camel(match: re.Match[str]) -> str:
        head, *rest = match[1].split("_")
        return "{" + head + "".join(map(str.capitalize, rest)) + "}"

    documented = {str(operation) for operation in OPERATIONS}
    assert documented == {snake.sub(camel, name) for name in served - around}


@pytest.mark.django_db
def test_settings_that_carry_the_promises() -> None:
    deployed = StringIO()
    assert settings.X_FRAME_OPTIONS == "DENY"
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        assert "synchronous=FULL" in settings.DATABASES["default"]["OPTIONS"]["init_command"]
    call_command("check", stdout=deployed)
    assert "no issues" in deployed.getvalue()
