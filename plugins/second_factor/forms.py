"""Forms that ask for the password and for codes."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.second_factor.models import AuthenticatorApp, without_spaces
from users.forms import as_form_error
from users.models import User
from users.throttles import LoginThrottle, is_password_of


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
        with as_form_error():
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
        with as_form_error():
            LoginThrottle().require_under(self.request, self.user.email or "")
            self.app = AuthenticatorApp.accepts(self.user, self.cleaned_data.get("code", ""))
        if self.app is None:
            raise ValidationError(_("The code is wrong, or has been used already."))
        return self.cleaned_data


class SetUpForm(PasswordForm):
    """Asks for the password, and for the code that the new app shows."""

    code = _code_field(help_text=gettext_lazy("The six digits that the app shows now."))
    field_order = ("code", "password")

    def clean_code(self) -> str:
        code = without_spaces(self.cleaned_data["code"])
        if not re.fullmatch(r"[0-9]{6}", code):
            raise ValidationError(_("The code has six digits."))
        return code
