"""Whether a log-in has the second factor, and how a browser session gets it."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from django_otp import DEVICE_ID_SESSION_KEY
from rest_framework.exceptions import AuthenticationFailed

from plugins.second_factor.models import AuthenticatorApp, Challenge


class SecondFactorRequired(AuthenticationFailed):
    """401 `second_factor_required`: send a code to `logInWithSecondFactor`.

    Its member `challenge` goes with the code, and `methods` says what codes there are.
    """

    default_code = "second_factor_required"
    default_detail = gettext_lazy("Please send a code of your authenticator app, too.")
    extensions: Mapping[str, Any] = {}

    def __init__(self, challenge: str = "") -> None:
        super().__init__()
        self.extensions = {"challenge": challenge, "methods": ["totp", "recovery_code"]}


def is_missing(request: HttpRequest, user: Any) -> bool:
    """Whether `user` needs a second factor that the browser session does not have."""
    app = AuthenticatorApp.of(user)
    if app is None:
        return user.is_admin and settings.REQUIRE_SECOND_FACTOR
    return request.session.get(DEVICE_ID_SESSION_KEY) != app.persistent_id


def complete(request: HttpRequest, app: AuthenticatorApp) -> None:
    """Add the second factor to the session, which gets a new key, as after a log-in."""
    request.session.cycle_key()
    request.session[DEVICE_ID_SESSION_KEY] = app.persistent_id


def require_code(user: Any) -> None:
    """Raise `SecondFactorRequired` if `user`, who logs in to the API, has a second factor."""
    if AuthenticatorApp.of(user) is not None:
        raise SecondFactorRequired(Challenge.start(user))
