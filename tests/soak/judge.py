"""Replays the log, and finds the entries that nobody had the right to make."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.soak.amounts import wrong_amounts
from tests.soak.explain import Explainer
from tests.soak.journal import ENDING_SESSIONS, TRANSFERS, Act, Journal, Request
from tests.soak.log import Entry, by_transaction
from tests.soak.state import TripState
from trips.roles import Access, Can, TripRole, access_of, may_grant

#: Requests that leave an entry behind whenever they succeed. The others may find nothing to do.
_WRITE_ALWAYS = frozenset(Act) - {
    *(Act.CHANGE_ROLE, Act.PAY, Act.UNPAY, Act.READ_PLAN, Act.REVOKE_INVITATION),
    *ENDING_SESSIONS,
}
#: Requests whose entry grants a role, and those that bring back what others created.
_GRANTING = {Act.ADD_MEMBER, Act.INVITE}
_RESTORING = {Act.RESTORE_EXPENSE, Act.RESTORE_SETTLEMENT}
#: How much of a trip's log is shown around an entry.
_BEFORE, _AFTER = 12, 4
#: What is judged; the entries of the other tables follow from these.
_JUDGED = {
    *("trips_trip", "trips_member", "trips_invitation", "users_user"),
    *("splits_expense", "splits_split", "splits_settlement"),
}
#: Tables whose rows change only with another row that is judged.
_FOLLOWING = {"splits_split", "splits_settlement"}


@dataclass
class Finding:
    """What should not have happened, who asked for it, and the trip's log around it."""

    text: str
    requests: list[Request]
    log: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        acts = sorted({request.act.text for request in self.requests})
        return f"{self.text} ({' or '.join(acts) or 'no request'})"

    def __str__(self) -> str:
        return "\n  ".join([self.title, *map(str, self.requests), *self.log])


class Judge:
    """Compares the log with the journal. `findings` says what should not have happened."""

    def __init__(self, journal: Journal, entries: Iterable[Entry]) -> None:
        journal.index()
        self.findings: list[Finding] = []
        self.judged = 0
        self._journal = journal
        self._explainer = Explainer(journal)
        #: The trips in which a request, by its number, may have left an entry.
        self._written: dict[int, set[int]] = defaultdict(set)
        self._trips: dict[int, list[Entry]] = defaultdict(list)
        self._expenses: dict[int, list[Entry]] = defaultdict(list)
        for entry in entries:
            self._trips[entry.trip].append(entry)
            if entry.table == "splits_expense":
                self._expenses[entry.row].append(entry)

    def run(self) -> list[Finding]:
        """Judge every entry and every request."""
        for entries in self._trips.values():
            state = TripState()
            for group in by_transaction(entries):
                for entry in _to_judge(group, state):
                    self._judge(entry, state)
                state.keep_deleted(group)
                for entry in group:
                    state.apply(entry)
        for request in self._journal.requests:
            self.findings += self._wrong_answers(request)
        return self.findings

    def _judge(self, entry: Entry, state: TripState) -> None:
        self.judged += 1
        candidates = self._explainer.candidates(entry, state)
        for request in candidates:
            self._written[request.number].add(entry.trip)
        if not candidates:
            self._find("Nobody asked for this entry.", entry, state, [])
            return
        lawful = [request for request in candidates if _had_right(request, entry, state)]
        if not lawful:
            text = "Nobody who asked for this entry had the right to make it."
            self._find(text, entry, state, candidates)
            return
        if not any(request.may_have_written for request in lawful):
            self._find("A request that was refused left an entry.", entry, state, lawful)
        source = self._before(entry, lawful[0].expense)
        for text in wrong_amounts(entry, lawful[0], state, source):
            self._find("Something else was meant.", entry, state, lawful)
            self.findings[-1].log.insert(0, text)

    def _before(self, entry: Entry, expense: int) -> Any:
        """The row of an expense before `entry`, which was written under the lock of its trip."""
        earlier = [one.new for one in self._expenses[expense] if one.number < entry.number]
        return earlier[-1] if earlier else None

    def _wrong_answers(self, request: Request) -> Iterator[Finding]:
        if request.status is not None and request.status >= 500 and request.status != 503:
            yield Finding("The server failed.", [request])
        if not request.succeeded:
            return
        is_empty_plan = request.act is Act.RECORD_PLAN and not request.created
        writes = request.act in _WRITE_ALWAYS and not is_empty_plan
        # What was moved is in one trip and no longer in the other.
        trips = 2 if request.act is Act.MOVE_EXPENSE else 1
        if writes and len(self._written[request.number]) < trips:
            yield Finding("A request that succeeded left no entry.", [request])
        if request.started > self._journal.closed_at.get(request.caller, request.started):
            yield Finding("A closed account was served.", [request])

    def _find(self, text: str, entry: Entry, state: TripState, requests: list[Request]) -> None:
        entries = self._trips[entry.trip]
        at = entries.index(entry)
        around = [one for one in entries[:at] if one.table in _JUDGED][-_BEFORE:]
        around += [one for one in entries[at:] if one.table in _JUDGED][: _AFTER + 1]
        moment = f"Trip {entry.trip} is in {state.currency}; its members are {state.roles}."
        lines = [f"{'>' if one is entry else ' '} {one}" for one in around]
        self.findings.append(Finding(text, requests, [moment, *lines]))


