"""Activities of a trip, and its itinerary."""

from contextlib import suppress
from typing import Any

from django.db.models import prefetch_related_objects
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.itinerary.models import Activity, Itinerary, ItineraryDay
from plugins.itinerary.models.activity import OrderChanged
from plugins.itinerary.models.cost import with_costs
from plugins.itinerary.rights import CanPlan
from plugins.itinerary.serializers import (
    ActivityQuery,
    ActivityRequest,
    ActivitySerializer,
    DayRequest,
    DaySerializer,
    ItinerarySerializer,
    NewActivity,
    OrderRequest,
)
from plugins.restorable_views import RestorableViewSet
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import StrictDate
from tripcompanion.database.snapshots import snapshot
from trips.models import Trip
from trips.models.conflicts import NotRestorable
from trips.roles import Can
from trips.viewsets import InTripViewSet


class ActivityViewSet(RestorableViewSet):
    """What the members of a trip plan to do."""

    tag = "activities"
    scope_prefix = "activities"
    model = Activity
    response_serializer = ActivitySerializer

    @operation("listActivities", needs=Can.READ, query=ActivityQuery)
    def list(self, request: Request, trip_id: int) -> Response:
        """The activities of a trip by day and in their order, those without a date last."""
        trip = self.get_permitted_trip(trip_id)
        rows = trip.activities.with_details().prefetch_related(with_costs(self.caller))
        return self.page_of_query(rows.planned())

    @operation("createActivity", needs=CanPlan.PLAN, takes=NewActivity)
    def create(self, request: Request, trip_id: int) -> Response:
        """Add an activity, as the last one of its day.

        A trip has at most 2,000.
        """
        trip = self.get_permitted_trip(trip_id)
        added = self.created_once(
            trip_id, trip.activities.shown, lambda: Activity.add(trip, self.caller, **self.body())
        )
        return self._answer(added, location=f"/api/trips/{trip_id}/activities/{added.pk}")

    @operation("getActivity", needs=Can.READ)
    def retrieve(self, request: Request, trip_id: int, activity_id: int) -> Response:
        """An activity."""
        return self._answer(self.get_kept(trip_id, activity_id))

    @operation("replaceActivity", needs=CanPlan.PLAN, takes=ActivityRequest)
    def update(self, request: Request, trip_id: int, activity_id: int) -> Response:
        """Replace an activity; on another day it comes last."""
        return self._change(trip_id, activity_id, partial=False)

    @operation("updateActivity", needs=CanPlan.PLAN, takes=ActivityRequest)
    def partial_update(self, request: Request, trip_id: int, activity_id: int) -> Response:
        """Change the fields of an activity that are sent; on another day it comes last."""
        return self._change(trip_id, activity_id, partial=True)

    def _change(self, trip_id: int, activity_id: int, *, partial: bool) -> Response:
        found = self.get_kept(trip_id, activity_id)
        body = self.body(partial=partial, current=lambda: self.read_costs(found))
        return self._answer(found.change(self.caller, **body))

    @operation("deleteActivity", needs=CanPlan.DELETE)
    def destroy(self, request: Request, trip_id: int, activity_id: int) -> Response:
        """Delete an activity.

        For 30 days, `restoreActivity` undoes it. Its expenses stay.
        """
        return self.remove(trip_id, activity_id)

    @operation("restoreActivity", needs=CanPlan.DELETE, problems=[NotRestorable])
    def restore(self, request: Request, trip_id: int, activity_id: int) -> Response:
        """Restore a deleted activity, with its id, its expenses and its place on the day."""
        return self._answer(self.restored(trip_id, activity_id))

    def _answer(self, activity: Activity, **options: Any) -> Response:
        return self.answer(self.read_costs(activity), **options)

    def read_costs(self, activity: Activity) -> Activity:
        prefetch_related_objects([activity], with_costs(self.caller))
        return activity


class ItineraryViewSet(InTripViewSet):
    """The plan of a trip, day by day."""

    tag = "activities"
    scope_prefix = "activities"
    response_serializer = DaySerializer

    @operation("getItinerary", needs=Can.READ, answers=ItinerarySerializer, has_etag=True)
    def retrieve(self, request: Request, trip_id: int) -> Response:
        """All days of a trip, with what is planned, what is done, and what it costs.

        With its `ETag` as `If-Match`, `orderActivities` takes a list that nobody has changed.
        """
        trip = self.get_permitted_trip(trip_id)
        plan = Itinerary(trip, self.caller)
        self.limits.charge_rows(len(plan.activities))
        return self.with_etag(request, plan)

    @operation(
        "orderActivities",
        needs=CanPlan.PLAN,
        takes=OrderRequest,
        has_etag=True,
        problems=[OrderChanged],
    )
    def order(self, request: Request, trip_id: int) -> Response:
        """Put the activities of a day into another order.

        The list has all of them; an activity of another day that it names moves to this one. If one
        was added to the day or deleted meanwhile, nothing changes: `order_changed`.
        """
        trip = self.get_permitted_trip(trip_id)
        with self.unchanged(trip_id, lambda: Itinerary(trip, self.caller)):
            body = self.body(current=lambda: self._shown(trip))
            Activity.arrange(trip, self.caller, {body["date"]: body["activity_ids"]})
        return self._day(trip, body["date"])

    @operation("changeDay", needs=CanPlan.PLAN, takes=DayRequest)
    def day(self, request: Request, trip_id: int, date: str) -> Response:
        """Name a day, or tick it with all of its activities.

        A field that is omitted stays.
        """
        trip = self.get_permitted_trip(trip_id)
        try:
            day = StrictDate().run_validation(date)
        except ValidationError as error:
            raise NotFound from error
        body = self.body(current=lambda: Itinerary(trip, self.caller).day(day))
        ItineraryDay.change(trip, self.caller, day, **body)
        return self._day(trip, day)

    def _shown(self, trip: Trip) -> ItineraryDay:
        """The day that the body names; without a date in it, what has none."""
        day = None
        with suppress(ValidationError):
            day = StrictDate().run_validation(self.sent_body().get("date"))
        return Itinerary(trip, self.caller).day(day)

    def _day(self, trip: Trip, day: Any) -> Response:
        with snapshot():
            return self.answer(Itinerary(trip, self.caller).day(day))
