"""The log-in forms of the admin site and of the browsable API."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm, AdminPasswordChangeForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from users.limits import LoginLimit


class LimitedLogin(AuthenticationForm):
    """Counts attempts together with the API's log-in, so that neither leads around the limit."""

    THROTTLED = "throttled"

    def clean(self) -> dict[str, Any]:
        if LoginLimit().is_over_for(self.request, self.cleaned_data.get("username", "")):
            raise ValidationError(_("Too many attempts. Please wait a moment."), self.THROTTLED)
        return super().clean()


class LimitedAdminLogin(LimitedLogin, AdminAuthenticationForm):
    """The same for the admin site."""


class OwnPasswordForm(AdminPasswordChangeForm):
    """An administrator's own password, changed by the rules of every other change of one."""

    def save(self, commit: bool = True) -> Any:
        """Store the password. Raises `NotAuthenticated` if the log-in has ended meanwhile."""
        self.user.change(by=self.user, password=self.cleaned_data["new_password1"])
        return self.user
