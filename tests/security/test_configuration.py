"""Rows T105-T128: headers, origins, odd HTTP and odd input; nothing is open that is not meant."""

import re

import pytest
from django.conf import settings
from django.core.cache.backends.redis import RedisCache
from django.test import Client

from tests.security import raw
from tests.users.logins import try_to_log_in

pytestmark = pytest.mark.once

ORIGIN = "http://localhost:4200"


# -- Other origins --------------------------------------------------------------------------------


def test_t108_a_foreign_host_is_refused_and_leads_nowhere(server, authorization):
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


def test_t111_options_needs_no_log_in_and_lists_no_fields(environment):
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
    olga, limits, monkeypatch, caplog
):
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
