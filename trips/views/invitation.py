"""Views of the invitations to a trip, and of a presented one."""

from typing import Any, ClassVar

from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.idempotency import AlreadyMade
from tripcompanion.api.viewsets import ApiViewSet
from trips.models import Invitation, Trip, invitations_of
from trips.models.conflicts import AlreadyMember
from trips.models.invitation import AlreadyInvited
from trips.roles import Can
from trips.serializers import (
    InvitationPreview,
    InvitationRequest,
    InvitationSerializer,
    NewInvitationSerializer,
)
from trips.throttles import InvitationMailThrottle, LinkThrottle, LookupThrottle
from trips.viewsets import InTripViewSet


class InvitationViewSet(InTripViewSet):
    """The invitations to a trip. Those who may add members make and revoke them."""

    tag = "invitations"
    operation_ids: ClassVar = {
        "list": "listInvitations",
        "create": "createInvitation",
        "destroy": "revokeInvitation",
    }
    # A stored response would contain the token.
    safe_retries = False
    shows_secret: ClassVar = frozenset({"create"})
    scope_prefix = "trips"
    needs: ClassVar = {"list": Can.READ, "create": Can.ADD_MEMBERS, "destroy": Can.ADD_MEMBERS}
    request_serializers: ClassVar = {"create": InvitationRequest}
    response_serializers: ClassVar = {
        "list": InvitationSerializer,
        "create": NewInvitationSerializer,
    }
    throttles: ClassVar = {"create": [LookupThrottle, InvitationMailThrottle]}
    problems: ClassVar = {"create": [AlreadyMember, AlreadyInvited, AlreadyMade]}
    uncounted = frozenset({"destroy"})

    def list(self, request: Request, trip_id: int) -> Response:
        """The invitations to a trip, newest first.

        Without their tokens. Those that expired a month ago may be gone.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        return self.page(invitations_of(trip.pk))

    def create(self, request: Request, trip_id: int) -> Response:
        """Invite somebody with a link, which is also mailed to `email` if that is sent.

        Only this response contains the token and the link. They cannot be read again, so a repeat
        with the same `Idempotency-Key` is 409 `already_made` with the `id` of the invitation.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        invitation = Invitation.issue(trip, self.caller, **self.body())
        return self.answer(invitation, location=f"/api/trips/{trip_id}/invitations/{invitation.pk}")

    def destroy(self, request: Request, trip_id: int, invitation_id: int) -> Response:
        """Revoke an invitation at once. The request may be repeated."""
        invitation: Any = self.get_permitted_object(
            Invitation.objects.all, trip_id=trip_id, pk=invitation_id
        )
        invitation.revoke(by=self.caller)
        return self.no_content()


class InvitationPreviewViewSet(ApiViewSet):
    """An invitation, for whoever has its token. Open to everybody."""

    tag = "invitations"
    operation_ids: ClassVar = {"retrieve": "getInvitation"}
    # A stale token in the header must not hide the invitation.
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (LinkThrottle,)
    response_serializers: ClassVar = {"retrieve": InvitationPreview}
    single_statement: ClassVar = frozenset({"retrieve"})
    problems: ClassVar = {"retrieve": [NotFound]}

    def retrieve(self, request: Request, token: str) -> Response:
        """What an invitation is to.

        No log-in is needed. Unknown, used, expired and revoked tokens are the same 404.
        """
        return self.answer(Invitation.presented(token))
