"""What a log-in in a browser needs after the password: the steps that plugins add.

Until the last one is done, nobody is logged in yet: every view sees an anonymous user. Only the
pages of the steps see who it is.
"""

from contextlib import suppress
from functools import partial
from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.core.checks import Error, Tags, register
from django.db import DatabaseError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django_otp.plugins.otp_totp.models import TOTPDevice

from tripcompanion.plugin import Plugin, plugins
from users.models import User


class LogInSteps(AuthenticationMiddleware):
    """Django's middleware, but it hides the user of a session that lacks a step."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        user: Any = SimpleLazyObject(partial(_fully_authenticated, request, request.user))
        request.user = user


def _fully_authenticated(request: Any, user: Any) -> Any:
    request.half_authenticated = user if _missing_step(request, user) else None
    return user if request.half_authenticated is None else AnonymousUser()


def half_authenticated(request: Any) -> User | None:
    """The user who has entered the password, but not done all steps yet."""
    # Reading the user determines this.
    return None if request.user.is_authenticated else request.half_authenticated


def _missing_step(request: HttpRequest, user: Any) -> str:
    """The name of the page of the first step that the session lacks; empty if it has all."""
    if not user.is_authenticated:
        return ""
    return next(filter(None, (app.log_in_step(request, user) for app in plugins())), "")


def step_url(request: HttpRequest, next_url: str) -> str:
    """The page of the step that the session lacks, which then leads to `next_url`; or empty."""
    step = _missing_step(request, half_authenticated(request) or request.user)
    return reverse(step, query={"next": next_url}) if step else ""


@register(Tags.database)
def require_steps(databases: Any = None, **_about: Any) -> list[Error]:
    """Refuse to go on if accounts have a second factor and no app asks for it.

    Every deployment begins with `migrate`, which runs this check.
    """
    if not databases or any(type(app).log_in_step is not Plugin.log_in_step for app in plugins()):
        return []
    # There is no table before the first migration.
    with suppress(DatabaseError):
        if TOTPDevice.objects.filter(confirmed=True).exists():
            hint = "Install the plugin that does, or remove the second factors with it before."
            text = "Accounts have a second factor, but no plugin asks for it."
            return [Error(text, hint=hint, id="users.E001")]
    return []
