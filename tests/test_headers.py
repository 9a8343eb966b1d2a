"""What every answer tells browsers and caches."""

import pytest
from django.test import Client

pytestmark = pytest.mark.once


@pytest.mark.parametrize("path", ["/api/docs", "/api/session/login", "/admin/login/"])
def test_a_page_loads_from_here_only(db, path):
    policy = Client(headers={"Accept": "text/html"}).get(path)["Content-Security-Policy"]
    assert policy.startswith("default-src 'self'; script-src 'self'; ")
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize(("seconds", "value"), [(0, None), (31_536_000, "max-age=31536000")])
def test_https_is_remembered_if_that_was_chosen(db, settings, seconds, value):
    settings.SECURE_HSTS_SECONDS = seconds
    headers = Client().get("/api/health", secure=True).headers
    assert headers.get("Strict-Transport-Security") == value


def test_static_files_may_be_kept(db):
    response = Client().get("/static/admin/css/base.css")
    assert b"".join(response.streaming_content)
    response.close()
    assert "no-store" not in response["Cache-Control"]
