"""A client that keeps a copy of all trips of an account, by `/api/changes` alone."""

from typing import Any

from rest_framework.test import APIClient

from tests.trips.plugin_fields import PLUGIN_FIELDS

Json = dict[str, Any]
Key = tuple[int, str, int]


class Replica:
    """What the client has: objects by trip, type and id, and the people in them."""

    def __init__(self, client: APIClient, *, money: bool = True) -> None:
        self.client, self.money = client, money
        self.objects: dict[Key, Json] = {}
        self.people: dict[int, Json] = {}
        self.cursor = ""
        #: The changes of the last page.
        self.page: list[Json] = []
        self.start()

    def start(self) -> None:
        """Get a cursor first, then read everything."""
        self.cursor = self._get("/api/changes")["cursor"]
        self.objects = lists(self.client, money=self.money)
        self.people = {}
        for state in self.objects.values():
            self._meet(state)

    def read(self, limit: int = 50, *, stop_after: int | None = None) -> bool:
        """Apply a page, or the first changes of it; return whether there is more."""
        answer = self._get(f"/api/changes?since={self.cursor}&limit={limit}")
        self.page = answer["items"]
        assert len(self.page) <= limit
        for change in self.page[:stop_after]:
            self._apply(change)
            self.cursor = change["cursor"]
        if stop_after is not None and stop_after < len(self.page):
            return True
        self.cursor = answer["cursor"]
        return answer["more"]

    def catch_up(self, limit: int = 50) -> list[Json]:
        """Apply all pages; returns all changes."""
        changes: list[Json] = []
        for _page in range(10_000):
            more = self.read(limit)
            changes += self.page
            if not more:
                return changes
        raise AssertionError("It never ends.")

    def shown(self) -> dict[Key, Json]:
        """All objects, with people as they were seen last."""
        return {key: self._with_people(state) for key, state in self.objects.items()}

    def _get(self, url: str) -> Json:
        response = self.client.get(url)
        assert response.status_code == 200, response.content
        return response.json()

    def _apply(self, change: Json) -> None:
        trip_id, kind, object_id = change["tripId"], *change["object"].values()
        key, state = (trip_id, kind, object_id), change["state"]
        if state is None:
            for other in [*self.objects]:
                if other == key or self._belongs(other, key):
                    del self.objects[other]
            return
        self._meet(state)
        if kind == "trip":
            old = [k for k in self.objects if k[0] == trip_id and k[1] == "member"]
            for member in old:
                del self.objects[member]
            self.objects |= members_in(state)
            state = without_members(state)
        self.objects[key] = state

    def _belongs(self, other: Key, gone: Key) -> bool:
        trip_id, kind, object_id = gone
        if kind == "trip":
            return other[0] == trip_id
        is_on_it = other[1] == "comment" and self.objects[other]["expenseId"] == object_id
        return kind == "expense" and is_on_it

    def _meet(self, value: Any) -> None:
        """Remember the people in a value."""
        if isinstance(value, list):
            for item in value:
                self._meet(item)
        elif isinstance(value, dict):
            if "guest" in value and "name" in value:
                self.people[value["id"]] = value
            for item in value.values():
                self._meet(item)

    def _with_people(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._with_people(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "guest" in value and "name" in value:
            return self.people[value["id"]]
        return {name: self._with_people(item) for name, item in value.items()}


def lists(client: APIClient, *, money: bool = True) -> dict[Key, Json]:
    """Everything that the lists of the API show."""
    objects: dict[Key, Json] = {}
    for listed in _pages(client, "/api/trips"):
        url, trip_id = f"/api/trips/{listed['id']}", listed["id"]
        trip = client.get(url).json()
        assert without_members(trip) == listed
        objects[trip_id, "trip", trip_id] = listed
        assert client.get(f"{url}/members").json() == trip["members"]
        objects |= members_in(trip)
        kinds = {"invitation": "invitations"}
        if money:
            kinds |= {"expense": "expenses", "settlement": "settlements"}
        for kind, name in kinds.items():
            for row in _pages(client, f"{url}/{name}"):
                objects[trip_id, kind, row["id"]] = row
        for _trip, kind, expense_id in [*objects]:
            if _trip == trip_id and kind == "expense":
                for row in _pages(client, f"/api/expenses/{expense_id}/comments"):
                    objects[trip_id, "comment", row["id"]] = row
    return objects


def members_in(trip: Json) -> dict[Key, Json]:
    return {(trip["id"], "member", row["user"]["id"]): row for row in trip["members"]}


def without_members(trip: Json) -> Json:
    of_detail = {"members", *PLUGIN_FIELDS}
    return {name: value for name, value in trip.items() if name not in of_detail}


def _pages(client: APIClient, url: str) -> list[Json]:
    rows: list[Json] = []
    page = 1
    while True:
        answer = client.get(f"{url}?pageSize=100&page={page}").json()
        rows += answer["items"]
        if page >= answer["totalPages"]:
            return rows
        page += 1
