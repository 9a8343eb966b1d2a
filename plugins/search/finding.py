"""What a user finds in all trips that they may see."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from plugins.search.expressions import BeginWords
from plugins.search.words import snippet
from tripcompanion.plugin import TripObject
from trips.models import Member
from trips.models.events import sees, trip_objects
from users.models import User

#: How many objects of a type are found, the newest by their ids.
MAX_OF_A_TYPE = 1000


class Found(NamedTuple):
    """An object that was found."""

    type: str
    #: What its path in the API ends with.
    id: int
    trip_id: int
    title: str
    #: A part of its other texts.
    text: str
    at: datetime


class Findings:
    """All objects with these words that `reader` may see, the newest first, for a page.

    What a scoped token may not read is not searched. `kind` and `trip_id` narrow it. Unless a trip
    is named, those that `reader` has not answered are left out: strangers can fill them.
    """

    def __init__(
        self, reader: User, words: Sequence[str], kind: str | None, trip_id: int | None
    ) -> None:
        self._words = words
        named = trip_id or reader.confined_to
        unanswered = Member.objects.unanswered_by(reader)

        def chosen(trip: str) -> Q:
            if named:
                return Q(**{trip: named})
            return ~Q(**{f"{trip}__in": unanswered.values("trip")})

        self._parts = [
            _rows(name, shape, reader, words, chosen(shape.trip))
            for name, shape in trip_objects().items()
            if shape.searched and kind in {None, name} and sees(reader, name)
        ]

    def page(self, size: int, after: int) -> tuple[list[Found], int]:
        """At most `size` of them after so many, and how many there are."""
        if not self._parts:
            return [], 0
        first, *others = self._parts
        rows = first.union(*others, all=True) if others else first
        total = rows.count()
        ordered = rows.order_by("-found_at", "found_type", "-found_id")
        found = (Found(*row) for row in (ordered[after : after + size] if after < total else ()))
        return [one._replace(text=snippet(one.text, self._words)) for one in found], total


def _rows(
    name: str, shape: TripObject, reader: User, words: Sequence[str], chosen: Q
) -> QuerySet[Any]:
    searched: Any = shape.searched
    rows = shape.rows().visible_to(reader).filter(chosen, BeginWords(words, *searched.texts))
    # Of the bare key, PostgreSQL reads the rows of all trips backwards and parses each of them.
    newest = rows.order_by((F("pk") + 0).desc()).values("pk")[:MAX_OF_A_TYPE]
    texts = [text for text in searched.texts if text != searched.title]
    columns = {
        "found_type": Value(name, TextField()),
        "found_id": F(shape.key),
        "found_trip": F(shape.trip),
        "found_title": F(searched.title),
        # In the order of `Found`.
        "found_text": Concat(Value(""), *_lines(texts), output_field=TextField()),
        "found_at": F(searched.at),
    }
    plain: QuerySet[Any] = rows.model._base_manager.filter(pk__in=newest)
    return plain.order_by().annotate(**columns).values_list(*columns)


def _lines(texts: Sequence[str]) -> list[Any]:
    return [part for text in texts for part in (F(text), Value("\n"))] or [Value("")]
