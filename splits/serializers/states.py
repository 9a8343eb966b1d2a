"""Objects as their own endpoints show them, for webhooks and for `/api/changes`."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db.models import F

from tripcompanion.compiled import serialize
from trips.models.events import trip_objects
from trips.models.journal import Subject
from users.models import User


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
        source = trip_objects().get(kind)
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
