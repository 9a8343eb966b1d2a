"""Objects as their own endpoints show them, for webhooks and for `/api/changes`."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from django.db.models import F

from splits.models.comment import Comment
from splits.models.expense import Expense
from splits.models.settlement import Settlement
from splits.models.split import Split
from splits.serializers.comment import CommentSerializer
from splits.serializers.expense_response import ExpenseSerializer
from splits.serializers.settlement import SettlementSerializer
from splits.serializers.split import ExpenseSplitSerializer
from tripcompanion.compiled import serialize
from trips.models import Invitation, Member, trips_with_members
from trips.models.journal import Subject
from trips.serializers import InvitationSerializer, TripDetailSerializer, TripMemberSerializer
from users.models import User


class _Source(NamedTuple):
    """How the endpoint of a type of object finds and serializes one."""

    rows: Callable[[], Any]
    serializer: type[Any]
    #: The lookups of the trip and of the object.
    trip: str = "trip_id"
    key: str = "pk"


_SOURCES: Mapping[str, _Source] = {
    "trip": _Source(trips_with_members, TripDetailSerializer, trip="pk"),
    "member": _Source(Member.objects.with_details, TripMemberSerializer, key="user_id"),
    "invitation": _Source(
        Invitation.objects.with_details().select_related("guest").all, InvitationSerializer
    ),
    "expense": _Source(Expense.objects.with_details, ExpenseSerializer),
    "split": _Source(Split.objects.with_details, ExpenseSplitSerializer),
    "settlement": _Source(Settlement.objects.with_details, SettlementSerializer),
    "comment": _Source(Comment.objects.with_details, CommentSerializer),
}


def states_of(
    reader: User, wanted: Iterable[tuple[int, Subject]]
) -> dict[tuple[int, Subject], Any]:
    """The current state of these objects of trips for `reader`, without those they may not see.

    It takes a constant number of statements for each type of object. Call it in one snapshot.
    """
    by_type: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for trip_id, subject in wanted:
        by_type[subject.type].add((trip_id, subject.id))
    states = {}
    for kind, pairs in by_type.items():
        source = _SOURCES.get(kind)
        if source is None:  # a type of a newer release, which this one cannot show
            continue
        trip_ids, ids = zip(*pairs, strict=True)
        lookup = {f"{source.trip}__in": trip_ids, f"{source.key}__in": ids}
        found = source.rows().visible_to(reader).filter(**lookup)
        rows = list(found.annotate(of_trip=F(source.trip)))
        shown = serialize(source.serializer, rows, {}, many=True)
        for row, state in zip(rows, shown, strict=True):
            states[row.of_trip, Subject(kind, getattr(row, source.key))] = state
    return states
