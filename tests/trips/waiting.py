"""Commands that are sent while a trip or an account is locked, so that they wait."""

import re
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests import citus
from tests.locks import answer_after, holding
from tests.server import Server
from tests.splits.journey import Journey, Traveller, split_path
from tests.trips.bodies import lisbon
from tests.walked import all_of, answers
from trips.roles import Can, Capability, TripRole, access_of


class Scene:
    """A trip of Olga's with Ed, who recorded an expense that Vera owes, and Omar, an OWNER too."""

    def __init__(self, people: list[Traveller]) -> None:
        self.olga, self.omar, self.ed, self.vera, self.nina = people
        self.trip = self.new_trip()
        self.people = {"omar": self.omar, "ed": self.ed}

    def spend(self) -> None:
        """Ed puts 20 in for Vera, and Vera hands 5 over; of another expense some is not divided."""
        by_ed = Journey(self.ed, self.trip.id)
        self.expense = by_ed.spend(20, self.vera)
        self.partly = by_ed.spend(20, self.ed, self.vera)
        self.ed.done("DELETE", split_path(self.partly["splits"][1]))
        body = {"fromUserId": self.vera.id, "toUserId": self.ed.id, "amount": 5}
        self.settlement = self.ed.done("POST", f"{self.trip.path}/settlements", body)

    def new_trip(self) -> Journey:
        """A trip of these people."""
        trip = Journey.start(self.olga)
        for person, role in ((self.omar, "OWNER"), (self.ed, "EDITOR"), (self.vera, "VIEWER")):
            trip.admit(person, role)
        return trip

    def plan_tag(self) -> str:
        return self.ed.call("GET", f"{self.trip.path}/settle-up").headers["ETag"].strip('"')


class Command(NamedTuple):
    """A writing route: what it needs, who asks, and what they send."""

    can: Capability
    method: str
    route: str
    body: Any = None
    #: Whether the body has amounts, which mean something in one currency only.
    has_amounts: bool = False
    #: Whether there must be money in the trip.
    needs_money: bool = True


def _person(scene: Scene) -> Any:
    return {"userId": scene.nina.id, "role": "VIEWER"}


def _guest(_scene: Scene) -> Any:
    return {"name": "Grandma"}


def _role(_scene: Scene) -> Any:
    return {"role": "EDITOR"}


def _expense(scene: Scene) -> Any:
    return scene.trip.expense_body(12, scene.vera)


def _settlement(scene: Scene) -> Any:
    return {"fromUserId": scene.ed.id, "toUserId": scene.vera.id, "amount": 12.5}


def _split(scene: Scene) -> Any:
    return {"participantUserId": scene.vera.id, "amount": 5}


TRIP = "/api/trips/{trip_id}"
_EXPENSE = f"{TRIP}/expenses/{{expense_id}}"
_SPLITS = "/api/expenses/{expense_id}/splits"
COMMANDS = [
    Command(Can.MANAGE_TRIP, "PUT", TRIP, lambda _s: lisbon(budget=12.5), True, False),
    Command(Can.MANAGE_TRIP, "PATCH", TRIP, lambda _s: {"budget": 12.5}, True, False),
    Command(Can.MANAGE_TRIP, "DELETE", TRIP),
    Command(Can.MANAGE_TRIP, "POST", f"{TRIP}/restore"),
    Command(Can.ADD_MEMBERS, "POST", f"{TRIP}/members", _person),
    Command(Can.ADD_MEMBERS, "POST", f"{TRIP}/guests", _guest),
    Command(Can.ADD_MEMBERS, "PUT", f"{TRIP}/guests/{{user_id}}", _guest, False, False),
    Command(Can.MANAGE_MEMBERS, "PUT", f"{TRIP}/members/{{user_id}}/role", _role),
    Command(Can.MANAGE_MEMBERS, "DELETE", f"{TRIP}/members/{{user_id}}", None, False, False),
    Command(Can.LEAVE, "POST", f"{TRIP}/members/leave", None, False, False),
    Command(Can.RECORD, "POST", f"{TRIP}/expenses", _expense, True, False),
    Command(Can.CHANGE_EXPENSES, "PUT", _EXPENSE, _expense),
    Command(Can.CHANGE_EXPENSES, "PATCH", _EXPENSE, lambda _s: {"amount": 30}),
    Command(Can.CHANGE_EXPENSES, "DELETE", _EXPENSE),
    Command(Can.CHANGE_EXPENSES, "POST", f"{_EXPENSE}/restore"),
    Command(Can.RECORD, "POST", _SPLITS, _split),
    Command(Can.SETTLE, "PUT", f"{_SPLITS}/{{split_id}}/pay"),
    Command(Can.SETTLE, "PUT", f"{_SPLITS}/{{split_id}}/unpay"),
    Command(Can.DELETE_SPLITS, "DELETE", f"{_SPLITS}/{{split_id}}"),
    Command(Can.SETTLE, "POST", f"{TRIP}/settlements", _settlement, True, False),
    Command(Can.DELETE_SETTLEMENTS, "DELETE", f"{TRIP}/settlements/{{settlement_id}}"),
    Command(
        Can.DELETE_SETTLEMENTS, "POST", f"{TRIP}/settlements/{{settlement_id}}/restore"
    ),
    Command(Can.SETTLE, "POST", f"{TRIP}/settle-up", lambda s: {"tag": s.plan_tag()}),
    *(Command(*fields) for fields in all_of("COMMANDS")),
]  # fmt: skip


