"""Serializers of activities and itineraries."""

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from plugins.fields import BoundedNumber
from plugins.itinerary.models.activity import (
    MAX_MINUTES,
    MAX_ORDER,
    Activity,
    ActivityCategory,
    ActivityType,
)
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    CreatedQuery,
    IdField,
    NewClientId,
    QueryBoolean,
    ShownClientId,
    StrictBoolean,
    StrictChoice,
    StrictDate,
    StrictList,
    StrictText,
    UrlOrPath,
)
from tripcompanion.currency.fields import MoneyField
from users.serializers.account import UserSummary

#: Texts on fields of requests and responses.
TYPE = "`TRANSITION` is the way from one place to the next."
TIME = "When it starts, `HH:mm` on the clocks where it is."
OF_TRIP = "The day of the trip, from 0; below 0 before it."
DAY_INDEX = f"{OF_TRIP[:-1]}; null without a date."
WITHOUT_SCOPE = "for a token without the scope `expenses:read`."
_NULL: Any = {"allow_null": True, "default": None}
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]"


@extend_schema_field({"type": "string", "maxLength": 5, "pattern": f"^{_TIME}$"})
class TimeField(StrictText):
    """`HH:mm`, from 00:00 to 23:59."""

    default_error_messages = {"invalid": gettext_lazy("Must be a time such as 09:30: HH:mm.")}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not re.fullmatch(_TIME, data):
            self.fail("invalid")
        return data


class ActivityRequest(CamelCaseSerializer):
    """Something to do, or a way between two places. What is null is not decided yet."""

    title = StrictText(max_length=100, help_text="1 to 100 characters.")
    type = StrictChoice(
        choices=ActivityType.choices, default="ACTIVITY", help_text=f"{TYPE} Default: `ACTIVITY`."
    )
    date = StrictDate(help_text="The day, also one outside of the trip. Default: null.", **_NULL)
    start_time = TimeField(help_text=f"{TIME} Default: null.", **_NULL)
    duration_minutes = BoundedNumber(
        maximum=MAX_MINUTES, help_text="1 to 1440. Default: null.", **_NULL
    )
    location = StrictText(max_length=255, help_text="Where it is. Default: null.", **_NULL)
    url = UrlOrPath(help_text="A page about it. Default: null.", **_NULL)
    notes = StrictText(max_length=2000, help_text="Up to 2,000 characters. Default: null.", **_NULL)
    category = StrictChoice(
        choices=ActivityCategory.choices, default="OTHER", help_text="What it is. Default: `OTHER`."
    )
    completed = StrictBoolean(default=False, help_text="Whether it is done. Default: false.")


class NewActivity(ActivityRequest):
    """An activity to add."""

    client_id = NewClientId()


class FiledActivity(ActivityRequest):
    """An activity in the file of a trip. Later ones of its day have larger numbers."""

    order = BoundedNumber(maximum=MAX_ORDER)


class ActivityQuery(CreatedQuery):
    """Which activities to list."""

    date = StrictDate(required=False, help_text="Only those on this day.")
    type = StrictChoice(
        choices=ActivityType.choices, required=False, help_text="Only those of this type."
    )
    completed = QueryBoolean(required=False, help_text="Only those that are done, or are not.")


class OrderRequest(CamelCaseSerializer):
    """The activities of a day, in their new order."""

    date = StrictDate(help_text="The day.")
    activity_ids = StrictList(
        child=IdField(),
        allow_empty=False,
        max_length=Activity.limit,
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
        required=False, help_text="With all of its activities, unless the day shows it already."
    )


class ActivitySerializer(CamelCaseSerializer):
    """An activity of a trip. What is null is not decided yet."""

    id = serializers.IntegerField(help_text="The id of the activity.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    client_id = ShownClientId()
    title = serializers.CharField(help_text="What it is.")
    type = serializers.ChoiceField(choices=ActivityType.choices, help_text=TYPE)
    date = serializers.DateField(allow_null=True, help_text="The day.")
    day_index = serializers.IntegerField(allow_null=True, help_text=DAY_INDEX)
    start_time = serializers.CharField(allow_null=True, help_text=TIME)
    duration_minutes = serializers.IntegerField(allow_null=True, help_text="How long it takes.")
    location = serializers.CharField(allow_null=True, help_text="Where it is.")
    url = serializers.CharField(allow_null=True, help_text="A page about it.")
    notes = serializers.CharField(allow_null=True, help_text="More about it.")
    category = serializers.ChoiceField(choices=ActivityCategory.choices, help_text="What it is.")
    completed = serializers.BooleanField(help_text="Whether it is done.")
    order = serializers.IntegerField(help_text="Its place on the day: the lower, the earlier.")
    expense_ids = serializers.ListField(
        child=serializers.IntegerField(), help_text=f"Its expenses; empty {WITHOUT_SCOPE}"
    )
    created_by = UserSummary(help_text="Who added it.")
    created_at = serializers.DateTimeField(help_text="When it was added.")
    updated_at = serializers.DateTimeField(help_text="When it last changed.")


class DaySerializer(CamelCaseSerializer):
    """A day with its activities, in their order."""

    id = serializers.IntegerField(
        allow_null=True,
        help_text="The id by which changes name the day; null if it was never named or ticked.",
    )
    date = serializers.DateField(help_text="The day.")
    day_index = serializers.IntegerField(help_text=OF_TRIP)
    title = serializers.CharField(allow_null=True, help_text="What the day is called.")
    completed = serializers.BooleanField(
        help_text="Whether all of its activities are done; without any, whether it was ticked."
    )
    cost = MoneyField(
        help_text=f"What its expenses add up to, in the trip's currency; 0 {WITHOUT_SCOPE}"
    )
    activities = ActivitySerializer(many=True, help_text="What is planned.")


class ItinerarySerializer(CamelCaseSerializer):
    """The plan of a trip."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    days = DaySerializer(
        many=True,
        help_text="The days of the trip, at most 366, and others with a plan, the earliest first.",
    )
    undated = ActivitySerializer(many=True, help_text="The activities without a date.")
    completed_percent = serializers.IntegerField(
        help_text="How many of the activities are done: 100 if all are, 0 without any."
    )
