"""What every answer tells browsers and caches."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.cast import Api
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.once

PATHS = ("/api/trips", "/api/users/me", "/api/health", "/api/nothing", "/api", "/api/schema")


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_kept_nowhere_and_runs_nothing(api: Api, olga: User, path: str) -> None:
    for client in (api(olga), api(None)):
        headers = client.get(path).headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/api/docs", "/api/session/login", "/admin/login/"])
def test_a_page_loads_from_here_only(db: None, path: str) -> None:
    policy = Client(headers={"Accept": "text/html"}).get(path)["Content-Security-Policy"]
    assert policy.startswith("default-src 'self'; script-src 'self'; ")
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize(("seconds", "value"), [(0, None), (31_536_000, "max-age=31536000")])
def test_https_is_remembered_if_that_was_chosen(
    db: None, settings: Settings, seconds: int, value: str | None
) -> None:
    settings.SECURE_HSTS_SECONDS = seconds
    headers = Client().get("/api/health", secure=True).headers
    assert headers.get("Strict-Transport-Security") == value


def test_static_files_may_be_kept(db: None) -> None:
    response = Client().get("/static/admin/css/base.css")
    assert b"".join(response.streaming_content)
    response.close()
    assert "no-store" not in response["Cache-Control"]


def test_a_tag_is_for_the_client_not_for_a_cache(api: Api, olga: User, trip: Trip) -> None:
    response = api(olga).get(f"/api/trips/{trip.pk}")
    assert response["ETag"]
    assert response["Cache-Control"] == "no-store"
