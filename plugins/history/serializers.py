"""Serializers of the history."""

from rest_framework import serializers

from plugins.fields import ChangesField, ObjectSerializer, QueryId
from tripcompanion.api.serializers import CamelCaseSerializer, StrictChoice, StrictInstant
from trips.models.events import all_events
from users.models import Via
from users.serializers.account import UserSummary


class HistoryQuery(CamelCaseSerializer):
    """The filters of the history, which are combined."""

    since = StrictInstant(
        source="at__gte", required=False, help_text="Only what happened at this instant or later."
    )
    by = QueryId(required=False, help_text="Only what this user did.")
    event = StrictChoice(choices=all_events(), required=False, help_text="Only this event.")


class HistoryEntrySerializer(CamelCaseSerializer):
    """One change of a trip."""

    number = serializers.IntegerField(
        help_text="Counts the changes of the trip from 1, without gaps."
    )
    trip_id = serializers.IntegerField(help_text="The trip.")
    at = serializers.DateTimeField(help_text="When it happened.")
    by = UserSummary(
        allow_null=True,
        help_text=(
            "Who did it; null for the service itself, and for somebody in an imported file who has "
            "no account here."
        ),
    )
    via = serializers.ChoiceField(
        choices=Via.choices,
        help_text=(
            "How they sent it: with a log-in, a scoped token, in the admin site, or not at all. "
            "What an imported file says was not seen by this service."
        ),
    )
    event = serializers.ChoiceField(choices=all_events(), help_text="What happened.")
    object = ObjectSerializer(source="subject", help_text="What it happened to.")
    changes = ChangesField(
        help_text=(
            "The fields that changed, by their names in the API. Null is the old value of a new "
            "object and the new value of a deleted one; people are given by their ids."
        )
    )
    text = serializers.CharField(
        help_text="One sentence for people, in the language of `Accept-Language`."
    )
