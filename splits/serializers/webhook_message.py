"""The bodies of the messages to webhooks."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.utils import timezone, translation
from django.utils.translation import gettext
from rest_framework.exceptions import NotFound

from splits.models.comment import Comment
from splits.models.expense import Expense
from splits.models.settlement import Settlement
from splits.models.split import Split
from splits.models.webhook import Webhook
from splits.models.webhook_delivery import WebhookDelivery
from splits.reports.history import History
from splits.serializers.comment import CommentSerializer
from splits.serializers.expense_response import ExpenseSerializer
from splits.serializers.history import HistoryEntrySerializer
from splits.serializers.settlement import SettlementSerializer
from splits.serializers.split import ExpenseSplitSerializer
from tripcompanion.compiled.serializers import serialize
from tripcompanion.kit.rendering import ExactJSONRenderer
from tripcompanion.kit.snapshots import in_snapshot
from trips.models import Invitation, Member, Trip, get_visible_or_404, trips_with_members
from trips.models.journal import JournalEntry
from trips.serializers import InvitationSerializer, TripDetailSerializer, TripMemberSerializer
from users.models import User


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
    "comment": _Shown(Comment.objects.with_details, CommentSerializer, trip="expense__trip_id"),
}


def message_of(webhook: Webhook, delivery: WebhookDelivery) -> bytes | None:
    """The body of a message as JSON; None if its account may no longer see the trip.

    It is an entry of the history, in the language of the webhook, with `state`: the object as its
    own endpoint shows it now to the account of the webhook, or null if it is gone.
    """
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
        "text": gettext("This is a test."),
        "state": None,
    }


def _event(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any] | None:
    trip = Trip.objects.filter(pk=delivery.journal_trip_id or 0).first()
    if trip is None:
        return None
    entries, _total = History(trip, filters={"number": delivery.number}).page(1, 0)
    if not entries:
        return None
    shown = serialize(HistoryEntrySerializer, entries[0], {})
    return {**shown, "state": _state(webhook.user, entries[0])}


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
