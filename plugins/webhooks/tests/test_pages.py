"""A refused webhook is a page for a browser."""

import pytest
from django.test import Client

pytestmark = pytest.mark.once


def browser_of(user, *, has_token):
    """The browser of `user`, which sends a CSRF token only if it has one."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    if user:
        client.force_login(user)
    if has_token:
        client.get("/api/session/login")
        client.defaults["HTTP_X_CSRFTOKEN"] = client.cookies["csrftoken"].value
    client.defaults["HTTP_ACCEPT"] = "text/html"
    return client


def test_a_refused_webhook_answers_with_a_page(olga):
    client = browser_of(olga, has_token=True)
    for url in ("http://127.0.0.1/", "https://example.com:1/", "x"):
        body = {"url": url, "events": ["*"]}
        response = client.post("/api/webhooks", body, "application/json")
        assert (response.status_code, response["Content-Type"][:9]) == (400, "text/html")
