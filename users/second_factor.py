"""The second factor of a browser session.

After the password alone, an ADMIN is not logged in yet: every view sees an anonymous user. Only the
pages that ask for a code, or set up an app, see who it is.
"""

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django_otp import DEVICE_ID_SESSION_KEY

from users.models import AuthenticatorApp, User


class SecondFactor(AuthenticationMiddleware):
    """Django's middleware, but it hides the user of a session without the second factor."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        user: Any = SimpleLazyObject(partial(_fully_authenticated, request, request.user))
        request.user = user


def _fully_authenticated(request: Any, user: Any) -> Any:
    request.half_authenticated = user if is_missing(request, user) else None
    return user if request.half_authenticated is None else AnonymousUser()


def half_authenticated(request: Any) -> User | None:
    """The user who has entered the password, but not the second factor yet."""
    # Reading the user determines this.
    return None if request.user.is_authenticated else request.half_authenticated


def is_missing(request: HttpRequest, user: Any) -> bool:
    """Whether `user` needs a second factor that the session does not have."""
    if not user.is_authenticated or not user.is_admin:
        return False
    app = AuthenticatorApp.of(user)
    if app is None:
        return settings.REQUIRE_SECOND_FACTOR
    return request.session.get(DEVICE_ID_SESSION_KEY) != app.persistent_id


def complete(request: HttpRequest, app: AuthenticatorApp) -> None:
    """Add the second factor to the session, which gets a new key, as after a log-in."""
    request.session.cycle_key()
    request.session[DEVICE_ID_SESSION_KEY] = app.persistent_id


def code_url(next_url: str) -> str:
    """The page that asks for the code, and then leads to `next_url`."""
    return reverse("second_factor_code", query={"next": next_url})
