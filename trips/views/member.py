"""Members of a trip."""

from typing import ClassVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.kit.problems import LimitReached
from trips.models import (
    Member,
    Trip,
    members_of,
)
from trips.models.member import BalanceOpen, LastOwner
from trips.models.trip import AlreadyMember, UserNotFound
from trips.permissions import InTripViewSet, IsTripOwner, MayInTrip
from trips.roles import Can
from trips.serializers import (
    AddMemberRequest,
    ChangeMemberRoleRequest,
    TripMemberSerializer,
)


class MemberViewSet(InTripViewSet):
    """Members of a trip."""

    area = "trips"
    pagination_class = None
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.ADD_MEMBERS,
        "change_role": Can.MANAGE_MEMBERS,
        "destroy": Can.MANAGE_MEMBERS,
        "leave": Can.LEAVE,
    }
    bodies: ClassVar = {"create": AddMemberRequest, "change_role": ChangeMemberRoleRequest}
    answers: ClassVar = {
        "list": TripMemberSerializer,
        "retrieve": TripMemberSerializer,
        "create": TripMemberSerializer,
        "change_role": TripMemberSerializer,
    }
    single_statement: ClassVar = frozenset({"retrieve"})
    problems: ClassVar = {
        "create": [AlreadyMember, UserNotFound, LimitReached],
        "change_role": [LastOwner],
        "destroy": [LastOwner, BalanceOpen],
        "leave": [LastOwner, BalanceOpen],
    }

    def get_permissions(self) -> list[BasePermission]:
        if self.action in {"change_role", "destroy"}:
            return [IsTripOwner()]
        return [MayInTrip()]

    def member(self, trip_id: int, user_id: int) -> Member:
        return self.guarded(Member.objects.shown, trip_id=trip_id, user_id=user_id)

    def list(self, request: Request, trip_id: int) -> Response:
        """All members, by the time they joined."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        return self.answer(members_of(trip=trip.pk))

    def retrieve(self, request: Request, trip_id: int, user_id: int) -> Response:
        """One member, by their user id."""
        return self.answer(self.member(trip_id, user_id))

    def create(self, request: Request, trip_id: int) -> Response:
        """Add somebody, by id or by e-mail, with a role not above one's own."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        member = trip.add_member(self.caller, **self.body())
        location = f"/api/trips/{trip_id}/members/{member.user_id}"
        return self.answer(member, location=location)

    def change_role(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Give a member another role."""
        member = self.member(trip_id, user_id)
        member.change_role(self.body()["role"], by=self.caller)
        return self.answer(member)

    def destroy(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Remove a member whose balance is zero."""
        self.member(trip_id, user_id).remove(by=self.caller)
        return self.done()

    def leave(self, request: Request, trip_id: int) -> Response:
        """Leave a trip, with a balance of zero."""
        self.member(trip_id, self.caller.pk).leave(by=self.caller)
        return self.done()
