"""Trips, and how one joins them."""

from typing import ClassVar

from django.db.models import Count, Q
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from tripcompanion.kit.problems import LimitReached
from tripcompanion.kit.snapshots import snapshot
from trips.limits import LookupLimit
from trips.models import (
    Trip,
    trips_of,
    trips_with_members,
    visible_row,
)
from trips.models.trip import AlreadyMember, CurrencyChanged, CurrencyFixed
from trips.permissions import TAGGED_ACTIONS, InTripViewSet
from trips.roles import Can
from trips.serializers import (
    JoinRequest,
    TripDetailSerializer,
    TripMemberSerializer,
    TripPreview,
    TripRequest,
    TripSerializer,
)
from users.models import EmailUnverified


class TripViewSet(InTripViewSet):
    """Trips of the caller; an ADMIN may open every trip."""

    area = "trips"
    needs: ClassVar = {
        "list": None,
        "create": None,
        "by_code": None,
        "join": None,
        "retrieve": Can.READ,
        "update": Can.MANAGE_TRIP,
        "partial_update": Can.MANAGE_TRIP,
        "destroy": Can.MANAGE_TRIP,
        "renew_code": Can.MANAGE_TRIP,
    }
    bodies: ClassVar = {
        "create": TripRequest,
        "update": TripRequest,
        "partial_update": TripRequest,
        "join": JoinRequest,
    }
    answers: ClassVar = {
        "list": TripSerializer,
        "create": TripDetailSerializer,
        "retrieve": TripDetailSerializer,
        "update": TripDetailSerializer,
        "partial_update": TripDetailSerializer,
        "renew_code": TripDetailSerializer,
        "by_code": TripPreview,
        "join": TripMemberSerializer,
    }
    creates: ClassVar = frozenset({"create", "join"})
    tagged_actions: ClassVar = TAGGED_ACTIONS
    single_statement: ClassVar = frozenset({"list", "by_code"})
    problems: ClassVar = {
        "create": [LimitReached],
        "update": [CurrencyFixed, CurrencyChanged],
        "partial_update": [CurrencyFixed, CurrencyChanged],
        "join": [NotFound, AlreadyMember, LimitReached, EmailUnverified],
    }

    def get_throttles(self) -> list[BaseThrottle]:
        return [LookupLimit()] if self.action in {"by_code", "join"} else super().get_throttles()

    def list(self, request: Request) -> Response:
        """The caller's trips, the newest start first."""
        return self.page(trips_of(self.caller))

    def create(self, request: Request) -> Response:
        """Make a trip; the caller becomes its OWNER."""
        trip = Trip.start(self.caller, **self.body(currency=self.caller.currency))
        location = f"/api/trips/{trip.pk}"
        return self.answer(self._shown(trip), location=location)

    def retrieve(self, request: Request, trip_id: int) -> Response:
        """A trip with its members."""
        return self.tagged(request, self.guarded(trips_with_members, pk=trip_id))

    def update(self, request: Request, trip_id: int, *, partial: bool = False) -> Response:
        """Replace a trip: absent optional fields fall back to their default, the currency stays."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        with self.unchanged(trip_id, lambda: self._shown(trip)):
            trip.change(self.caller, **self.body(partial=partial, currency=trip.currency))
        return self.tagged(request, self._shown(trip))

    def partial_update(self, request: Request, trip_id: int) -> Response:
        """Change the fields that were sent."""
        return self.update(request, trip_id, partial=True)

    def destroy(self, request: Request, trip_id: int) -> Response:
        """Delete a trip with everything in it."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        with self.unchanged(trip_id, lambda: self._shown(trip)):
            trip.remove(by=self.caller)
        return self.done()

    def renew_code(self, request: Request, trip_id: int) -> Response:
        """Give the trip a new code; the old one is dead."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        trip.renew_code(by=self.caller)
        return self.answer(self._shown(trip))

    def _shown(self, trip: Trip) -> Trip:
        # Somebody may have deleted it since. The trip and its members are of one moment.
        with snapshot():
            return visible_row(trips_with_members, self.caller, pk=trip.pk)

    def by_code(self, request: Request, code: str) -> Response:
        """What a trip code leads to: enough to decide to join."""
        present = Count("members", filter=Q(members__left_at=None))
        trips = Trip.objects.within(self.caller).with_code(code).annotate(member_count=present)
        return self.answer(get_object_or_404(trips))

    def join(self, request: Request) -> Response:
        """Become a member by code, with the role that the trip gives to those who join."""
        code = self.body()["trip_code"]
        trip = get_object_or_404(Trip.objects.within(self.caller).with_code(code))
        member = trip.join(self.caller, code)
        location = f"/api/trips/{trip.pk}/members/{self.caller.pk}"
        return self.answer(member, location=location)
