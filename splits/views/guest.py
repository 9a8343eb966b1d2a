"""The views that give the entries of a guest to somebody else: by an invitation, and by a merge."""

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models.merge import Merge, NamesBoth, NotAGuest, accept_invitation
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.serializers import CamelCaseSerializer, IdField, StrictBoolean
from tripcompanion.currency.fields import MoneyField
from trips.models import Member
from trips.models.conflicts import AlreadyMember, NoOwner
from trips.models.invitation import InvitedByAddress
from trips.roles import Can
from trips.serializers import TripMemberSerializer
from trips.throttles import LookupThrottle
from trips.viewsets import InTripViewSet
from users.models import EmailUnverified
from users.scopes import Scope
from users.serializers.account import UserSummary


class AcceptanceViewSet(InTripViewSet):
    """Accepts invitations."""

    tag = "invitations"
    operation_ids: ClassVar = {"accept": "acceptInvitation"}
    scope_prefix = "trips"
    needs: ClassVar = {"accept": None}
    throttle_classes = (LookupThrottle,)
    response_serializers: ClassVar = {"accept": TripMemberSerializer}
    creates: ClassVar = frozenset({"accept"})
    problems: ClassVar = {
        "accept": [
            NotFound,
            PermissionDenied,
            InvitedByAddress,
            EmailUnverified,
            AlreadyMember,
            NoOwner,
            LimitReached,
            NamesBoth,
        ]
    }

    def accept(self, request: Request, token: str) -> Response:
        """Become a member of the trip, with the role of the invitation.

        If it names a guest, the caller takes their place: all entries of the guest become the
        caller's, and no balance of anybody else changes. A member may take it too and keeps their
        role, if an OWNER invited; see `mergeGuest`. Unknown, used, expired and revoked tokens are
        the same 404.
        """
        member = accept_invitation(token, self.caller)
        self.note_answer_in(member.trip_id)
        return self.answer(member, location=f"/api/trips/{member.trip_id}/members/{member.user_id}")


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
    balance_before = MoneyField(
        currency="trip.currency",
        help_text="The balance of the user before, in the trip's currency.",
    )
    balance_after = MoneyField(
        currency="trip.currency", help_text="The balance of the user after, which is that of both."
    )


class MergeViewSet(InTripViewSet):
    """Merges a guest with another member."""

    tag = "members"
    operation_ids: ClassVar = {"merge": "mergeGuest"}
    scope_prefix = "trips"
    # It shows balances and gives entries to another person.
    more_scopes = (Scope.EXPENSES_READ, Scope.EXPENSES_WRITE)
    needs: ClassVar = {"merge": Can.MANAGE_MEMBERS}
    request_serializers: ClassVar = {"merge": MergeRequest}
    response_serializers: ClassVar = {"merge": MergeSerializer}
    problems: ClassVar = {"merge": [NotAGuest, NamesBoth]}

    def merge(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Give all entries of a guest to another member, and delete the guest.

        No amount changes, only the name. It is refused (409 `names_both`) if an expense or a
        settlement names both people, even a deleted one: `expenses` and `settlements` are the ids.
        """
        guest: Any = self.get_permitted_object(
            Member.objects.with_details, trip_id=trip_id, user_id=user_id
        )
        # It looks for the two people in all expenses.
        self.limits.charge_rows(guest.trip.expenses_recorded)
        return self.answer(Merge.order(guest, self.caller, **self.body()))
