"""Whether a browser session has the second factor, and how it gets it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django_otp import DEVICE_ID_SESSION_KEY

from plugins.second_factor.models import AuthenticatorApp


def is_missing(request: HttpRequest, user: Any) -> bool:
    """Whether `user` needs a second factor that the session does not have."""
    if not user.is_admin:
        return False
    app = AuthenticatorApp.of(user)
    if app is None:
        return settings.REQUIRE_SECOND_FACTOR
    return request.session.get(DEVICE_ID_SESSION_KEY) != app.persistent_id


def complete(request: HttpRequest, app: AuthenticatorApp) -> None:
    """Add the second factor to the session, which gets a new key, as after a log-in."""
    request.session.cycle_key()
    request.session[DEVICE_ID_SESSION_KEY] = app.persistent_id
