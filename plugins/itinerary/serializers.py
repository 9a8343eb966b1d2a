"""Serializers of activities and itineraries."""

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from plugins.itinerary.models.activity import (
    MAX_ACTIVITIES,
    MAX_MINUTES,
    ActivityCategory,
    ActivityType,
)
from tripcompanion.api.serializers import (
    BoundedNumber,
    CamelCaseSerializer,
    DeletedQuery,
    IdField,
    QueryBoolean,
    StrictBoolean,
    StrictChoice,
    StrictDate,
    StrictList,
    StrictText,
    UrlOrPath,
    describe,
)
from tripcompanion.currency.fields import MoneyField
from users.serializers.account import UserSummary

_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]"


class TimeField(StrictText):
    """`HH:mm`, from 00:00 to 23:59."""

    default_error_messages = {"invalid": gettext_lazy("Must be a time such as 09:30: HH:mm.")}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        nullable = ["string", "null"] if self.allow_null else "string"
        describe(self, {"type": nullable, "pattern": f"^{_TIME}$"})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not re.fullmatch(_TIME, data):
            self.fail("invalid")
        return data


class ActivityRequest(CamelCaseSerializer):
    """Something to do, or a way between two places."""

    title = StrictText(max_length=100, help_text="1 to 100 characters.")
    type = StrictChoice(
        choices=ActivityType,
        default=ActivityType.ACTIVITY,
        help_text="`TRANSITION` is the way from one place to the next. Default: `ACTIVITY`.",
    )
    date = StrictDate(
        allow_null=True,
        default=None,
        help_text="The day, also one outside of the trip. Default: null, not decided yet.",
    )
    start_time = TimeField(
        allow_null=True,
        default=None,
        help_text="When it starts, `HH:mm` on the clocks where it is. Default: null.",
    )
    duration_minutes = BoundedNumber(
        maximum=MAX_MINUTES, allow_null=True, default=None, help_text="Default: null."
    )
    location = StrictText(
        max_length=255, allow_null=True, default=None, help_text="Where it is. Default: null."
    )
    url = UrlOrPath(allow_null=True, default=None, help_text="A page about it. Default: null.")
    notes = StrictText(
        max_length=2000,
        allow_null=True,
        default=None,
        help_text="At most 2,000 characters. Default: null.",
    )
    category = StrictChoice(
        choices=ActivityCategory,
        default=ActivityCategory.OTHER,
        help_text="What kind of place it is. Default: `OTHER`.",
    )
    completed = StrictBoolean(default=False, help_text="Whether it is done. Default: false.")


class ActivityQuery(DeletedQuery):
    """Which activities to list."""

    date = StrictDate(required=False, help_text="Only those on this day.")
    type = StrictChoice(choices=ActivityType, required=False, help_text="Only those of this type.")
    completed = QueryBoolean(required=False, help_text="Only those that are done, or are not.")


class OrderRequest(CamelCaseSerializer):
    """The activities of a day, in their new order."""

    date = StrictDate(
        allow_null=True, help_text="The day; null orders the activities without a date."
    )
    activity_ids = StrictList(
        child=IdField(),
        allow_empty=False,
        max_length=MAX_ACTIVITIES,
        help_text="All activities of the day, and those that move to it, each once.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len({*attrs["activity_ids"]}) < len(attrs["activity_ids"]):
            text = _("An activity is listed twice.")
            raise serializers.ValidationError({"activityIds": [text]})
        return attrs


class DayRequest(CamelCaseSerializer):
    """What to change in a day; what is omitted stays."""

    title = StrictText(
        max_length=100, allow_null=True, required=False, help_text="At most 100 characters."
    )
    completed = StrictBoolean(
        required=False, help_text="Whether it is done, with all of its activities."
    )


class ActivitySerializer(CamelCaseSerializer):
    """An activity of a trip."""

    id = serializers.IntegerField(help_text="The id of the activity.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    title = serializers.CharField(help_text="What it is.")
    type = serializers.ChoiceField(
        choices=ActivityType.choices, help_text="Something to do, or a way between two places."
    )
    date = serializers.DateField(allow_null=True, help_text="The day; null if it has none yet.")
    day_index = serializers.IntegerField(
        allow_null=True,
        help_text="The day of the trip, 0 for the first one, below 0 before it; null without one.",
    )
    start_time = serializers.CharField(
        allow_null=True, help_text="`HH:mm` on the clocks where it is; null if it is open."
    )
    duration_minutes = serializers.IntegerField(
        allow_null=True, help_text="How long it takes; null if it is open."
    )
    location = serializers.CharField(allow_null=True, help_text="Where it is.")
    url = serializers.CharField(allow_null=True, help_text="A page about it.")
    notes = serializers.CharField(allow_null=True, help_text="More about it.")
    category = serializers.ChoiceField(
        choices=ActivityCategory.choices, help_text="What kind of place it is."
    )
    completed = serializers.BooleanField(help_text="Whether it is done.")
    order = serializers.IntegerField(help_text="Its place on the day: the lower, the earlier.")
    expense_ids = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Its expenses; empty for a token without the scope `expenses:read`.",
    )
    created_by = UserSummary(help_text="Who added it.")
    created_at = serializers.DateTimeField(help_text="When it was added.")
    updated_at = serializers.DateTimeField(help_text="When it last changed.")


class DaySerializer(CamelCaseSerializer):
    """A day with its activities, in their order."""

    date = serializers.DateField(
        allow_null=True, help_text="The day; null for the activities without a date."
    )
    day_index = serializers.IntegerField(
        allow_null=True,
        help_text="The day of the trip, 0 for the first one, below 0 before it; null without one.",
    )
    title = serializers.CharField(allow_null=True, help_text="What the day is called.")
    completed = serializers.BooleanField(
        help_text="Whether all of its activities are done; without any, whether it was ticked."
    )
    cost = MoneyField(
        currency="trip.currency",
        help_text=(
            "The sum of the expenses of its activities, in the trip's currency; 0 for a token "
            "without the scope `expenses:read`."
        ),
    )
    activities = ActivitySerializer(many=True, help_text="What is planned.")


class ItinerarySerializer(CamelCaseSerializer):
    """The plan of a trip."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    days = DaySerializer(
        many=True,
        help_text=(
            "The days of the trip, at most 366, and others on which something is planned, the "
            "earliest first."
        ),
    )
    undated = ActivitySerializer(many=True, help_text="The activities without a date.")
    completed_percent = serializers.IntegerField(
        help_text="How many of the activities are done: 100 if all are, 0 without any."
    )
