"""Views of trips."""

from collections.abc import Callable

from django.db import transaction
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.operations import operation
from tripcompanion.database.snapshots import snapshot
from trips.models import Trip, chosen_trips, get_visible_or_404, trips_of, trips_with_members
from trips.models.conflicts import CurrencyChanged, CurrencyFixed, NotRestorable
from trips.roles import Can
from trips.serializers import (
    ADDED_NAMES,
    NewTrip,
    TripChange,
    TripDetailSerializer,
    TripQuery,
    TripRequest,
    TripSerializer,
)
from trips.viewsets import InTripViewSet


class TripViewSet(InTripViewSet):
    """The caller's trips. An ADMIN has access to every trip."""

    tag = "trips"
    scope_prefix = "trips"
    response_serializer = TripDetailSerializer
    apart = ADDED_NAMES

    @operation(
        "listTrips", needs=None, query=TripQuery, answers=TripSerializer, single_statement=True
    )
    def list(self, request: Request) -> Response:
        """The caller's trips, latest start date first.

        Without their members; see `getTrip`. Deleted trips are listed for those who owned them.
        """
        chosen = self.query()
        named = chosen.pop("client_id", None)
        if not named and chosen == {"deleted": False}:
            return self.page(trips_of(self.caller))
        with snapshot():
            rows = chosen_trips(self.caller, **chosen)
            return self.page(rows.filter(client_id=named) if named else rows)

    # NotFound: the stored answer to a repeat is only for who is still in the trip.
    @operation("createTrip", needs=None, takes=NewTrip, problems=[NotFound])
    def create(self, request: Request) -> Response:
        """Create a trip.

        The caller becomes its OWNER.
        """
        trip = self.created_once(
            None,
            lambda: Trip.objects.visible_to(self.caller),
            lambda: Trip.start(self.caller, **self.body(currency=self.caller.currency)),
        )
        return self.answer(self._detail(trip), location=f"/api/trips/{trip.pk}")

    @operation("getTrip", needs=Can.READ, has_etag=True, single_statement=True)
    def retrieve(self, request: Request, trip_id: int) -> Response:
        """A trip with its members."""
        return self.with_etag(request, self.get_permitted_object(trips_with_members, pk=trip_id))

    @operation(
        "replaceTrip",
        needs=Can.MANAGE_TRIP,
        takes=TripRequest,
        has_etag=True,
        problems=[CurrencyFixed, CurrencyChanged],
    )
    def update(self, request: Request, trip_id: int, *, partial: bool = False) -> Response:
        """Replace a trip.

        Omitted optional fields get their default, but the currency is kept.
        """
        trip = self.get_permitted_trip(trip_id)
        with self.unchanged(trip_id, lambda: self._detail(trip)):
            body = self.body(
                partial=partial, current=lambda: self._detail(trip), currency=trip.currency
            )
            changed = self._after(trip, lambda: trip.change(self.caller, **body))
        return self.with_etag(request, changed)

    @operation(
        "updateTrip",
        needs=Can.MANAGE_TRIP,
        takes=TripChange,
        has_etag=True,
        problems=[CurrencyFixed, CurrencyChanged],
    )
    def partial_update(self, request: Request, trip_id: int) -> Response:
        """Change the fields of a trip that are sent."""
        return self.update(request, trip_id, partial=True)

    @operation("deleteTrip", needs=Can.MANAGE_TRIP, has_etag=True, uncounted=True)
    def destroy(self, request: Request, trip_id: int) -> Response:
        """Delete a trip with its expenses and settlements.

        For 7 days, `restoreTrip` undoes it.
        """
        trip = self.get_permitted_trip(trip_id)
        with self.unchanged(trip_id, lambda: self._detail(trip)):
            trip.remove(by=self.caller)
        return self.no_content()

    @operation("restoreTrip", needs=Can.MANAGE_TRIP, problems=[NotRestorable])
    def restore(self, request: Request, trip_id: int) -> Response:
        """Restore a deleted trip as it was.

        Allowed to those who were OWNER when it was deleted. All who were members then are members
        again, unless they deleted their account.
        """
        with self.restoring(Trip.objects.all, pk=trip_id):
            deleted = get_object_or_404(Trip.objects.restorable_to(self.caller), pk=trip_id)
            self.check_object_permissions(request, deleted)
            self.note_answer_in(trip_id)
            return self.answer(self._after(deleted, lambda: deleted.restore(by=self.caller)))

    def _after(self, trip: Trip, command: Callable[[], None]) -> Trip:
        """The trip as `command` left it, read before anybody can take it from the caller."""
        with transaction.atomic():
            command()
            return self._detail(trip)

    def _detail(self, trip: Trip) -> Trip:
        # It may have been deleted since. One snapshot keeps the trip and its members consistent.
        with snapshot():
            found = get_visible_or_404(trips_with_members, self.caller, pk=trip.pk)
        found.was_created_before = trip.was_created_before
        return found
