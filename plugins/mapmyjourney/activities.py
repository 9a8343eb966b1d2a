"""Activities and itineraries in the client's form."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import IO, Any, ClassVar

from django.db.models import Q
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.itinerary import serializers as itinerary
from plugins.itinerary import views
from plugins.itinerary.models import Activity, Itinerary
from plugins.itinerary.models.activity import ActivityCategory
from plugins.itinerary.models.cost import plan_of
from plugins.itinerary.rights import CanPlan
from plugins.mapmyjourney.renaming import Renamed
from tripcompanion.api.operations import operation
from tripcompanion.api.parsing import MalformedJSON, StrictJSONParser, read_object, require_json
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictChoice,
    StrictDate,
    StrictList,
    parse_id,
)
from trips.models import Trip
from trips.roles import Can

#: How many minutes a `durationUnit` has.
_MINUTES = {"MIN": 1, "HOUR": 60}
#: No trip is longer.
_MAX_DAYS = 10_000
#: The largest whole number that JavaScript has.
_MAX_PLACE = 2**53 - 1


class ActivitySerializer(itinerary.ActivitySerializer):
    """An activity under the client's names. Its `order` is its place on the day, from 0."""

    order = serializers.IntegerField(source="place")
    duration = serializers.IntegerField(source="duration_minutes", allow_null=True)
    is_completed = serializers.BooleanField(source="completed")


class DaySerializer(CamelCaseSerializer):
    """A day of the itinerary."""

    date = serializers.DateField()
    day_index = serializers.IntegerField()
    title = serializers.CharField(allow_null=True)
    is_organized = serializers.BooleanField(source="completed")
    activities = ActivitySerializer(many=True)


class ItinerarySerializer(CamelCaseSerializer):
    """The days, and all activities once more."""

    days = DaySerializer(many=True)
    activities = ActivitySerializer(many=True)


class WholeNumber(serializers.Field):
    """A whole number from `least` to `maximum`, as a number or as its digits."""

    def __init__(self, least: int, maximum: int, **options: Any) -> None:
        super().__init__(**options)
        self.least, self.maximum = least, maximum

    def to_internal_value(self, data: Any) -> int:
        is_whole = not isinstance(data, bool) and re.fullmatch("-?[0-9]{1,16}", str(data))
        if not is_whole or not self.least <= int(data) <= self.maximum:
            text = _("Must be a whole number from %(least)d to %(maximum)d.")
            raise serializers.ValidationError([text % vars(self)])
        return int(data)


class ActivityRequest(itinerary.ActivityRequest):
    """An activity to add on the day `dayIndex`."""

    day_index = WholeNumber(0, _MAX_DAYS, required=False)
    duration_unit = StrictChoice(choices=list(_MINUTES), required=False)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            data = renamed(data)
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs.pop("duration_unit", None)
        if "day_index" in attrs:
            attrs["date"] = date_of(self.context["trip"], attrs.pop("day_index"))
        return attrs


class ActivityChange(ActivityRequest):
    """What to change of an activity. An `orderIndex` is its new place on the day, from 0."""

    day_index = WholeNumber(-_MAX_DAYS, _MAX_DAYS, required=False)
    order_index = WholeNumber(0, _MAX_PLACE, required=False)


class ListQuery(itinerary.ActivityQuery):
    """Which activities to list; the client shows none that were deleted."""

    deleted: Any = None


class DayQuery(ListQuery):
    """Which activities of a day to list."""

    date = StrictDate()


