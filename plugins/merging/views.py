"""The view that gives the entries of a guest to another member."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.merging.models import Merge, NamesBoth, NotAGuest
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import CamelCaseSerializer, IdField, StrictBoolean
from tripcompanion.currency.fields import MoneyField
from trips.models import Member
from trips.roles import Can
from trips.viewsets import InTripViewSet
from users.scopes import Scope
from users.serializers.account import UserSummary


class MergeRequest(CamelCaseSerializer):
    """The member who gets the entries of the guest."""

    user_id = IdField(help_text="Another member of the trip.")
    dry_run = StrictBoolean(
        required=False, help_text="Whether to answer the same but change nothing. Default: false."
    )


class MergeSerializer(CamelCaseSerializer):
    """What a merge moves."""

    guest = UserSummary(source="guest.user", help_text="Who was, or would be, merged.")
    user = UserSummary(source="member.user", help_text="The member who gets the entries.")
    expenses = serializers.IntegerField(
        source="expense_count", help_text="How many expenses name the guest."
    )
    settlements = serializers.IntegerField(
        source="settlement_count", help_text="How many settlements name the guest."
    )
    balance_before = MoneyField(help_text="The balance of the user before, in the trip's currency.")
    balance_after = MoneyField(help_text="The balance of the user after, which is that of both.")


class MergeViewSet(InTripViewSet):
    """Merges a guest with another member."""

    tag = "members"
    scope_prefix = "trips"
    # It shows balances and gives entries to another person.
    more_scopes = (Scope.EXPENSES_READ, Scope.EXPENSES_WRITE)

    @operation(
        "mergeGuest",
        needs=Can.MANAGE_MEMBERS,
        takes=MergeRequest,
        answers=MergeSerializer,
        problems=[NotAGuest, NamesBoth],
    )
    def merge(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Give all entries of a guest to another member, and delete the guest.

        No amount changes, only the name. It is refused (409 `names_both`) if an expense or a
        settlement names both people: `expenses` and `settlements` are the ids. A deleted one that
        names both does not prevent it, and cannot be restored afterwards.
        """
        guest: Any = self.get_permitted_object(
            Member.objects.with_details, trip_id=trip_id, user_id=user_id
        )
        # It looks for the two people in all expenses.
        self.limits.charge_rows(guest.trip.expenses_recorded)
        return self.answer(Merge.order(guest, self.caller, **self.body()))
