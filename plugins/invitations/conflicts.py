"""Reasons to refuse an invitation."""

from django.utils.translation import gettext_lazy
from rest_framework.exceptions import PermissionDenied

from tripcompanion.api.problems import Conflict


class AlreadyInvited(Conflict):
    """409 `already_invited`: an invitation to this address is open."""

    default_code = "already_invited"
    default_detail = gettext_lazy("There is an open invitation to this address.")


class InvitedByAddress(PermissionDenied):
    """403 `invited_by_address`: the invitation is for the account with another address."""

    default_code = "invited_by_address"
    default_detail = gettext_lazy("This invitation is for another e-mail address.")
