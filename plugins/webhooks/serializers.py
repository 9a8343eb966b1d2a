"""Serializers of webhooks and their deliveries."""

from typing import Any

from django.utils.translation import gettext_lazy
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from plugins.outgoing import MAX_URL_CHARS
from plugins.webhooks.models.delivery import DeliveryState, event_choices
from plugins.webhooks.models.webhook import EVERYTHING, WebhookState
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictChoice,
    StrictList,
    StrictText,
)
from trips.models.events import all_events

MAX_PATTERNS = 50
#: Every pattern that covers an event: its name, all of its kind, and all.
PATTERNS = [
    *sorted(
        {one for event in dict(all_events()) for one in (event, f"{event.partition('.')[0]}.*")}
    ),
    EVERYTHING,
]


@extend_schema_field(OpenApiTypes.URI)
class WebhookUrl(StrictText):
    """An https URL. The model checks it, because that looks up the host."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_length=MAX_URL_CHARS,
            trim_whitespace=False,
            help_text=(
                "An https URL on port 443, or on one from 1024, without user name, password and "
                "fragment. Its host must be on the public internet; redirects are not followed."
            ),
            **kwargs,
        )


class Patterns(StrictList):
    """The events that a webhook gets, each once."""

    def __init__(self, **kwargs: Any) -> None:
        unknown: dict[str, Any] = {"invalid_choice": gettext_lazy('"{input}" covers no event.')}
        super().__init__(
            child=StrictChoice(PATTERNS, error_messages=unknown),
            min_length=1,
            max_length=MAX_PATTERNS,
            help_text="Events such as `expense.changed`, all of a kind, `expense.*`, or all, `*`.",
            **kwargs,
        )

    def to_internal_value(self, data: Any) -> list[str]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class WebhookRequest(CamelCaseSerializer):
    """A webhook to register."""

    url = WebhookUrl()
    trip_id = IdField(
        required=False,
        allow_null=True,
        help_text="A trip of which the caller is an OWNER; null is all trips of the caller.",
    )
    events = Patterns(required=False, default=lambda: [EVERYTHING])


class WebhookChange(CamelCaseSerializer):
    """What to change in a webhook; fields that are not sent stay."""

    url = WebhookUrl()
    events = Patterns()
    state = StrictChoice(
        WebhookState.choices,
        help_text="`on` goes on after the last message, also if the service turned it off.",
    )


class LastDelivery(CamelCaseSerializer):
    """The last attempt to send a message."""

    at = serializers.DateTimeField(source="last_at", help_text="When it was made.")
    status = serializers.IntegerField(
        source="last_status",
        allow_null=True,
        help_text="The status of the response; null if there was none.",
    )


class WebhookSerializer(CamelCaseSerializer):
    """A webhook."""

    id = serializers.IntegerField(help_text="The webhook's id.")
    url = serializers.CharField(help_text="Where the messages are sent.")
    trip_id = serializers.IntegerField(
        allow_null=True, help_text="The trip; null for all trips of the account."
    )
    events = serializers.ListField(
        child=serializers.CharField(), help_text="The events that it gets, as patterns."
    )
    state = serializers.ChoiceField(
        WebhookState.choices,
        help_text="The service turns it `off` after three days without a success.",
    )
    created_at = serializers.DateTimeField(help_text="When it was registered.")
    last_delivery = LastDelivery(
        allow_null=True, help_text="The last attempt; null if there was none."
    )


class WebhookWithSecret(WebhookSerializer):
    """A webhook with its secret, which is shown only once."""

    secret = serializers.CharField(help_text="The key of the signatures. It is not shown again.")


class DeliverySerializer(CamelCaseSerializer):
    """A message to a webhook, and what came of it."""

    id = serializers.IntegerField(help_text="The id in this log, to send the message again.")
    message_id = serializers.CharField(help_text="The header `webhook-id` of the message.")
    event = serializers.ChoiceField(event_choices(), help_text="What happened.")
    trip_id = serializers.IntegerField(
        source="journal_trip_id", allow_null=True, help_text="The trip; null for a test."
    )
    number = serializers.IntegerField(
        allow_null=True, help_text="The number in the history of the trip; null for a test."
    )
    state = serializers.ChoiceField(
        DeliveryState.choices, help_text="It is `waiting` also between two attempts."
    )
    attempts = serializers.IntegerField(help_text="How often it was sent.")
    created_at = serializers.DateTimeField(help_text="When its turn came.")
    last_at = serializers.DateTimeField(
        allow_null=True, help_text="The last attempt; null if there was none."
    )
    status = serializers.IntegerField(
        allow_null=True, help_text="The status of the last response; null if there was none."
    )
    error = serializers.CharField(
        help_text=(
            "Why there was no response: `address`, `timeout`, `tls`, `connection` or `http`; "
            "`gone` if the account may no longer see the object. Otherwise empty."
        )
    )
    duration_ms = serializers.IntegerField(
        allow_null=True, help_text="How many milliseconds the last attempt took."
    )


class ExportedWebhook(WebhookSerializer):
    """A webhook that the user registered, without its secret."""
