"""Log-ins over HTTP, and clients that carry a given token."""

from typing import Any

from rest_framework.response import Response
from rest_framework.test import APIClient

from tests.factories import PASSWORD
from users.models import User


def try_to_log_in(email: Any, password: Any = PASSWORD, **headers: str) -> Response:
    """The answer to a log-in; `headers` are those of WSGI (`REMOTE_ADDR`)."""
    return APIClient(HTTP_X_REQUEST_ID="test").post(
        "/api/users/login", {"email": email, "password": password}, format="json", **headers
    )


def log_in(user: User, password: str = PASSWORD) -> dict[str, Any]:
    """The LoginResponseDTO of a log-in that must succeed."""
    response = try_to_log_in(user.email, password)
    assert response.status_code == 200
    return response.json()


def refresh(refresh_token: Any) -> Response:
    return APIClient().post("/api/users/token/refresh", {"refreshToken": refresh_token})


def bearer(token: str) -> APIClient:
    """A client that sends `token`, and the same id with every request."""
    client = APIClient(HTTP_X_REQUEST_ID="test")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def is_alive(access_token: str) -> bool:
    """Whether an access token still opens the caller's own account."""
    response = bearer(access_token).get("/api/users/me")
    assert response.status_code in {200, 401}
    return response.status_code == 200
