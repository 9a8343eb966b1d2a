"""Views of the members of a trip, and of guests: members without an account."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import ClientIdQuery
from trips.models import Member, members_of
from trips.models.conflicts import (
    AlreadyMember,
    BalanceOpen,
    GuestIsViewer,
    InviteInstead,
    LastOwner,
    NoOwner,
    UserNotFound,
)
from trips.roles import Can
from trips.serializers import (
    AddMemberRequest,
    ChangeMemberRoleRequest,
    GuestRequest,
    NewGuest,
    TripMemberSerializer,
)
from trips.throttles import LookupThrottle
from trips.viewsets import InTripViewSet, IsTripOwner, MayInTrip


class MemberViewSet(InTripViewSet):
    """Members of a trip."""

    tag = "members"
    scope_prefix = "trips"
    pagination_class = None
    response_serializer = TripMemberSerializer

    def get_permissions(self) -> list[BasePermission]:
        if self.action in {"change_role", "destroy"}:
            return [IsTripOwner()]
        return [MayInTrip()]

    def member(self, trip_id: int, user_id: int) -> Member:
        return self.get_permitted_object(
            Member.objects.with_details, trip_id=trip_id, user_id=user_id
        )

    @operation("listMembers", needs=Can.READ, query=ClientIdQuery)
    def list(self, request: Request, trip_id: int) -> Response:
        """All present members, in the order they joined."""
        trip = self.get_permitted_trip(trip_id)
        if chosen := self.query():
            rows = trip.members.with_details().present().filter(**chosen)
            return self.answer(rows.order_by("joined_at", "id"))
        return self.answer(members_of(trip=trip.pk))

    @operation("getMember", needs=Can.READ, single_statement=True)
    def retrieve(self, request: Request, trip_id: int, user_id: int) -> Response:
        """One member, by their user id."""
        return self.answer(self.member(trip_id, user_id))

    @operation(
        "addMember",
        needs=Can.ADD_MEMBERS,
        takes=AddMemberRequest,
        problems=[AlreadyMember, NoOwner, UserNotFound, InviteInstead],
        # It reveals who has an account.
        throttles=[LookupThrottle],
    )
    def create(self, request: Request, trip_id: int) -> Response:
        """Add a user, by id or by e-mail.

        The role cannot be above the caller's own. Until the user has read or written in the trip,
        nobody sees their address who has not given it, and they can leave at any time. Requests are
        limited, because the response reveals who has an account.
        """
        trip = self.get_permitted_trip(trip_id)
        member = Member.add(trip, self.caller, **self.body())
        return self.answer(member, location=f"/api/trips/{trip_id}/members/{member.user_id}")

    @operation(
        "changeMemberRole",
        needs=Can.MANAGE_MEMBERS,
        takes=ChangeMemberRoleRequest,
        problems=[LastOwner, GuestIsViewer],
    )
    def change_role(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Change the role of a member."""
        member = self.member(trip_id, user_id)
        role = self.body(current=lambda: member)["role"]
        member.change_role(role, by=self.caller)
        return self.answer(member)

    @operation(
        "removeMember", needs=Can.MANAGE_MEMBERS, uncounted=True, problems=[LastOwner, BalanceOpen]
    )
    def destroy(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Remove a member whose balance is zero.

        A guest without entries is deleted.
        """
        self.member(trip_id, user_id).remove(by=self.caller)
        return self.no_content()

    @operation(
        "leaveTrip",
        needs=Can.LEAVE,
        answers=None,
        uncounted=True,
        problems=[LastOwner, BalanceOpen],
    )
    def leave(self, request: Request, trip_id: int) -> Response:
        """Leave a trip.

        The caller's balance must be zero, unless they were added and have neither read nor written
        in the trip: then a guest of their name keeps what names them.
        """
        self.member(trip_id, self.caller.pk).leave(by=self.caller)
        self.after_success = None
        return self.no_content()


class GuestViewSet(InTripViewSet):
    """Guests take part in everything that a member can be named in, but have no account."""

    tag = "members"
    scope_prefix = "trips"
    response_serializer = TripMemberSerializer

    @operation("addGuest", needs=Can.ADD_MEMBERS, takes=NewGuest)
    def create(self, request: Request, trip_id: int) -> Response:
        """Add a guest: somebody who takes part without an account.

        A guest has a name and the role VIEWER, and can pay, share, send and receive like every
        member. `removeMember` removes them.
        """
        trip = self.get_permitted_trip(trip_id)
        member = self.created_once(
            trip_id,
            lambda: Member.objects.with_details().present(),
            lambda: Member.add_guest(trip, self.caller, **self.body()),
        )
        return self.answer(member, location=f"/api/trips/{trip_id}/members/{member.user_id}")

    @operation("renameGuest", needs=Can.ADD_MEMBERS, takes=GuestRequest)
    def update(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Rename a guest."""
        member: Any = self.get_permitted_object(
            Member.objects.guests, trip_id=trip_id, user_id=user_id
        )
        member.rename_guest(by=self.caller, **self.body(current=lambda: member))
        return self.answer(member)
