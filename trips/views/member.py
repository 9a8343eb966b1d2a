"""Views of the members of a trip, and of guests: members without an account."""

from typing import Any, ClassVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.serializers import ClientIdQuery
from trips.models import Member, Trip, members_of
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
    operation_ids: ClassVar = {
        "list": "listMembers",
        "create": "addMember",
        "retrieve": "getMember",
        "change_role": "changeMemberRole",
        "destroy": "removeMember",
        "leave": "leaveTrip",
    }
    scope_prefix = "trips"
    pagination_class = None
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.ADD_MEMBERS,
        "change_role": Can.MANAGE_MEMBERS,
        "destroy": Can.MANAGE_MEMBERS,
        "leave": Can.LEAVE,
    }
    request_serializers: ClassVar = {
        "create": AddMemberRequest,
        "change_role": ChangeMemberRoleRequest,
    }
    response_serializer = TripMemberSerializer
    response_serializers: ClassVar = {"leave": None}
    query_serializers: ClassVar = {"list": ClientIdQuery}
    single_statement: ClassVar = frozenset({"retrieve"})
    # It reveals who has an account.
    throttles: ClassVar = {"create": [LookupThrottle]}
    problems: ClassVar = {
        "create": [AlreadyMember, NoOwner, UserNotFound, InviteInstead],
        "change_role": [LastOwner, GuestIsViewer],
        "destroy": [LastOwner, BalanceOpen],
        "leave": [LastOwner, BalanceOpen],
    }
    uncounted = frozenset({"destroy", "leave"})

    def get_permissions(self) -> list[BasePermission]:
        if self.action in {"change_role", "destroy"}:
            return [IsTripOwner()]
        return [MayInTrip()]

    def member(self, trip_id: int, user_id: int) -> Member:
        return self.get_permitted_object(
            Member.objects.with_details, trip_id=trip_id, user_id=user_id
        )

    def list(self, request: Request, trip_id: int) -> Response:
        """All present members, in the order they joined."""
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        if chosen := self.query():
            rows = trip.members.with_details().present().filter(**chosen)
            return self.answer(rows.order_by("joined_at", "id"))
        return self.answer(members_of(trip=trip.pk))

    def retrieve(self, request: Request, trip_id: int, user_id: int) -> Response:
        """One member, by their user id."""
        return self.answer(self.member(trip_id, user_id))

    def create(self, request: Request, trip_id: int) -> Response:
        """Add a user, by id or by e-mail.

        The role cannot be above the caller's own. Until the user has read or written in the trip,
        nobody sees their address who has not given it, and they can leave at any time. Requests are
        limited, because the response reveals who has an account.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        member = Member.add(trip, self.caller, **self.body())
        return self.answer(member, location=f"/api/trips/{trip_id}/members/{member.user_id}")

    def change_role(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Change the role of a member."""
        member = self.member(trip_id, user_id)
        role = self.body(current=lambda: member)["role"]
        member.change_role(role, by=self.caller)
        return self.answer(member)

    def destroy(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Remove a member whose balance is zero.

        A guest without entries is deleted.
        """
        self.member(trip_id, user_id).remove(by=self.caller)
        return self.no_content()

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
    operation_ids: ClassVar = {"create": "addGuest", "update": "renameGuest"}
    scope_prefix = "trips"
    needs: ClassVar = {"create": Can.ADD_MEMBERS, "update": Can.ADD_MEMBERS}
    request_serializers: ClassVar = {"create": NewGuest, "update": GuestRequest}
    response_serializer = TripMemberSerializer

    def create(self, request: Request, trip_id: int) -> Response:
        """Add a guest: somebody who takes part without an account.

        A guest has a name and the role VIEWER, and can pay, share, send and receive like every
        member. `removeMember` removes them.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        member = self.created_once(
            trip_id,
            Member.objects.with_details().present(),
            lambda: Member.add_guest(trip, self.caller, **self.body()),
        )
        return self.answer(member, location=f"/api/trips/{trip_id}/members/{member.user_id}")

    def update(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Rename a guest."""
        member: Any = self.get_permitted_object(
            Member.objects.guests, trip_id=trip_id, user_id=user_id
        )
        member.rename_guest(by=self.caller, **self.body(current=lambda: member))
        return self.answer(member)
