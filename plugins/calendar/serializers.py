"""Serializers of the links to calendars."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer, example

_URL = "https://api.example.com/api/calendars/tcc_h3ZqvX0aR7wQ.ics"


@example({"url": _URL})
class NewCalendarLinkSerializer(CamelCaseSerializer):
    """The new address of a calendar."""

    url = serializers.CharField(
        help_text="What a calendar program subscribes to. It cannot be read again."
    )


class CalendarLinkSerializer(CamelCaseSerializer):
    """Whether a calendar has an address. The address itself is not stored."""

    created_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was made; null without one."
    )
    read_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was last read, at most an hour before; null if never."
    )


class ExportedCalendarLink(CalendarLinkSerializer):
    """An address in the export of an account."""

    trip_id = serializers.IntegerField(allow_null=True, help_text="The trip; null for all of them.")
