"""Finds trips, people, expenses and splits by id or by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from plugins.mcp.answers import compact
from plugins.mcp.inner import Api, ToolFailed
from tripcompanion.api.serializers import parse_id
from trips.models import Member

#: How many pages are searched for a title or a description, and how many rows a page has.
_MOST_PAGES, _PAGE = 10, 100
#: How many of what there is instead a refusal has.
MOST_SHOWN = 10
#: How many different names of people a call may have: each is compared with all members.
MAX_NAMES = 1000
#: Fields that name people by id: one person, several, or the keys of an object.
_PEOPLE_KEYS = frozenset({"splitAmounts", "shares"})
PERSON_PARAMETERS = frozenset({"paidBy", "payer", "participant"})


def names_people(field: str) -> bool:
    """Whether a field has the id of a user, several of them, or them as keys."""
    is_id = field == "userId" or field.endswith(("UserId", "UserIds"))
    return is_id or field in _PEOPLE_KEYS or field in PERSON_PARAMETERS


def id_of(wanted: Any) -> int | None:
    """The id that `wanted` is, as a number or as text; None if it is a name."""
    try:
        return parse_id(str(wanted).strip()) if isinstance(wanted, int | str) else None
    except ValueError:
        return None


#: What people call something, and what tells it from others.
Row = Mapping[str, Any]


def matching(
    kind: str, wanted: Any, candidates: Iterable[Row], known: Callable[[], Iterable[Row]] = tuple
) -> int:
    """The id of the only candidate with this name, or else with this part of a name.

    Raises `ToolFailed`, with the candidates if there are several, and else with what there is
    instead: the candidates, or what is `known`.
    """
    if not isinstance(wanted, str) or not wanted.strip():
        raise ToolFailed(f"Name the {kind}, or give its id.")
    key = wanted.strip().casefold()
    rows = list(candidates)
    found = [one for one in rows if one["name"].casefold() == key]
    found = found or [one for one in rows if key in one["name"].casefold()]
    if len(found) == 1:
        return int(found[0]["id"])
    if not found:
        instead = (rows or list(known()))[:MOST_SHOWN]
        raise ToolFailed(f"There is no {kind} “{wanted}”.", {"known": instead} if instead else {})
    text = f"Several match “{wanted}”. Say which {kind} by id."
    raise ToolFailed(text, {"candidates": found[:MOST_SHOWN]})


def _row(row: Row, name: str, more: Iterable[str] = ()) -> Row:
    return {"id": row["id"], "name": row[name], **{key: row[key] for key in more}}


def _named(api: Api, path: str, name: str, *more: str, **query: Any) -> Iterator[Row]:
    """The rows of a list with their names. Raises `ToolFailed` if there are too many."""
    for number in range(1, _MOST_PAGES + 1):
        page = api.get(path, page=number, pageSize=_PAGE, **query)
        yield from (_row(row, name, more) for row in page["items"])
        if number >= page["totalPages"]:
            return
    raise ToolFailed(f"More than {_MOST_PAGES * _PAGE} may be meant. Say which one by id.")


def answered_trips(api: Api) -> Iterator[Row]:
    """The caller's trips, the newest first, without those to which somebody only added them.

    A stranger chooses the titles of these.
    """
    unanswered = Member.objects.unanswered_by(api.caller)
    left_out = {*unanswered.values_list("trip", flat=True)}
    trips = _named(api, "/api/trips", "title", "startDate")
    return (trip for trip in trips if trip["id"] not in left_out)


class InTrip:
    """Finds what belongs to a trip of the caller."""

    def __init__(self, api: Api, wanted: Any) -> None:
        """Raises `ToolFailed` unless `wanted` is an id, or the title of one of `answered_trips`."""
        self.api = api
        found = id_of(wanted)
        if found is None:
            found = matching("trip", wanted, answered_trips(api))
        self.id = found
        #: The ids of the people who were named, by how they were.
        self._named = {"me": api.caller.pk}

    @cached_property
    def _people(self) -> list[dict[str, Any]]:
        return [member["user"] for member in self.api.get(f"/api/trips/{self.id}")["members"]]

    def person_id(self, wanted: Any) -> int:
        """The id of a member, given by id, name or e-mail address; "me" is the caller."""
        found = id_of(wanted)
        if found is not None:
            return found
        key = str(wanted).strip().casefold()
        if key not in self._named:
            if len(self._named) > MAX_NAMES:
                raise ToolFailed(f"More than {MAX_NAMES} names of people are too many.")
            self._named[key] = self._member_id(wanted, key)
        return self._named[key]

    def _member_id(self, wanted: Any, key: str) -> int:
        for person in self._people:
            if (person["email"] or "").casefold() == key:
                return person["id"]
        return matching("person", wanted, (_row(one, "name") for one in self._people))

    def expense_id(self, wanted: Any, *, deleted: bool = False) -> int:
        """The id of an expense, given by id or by its description; `deleted`: of a deleted one."""
        found = id_of(wanted)
        if found is not None:
            return found
        path = f"/api/trips/{self.id}/expenses"
        query: dict[str, Any] = {"deleted": True} if deleted else {"search": wanted}
        more = ("amount", "currency", "expenseDate")
        rows = _named(self.api, path, "description", *more, **query)

        def newest() -> Iterator[Row]:
            page = self.api.get(path, pageSize=MOST_SHOWN)
            return (_row(one, "description", more) for one in page["items"])

        return matching("expense", wanted, rows, tuple if deleted else newest)

    def settlement_id(self, wanted: Any) -> int:
        """The id of a settlement, which has no name. Raises `ToolFailed`, with the newest ones."""
        found = id_of(wanted)
        if found is None:
            page = self.api.get(f"/api/trips/{self.id}/settlements", pageSize=MOST_SHOWN)
            raise ToolFailed("Give the id of the settlement.", compact({"known": page["items"]}))
        return found

    def split_id(self, expense_id: int, wanted: Any) -> int:
        """The id of somebody's split of an expense."""
        person = self.person_id(wanted)
        splits = self.api.get(f"/api/expenses/{expense_id}/splits")
        for split in splits:
            if split["participant"]["id"] == person:
                return split["id"]
        text = "This person has no part in the expense."
        raise ToolFailed(text, compact({"known": splits[:MOST_SHOWN]}))

    def with_ids(self, value: Any, field: str = "") -> Any:
        """A body, or a part of it, with ids in place of the names of people."""
        is_people = names_people(field)
        if isinstance(value, Mapping) and is_people:
            ids = {name: str(self.person_id(name)) for name in value}
            if len({*ids.values()}) < len(ids):
                raise ToolFailed(f"Two names in {field} are those of one person.")
            return {ids[name]: self.with_ids(item) for name, item in value.items()}
        if isinstance(value, Mapping):
            return {key: self.with_ids(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.with_ids(item, field) for item in value]
        return self.person_id(value) if is_people and value is not None else value
