"""Reasons to refuse a change of a trip, its members or invitations."""

from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ErrorDetail, NotFound

from tripcompanion.api.problems import Conflict
from tripcompanion.currency.amounts import to_major
from users.models import User
from users.scopes import Scope


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

    @classmethod
    def shown_to(cls, reader: User, balance_minor: int, currency: str) -> "BalanceOpen":
        """The refusal for `reader`; without the balance if their token may not read balances."""
        refusal = cls(balance=to_major(balance_minor, currency), currency=currency)
        if not reader.covers(Scope.EXPENSES_READ):
            text = _("The balance is not zero; settle it first.")
            refusal.detail = ErrorDetail(text, refusal.default_code)
        return refusal


class GuestIsViewer(Conflict):
    """409 `guest_is_viewer`: a guest cannot log in, so they have no other role."""

    default_code = "guest_is_viewer"
    default_detail = gettext_lazy("A guest cannot have a role above VIEWER.")


class CurrencyFixed(Conflict):
    """409 `currency_fixed`: the trip has entries in its current currency."""

    default_code = "currency_fixed"
    default_detail = gettext_lazy(
        "The currency cannot be changed: the trip has entries in %(currency)s."
    )
    example_values: ClassVar = {"currency": "EUR"}


class CurrencyChanged(Conflict):
    """409 `currency_changed`: the amounts are in the trip's previous currency."""

    default_code = "currency_changed"
    default_detail = gettext_lazy(
        "The amounts are in %(meant)s, but the currency is now %(currency)s."
    )
    example_values: ClassVar = {"meant": "EUR", "currency": "JPY"}


class NotRestorable(Conflict):
    """409 `not_restorable`: what was deleted no longer fits."""

    default_code = "not_restorable"
    default_detail = gettext_lazy("It cannot be restored: %(reason)s")
    example_values: ClassVar = {"reason": "Not members of the trip any more: 7."}


class UserNotFound(NotFound):
    """404 `user_not_found`: there is no user with this id or address."""

    default_code = "user_not_found"
    default_detail = gettext_lazy("There is no such user.")


class AlreadyMember(Conflict):
    """409 `already_member`: the user is a member of the trip."""

    default_code = "already_member"
    default_detail = gettext_lazy("This user is already a member of the trip.")


class InviteInstead(Conflict):
    """409 `invite_instead`: the user does not let others add them, but can be invited."""

    default_code = "invite_instead"
    default_detail = gettext_lazy("This user joins by invitation only. Please invite them.")


class NoOwner(Conflict):
    """409 `no_owner`: no OWNER is left who can log in, so only an OWNER can be added."""

    default_code = "no_owner"
    default_detail = gettext_lazy("This trip has no owner who can log in; add an owner first.")
