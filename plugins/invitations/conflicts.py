"""Reasons to refuse an invitation."""

from django.conf import settings
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import PermissionDenied

from tripcompanion.api.problems import Conflict
from users.models import User


class AlreadyInvited(Conflict):
    """409 `already_invited`: an invitation to this address is open."""

    default_code = "already_invited"
    default_detail = gettext_lazy("There is an open invitation to this address.")


class InvitedByAddress(PermissionDenied):
    """403 `invited_by_address`: the invitation is for the account with another address."""

    default_code = "invited_by_address"
    default_detail = gettext_lazy("This invitation is for another e-mail address.")


class EmailUnverified(PermissionDenied):
    """403 `email_unverified`: the account's address must be confirmed first."""

    default_code = "email_unverified"
    default_detail = gettext_lazy("Please confirm your e-mail address first.")

    @classmethod
    def require(cls, account: User) -> None:
        """Raise this if the settings require a confirmed address and that of `account` is not."""
        if settings.REQUIRE_VERIFIED_EMAIL and account.email_verified_at is None:
            raise cls
