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
from tests.factories import PASSWORD
from tests.hostile import World
from tests.logs import production_log
from tests.security import raw
from tests.security.environment import Environment, no_connections
from tests.server import Server
from tests.trips.access import endpoints
from tests.trips.bodies import lisbon
from tests.trips.rows import ROWS
from tests.users.logins import log_in, try_to_log_in
from tests.walked import all_of
from users.models import User

pytestmark = pytest.mark.once

ORIGIN = "http://localhost:4200"


# -- What leaves the service ----------------------------------------------------------------------


def test_t105_no_address_in_a_body_is_ever_opened(environment: Environment) -> None:
    """T105: No URL in a body is ever fetched."""
    refused = ("file:///etc/passwd", "javascript:alert(1)", "//x.example", "gopher://x", "data:,x")
    refused += ("\\\\x.example", "\\x.example", "/a b.webp", "java\x01script:alert(1)")
    stored = ("http://169.254.169.254/latest", "/images/paris.webp", "https://x.example/a.png")
    profile = f"/api/users/{environment.olga.pk}/profile"
    with no_connections():
        for url in (*refused, *stored):
            status = 400 if url in refused else 200
            for path, field in (
                (environment.url, "imageUrl"),
                (environment.dinner_url, "receiptUrl"),
            ):
                answer = environment.ask(environment.olga, "PATCH", path, {field: url})
                assert answer.status_code == status, url
                assert status == 400 or answer.json()[field] == url
            answer = environment.ask(environment.olga, "PUT", profile, {"profilePicture": url})
            assert answer.status_code == status


def test_t128_nothing_but_the_database_is_ever_called(world: World) -> None:
    """T128: The service connects to nothing but the database."""
    with no_connections():
        for operation in OPERATIONS:
            for body in world.bodies.get(str(operation), [{}]):
                answer = world.send(operation, json.dumps(body).encode())
                assert answer.status_code < 500


# -- Other origins --------------------------------------------------------------------------------


def test_t106_other_origins_are_allowed_nothing(environment: Environment, settings: Any) -> None:
    """T106: CORS allows other origins nothing."""
    settings.CORS_ALLOWED_ORIGIN_REGEXES = []  # as in production
    for origin in (
        "https://evil.example",
        "null",
        f"{ORIGIN}.evil.example",
        "https://localhost:4200",
    ):
        answer = environment.ask(environment.olga, "GET", "/api/trips", HTTP_ORIGIN=origin)
        assert [name for name in answer.headers if "access-control" in name.lower()] == []
    answer = environment.ask(environment.olga, "GET", "/api/trips", HTTP_ORIGIN=ORIGIN)
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert "Access-Control-Allow-Credentials" not in answer
    assert "origin" in answer["Vary"].lower()


def test_t107_the_front_end_may_send_and_read_what_it_needs(
    environment: Environment, limits: Any
) -> None:
    """T107: CORS allows the front end what it needs."""
    sent = {"authorization", "x-app-client", "content-type", "idempotency-key", "if-match"}
    preflight = Client().options(
        "/api/trips",
        headers={
            "Origin": ORIGIN,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ", ".join(sorted(sent)),
        },
    )
    assert preflight.status_code in {200, 204}
    assert sent <= set(re.split(r",\s*", preflight["Access-Control-Allow-Headers"].lower()))
    read = {"etag", "location", "retry-after", "idempotency-replayed", "ratelimit", "x-request-id"}
    limits(lookup="1/hour")
    code = "/api/trips/code/AAAAAAAA"
    seen = set()
    for user, path in (
        *(
            (None, "/api/trips"),
            (environment.olga, "/api/nothing"),
            (environment.olga, "/api/trips"),
        ),
        *((environment.olga, code), (environment.olga, code), (environment.sam, environment.url)),
    ):
        answer = environment.ask(user, "GET", path, HTTP_ORIGIN=ORIGIN)
        seen.add(answer.status_code)
        assert answer["Access-Control-Allow-Origin"] == ORIGIN
        exposed = set(re.split(r",\s*", answer["Access-Control-Expose-Headers"].lower()))
        assert read <= exposed
    assert seen == {200, 401, 404, 429}


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


def test_t110_a_browser_sees_pages_that_run_nothing(environment: Environment) -> None:
    """T110: Pages for browsers escape all user input."""
    wild = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    assert (
        environment.ask(environment.olga, "PATCH", environment.url, {"title": wild}).status_code
        == 200
    )
    page = environment.ask(environment.olga, "GET", environment.url, HTTP_ACCEPT="text/html")
    assert page["Content-Type"].startswith("text/html")
    assert b"<script>alert(1)" not in page.content
    assert b"<img src=x" not in page.content
    problem_of(
        environment.ask(environment.olga, "GET", environment.url, HTTP_ACCEPT="application/xml"),
        406,
    )
    assert (
        environment.ask(environment.olga, "GET", f"{environment.url}?format=json").json()["title"]
        == wild
    )
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(environment.olga)
    written = browser.post("/api/trips", lisbon(), content_type="application/json")
    problem_of(written, 403, "csrf_failed")


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


def test_t112_an_unknown_path_is_json_and_leads_nowhere(environment: Environment) -> None:
    """T112: An unknown path returns a JSON 404, never a redirect."""
    for path in (
        *("/api/", "/nothing", "/%2Fevil.example", "/api/..;/", "/api/trips/"),
        *("/api//trips", "/API/trips", "/api/trips;x", "/%2e%2e/", "/api/v1/trips"),
    ):
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = environment.ask(
                environment.olga, method, path, {} if method != "GET" else None
            )
            problem_of(answer, 404, "not_found")
            assert "Location" not in answer


def test_t125_nothing_secret_is_logged_and_an_event_is_a_line(environment: Environment) -> None:
    """T125: Logs contain no secrets, and each event is one line."""
    refresh_token = log_in(environment.ed)["refreshToken"]
    with production_log() as lines:
        body = {"email": "canary@example.com", "password": "canary-password"}
        for path in ("login", "register", "login"):
            environment.ask(None, "POST", f"/api/users/{path}", body)
        environment.ask(
            None, "POST", "/api/users/token/refresh", {"refreshToken": f"{refresh_token}x"}
        )
        environment.ask(environment.ed, "GET", "/api/users/email/canary@example.com")
        environment.ask(environment.ed, "GET", "/api/trips/code/canary")
        environment.ask(
            environment.ed,
            "GET",
            "/api/trips?token=canary-query",
            HTTP_AUTHORIZATION="Bearer canary",
        )
        environment.ask(
            environment.ed, "GET", "/api/a%0aERROR%20forged", HTTP_USER_AGENT="a\nERROR forged"
        )
        written = lines()
    assert written
    events = [json.loads(line) for line in written]
    assert not [event for event in events if event["message"].startswith("ERROR")]
    text = "\n".join(written)
    for secret in ("canary", refresh_token, refresh_token.split(".")[1], PASSWORD):
        assert secret not in text


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
