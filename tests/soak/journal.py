"""What the soak asked of the server, by whom, when, and what the answer was."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from trips.roles import Can, Capability

#: What a request is about: a row by its id, or a membership by its trip and user.
Key = int | tuple[int, int] | None


class Act(Enum):
    """What a request asks for, and the capability that it takes; none where no role is asked."""

    START_TRIP = "start a trip", None
    CHANGE_TRIP = "change a trip", Can.MANAGE_TRIP
    RENEW_CODE = "renew a code", Can.MANAGE_TRIP
    DELETE_TRIP = "delete a trip", Can.MANAGE_TRIP
    RESTORE_TRIP = "restore a trip", Can.MANAGE_TRIP
    JOIN = "join", None
    ADD_MEMBER = "add a member", Can.ADD_MEMBERS
    CHANGE_ROLE = "change a role", Can.MANAGE_MEMBERS
    REMOVE_MEMBER = "remove a member", Can.MANAGE_MEMBERS
    LEAVE = "leave", Can.LEAVE
    ADD_GUEST = "add a guest", Can.ADD_MEMBERS
    RENAME_GUEST = "rename a guest", Can.ADD_MEMBERS
    MERGE_GUEST = "merge a guest", Can.MANAGE_MEMBERS
    INVITE = "invite somebody", Can.ADD_MEMBERS
    REVOKE_INVITATION = "revoke an invitation", Can.ADD_MEMBERS
    ACCEPT_INVITATION = "accept an invitation", None
    RECORD_EXPENSE = "record an expense", Can.RECORD
    CHANGE_EXPENSE = "change an expense", Can.CHANGE_EXPENSES
    DELETE_EXPENSE = "delete an expense", Can.CHANGE_EXPENSES
    RESTORE_EXPENSE = "restore an expense", Can.CHANGE_EXPENSES
    #: Of these two, it is the capability in the trip that they start from; see `TRANSFERS`.
    COPY_EXPENSE = "copy an expense", Can.RECORD
    MOVE_EXPENSE = "move an expense", Can.CHANGE_EXPENSES
    ADD_SPLIT = "add a split", Can.RECORD
    DELETE_SPLIT = "delete a split", Can.DELETE_SPLITS
    PAY = "pay a split", Can.SETTLE
    UNPAY = "unpay a split", Can.SETTLE
    RECORD_SETTLEMENT = "record a settlement", Can.SETTLE
    RECORD_PLAN = "record the plan", Can.SETTLE
    DELETE_SETTLEMENT = "delete a settlement", Can.DELETE_SETTLEMENTS
    RESTORE_SETTLEMENT = "restore a settlement", Can.DELETE_SETTLEMENTS
    READ_PLAN = "read the plan", Can.READ
    CLOSE_ACCOUNT = "close one's account", None
    DELETE_ACCOUNT = "delete an account", None
    BAR_ACCOUNT = "deactivate an account", None

    def __init__(self, text: str, can: Capability | None) -> None:
        self.text = text
        self.can = can


#: What ends the sessions of the account that is its key.
ENDING_SESSIONS = (Act.CLOSE_ACCOUNT, Act.DELETE_ACCOUNT, Act.BAR_ACCOUNT)
#: What brings an expense into another trip, which is their `key`; it takes `Can.RECORD` there.
TRANSFERS = (Act.COPY_EXPENSE, Act.MOVE_EXPENSE)
#: The kinds of requests whose `key` is the id of an expense.
_ABOUT_EXPENSES = {Act.CHANGE_EXPENSE, Act.DELETE_EXPENSE}


@dataclass(slots=True)
class Request:
    """One request.

    `key` is the id of what it changes or deletes: an expense, a split, a settlement, an
    invitation, a trip or an account, or the pair of a membership; None if the answer alone
    says what it made. `marker` is a text that no other request has in its body.
    """

    number: int
    act: Act
    caller: int
    key: Key
    body: Any = None
    started: float = 0
    ended: float = math.inf
    #: None if the connection was cut before there was an answer.
    status: int | None = None
    #: The ids of what it created, by its answer.
    created: frozenset[int] = frozenset()
    #: The expense that the path names, of a split, or the one that is copied or moved.
    expense: int = 0
    #: The trip's code, if it made a new one.
    code: str = ""

    @property
    def marker(self) -> str:
        return f"request {self.number}"

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def may_have_written(self) -> bool:
        """Whether it succeeded, or its outcome is unknown."""
        return self.status is None or self.succeeded or self.status >= 500

    def __str__(self) -> str:
        ended = "no answer" if self.status is None else f"{self.ended:.3f} {self.status}"
        return (
            f"{self.marker}: user {self.caller} asks to {self.act.text} ({self.key}) {self.body}, "
            f"{self.started:.3f} to {ended}"
        )


@dataclass
class Journal:
    """All requests of a run. Threads add to it; it is searched when they have ended."""

    requests: list[Request] = field(default_factory=list)
    #: When an account was known to be closed, by user id.
    closed_at: dict[int, float] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _by_key: dict[tuple[Act, Key], list[Request]] = field(default_factory=lambda: defaultdict(list))
    _by_expense: dict[tuple[Act, int], list[Request]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _by_marker: dict[str, Request] = field(default_factory=dict)

    def new(self, act: Act, caller: int, key: Key) -> Request:
        """A request that is not sent yet."""
        request = Request(next(self._numbers), act, caller, key)
        self.requests.append(request)
        return request

    def index(self) -> None:
        """Prepare the searches below."""
        for request in self.requests:
            self._by_key[request.act, request.key].append(request)
            self._by_marker[request.marker] = request
            if request.expense:
                self._by_expense[request.act, request.expense].append(request)

    def marked(self, text: str | None) -> list[Request]:
        """The request that sent `text`, or none."""
        request = self._by_marker.get(text or "")
        return [request] if request else []

    def about(self, key: Key, *acts: Act) -> list[Request]:
        """The requests of these kinds that are about `key`."""
        return [request for act in acts for request in self._by_key.get((act, key), ())]

    def in_expense(self, expense: int, *acts: Act) -> list[Request]:
        """The requests of these kinds that are about the expense or one of its splits."""
        found = [request for act in acts for request in self._by_expense.get((act, expense), ())]
        return [*found, *self.about(expense, *(act for act in acts if act in _ABOUT_EXPENSES))]
