"""Finds trips, people, expenses and splits by id or by name."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tripcompanion.api.serializers import parse_id
from tripcompanion.mcp.inner import Api, ToolFailed

#: How many pages are searched for a title or a description, and how many rows a page has.
_MOST_PAGES, _PAGE = 10, 100
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


def matching(kind: str, wanted: Any, candidates: Iterable[tuple[int, str]]) -> int:
    """The id of the only candidate with this name, or else with this part of a name.

    Raises `ToolFailed`, with the candidates if there are several.
    """
    if not isinstance(wanted, str) or not wanted.strip():
        raise ToolFailed(f"Name the {kind}, or give its id.")
    key = wanted.strip().casefold()
    known = list(candidates)
    found = [one for one in known if one[1].casefold() == key]
    found = found or [one for one in known if key in one[1].casefold()]
    if len(found) == 1:
        return found[0][0]
    if not found:
        raise ToolFailed(f"There is no {kind} “{wanted}”.")
    several = [{"id": found_id, "name": name} for found_id, name in found[:20]]
    raise ToolFailed(f"Several match “{wanted}”. Say which {kind} by id.", {"candidates": several})


def _named(api: Api, path: str, name: str, **query: Any) -> Iterator[tuple[int, str]]:
    """The ids and names of the rows of a list. Raises `ToolFailed` if there are too many."""
    for number in range(1, _MOST_PAGES + 1):
        page = api.get(path, page=number, pageSize=_PAGE, **query)
        yield from ((row["id"], row[name]) for row in page["items"])
        if number >= page["totalPages"]:
            return
    raise ToolFailed(f"More than {_MOST_PAGES * _PAGE} may be meant. Say which one by id.")


class InTrip:
    """Finds what belongs to a trip of the caller."""

    def __init__(self, api: Api, wanted: Any) -> None:
        """Raises `ToolFailed` unless `wanted` is the id or the title of one trip."""
        self.api = api
        found = id_of(wanted)
        if found is None:
            found = matching("trip", wanted, _named(api, "/api/trips", "title"))
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
        return matching("person", wanted, ((one["id"], one["name"]) for one in self._people))

    def expense_id(self, wanted: Any) -> int:
        """The id of an expense, given by id or by its description."""
        found = id_of(wanted)
        if found is not None:
            return found
        path = f"/api/trips/{self.id}/expenses"
        return matching("expense", wanted, _named(self.api, path, "description", search=wanted))

    def split_id(self, expense_id: int, wanted: Any) -> int:
        """The id of somebody's split of an expense."""
        person = self.person_id(wanted)
        for split in self.api.get(f"/api/expenses/{expense_id}/splits"):
            if split["participant"]["id"] == person:
                return split["id"]
        raise ToolFailed("This person has no part in the expense.")

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
