"""App configuration."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import (
    AssistantTool,
    ExpenseField,
    Notice,
    Outdated,
    PersonalList,
    Plugin,
    Searched,
    TripObject,
    TripTable,
    read_yaml,
)


class ItineraryConfig(Plugin):
    name = "plugins.itinerary"
    verbose_name = gettext_lazy("Itinerary")
    scopes = {
        "activities:read": gettext_lazy("See what your trips have planned"),
        "activities:write": gettext_lazy("Plan, change and delete activities"),
    }
    events = {
        "activity.created": gettext_lazy("%(by)s planned %(what)s."),
        "activity.changed": gettext_lazy("%(by)s changed %(changes)s of an activity."),
        "activity.deleted": gettext_lazy("%(by)s deleted %(what)s from the plan."),
        "activity.restored": gettext_lazy("%(by)s restored %(what)s in the plan."),
        "day.changed": gettext_lazy("%(by)s changed %(changes)s of a day."),
    }
    phrases = {
        "date": gettext_lazy("the day"),
        "startTime": gettext_lazy("the time"),
        "durationMinutes": gettext_lazy("the duration"),
        "location": gettext_lazy("the place"),
        "url": gettext_lazy("the link"),
        "type": gettext_lazy("the type"),
        "completed": gettext_lazy("what is done"),
        "order": gettext_lazy("the order"),
        "activityId": gettext_lazy("the activity"),
    }
    tools = {
        "itinerary": AssistantTool(
            "What a trip has planned, by day, with what is done and what it costs.",
            "GET /api/trips/{trip}/itinerary",
        ),
        "add_activity": AssistantTool("Plans an activity.", "POST /api/trips/{trip}/activities"),
        "change_activity": AssistantTool(
            "Changes the given fields of an activity, which are those of add_activity.",
            "PATCH /api/trips/{trip}/activities/{activity}",
            is_destructive=True,
        ),
    }
    notices = {
        "activity.created": Notice(
            gettext_lazy("notice: activity planned"),
            gettext_lazy("Something was planned for a trip:"),
        )
    }

    def objects(self) -> Mapping[str, TripObject]:
        from plugins.itinerary.models import Activity, ItineraryDay
        from plugins.itinerary.models.cost import ShownActivities
        from plugins.itinerary.models.itinerary import ShownDays
        from plugins.itinerary.serializers import ActivitySerializer, DaySerializer

        area, kept = "activities", ShownActivities(Activity).kept
        searched = Searched(("title", "location", "notes", "url"), "title")
        return {
            "activity": TripObject(area, kept, ActivitySerializer, searched=searched),
            "day": TripObject(area, lambda: ShownDays(ItineraryDay), DaySerializer),
        }

    def expense_fields(self) -> Mapping[str, ExpenseField]:
        from rest_framework.serializers import IntegerField

        from plugins.itinerary.models.cost import activity_of, link, require_activity
        from tripcompanion.api.serializers import IdField

        text = "The activity of the trip to which it belongs; null for none."
        request = IdField(allow_null=True, default=None, help_text=f"{text} Default: null.")
        response = IntegerField(required=False, allow_null=True, help_text=text)
        return {"activity_id": ExpenseField(request, response, activity_of, require_activity, link)}

    def trip_options(self) -> Mapping[str, Any]:
        from tripcompanion.api.serializers import StrictBoolean

        text = "Whether the activities move as `startDate` does. Default: false."
        return {"move_activities": StrictBoolean(required=False, help_text=text)}

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        """What is planned for Lisbon; the first day is over."""
        from plugins.itinerary.models import Activity, ItineraryDay

        for row in read_yaml(Path(self.path, "demo.yaml")):
            by, day = people[row.pop("by")], row.pop("day")
            date = None if day is None else trip.start_date + timedelta(days=day)
            Activity.add(trip, by, date=date, **row)
        ItineraryDay.change(trip, people["olga"], trip.start_date, completed=True)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.itinerary.models import Activity

        yield "deleted activities", [Activity.objects.outdated(now)]

    def trip_tables(self) -> Iterable[TripTable]:
        from plugins.itinerary.models import Activity, ActivityExpense, ItineraryDay
        from plugins.itinerary.models.cost import of_recorded
        from plugins.itinerary.serializers import DayRequest, FiledActivity

        yield TripTable("activities", Activity, ("restored_at",), request=FiledActivity)
        yield TripTable("itineraryDays", ItineraryDay, ("id",), request=DayRequest)
        yield TripTable("activityExpenses", ActivityExpense, ("id",), only=of_recorded)

    def calendar(self, trips: list[Any], limit: int) -> Iterable[Mapping[str, Any]]:
        from plugins.itinerary.models import Activity

        dated = Activity.objects.filter(trip__in=trips, date__isnull=False)
        # What was deleted is shown as cancelled.
        rows = (dated.kept() | dated.restorable()).order_by("-date", "-order", "-id")
        return [row.in_calendar for row in rows[:limit]]

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.itinerary.models import Activity
        from plugins.itinerary.models.cost import ShownActivities
        from plugins.itinerary.serializers import ActivitySerializer

        rows = ShownActivities(Activity).kept()
        yield PersonalList(
            "activities",
            ActivitySerializer,
            "The activities that they added.",
            lambda user: rows.filter(created_by=user).shown_to(user).order_by("id"),
        )
