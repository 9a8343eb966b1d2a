"""The history of a trip in a file, as rows of the journal of the trip that is made of it.

What they are about has new ids. What is in no table of the file, because it was deleted before, has
a negative one, which nothing ever has. `via` says that a row is from a file, and that the service
did not see it happen. Its author is the caller, or else only a name.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeGuard

from django.db.models import Model
from django.utils.dateparse import parse_datetime

from plugins.exchange.description import FIRST_DAY, LAST_DAY, UnreadableFile
from plugins.history.sentences import Names, sentence
from splits.models import Expense
from tripcompanion.api.serializers import MAX_INTEGER
from trips.models import JournalEntry, Trip
from trips.models.events import all_events, object_type_of, trip_objects
from trips.models.journal import as_text
from users.models import MAX_NAME_CHARS, User, Via

_MODELS: Mapping[str, type[Model]] = {
    **{kind: shape.rows().model for kind, shape in trip_objects().items()},
    "member": User,
}
#: The fields of changes that are ids of people.
_PEOPLE = ("userId", "participantUserId", "fromUserId", "toUserId", "guestUserId")
#: Of what each field that is an id is one; None is what no file has.
_ID_OF: Mapping[str, type[Model] | None] = {
    "attachments": None,
    **{f"{kind}Id": model for kind, model in _MODELS.items()},
    **dict.fromkeys(_PEOPLE, User),
}
#: The fields of changes that are lists of objects, and those that are numbers by user id.
_LISTS = {"payers", "splits", "items"}
_BY_ID = {"shares", "splitAmounts"}

#: What reading a row may raise that is not what it should be.
_WRONG = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)

Ids = Mapping[Any, Mapping[int, int]]


def imported_history(
    rows: Iterable[Any], trip: Trip, ids: Ids, names: Mapping[int, str]
) -> Iterator[JournalEntry]:
    """Unsaved rows of the journal of `trip`; `ids` has the new ids by the ids in the file.

    `names` are those of everybody without an account here, by the ids in the file.

    Raises `UnreadableFile` for a row that could not be shown.
    """
    # Asking all plugins would take a quarter of the time of each row.
    known = {event for event, _name in all_events()}
    for line, row in enumerate(rows, start=1):
        try:
            if row["event"] not in known:
                raise ValueError("not an event")
            yield _entry(row, line, trip, ids, names)
        except _WRONG as error:
            raise UnreadableFile("bad_history", line) from error


def _entry(row: Any, line: int, trip: Trip, ids: Ids, names: Mapping[int, str]) -> JournalEntry:
    event, people, at = row["event"], ids[User], instant(row["at"])
    if row["number"] != line:
        raise ValueError("not counted without gaps")
    if at is None:
        raise ValueError("not an instant")
    changes = {
        str(name): {side: _mapped(name, pair[side], ids) for side in ("old", "new")}
        for name, pair in row["changes"].items()
    }
    if object_type_of(event) == "settlement":
        changes["fromUserId"], changes["toUserId"] = changes["fromUserId"], changes["toUserId"]
    entry = JournalEntry(
        trip=trip,
        number=line,
        at=at,
        via=Via.IMPORT,
        event=event,
        object_id=_new_id(row["objectId"], ids.get(_MODELS.get(object_type_of(event), Model), {})),
        expense_id=_optional(row["expenseId"], ids[Expense]),
        person_id=_optional(row["personId"], people),
        stored_changes=as_text(changes),
    )
    author_id = row["byId"]
    entry.author_name = row.get("authorName", "") if author_id is None else names.get(author_id, "")
    entry.by_id = None if author_id is None or author_id in names else people[author_id]
    if len(entry.author_name) > MAX_NAME_CHARS or not isinstance(entry.author_name, str):
        raise TypeError("not a name")
    # Whoever reads the history must get a sentence for it.
    sentence(entry, Names({entry.by_id: ""} if entry.by_id else {}, None), trip.currency)
    return entry


def _optional(value: Any, ids: Mapping[int, int]) -> int | None:
    return None if value is None else _new_id(value, ids)


def _new_id(value: Any, ids: Mapping[int, int]) -> int:
    if not is_id(value):
        raise TypeError("an id is a whole number of at most 64 bits")
    return ids.get(value, -abs(value))


def _mapped(name: str, value: Any, ids: Ids) -> Any:
    """A value of changes with new ids."""
    if isinstance(value, list) and name in _LISTS:
        return [{key: _mapped(key, part, ids) for key, part in row.items()} for row in value]
    if isinstance(value, list) and (name == "tags" or all(isinstance(one, str) for one in value)):
        return [str(text) for text in value]
    if isinstance(value, dict) and name in _BY_ID:
        return {str(_new_id(int(pk), ids[User])): _mapped("", v, ids) for pk, v in value.items()}
    if isinstance(value, dict) and name in {"categoryBudgets", "defaultDivision"}:
        return {key: _mapped(key, part, ids) for key, part in value.items()}
    if isinstance(value, list) and name == "participantUserIds":
        return [_new_id(user_id, ids[User]) for user_id in value]
    if isinstance(value, list | dict):
        raise TypeError("no value of a field")
    if name not in _ID_OF or value is None:
        return value
    return _new_id(value, ids.get(_ID_OF[name], {}))


def is_id(value: Any) -> TypeGuard[int]:
    """Whether it can be stored as an id; one of something that was deleted is negative."""
    return type(value) is int and abs(value) <= MAX_INTEGER


def instant(value: Any) -> datetime | None:
    """An instant of the years that entries may have (UTC); None if it is none."""
    try:
        found = parse_datetime(value) if isinstance(value, str) else None
        if found is None or found.tzinfo is None:
            return None
        found = found.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return found if FIRST_DAY <= found.date() <= LAST_DAY else None
