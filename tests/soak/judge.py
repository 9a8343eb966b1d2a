"""Replays the journals of trips, and finds what nobody had the right to do.

Each trip counts the rows of its journal in the order in which the commands had its lock. So they
tell who had which role when a command wrote. A command writes its rows at once: the first of them
in the order of `_NEEDS` says what the command was, and the others follow from it.

A role may have a capability for its own objects only. The judge does not know whose they are:
`tests/trips/test_behind_the_lock.py` and the matrix of routes prove that.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from tests.soak.world import Request
from tripcompanion.currency.amounts import to_minor
from trips.roles import DEFAULT_ROLE, Access, Can, access_of, may_grant

#: The capability that a command takes, by the event of its first row; None where no role is asked.
_NEEDS = {
    "trip.created": None,
    "invitation.accepted": None,
    "trip.changed": Can.MANAGE_TRIP,
    "trip.code_renewed": Can.MANAGE_TRIP,
    "trip.deleted": Can.MANAGE_TRIP,
    "trip.restored": Can.MANAGE_TRIP,
    "member.joined": None,
    "member.left": None,
    "member.added": Can.ADD_MEMBERS,
    "member.removed": Can.MANAGE_MEMBERS,
    "member.role_changed": Can.MANAGE_MEMBERS,
    "guest.merged": Can.MANAGE_MEMBERS,
    "guest.added": Can.ADD_MEMBERS,
    "guest.renamed": Can.ADD_MEMBERS,
    "invitation.created": Can.ADD_MEMBERS,
    "expense.created": Can.RECORD,
    "expense.changed": Can.CHANGE_EXPENSES,
    "expense.deleted": Can.CHANGE_EXPENSES,
    "expense.restored": Can.CHANGE_EXPENSES,
    "split.added": Can.RECORD,
    "split.deleted": Can.DELETE_SPLITS,
    "split.paid": Can.SETTLE,
    "split.unpaid": Can.SETTLE,
    "settlement.created": Can.SETTLE,
    "settlement.deleted": Can.DELETE_SETTLEMENTS,
    "settlement.restored": Can.DELETE_SETTLEMENTS,
    "invitation.revoked": Can.ADD_MEMBERS,
}
_ORDER = {event: place for place, event in enumerate(_NEEDS)}
#: Granting a role above one's own is not allowed.
_GRANTING = ("member.added", "invitation.created")
#: Whoever writes without a role in the trip: the service itself, and the admin site.
_WITHOUT_ROLE = ("service", "admin")
_RECORDING = ("expense.created", "settlement.created")
#: The clocks of the server and of the soak are one; this is for their resolution.
_SLACK_SECONDS = 0.02
#: How many rows of the trip are shown before one that is wrong.
_SHOWN_BEFORE = 12


class Row(NamedTuple):
    """A row of the journal; `at` is in seconds, `changes` as the API has them."""

    trip: int
    number: int
    at: float
    by: int | None
    via: str
    event: str
    object_id: int
    changes: Mapping[str, Any]

    def new(self, name: str) -> Any:
        """The new value of a field; None if it has none, or did not change."""
        return self.changes.get(name, {}).get("new")

    def __str__(self) -> str:
        news = {name: change["new"] for name, change in self.changes.items()}
        return (
            f"{self.number} at {self.at:.3f}: user {self.by} {self.event} {self.object_id} {news}"
        )


@dataclass
class Invitation:
    """An open invitation."""

    by: int | None
    role: str
    uses_left: float


@dataclass
class State:
    """A trip at a moment: who has which role, and who is invited."""

    roles: dict[int, str] = field(default_factory=dict)
    invitations: dict[int, Invitation] = field(default_factory=dict)
    #: The ids of what there is of money: pairs of a type and an id.
    money: set[tuple[str, int]] = field(default_factory=set)
    currency: str = ""
    join_role: str = ""
    is_deleted: bool = False

    def may(self, row: Row) -> bool:
        """Whether the author of a command had the right to it; `row` is its first."""
        if row.by is None:
            return False
        if row.event == "invitation.revoked" and self.invitations[row.object_id].by == row.by:
            # With an account end its invitations, also those to deleted trips.
            return True
        if self.is_deleted and row.event not in {"trip.restored", "member.left"}:
            return False
        match row.event:
            case "trip.created":
                return True
            case "member.joined":
                return (row.object_id, row.new("role")) == (row.by, self.join_role)
            case "member.left":
                return row.object_id == row.by and row.by in self.roles
            case "invitation.accepted":
                invitation = self.invitations.get(row.object_id)
                return invitation is not None and self._is_open(invitation)
        granted = row.new("role") if row.event in _GRANTING else None
        return self._has(row.by, _NEEDS[row.event], granted)

    def _is_open(self, invitation: Invitation) -> bool:
        inviter, role = invitation.by, invitation.role
        return invitation.uses_left > 0 and self._has(inviter, Can.ADD_MEMBERS, role)

    def _has(self, user: int | None, can: Any, granted: str | None) -> bool:
        role = self.roles.get(user or 0)
        if role is None or access_of(role, can) is Access.NONE:
            return False
        return granted is None or may_grant(role, granted)

    def apply(self, row: Row) -> None:
        kind, _dot, what = row.event.partition(".")
        match row.event:
            case "trip.created" | "trip.changed":
                self.currency = row.new("currency") or self.currency
                self.join_role = row.new("joinRole") or self.join_role
            case "trip.deleted" | "trip.restored":
                self.is_deleted = row.event == "trip.deleted"
            case "member.added" | "member.joined" | "member.role_changed" | "guest.claimed":
                # The role of somebody who takes a guest's place changed only if it is another.
                self.roles[row.object_id] = row.new("role") or DEFAULT_ROLE
            case "member.left" | "member.removed":
                self.roles.pop(row.object_id, None)
            case "invitation.created":
                uses = row.new("maxUses") or float("inf")
                self.invitations[row.object_id] = Invitation(row.by, row.new("role"), uses)
            case "invitation.accepted":
                self.invitations[row.object_id].uses_left -= 1
            case "invitation.revoked":
                self.invitations[row.object_id].uses_left = 0
        if kind in {"expense", "settlement"}:
            change = self.money.discard if what == "deleted" else self.money.add
            change((kind, row.object_id))


class Judge:
    """Compares journals with requests. `findings` says what should not have happened.

    `closed_at` is when accounts were known to be closed; `administrators` may do anything.
    """

    def __init__(
        self, requests: Iterable[Request], closed_at: Mapping[int, float] = {},
        administrators: Collection[int] = (),
    ) -> None:  # fmt: skip
        self.findings: list[str] = []
        self._requests = list(requests)
        self._closed_at, self._administrators = closed_at, administrators
        self._by_event: dict[tuple[int | None, str], list[Request]] = defaultdict(list)
        for request in self._requests:
            self._by_event[request.caller, request.event].append(request)

    def run(self, rows: Iterable[Row]) -> list[str]:
        """Judge each row and each request."""
        sorted_rows = sorted(rows)
        for _trip, of_trip in groupby(sorted_rows, lambda row: row.trip):
            self._judge_trip([*of_trip])
        written: dict[tuple[int | None, str], list[Row]] = defaultdict(list)
        for row in sorted_rows:
            written[row.by, row.event].append(row)
        for request in self._requests:
            rows_like_it = written[request.caller, request.event]
            for text in self._faults_of_request(request, rows_like_it):
                self.findings.append(f"{text}\n  {request}")
        return self.findings

    def _judge_trip(self, rows: list[Row]) -> None:
        state = State()
        for _at_by, group in groupby(rows, lambda row: (row.at, row.by)):
            command = [*group]
            first = min(command, key=lambda row: _ORDER.get(row.event, len(_ORDER)))
            for text in self._faults(first, state):
                before = [row for row in rows if row.number < command[0].number][-_SHOWN_BEFORE:]
                lines = [f"{text} ({first.event})", *map(str, self._candidates(first))]
                lines += [f"Trip {first.trip}, {state.currency}: {state.roles}"]
                self.findings.append("\n  ".join([*lines, *map(str, before + command)]))
            for row in command:
                state.apply(row)

    def _faults(self, row: Row, state: State) -> Iterator[str]:
        """What is wrong with a command, of which `row` is the first; `state` is before it."""
        if row.event == "trip.changed" and row.new("currency") and state.money:
            yield "The currency changed under recorded money."
        if row.via in _WITHOUT_ROLE or row.by in self._administrators:
            return
        if not state.may(row):
            yield "The author had no right to this."
        if row.at > self._closed_at.get(row.by or 0, row.at):
            yield "A closed account wrote this."
        asked = self._candidates(row)
        if not asked:
            yield "Nobody asked for this."
        elif all(request.is_refused for request in asked):
            yield "A request that was refused wrote this."
        elif row.event in _RECORDING and not any(_is_meant(row, one, state) for one in asked):
            yield f"Another amount was meant than {row.new('amount')} {row.new('currency')}."

    def _candidates(self, row: Row) -> list[Request]:
        """The requests that can have written `row`: the one that names its object, if it is one."""
        found = [one for one in self._by_event[row.by, row.event] if _fits(row, one)]
        return [one for one in found if one.object_id == row.object_id] or found

    def _faults_of_request(self, request: Request, rows: Iterable[Row]) -> Iterator[str]:
        """What is wrong with a request; `rows` are those of its caller and event."""
        if request.status is not None and request.status >= 500 and request.status != 503:
            yield "The server failed."
        if not request.succeeded:
            return
        if request.started > self._closed_at.get(request.caller, request.started):
            yield "A closed account was served."
        expects = request.event and request.is_certain
        if expects and not any(_fits(row, request) for row in rows):
            yield "A request that succeeded wrote nothing."


def _fits(row: Row, request: Request) -> bool:
    """Whether `request` can have written `row`, of its event and by its caller."""
    # The journal forgets the names of guests who are deleted.
    is_marked = request.marker in str(request.body) and not row.event.startswith("guest.")
    return (
        request.started - _SLACK_SECONDS <= row.at <= request.ended + _SLACK_SECONDS
        and request.trip_id in {0, row.trip}
        and request.object_id in {None, row.object_id}
        and (request.marker in str(row.changes) or not is_marked)
    )


def _is_meant(row: Row, request: Request, state: State) -> bool:
    """Whether the amount is that of the request, in the currency that the trip had by then."""
    if request.body is None or "amount" not in request.body:
        return True
    currency = request.body.get("currency", state.currency)
    meant, stored = (
        to_minor(Decimal(str(x)), currency) for x in (request.body["amount"], row.new("amount"))
    )
    return (row.new("currency"), stored) == (currency, meant)
