"""Sends a whole trip, or all its expenses, over several pages.

Each stage continues after a key that does not change, with an index, so each page costs the same in
any trip.
"""

from collections.abc import Iterator
from datetime import date
from enum import IntEnum
from typing import Any

from django.db.models import Q

from plugins.sync.cursor import Delivery, others
from splits.models.expense import Expense
from splits.models.in_trip import added_rows
from splits.models.settlement import Settlement
from trips.models.events import sees, trip_objects
from trips.models.journal import Subject
from users.models import User

#: How many expenses are searched for rows of plugins at a time.
_SEARCHED = 1000


class Stage(IntEnum):
    """What is sent, in this order."""

    #: The trip as if it were deleted, so that the client drops everything that it had.
    NOTHING = 0
    TRIP = 1
    EXPENSES = 2
    ROWS_OF_EXPENSES = 3
    SETTLEMENTS = 4
    #: Of 1.0.0, whose cursors may come yet; what it sent is among the others now.
    FORMER = 5
    OTHERS = 6


_OF_MONEY = (Stage.EXPENSES, Stage.ROWS_OF_EXPENSES, Stage.SETTLEMENTS)


#: An object that is sent, and the delivery after it.
Sent = tuple[Subject, Delivery]


def begin(trip_id: int, event: str, *, is_whole: bool) -> Delivery:
    """A delivery that has sent nothing yet."""
    stage = Stage.NOTHING if is_whole else Stage.EXPENSES
    return Delivery(trip_id, event, stage, is_whole)


def send(
    delivery: Delivery, room: int, *, expenses: int, reader: User
) -> tuple[list[Sent], Delivery | None]:
    """At most `room` objects of one stage, and the delivery after them, or None at its end.

    `expenses` is the number of expenses ever recorded in the trip. What `reader` does not see is
    left out.
    """
    stage, money = Stage(delivery.stage), sees(reader, "expense")
    kinds = [kind for kind in others() if sees(reader, kind)]
    is_other = stage is Stage.OTHERS
    sent = list(_others(delivery, room, kinds) if is_other else _STAGES[stage](delivery, room))
    if len(sent) == room:
        return sent, sent[-1][1]
    if stage is Stage.ROWS_OF_EXPENSES and delivery.after + _SEARCHED < expenses:
        return sent, delivery._replace(after=delivery.after + _SEARCHED, then=0)
    later = [other for other in Stage if other > stage and (money or other not in _OF_MONEY)]
    if not later or not delivery.is_whole:
        return sent, None
    return sent, delivery._replace(stage=int(later[0]), after=0, then=0)


def _trip(delivery: Delivery, room: int) -> Iterator[Sent]:
    if not delivery.after:
        yield Subject("trip", delivery.trip_id), delivery._replace(after=1)


def _expenses(delivery: Delivery, room: int) -> Iterator[Sent]:
    """`after` is the number of the next expense; numbers start at 0."""
    rows = Expense.objects.filter(trip=delivery.trip_id, number__gte=delivery.after)
    for number, expense_id in rows.order_by("number").values_list("number", "pk")[:room]:
        yield Subject("expense", expense_id), delivery._replace(after=number + 1)


def _rows_of_expenses(delivery: Delivery, room: int) -> Iterator[Sent]:
    """`after` is the number of an expense, `then` counts the ids of all tables of plugins."""
    first, last = delivery.after, delivery.after + _SEARCHED
    near = {
        "expense__trip": delivery.trip_id,
        "expense__number__gte": first,
        "expense__number__lt": last,
    }
    tables, found = added_rows().values(), []
    for place, table in enumerate(tables):
        rest = Q(expense__number__gt=first) | Q(pk__gt=(delivery.then - place) // len(tables))
        rows = table.model.objects.filter(rest, trip=delivery.trip_id, **near)
        keys = rows.order_by("expense__number", "pk").values_list("expense__number", "pk")[:room]
        found += [(number, pk * len(tables) + place, table.kind, pk) for number, pk in keys]
    for number, then, kind, object_id in sorted(found)[:room]:
        yield Subject(kind, object_id), delivery._replace(after=number, then=then)


def _settlements(delivery: Delivery, room: int) -> Iterator[Sent]:
    """`after` is a day, as its ordinal, `then` the id of a settlement on it; latest first."""
    rows: Any = Settlement.objects.filter(trip=delivery.trip_id)
    if delivery.after:
        day = date.fromordinal(delivery.after)
        rest = Q(settled_on__lt=day) | Q(pk__lt=delivery.then)
        rows = rows.filter(rest, settled_on__lte=day)
    found = rows.order_by("-settled_on", "-pk").values_list("settled_on", "pk")
    for day, settlement_id in found[:room]:
        after = delivery._replace(after=day.toordinal(), then=settlement_id)
        yield Subject("settlement", settlement_id), after


def _nothing(delivery: Delivery, room: int) -> Iterator[Sent]:
    return iter(())


def _others(delivery: Delivery, room: int, kinds: list[str]) -> Iterator[Sent]:
    """`then` is the place of a type in `kinds`, `after` the id of an object of it."""
    for place, kind in enumerate(kinds[delivery.then :], start=delivery.then):
        shape, after = trip_objects()[kind], delivery.after if place == delivery.then else 0
        rows = shape.rows().filter(**{shape.trip: delivery.trip_id, f"{shape.key}__gt": after})
        for object_id in rows.order_by(shape.key).values_list(shape.key, flat=True)[:room]:
            yield Subject(kind, object_id), delivery._replace(after=object_id, then=place)
            room -= 1


_STAGES = {
    Stage.NOTHING: _trip,
    Stage.TRIP: _trip,
    Stage.EXPENSES: _expenses,
    Stage.ROWS_OF_EXPENSES: _rows_of_expenses,
    Stage.SETTLEMENTS: _settlements,
    Stage.FORMER: _nothing,
}
