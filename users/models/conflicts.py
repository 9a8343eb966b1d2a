"""Reasons to refuse a change of an account."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import PermissionDenied, ValidationError

from tripcompanion.api.problems import Conflict


class EmailTaken(Conflict):
    """409 `email_taken`: another account has this address."""

    default_code = "email_taken"
    default_detail = gettext_lazy("This e-mail address is already in use.")
    field = "email"


class LastAdmin(Conflict):
    """409 `last_admin`: at least one administrator must remain."""

    default_code = "last_admin"
    default_detail = gettext_lazy("The last administrator cannot be deleted.")


class WrongPassword(ValidationError):
    """400: the value of `field` is not the current password."""

    def __init__(self, field: str) -> None:
        super().__init__({field: [_("This is not the current password.")]})


class LogInAgain(PermissionDenied):
    """403 `log_in_again`: the change needs the current password or a recent log-in."""

    default_code = "log_in_again"
    default_detail = gettext_lazy("Please send currentPassword, or log in again first.")