def _to_judge(group: list[Entry], state: TripState) -> Iterator[Entry]:
    """The entries of a transaction that say what the command was; `state` is before it.

    A trip is deleted and restored with its memberships. A new trip brings its first owner, and a
    new expense its splits. An expense with the same notes changed because of a split, and a split
    that changed did so because of its expense or, like a settlement, because somebody took the
    place of a guest. Invitations are deleted with a guest or an account, and revoked as soon as
    the member who made them may no longer invite.
    """
    made = {(entry.table, entry.row) for entry in group if entry.operation == "INSERT"}
    if group[0].is_of_whole_trip:
        yield group[0]
        return
    roles = state.roles_after(group)
    for entry in group:
        parent = {
            "trips_member": ("trips_trip", entry.trip),
            "splits_split": ("splits_expense", entry.columns.get("expense_id")),
        }.get(entry.table)
        follows = entry.operation == "UPDATE" and (
            entry.table in _FOLLOWING
            or (entry.table == "splits_expense" and not entry.changed("notes"))
        )
        if entry.table == "trips_invitation":
            follows = entry.operation == "DELETE" or (
                entry.changed("revoked_at") and not state.invitations[entry.row].may_admit(roles)
            )
        if entry.table in _JUDGED and entry.trip and parent not in made and not follows:
            yield entry


def _had_right(request: Request, entry: Entry, state: TripState) -> bool:
    """Whether the caller had the right to what the entry shows; `state` is before it."""
    caller = request.caller
    match request.act:
        case Act.START_TRIP | Act.DELETE_ACCOUNT | Act.BAR_ACCOUNT:
            return True
        case Act.CLOSE_ACCOUNT:
            # Their membership or their invitation.
            return caller in {entry.columns.get(name) for name in ("user_id", "created_by_id")}
        case Act.JOIN:
            return (request.body["tripCode"], entry.new["role"]) == (state.code, state.join_role)
        case Act.ACCEPT_INVITATION:
            return _was_invited(request, entry, state)
    roles = state.roles_at_deletion if request.act is Act.RESTORE_TRIP else state.roles
    role = roles.get(caller)
    if role is None or request.act.can is None:
        return False
    if request.act in _GRANTING and not may_grant(role, entry.new["role"]):
        return False
    is_new = entry.operation == "INSERT" and request.act not in _RESTORING
    if is_new and entry.new.get("created_by_id", caller) != caller:
        return False
    is_brought = request.act in TRANSFERS and entry.trip == request.key
    match access_of(TripRole(role), Can.RECORD if is_brought else request.act.can):
        case Access.ANY:
            return True
        case Access.OWN:
            return caller in _owners(request, entry, state)
    return False


def _was_invited(request: Request, entry: Entry, state: TripState) -> bool:
    """Whether an invitation allowed what the entry shows."""
    invitation = state.invitations.get(request.key) if isinstance(request.key, int) else None
    if invitation is None:
        return False
    if entry.table == "trips_invitation":
        return invitation.is_open(state.roles)
    if entry.table == "trips_member" and entry.new is not None:
        joined = (entry.new["user_id"], entry.new["role"])
        return joined == (request.caller, invitation.role)
    if entry.table == "trips_member":
        return bool(entry.old["user_id"] == invitation.guest)
    return invitation.guest is not None


def _owners(request: Request, entry: Entry, state: TripState) -> set[int]:
    """Whose own the object of the request is, in the sense of `Access.OWN`."""
    columns = entry.columns
    match request.act:
        case Act.PAY | Act.UNPAY:
            split = state.splits.get(columns["split_id"])
            return split.sides if split else set()
        case Act.RECORD_SETTLEMENT | Act.RECORD_PLAN:
            return {columns["sender_id"], columns["receiver_id"]}
        case Act.DELETE_SETTLEMENT | Act.RESTORE_SETTLEMENT:
            return {columns["created_by_id"]}
        case Act.RESTORE_EXPENSE:
            deleted = state.deleted.get(request.key) if isinstance(request.key, int) else None
            return deleted.owners if deleted else set()
    expense = columns.get("expense_id", entry.row)
    if entry.table == "splits_settlement":
        split = state.splits.get(columns["split_id"])
        expense = split.expense if split else 0
    return state.expenses[expense].owners if expense in state.expenses else set()
