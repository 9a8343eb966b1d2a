"""The view that accepts invitations, and with them the entries of guests."""

from typing import ClassVar

from django.urls import resolve
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models.claim import accept_invitation
from splits.models.merge import NamesBoth
from tripcompanion.api.problems import LimitReached
from trips.models.conflicts import AlreadyMember, NoOwner
from trips.models.invitation import InvitedByAddress
from trips.serializers import TripMemberSerializer
from trips.throttles import LookupThrottle
from trips.viewsets import InTripViewSet
from users.models import EmailUnverified


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

    def require_replayable(self, location: str) -> None:
        self.kwargs = resolve(location).kwargs if location else {}
        super().require_replayable(location)

    def accept(self, request: Request, token: str) -> Response:
        """Become a member of the trip, with the role of the invitation.

        If it names a guest, the caller takes their place: all entries of the guest become the
        caller's, and no balance of anybody else changes. A member may take it too and keeps their
        role, if an OWNER invited; see `mergeGuest`. Unknown, used, expired and revoked tokens are
        the same 404.
        """
        member = accept_invitation(token, self.caller)
        location = f"/api/trips/{member.trip_id}/members/{member.user_id}"
        return self.answer(member, location=location)
