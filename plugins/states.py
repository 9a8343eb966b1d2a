"""Objects as their own endpoints show them, for webhooks and for `/api/changes`."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db.models import F, QuerySet

from tripcompanion.compiled import ArrayParam, serialize
from tripcompanion.plugin import TripObject
from trips.models import CompiledForViewer, ViewerParam
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
        if source.is_compiled:
            rows = list(_compiled(kind)(reader, trips=trip_ids, ids=ids))
        else:
            rows = list(_rows_of(source, reader, trip_ids, ids))
        shown = serialize(source.serializer, rows, {}, many=True)
        for row, state in zip(rows, shown, strict=True):
            states[row.of_trip, Subject(kind, getattr(row, source.key))] = state
    return states


def _rows_of(source: TripObject, reader: Any, trips: Any, ids: Any) -> QuerySet[Any]:
    """The rows that `reader` sees of these ids in these trips, with `of_trip`."""
    of_trips, of_ids = ArrayParam.among(trips, source.trip), ArrayParam.among(ids, source.key)
    found: Any = source.rows().visible_to(reader).filter(of_trips, of_ids)
    return found.annotate(of_trip=F(source.trip))


@cache
def _compiled(kind: str) -> CompiledForViewer:
    def build(
        user: ViewerParam,
        trips: ArrayParam = ArrayParam("trips"),
        ids: ArrayParam = ArrayParam("ids"),
    ) -> QuerySet[Any]:
        return _rows_of(trip_objects()[kind], user, trips, ids)

    return CompiledForViewer(build)
