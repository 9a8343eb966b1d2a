"""Views of the invitations to a trip, of a presented one, and of the code of a trip."""

from typing import Any

from django.db.models import Count, Q
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.invitations.accepting import accept
from plugins.invitations.codes import join, with_code
from plugins.invitations.conflicts import AlreadyInvited, EmailUnverified, InvitedByAddress
from plugins.invitations.models import Invitation, invitations_of
from plugins.invitations.serializers import (
    InvitationPreview,
    InvitationRequest,
    InvitationSerializer,
    JoinRequest,
    NewInvitationSerializer,
    TripPreview,
)
from plugins.invitations.throttles import InvitationMailThrottle, LinkThrottle
from plugins.merging.models import NamesBoth
from tripcompanion.api.idempotency import AlreadyMade
from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import OpenViewSet
from trips.models.conflicts import AlreadyMember, NoOwner
from trips.roles import Can
from trips.serializers import TripMemberSerializer
from trips.throttles import LookupThrottle
from trips.views import TripViewSet
from trips.viewsets import InTripViewSet


class InvitationViewSet(InTripViewSet):
    """The invitations to a trip. Those who may add members make and revoke them."""

    tag = "invitations"
    # A stored response would contain the token.
    safe_retries = False
    scope_prefix = "trips"

    @operation("listInvitations", needs=Can.READ, answers=InvitationSerializer)
    def list(self, request: Request, trip_id: int) -> Response:
        """The invitations to a trip, newest first.

        Without their tokens. Those that expired a month ago may be gone.
        """
        trip = self.get_permitted_trip(trip_id)
        return self.page(invitations_of(trip.pk))

    @operation(
        "createInvitation",
        needs=Can.ADD_MEMBERS,
        takes=InvitationRequest,
        answers=NewInvitationSerializer,
        shows_secret=True,
        problems=[AlreadyMember, AlreadyInvited, AlreadyMade],
        throttles=[LookupThrottle, InvitationMailThrottle],
    )
    def create(self, request: Request, trip_id: int) -> Response:
        """Invite somebody with a link, which is also mailed to `email` if that is sent.

        Only this response contains the token and the link. They cannot be read again, so a repeat
        with the same `Idempotency-Key` is 409 `already_made` with the `id` of the invitation.
        """
        trip = self.get_permitted_trip(trip_id)
        invitation = Invitation.issue(trip, self.caller, **self.body())
        return self.answer(invitation, location=f"/api/trips/{trip_id}/invitations/{invitation.pk}")

    @operation("revokeInvitation", needs=Can.ADD_MEMBERS, uncounted=True)
    def destroy(self, request: Request, trip_id: int, invitation_id: int) -> Response:
        """Revoke an invitation at once. The request may be repeated."""
        invitation: Any = self.get_permitted_object(
            Invitation.objects.all, trip_id=trip_id, pk=invitation_id
        )
        invitation.revoke(by=self.caller)
        return self.no_content()


class InvitationPreviewViewSet(OpenViewSet):
    """An invitation, for whoever has its token. Open to everybody."""

    tag = "invitations"
    throttle_classes = (LinkThrottle,)

    @operation(
        "getInvitation", answers=InvitationPreview, single_statement=True, problems=[NotFound]
    )
    def retrieve(self, request: Request, token: str) -> Response:
        """What an invitation is to.

        No log-in is needed. Unknown, used, expired and revoked tokens are the same 404.
        """
        return self.answer(Invitation.presented(token))


class AcceptanceViewSet(InTripViewSet):
    """Accepts invitations."""

    tag = "invitations"
    scope_prefix = "trips"
    throttle_classes = (LookupThrottle,)

    @operation(
        "acceptInvitation",
        needs=None,
        answers=TripMemberSerializer,
        status=201,
        problems=[
            NotFound,
            PermissionDenied,
            InvitedByAddress,
            EmailUnverified,
            AlreadyMember,
            NoOwner,
            NamesBoth,
        ],
    )
    def accept(self, request: Request, token: str) -> Response:
        """Become a member of the trip, with the role of the invitation.

        If it names a guest, the caller takes their place: all entries of the guest become the
        caller's, and no balance of anybody else changes. A member may take it too and keeps their
        role, if an OWNER invited; see `mergeGuest`. Unknown, used, expired and revoked tokens are
        the same 404.
        """
        member = accept(token, self.caller)
        self.note_answer_in(member.trip_id)
        return self.answer(member, location=f"/api/trips/{member.trip_id}/members/{member.user_id}")


class CodeViewSet(TripViewSet):
    """Shows the trip behind a code, and adds to it who knows the code."""

    @operation(
        "findTripByCode",
        needs=None,
        answers=TripPreview,
        single_statement=True,
        throttles=[LookupThrottle],
    )
    def by_code(self, request: Request, code: str) -> Response:
        """Preview a trip before joining it with its code."""
        present = Count("members", filter=Q(members__left_at=None))
        trips = with_code(code, self.caller).annotate(member_count=present)
        return self.answer(get_object_or_404(trips))

    @operation(
        "joinTrip",
        needs=None,
        takes=JoinRequest,
        answers=TripMemberSerializer,
        status=201,
        problems=[NotFound, AlreadyMember, NoOwner, EmailUnverified],
        throttles=[LookupThrottle],
    )
    def join(self, request: Request) -> Response:
        """Join a trip by its code, with the trip's `joinRole`."""
        code = self.body()["trip_code"]
        trip = get_object_or_404(with_code(code, self.caller))
        member = join(trip, self.caller, code)
        return self.answer(member, location=f"/api/trips/{trip.pk}/members/{self.caller.pk}")

    @operation("renewTripCode", needs=Can.MANAGE_TRIP)
    def renew_code(self, request: Request, trip_id: int) -> Response:
        """Replace the code of the trip.

        The old one becomes invalid. Whoever was removed may know it, and could join with it again.
        """
        trip = self.get_permitted_trip(trip_id)
        return self.answer(self._after(trip, lambda: trip.renew_code(by=self.caller)))
