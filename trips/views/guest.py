"""Views of guests: members of a trip without an account."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from trips.models import Member, Trip
from trips.roles import Can
from trips.serializers import GuestRequest, TripMemberSerializer
from trips.viewsets import InTripViewSet


class GuestViewSet(InTripViewSet):
    """Guests take part in everything that a member can be named in, but have no account."""

    tag = "members"
    operation_ids: ClassVar = {"create": "addGuest", "update": "renameGuest"}
    scope_prefix = "trips"
    needs: ClassVar = {"create": Can.ADD_MEMBERS, "update": Can.ADD_MEMBERS}
    request_serializers: ClassVar = {"create": GuestRequest, "update": GuestRequest}
    response_serializer = TripMemberSerializer

    def create(self, request: Request, trip_id: int) -> Response:
        """Add a guest: somebody who takes part without an account.

        A guest has a name and the role VIEWER, and can pay, share, send and receive like every
        member. `removeMember` removes them.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        member = Member.add_guest(trip, self.caller, **self.body())
        location = f"/api/trips/{trip_id}/members/{member.user_id}"
        return self.answer(member, location=location)

    def update(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Rename a guest."""
        member: Any = self.get_permitted_object(
            Member.objects.guests, trip_id=trip_id, user_id=user_id
        )
        member.rename_guest(by=self.caller, **self.body())
        return self.answer(member)
