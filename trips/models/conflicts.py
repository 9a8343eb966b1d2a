"""Reasons to refuse a change of the members."""

from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ErrorDetail

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
