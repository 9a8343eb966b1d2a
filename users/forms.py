"""Login and password forms of the admin site and the browsable API."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm, AdminPasswordChangeForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from rest_framework.exceptions import Throttled

from users.throttles import LoginThrottle


class LimitedLogin(AuthenticationForm):
    """A login form that shares its attempt counter with the API, so neither bypasses the limit."""

    THROTTLED = "throttled"

    def clean(self) -> dict[str, Any]:
        with as_form_error():
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


@contextmanager
def as_form_error() -> Iterator[None]:
    """Turn `Throttled` into an error of the form."""
    try:
        yield
    except Throttled as error:
        text = _("Too many attempts. Please wait a moment.")
        raise ValidationError(text, LimitedLogin.THROTTLED) from error
