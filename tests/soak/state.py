"""A trip as it was between two transactions, replayed from the log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.soak.log import Entry
from trips.roles import Access, Can, access_of, may_grant


@dataclass
class ExpenseState:
    """An expense, and whose it is."""

    created_by: int
    #: The marker of the request that recorded it.
    marker: str
    payers: set[int] = field(default_factory=set)

    @property
    def owners(self) -> set[int]:
        return self.payers | {self.created_by}


@dataclass
class SplitState:
    """A split, and who is on either side of it."""

    expense: int
    participant: int
    #: The debtors and creditors of its debts; in a refund, the participant is the creditor.
    in_debts: set[int] = field(default_factory=set)

    @property
    def sides(self) -> set[int]:
        return self.in_debts | {self.participant}


@dataclass
class InvitationState:
    """An invitation, and what is left of it."""

    created_by: int
    role: str
    guest: int | None
    max_uses: int | None
    uses: int = 0
    is_revoked: bool = False

    def is_open(self, roles: Mapping[int, str]) -> bool:
        """Whether it may be accepted in a trip whose members have these roles."""
        is_left = self.max_uses is None or self.uses < self.max_uses
        return is_left and not self.is_revoked and self.may_admit(roles)

    def may_admit(self, roles: Mapping[int, str]) -> bool:
        """Whether the one who made it may add members with its role."""
        role = roles.get(self.created_by)
        if role is None:
            return False
        return access_of(role, Can.ADD_MEMBERS) is Access.ANY and may_grant(role, self.role)


@dataclass
class TripState:
    """The roles of the present members, the currency, and whose the entries are."""

    #: The marker of the request that changed the trip last.
    title: str = ""
    currency: str = ""
    code: str = ""
    join_role: str = ""
    #: Of the present members.
    roles: dict[int, str] = field(default_factory=dict)
    #: Of those who were members when the trip was deleted.
    roles_at_deletion: dict[int, str] = field(default_factory=dict)
    #: Whether anybody was ever a member.
    is_started: bool = False
    expenses: dict[int, ExpenseState] = field(default_factory=dict)
    splits: dict[int, SplitState] = field(default_factory=dict)
    #: Who created each settlement.
    settlements: dict[int, int] = field(default_factory=dict)
    invitations: dict[int, InvitationState] = field(default_factory=dict)
    #: Expenses as they were when they were deleted, and the expenses of deleted splits.
    deleted: dict[int, ExpenseState] = field(default_factory=dict)
    deleted_splits: dict[int, int] = field(default_factory=dict)
    deleted_settlements: set[int] = field(default_factory=set)

    def keep_deleted(self, group: Iterable[Entry]) -> None:
        """Keep the expenses that a transaction deletes. Call it before the first is applied."""
        for entry in group:
            if entry.new is None and entry.table == "splits_expense" and entry.row in self.expenses:
                expense = self.expenses[entry.row]
                self.deleted[entry.row] = replace(expense, payers={*expense.payers})

    def roles_after(self, group: Iterable[Entry]) -> dict[int, str]:
        """The roles of the members once a transaction has ended."""
        after = TripState(roles=dict(self.roles))
        for entry in group:
            if entry.table == "trips_member":
                after.apply(entry)
        return after.roles

    def apply(self, entry: Entry) -> None:
        """Make the change that the entry tells of."""
        columns = entry.columns
        exists = entry.new is not None
        match entry.table:
            case "trips_trip" if exists:
                if entry.deletes_a_trip:
                    self.roles_at_deletion = dict(self.roles)
                self.title, self.code = columns["title"], columns["code"]
                self.currency = columns["currency"]
                self.join_role = columns["join_role"]
            case "trips_member":
                self._apply_member(entry, columns, exists=exists)
            case "trips_invitation":
                self._apply_invitation(entry, columns)
            case "splits_expense":
                self._apply_expense(entry, columns, exists=exists)
            case "splits_payer" if columns["expense_id"] in self.expenses:
                self._apply_payer(entry.old, entry.new)
            case "splits_split":
                self._apply_split(entry, columns, exists=exists)
            case "splits_debt":
                self._apply_debt(entry.old, entry.new)
            case "splits_settlement":
                self._apply_settlement(entry)

    def _apply_member(self, entry: Entry, columns: Any, *, exists: bool) -> None:
        self.is_started = True
        # A claim gives the guest's membership to an account.
        self.roles.pop((entry.old or columns)["user_id"], None)
        if entry.old and entry.old["left_at"]:
            self.roles_at_deletion.pop(columns["user_id"], None)
        if exists and columns["left_at"] is None:
            self.roles[columns["user_id"]] = columns["role"]

    def _apply_invitation(self, entry: Entry, columns: Any) -> None:
        if entry.old is None:
            names = ("created_by_id", "role", "guest_id", "max_uses")
            self.invitations[entry.row] = InvitationState(*(columns[name] for name in names))
        stored = self.invitations.get(entry.row)
        if stored is not None:
            stored.uses = columns["uses"]
            stored.is_revoked = entry.new is None or columns["revoked_at"] is not None

    def _apply_payer(self, old: Any, new: Any) -> None:
        payers = self.expenses[(new or old)["expense_id"]].payers
        if old is not None:
            payers.discard(old["user_id"])
        if new is not None:
            payers.add(new["user_id"])

    def _apply_debt(self, old: Any, new: Any) -> None:
        if old is not None and old["split_id"] in self.splits:
            self.splits[old["split_id"]].in_debts -= {old["debtor_id"], old["creditor_id"]}
        if new is not None and new["split_id"] in self.splits:
            self.splits[new["split_id"]].in_debts |= {new["debtor_id"], new["creditor_id"]}

    def _apply_expense(self, entry: Entry, columns: Any, *, exists: bool) -> None:
        if not exists:
            self.expenses.pop(entry.row, None)
        elif entry.row not in self.expenses:
            self.expenses[entry.row] = ExpenseState(
                columns["created_by_id"], columns["description"]
            )

    def _apply_settlement(self, entry: Entry) -> None:
        if entry.new is not None:
            self.settlements[entry.row] = entry.new["created_by_id"]
        else:
            self.settlements.pop(entry.row, None)
            self.deleted_settlements.add(entry.row)

    def _apply_split(self, entry: Entry, columns: Any, *, exists: bool) -> None:
        if not exists:
            self.splits.pop(entry.row, None)
            self.deleted_splits[entry.row] = columns["expense_id"]
        elif entry.row in self.splits:
            self.splits[entry.row].participant = columns["participant_id"]
        else:
            self.splits[entry.row] = SplitState(columns["expense_id"], columns["participant_id"])
