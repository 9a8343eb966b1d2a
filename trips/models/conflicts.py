"""Reasons to refuse a change of the members."""

from typing import ClassVar

from django.utils.translation import gettext_lazy

from tripcompanion.kit.problems import Conflict


class LastOwner(Conflict):
    """409 `last_owner`: a trip must have an owner."""

    default_code = "last_owner"
    default_detail = gettext_lazy("A trip needs an owner, and this member is the only one.")


class BalanceOpen(Conflict):
    """409 `balance_open`: a member with a non-zero balance cannot leave."""

    default_code = "balance_open"
    default_detail = gettext_lazy(
        "The balance in this trip is %(balance)s %(currency)s; settle it first."
    )
    example_values: ClassVar = {"balance": "-12.50", "currency": "EUR"}


class GuestIsViewer(Conflict):
    """409 `guest_is_viewer`: a guest cannot log in, so they have no other role."""

    default_code = "guest_is_viewer"
    default_detail = gettext_lazy("A guest cannot have a role above VIEWER.")
