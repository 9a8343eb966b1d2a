"""Notifications: the journal of the caller's trips, as these clients show it."""

from collections.abc import Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.utils.html import escape

from plugins.comments.models import CREATED
from plugins.history.report import with_sentences
from plugins.splitwise.objects import PAYMENTS_FROM, instant
from trips.models import JournalEntry, Trip
from trips.models.events import Event
from users.models import User

MOST = 200
#: Their types by our events. They have none for the other events.
_TYPES: Mapping[str, int] = {
    Event.EXPENSE_CREATED: 0,
    Event.SETTLEMENT_CREATED: 0,
    Event.EXPENSE_CHANGED: 1,
    Event.EXPENSE_DELETED: 2,
    Event.SETTLEMENT_DELETED: 2,
    CREATED: 3,
    Event.MEMBER_ADDED: 4,
    Event.MEMBER_JOINED: 4,
    Event.GUEST_ADDED: 4,
    Event.MEMBER_LEFT: 5,
    Event.MEMBER_REMOVED: 5,
    Event.TRIP_CHANGED: 7,
    Event.TRIP_RESTORED: 12,
    Event.EXPENSE_RESTORED: 13,
    Event.SETTLEMENT_RESTORED: 13,
}


def newest(user: User, limit: int, since: datetime | None) -> list[dict[str, Any]]:
    """At most `limit` notifications, the newest first; 0 is as many as there are, up to `MOST`."""
    most = min(limit or MOST, MOST)
    rows = JournalEntry.objects.filter(event__in=_TYPES)
    if since is not None:
        rows = rows.filter(at__gt=since)
    # The newest of all are among the newest of the trips that changed last. To sort the journals
    # of all trips would take seconds.
    of_trip = rows.filter(trip=OuterRef("pk")).order_by("-at", "-number").values("at")
    changed = Trip.objects.of_member(user).annotate(newest=Subquery(of_trip[:1]))
    trips = changed.exclude(newest=None).order_by("-newest").values_list("pk", "currency")
    currencies = dict(trips[:most])
    last = Trip.objects.filter(pk__in=currencies).annotate(since=Subquery(of_trip[most - 1 : most]))
    parts = [
        Q(trip=pk, at__gte=at) if at else Q(trip=pk) for pk, at in last.values_list("pk", "since")
    ]
    if not parts:
        return []
    found = rows.filter(reduce(or_, parts)).order_by("-at", "-id")[:most]
    return [_shown(row) for row in with_sentences(found, currencies)]


def _shown(row: JournalEntry) -> dict[str, Any]:
    return {
        "id": row.pk,
        "type": _TYPES[row.event],
        "created_at": instant(row.at),
        "created_by": row.by_id or 0,
        "source": _source(row),
        "image_url": "",
        "image_shape": "square",
        "content": escape(row.text),
    }


def _source(row: JournalEntry) -> dict[str, Any]:
    if row.object_type == "settlement":
        return {"type": "Expense", "id": PAYMENTS_FROM + row.object_id, "url": None}
    if row.expense_id is not None:
        return {"type": "Expense", "id": row.expense_id, "url": None}
    return {"type": "Group", "id": row.trip_id, "url": None}
