"""What is open to everybody stays open with a stale or broken token in the header."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.factories import PASSWORD
from tests.users.logins import log_in

pytestmark = pytest.mark.once

OLGA = {"email": "olga@example.com", "password": PASSWORD}
OPEN: list[tuple[str, str, dict[str, Any] | None, int]] = [
    ("post", "/api/users/register", OLGA | {"email": "nina@example.com"}, 201),
    ("post", "/api/users/login", OLGA, 200),
    ("get", "/api/users/login/methods", None, 200),
    ("post", "/api/users/password-reset", {"email": "olga@example.com"}, 202),
    ("post", "/api/users/password-reset/confirm", {"token": "x", "newPassword": "y"}, 400),
    ("get", "/api/health", None, 200),
    ("get", "/api/health/ready", None, 200),
    ("get", "/api/schema", None, 200),
    ("get", "/api/docs", None, 200),
    ("get", "/api/session/login", None, 200),
]


@pytest.fixture(params=["junk", "revoked", "deactivated", "Basic", "empty"])
def stale(request, ed):
    """A header that would be a 401 elsewhere."""
    token = log_in(ed)["token"]
    if request.param == "revoked":
        ed.sessions.all().delete()
    if request.param == "deactivated":
        ed.deactivate(by=None)
    return {"junk": "Bearer a.b.c", "Basic": "Basic eDp5", "empty": "Bearer"}.get(
        request.param, f"Bearer {token}"
    )


@pytest.mark.parametrize(
    ("method", "path", "body", "status"), OPEN, ids=[path for _method, path, *_rest in OPEN]
)
def test_a_stale_token_is_ignored(olga, stale, method, path, body, status):
    """T41: An expired token does not block endpoints that need no authentication."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=stale)
    assert client.get("/api/users/me").status_code == 401
    assert getattr(client, method)(path, body).status_code == status


@pytest.mark.parametrize(("path", "status"), [("token/refresh", 200), ("logout", 204)])
def test_refresh_and_logout_look_at_the_refresh_token_alone(olga, stale, path, status):
    body = {"refreshToken": log_in(olga)["refreshToken"]}
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=stale)
    assert client.post(f"/api/users/{path}", body).status_code == status


def test_wrong_credentials_stay_401_with_a_good_token(olga):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {log_in(olga)['token']}")
    response = client.post("/api/users/login", OLGA | {"password": "not-her-password"})
    assert (response.status_code, response.json()["code"]) == (401, "bad_credentials")