LOCKS_CALLER = all_of("LOCKS_CALLER")


def is_less_for_viewers(command: Command) -> bool:
    """Whether an OWNER reaches further with the command than a VIEWER."""
    return access_of(TripRole.VIEWER, command.can) is not access_of(TripRole.OWNER, command.can)


def locks_all_accounts(command: Command) -> bool:
    """Whether nobody can change an account while the command waits for the trip.

    It has locked an account by then. Citus keeps users on every node, so it locks all of them.
    """
    return bool(citus.URL) and command.route in (f"{TRIP}/members", f"{TRIP}/restore")


def locks_caller(command: Command) -> bool:
    """Whether the command has locked the caller's account before it waits for the trip."""
    return command.route == f"{TRIP}/restore" or command[1:3] in LOCKS_CALLER


def for_each(commands: list[Command]) -> Any:
    names = [f"{command.method}-{command.route.removeprefix('/api/')}" for command in commands]
    return pytest.mark.parametrize("command", commands, ids=names)


every_command = for_each(COMMANDS)


class Waiting:
    """One command of somebody that is sent while the trip is held."""

    def __init__(self, server: Server, scene: Scene, command: Command, by: Traveller) -> None:
        self.server, self.scene = server, scene
        if command.needs_money:
            scene.spend()
        path = command.route.format(**self._ids(command, by))
        if command.route.endswith("/restore"):
            gone = path.removeprefix("/api").removesuffix("/restore")
            by_whom = scene.olga if command.can is Can.MANAGE_TRIP else scene.ed
            by_whom.done("DELETE", gone)
        body = command.body and command.body(scene)
        self.call = partial(by.call, command.method, path.removeprefix("/api"), body)

    def _ids(self, command: Command, by: Traveller) -> dict[str, Any]:
        ids: dict[str, Any] = {"trip_id": self.scene.trip.id, "user_id": self.scene.vera.id}
        if "/guests/{user_id}" in command.route:
            guests = f"{self.scene.trip.path}/guests"
            ids["user_id"] = self.scene.olga.done("POST", guests, _guest(self.scene))["user"]["id"]
        for ids_of_app in answers("waiting_ids"):
            names = re.findall(r"{(\w+)}", command.route)
            ids |= ids_of_app(self.scene, names, by, command.can)
        if not command.needs_money:
            return ids
        expense = self.scene.expense
        if command.method == "POST" and command.route == _SPLITS:
            expense = self.scene.partly
        return ids | {
            "expense_id": expense["id"],
            "split_id": expense["splits"][0]["id"],
            "settlement_id": self.scene.settlement["id"],
        }

    def refusal(self, *changes: tuple[str, Any], account: int = 0) -> tuple[int, str]:
        """Status and code of the answer; nothing was stored but the changes.

        With `account`, that is held instead of the trip.
        """
        held = ("users_user", account) if account else ("trips_trip", self.scene.trip.id)
        response, nothing_stored = answer_after(self.server, *held, self.call, *changes)
        assert not response.is_success, response.text
        assert nothing_stored
        return response.status_code, response.json()["code"]


def commit(server: Server, table: str, row_id: int, changes: list[tuple[Any, ...]]) -> None:
    """Change something behind the API's back."""
    with holding(server, table, row_id) as holder:
        for statement, *values in changes:
            holder.run(statement, *values)
        holder.commit()
