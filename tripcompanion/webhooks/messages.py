"""The bodies of the messages to webhooks."""

from typing import Any

from django.utils import timezone, translation
from django.utils.translation import gettext as _

from splits.reports.history import History
from splits.serializers.history import HistoryEntrySerializer
from splits.serializers.states import states_of
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.compiled import serialize
from tripcompanion.database.snapshots import in_snapshot
from tripcompanion.webhooks.models.delivery import WebhookDelivery
from tripcompanion.webhooks.models.webhook import Webhook
from trips.models import Trip, show_addresses_to


def message_of(webhook: Webhook, delivery: WebhookDelivery) -> bytes | None:
    """The body of a message as JSON; None if its account may no longer see the trip.

    It is an entry of the history, in the language of the webhook, with `state`: the object as its
    own endpoint currently shows it to the account of the webhook, or null if it no longer exists.
    """
    show_addresses_to(webhook.user)
    with translation.override(webhook.language):
        build = _event if delivery.number else _test
        body = in_snapshot(build, webhook, delivery)
    return None if body is None else ExactJSONRenderer().render(body)


def _test(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any]:
    return {
        "number": None,
        "tripId": webhook.trip_id,
        "at": timezone.now(),
        "by": None,
        "via": "service",
        "event": delivery.event,
        "object": {"type": "webhook", "id": webhook.pk},
        "changes": {},
        "text": _("This is a test."),
        "state": None,
    }


def _event(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any] | None:
    trip = Trip.objects.filter(pk=delivery.journal_trip_id or 0).first()
    if trip is None:
        return None
    entries, _total = History(trip, number=delivery.number).page(1, 0)
    if not entries:
        return None
    shown = serialize(HistoryEntrySerializer, entries[0], {})
    key = (entries[0].trip_id, entries[0].subject)
    return {**shown, "state": states_of(webhook.user, [key]).get(key)}