def renamed(sent: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the service's names, a time with two digits, minutes, and null for no text."""
    data = {ActivityViewSet.FIELDS.get(name, name): value for name, value in sent.items()}
    data |= {name: None for name in ("location", "notes") if data.get(name) == ""}
    if isinstance(time := data.get("startTime"), str) and re.fullmatch("[0-9]:[0-9]{2}", time):
        data["startTime"] = f"0{time}"
    if isinstance(unit := data.get("durationUnit"), str):
        data["durationUnit"] = unit.upper()
        # The field refuses what is no number.
        with suppress(ValueError):
            minutes = parse_id(data.get("durationMinutes"))
            data["durationMinutes"] = minutes * _MINUTES.get(unit.upper(), 1)
    if isinstance(category := data.get("category"), str):
        known = category.upper() in ActivityCategory.values
        data["category"] = category.upper() if known else ActivityCategory.OTHER.value
    return data


def date_of(trip: Trip, day_index: int) -> Any:
    """The date of a day of a trip. Raises `ValidationError`."""
    try:
        return trip.start_date + timedelta(days=day_index)
    except OverflowError as error:
        text = _("An activity would be after the last day of the calendar.")
        raise serializers.ValidationError({"dayIndex": [text]}) from error


class PlaceRequest(CamelCaseSerializer):
    """The place of an activity: its `order` counts against the others of its day."""

    id = IdField()
    order = WholeNumber(-_MAX_PLACE, _MAX_PLACE)
    day_index = WholeNumber(-_MAX_DAYS, _MAX_DAYS)


class ReorderRequest(CamelCaseSerializer):
    """All activities of some days, with their places."""

    activities = StrictList(child=PlaceRequest(), allow_empty=False, max_length=Activity.limit)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len({row["id"] for row in attrs["activities"]}) < len(attrs["activities"]):
            text = _("An activity is listed twice.")
            raise serializers.ValidationError({"activities": [text]})
        return attrs


def set_places(planned: Iterable[Any]) -> None:
    """Set the `place` on its day, from 0, of all activities of some days, given in their order."""
    places: dict[Any, Iterator[int]] = defaultdict(count)
    for activity in planned:
        activity.place = next(places[activity.date])


def place_of(activity: Activity) -> int:
    """The place of an activity on its day, from 0."""
    of_day = Activity.objects.kept().filter(trip=activity.trip_id, date=activity.date)
    is_earlier = Q(order__lt=activity.order) | Q(order=activity.order, id__lt=activity.pk)
    return of_day.filter(is_earlier).count()


class IdsParser(StrictJSONParser):
    """Parses an array as the field `activityIds` of an object."""

    def parse(self, stream: IO[bytes], media_type: Any = None, parser_context: Any = None) -> Any:
        require_json(media_type or "")
        data = read_object(b'{"activityIds":%s}' % stream.read())
        if len(data) > 1:
            raise MalformedJSON(_("The body must be an array of ids."))
        return data


class ActivityViewSet(Renamed, views.ActivityViewSet):
    """Activities of a trip, all in one array."""

    FIELDS: ClassVar = {
        "duration": "durationMinutes",
        "isCompleted": "completed",
        "order": "orderIndex",
    }
    pagination_class = None
    response_serializer = ActivitySerializer
    query_serializers: ClassVar = {"list": ListQuery}

    def list(self, request: Request, trip_id: int) -> Response:
        """The activities by day and in their order, those without a date last."""
        trip = self.get_permitted_trip(trip_id)
        chosen = self.query()
        found = plan_of(trip, self.caller)
        self.limits.charge_rows(len(found))
        set_places(found)
        wanted = chosen.items()
        return self.answer(
            [row for row in found if all(getattr(row, name) == value for name, value in wanted)]
        )

    @operation(needs=CanPlan.PLAN, takes=ActivityRequest)
    def create(self, request: Request, trip_id: int) -> Response:
        """Add an activity, as the last one of its day."""
        trip = self.get_permitted_trip(trip_id)
        added = Activity.add(trip, self.caller, **self.body(trip=trip))
        return self._answer(added, location=f"/api/trips/{trip_id}/activities/{added.pk}")

    @operation(needs=CanPlan.PLAN, takes=ActivityChange)
    def partial_update(self, request: Request, trip_id: int, activity_id: int) -> Response:
        """Change the fields of an activity that are sent."""
        found = self.get_kept(trip_id, activity_id)
        body = self.body(partial=True, trip=found.trip)
        place = body.pop("order_index", None)
        if place is not None and place == place_of(found):
            place = None
        return self._answer(found.change(self.caller, place, **body))

    @operation(needs=CanPlan.PLAN, answers=None)
    def reorder(self, request: Request, trip_id: int) -> Response:
        """Put all activities of the day `date` into the order of the ids that are the body."""
        trip = self.get_permitted_trip(trip_id)
        body: Any = request.data
        sent = {"date": request.query_params.get("date"), **body}
        order = itinerary.OrderRequest(data=sent, context=self.names_context())
        order.is_valid(raise_exception=True)
        body = order.validated_data
        Activity.arrange(trip, self.caller, {body["date"]: body["activity_ids"]})
        return self.no_content()

    @operation(needs=Can.READ, query=DayQuery, many=True)
    def on_day(self, request: Request, trip_id: int) -> Response:
        """The activities of the day `date`."""
        return self.list(request, trip_id)

    def read_costs(self, activity: Any) -> Activity:
        activity.place = place_of(activity)
        return super().read_costs(activity)


class ItineraryViewSet(views.ItineraryViewSet):
    """The itinerary of a trip."""

    response_serializers: ClassVar = {"retrieve": ItinerarySerializer}

    def answer(self, instance: Itinerary, **options: Any) -> Response:
        """The itinerary, whose activities have their places."""
        set_places(instance.activities)
        return super().answer(instance, **options)

    @operation(needs=CanPlan.PLAN, takes=ReorderRequest, answers=ItinerarySerializer)
    def reorder(self, request: Request, trip_id: int) -> Response:
        """Put all activities of some days at their places."""
        trip = self.get_permitted_trip(trip_id)
        days: dict[Any, list[int]] = defaultdict(list)
        for row in sorted(self.body()["activities"], key=lambda row: row["order"]):
            days[date_of(trip, row["day_index"])].append(row["id"])
        Activity.arrange(trip, self.caller, days)
        return self.answer(Itinerary(trip, self.caller))
