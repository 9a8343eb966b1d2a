"""Serializers of changes."""

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from plugins.fields import BoundedNumber, ObjectSerializer
from tripcompanion.api.serializers import CamelCaseSerializer, StrictText
from trips.models.events import all_events, trip_objects

MAX_CHANGES = 100
DEFAULT_CHANGES = 50
#: How long a request may wait for a change, and how long a stream lasts, in seconds.
MAX_WAIT_SECONDS, STREAM_SECONDS = 25, 600


class ChangesQuery(CamelCaseSerializer):
    """Which changes to read."""

    since = StrictText(
        required=False,
        trim_whitespace=False,
        help_text=(
            "The cursor of an earlier response, or `start` for all trips as they are. Without it, "
            "only a cursor for now is sent."
        ),
    )
    limit = BoundedNumber(
        maximum=MAX_CHANGES,
        default=DEFAULT_CHANGES,
        help_text="How many changes the response may have at most.",
    )
    wait = BoundedNumber(
        maximum=MAX_WAIT_SECONDS,
        required=False,
        help_text=(
            "With `since`: for how many seconds to wait for a change if there is none yet. The "
            "response comes with the first one, or after this time without any."
        ),
    )


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="ChangedObject",
        # A split is sent as a part of its expense.
        serializers=[shape.serializer for kind, shape in trip_objects().items() if kind != "split"],
        resource_type_field_name=None,
    )
)
class StateField(serializers.ReadOnlyField):
    """An object that is serialized already."""


class ChangeSerializer(CamelCaseSerializer):
    """An object that changed, as it is now."""

    cursor = serializers.CharField(help_text="The cursor to go on with after this change.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    event = serializers.ChoiceField(
        choices=all_events(), help_text="What happened; if several things did, one of them."
    )
    object = ObjectSerializer(
        source="subject", help_text="What to replace; never a split, which is part of an expense."
    )
    state = StateField(
        allow_null=True,
        help_text=(
            "The object as its own endpoint shows it now. Null: it is gone, with all that belongs "
            "to it."
        ),
    )


class ChangesSerializer(CamelCaseSerializer):
    """What changed in the trips of the caller, in the order in which to apply it."""

    items = ChangeSerializer(many=True, help_text="The changes.")
    cursor = serializers.CharField(help_text="The cursor for the next request.")
    more = serializers.BooleanField(
        help_text="Whether there is more to read now, also if there are no `items`."
    )
