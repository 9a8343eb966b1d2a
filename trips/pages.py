"""The rows that paths in a trip name, for the titles and forms of HTML pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from trips.models import Member, Trip


class NamedRow(NamedTuple):
    """How to find the row that a parameter of the path names, and what it is called.

    `lookup` gives the parameter for each column.
    """

    rows: Callable[[], Any]
    lookup: Mapping[str, str]
    name: Callable[[Any], str]


TRIP = NamedRow(Trip.objects.all, {"pk": "trip_id"}, attrgetter("title"))
MEMBER = NamedRow(
    Member.objects.with_details,
    {"trip_id": "trip_id", "user_id": "user_id"},
    attrgetter("user.name"),
)


def with_members(body: Any, user_ids: Sequence[int]) -> Any:
    """An example of a body with members of a trip, whose ids are `user_ids`, as its people."""
    people = sorted(set(_people(body)))
    if set(people) <= set(user_ids):
        return body
    return _replaced(body, dict(zip(people, user_ids, strict=False)))


def _people(value: Any) -> Iterator[int]:
    """The ids of the users in a body."""
    if isinstance(value, list):
        for item in value:
            yield from _people(item)
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "splitAmounts":
                yield from map(int, item)
            elif name.lower().endswith("userid"):
                yield item
            elif name.endswith("UserIds"):
                yield from item
            else:
                yield from _people(item)


def _replaced(value: Any, ids: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_replaced(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    body: dict[str, Any] = {}
    for name, item in value.items():
        if name == "splitAmounts":
            body[name] = {str(ids.get(int(key), key)): entered for key, entered in item.items()}
        elif name.lower().endswith("userid"):
            body[name] = ids.get(item, item)
        elif name.endswith("UserIds"):
            body[name] = [ids[user_id] for user_id in item if user_id in ids]
        else:
            body[name] = _replaced(item, ids)
    return body
