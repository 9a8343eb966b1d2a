"""Login, password and second-factor forms of the admin site and the browsable API."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm, AdminPasswordChangeForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import Throttled

from users.models import AuthenticatorApp, User
from users.throttles import LoginThrottle, is_password_of


class LimitedLogin(AuthenticationForm):
    """A login form that shares its attempt counter with the API, so neither bypasses the limit."""

    THROTTLED = "throttled"

    def clean(self) -> dict[str, Any]:
        with _as_form_error():
            LoginThrottle().require_under(self.request, self.cleaned_data.get("username", ""))
        return super().clean()


class LimitedAdminLogin(LimitedLogin, AdminAuthenticationForm):
    """The login form of the admin site, with the same limit."""


class OwnPasswordForm(AdminPasswordChangeForm):
    """Changes an administrator's own password through `User.change`."""

    def save(self, commit: bool = True) -> Any:
        """Store the password. Raises `NotAuthenticated` if the session has ended meanwhile."""
        self.user.change(by=self.user, password=self.cleaned_data["new_password1"])
        return self.user


class _OwnForm(forms.Form):
    """A form of `user`, who is logged in or about to be."""

    def __init__(self, request: HttpRequest, user: User, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.request, self.user = request, user


class PasswordForm(_OwnForm):
    """Asks for the password of `user` again."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def clean_password(self) -> str:
        password = self.cleaned_data["password"]
        with _as_form_error():
            is_right = is_password_of(self.user, password, self.request)
        if not is_right:
            raise ValidationError(_("This is not the current password."))
        return password


def _code_field(**options: Any) -> forms.CharField:
    attributes = {
        "autocomplete": "one-time-code",
        "autofocus": True,
        "inputmode": "numeric",
        "spellcheck": "false",
    }
    return forms.CharField(
        label=gettext_lazy("Code"),
        max_length=20,
        widget=forms.TextInput(attrs=attributes),
        **options,
    )


class CodeForm(_OwnForm):
    """Asks for a code of the authenticator app, or a recovery code."""

    code = _code_field(
        help_text=gettext_lazy("Six digits from your authenticator app, or a recovery code.")
    )

    def clean(self) -> dict[str, Any]:
        """Set `app` to the app of the user. A code counts as a login attempt."""
        code = _without_spaces(self.cleaned_data.get("code", ""))
        with _as_form_error():
            LoginThrottle().require_under(self.request, self.user.email or "")
            self.app = AuthenticatorApp.accepts(self.user, code)
        if self.app is None:
            raise ValidationError(_("The code is wrong, or has been used already."))
        return self.cleaned_data


class SetUpForm(PasswordForm):
    """Asks for the password, and for the code that the new app shows."""

    code = _code_field(help_text=gettext_lazy("The six digits that the app shows now."))
    field_order = ("code", "password")

    def clean_code(self) -> str:
        code = _without_spaces(self.cleaned_data["code"])
        if not re.fullmatch(r"[0-9]{6}", code):
            raise ValidationError(_("The code has six digits."))
        return code


def _without_spaces(code: str) -> str:
    return re.sub(r"[\s-]", "", code).lower()


@contextmanager
def _as_form_error() -> Iterator[None]:
    """Turn `Throttled` into an error of the form."""
    try:
        yield
    except Throttled as error:
        text = _("Too many attempts. Please wait a moment.")
        raise ValidationError(text, LimitedLogin.THROTTLED) from error
