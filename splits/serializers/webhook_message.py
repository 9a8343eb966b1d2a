"""The bodies of the messages to webhooks."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.utils import timezone
from rest_framework.exceptions import NotFound

from splits.models.expense import Expense
from splits.models.settlement import Settlement
from splits.models.split import Split
from splits.models.webhook import Webhook
from splits.models.webhook_delivery import WebhookDelivery
from splits.serializers.expense_response import ExpenseSerializer
from splits.serializers.settlement import SettlementSerializer
from splits.serializers.split import ExpenseSplitSerializer
from tripcompanion.compiled.serializers import serialize
from tripcompanion.kit.rendering import ExactJSONRenderer
from tripcompanion.kit.snapshots import in_snapshot
from trips.models import Invitation, Member, get_visible_or_404, trips_with_members
from trips.models.journal import JournalEntry
from trips.serializers import InvitationSerializer, TripDetailSerializer, TripMemberSerializer
from users.models import User
from users.serializers import UserSummary


class _Shown(NamedTuple):
    """How the endpoint of a type of object finds and serializes one."""

    rows: Callable[[], Any]
    serializer: type[Any]
    #: The lookups of the trip and of the object.
    trip: str = "trip_id"
    key: str = "pk"


_SHOWN: Mapping[str, _Shown] = {
    "trip": _Shown(trips_with_members, TripDetailSerializer, trip="pk"),
    "member": _Shown(Member.objects.with_details, TripMemberSerializer, key="user_id"),
    "invitation": _Shown(
        Invitation.objects.with_details().select_related("guest").all, InvitationSerializer
    ),
    "expense": _Shown(Expense.objects.with_details, ExpenseSerializer),
    "split": _Shown(Split.objects.changeable, ExpenseSplitSerializer, trip="expense__trip_id"),
    "settlement": _Shown(Settlement.objects.with_details, SettlementSerializer),
}


def message_of(webhook: Webhook, delivery: WebhookDelivery) -> bytes | None:
    """The body of a message as JSON; None if its account may no longer see the trip.

    It is a row of the journal with `state`: the object as its own endpoint shows it now to the
    account of the webhook, or null if it is gone.
    """
    body = in_snapshot(_event, webhook, delivery) if delivery.number else _test(webhook, delivery)
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
        "state": None,
    }


def _event(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any] | None:
    rows = JournalEntry.objects.with_author()
    entry = rows.filter(trip=delivery.journal_trip_id, number=delivery.number or 0).first()
    if entry is None:
        return None
    return {
        "number": entry.number,
        "tripId": entry.trip_id,
        "at": entry.at,
        "by": entry.by and serialize(UserSummary, entry.by, {}),
        "via": entry.via,
        "event": entry.event,
        "object": {"type": entry.object_type, "id": entry.object_id},
        "changes": entry.changes,
        "state": _state(webhook.user, entry),
    }


def _state(user: User, entry: JournalEntry) -> Any:
    shown = _SHOWN.get(entry.object_type)
    if shown is None:
        return None
    lookup = {shown.key: entry.object_id, shown.trip: entry.trip_id}
    try:
        found: Any = get_visible_or_404(shown.rows, user, **lookup)
    except NotFound:
        return None
    return serialize(shown.serializer, found, {})
