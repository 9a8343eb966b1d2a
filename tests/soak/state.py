"""A trip as it was between two transactions, replayed from the log."""

from dataclasses import dataclass, field
from typing import Any

from tests.soak.log import Entry


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
    creditors: set[int] = field(default_factory=set)

    @property
    def sides(self) -> set[int]:
        return self.creditors | {self.participant}


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
    #: Whether anybody was ever a member.
    is_started: bool = False
    expenses: dict[int, ExpenseState] = field(default_factory=dict)
    splits: dict[int, SplitState] = field(default_factory=dict)
    #: Who created each settlement.
    settlements: dict[int, int] = field(default_factory=dict)

    def apply(self, entry: Entry) -> None:
        """Make the change that the entry tells of."""
        columns = entry.columns
        exists = entry.new is not None
        match entry.table:
            case "trips_trip" if exists:
                self.title, self.code = columns["title"], columns["code"]
                self.currency = columns["currency"]
                self.join_role = columns["join_role"]
            case "trips_member":
                self._apply_member(columns, exists=exists)
            case "splits_expense":
                self._apply_expense(entry, columns, exists=exists)
            case "splits_payer" if columns["expense_id"] in self.expenses:
                payers = self.expenses[columns["expense_id"]].payers
                (payers.add if exists else payers.discard)(columns["user_id"])
            case "splits_split":
                self._apply_split(entry, columns, exists=exists)
            case "splits_debt" if columns["split_id"] in self.splits:
                creditors = self.splits[columns["split_id"]].creditors
                (creditors.add if exists else creditors.discard)(columns["creditor_id"])
            case "splits_settlement" if exists:
                self.settlements[entry.row] = columns["created_by_id"]
            case "splits_settlement":
                self.settlements.pop(entry.row, None)

    def _apply_member(self, columns: Any, *, exists: bool) -> None:
        self.is_started = True
        self.roles.pop(columns["user_id"], None)
        if exists and columns["left_at"] is None:
            self.roles[columns["user_id"]] = columns["role"]

    def _apply_expense(self, entry: Entry, columns: Any, *, exists: bool) -> None:
        if not exists:
            self.expenses.pop(entry.row, None)
        elif entry.row not in self.expenses:
            self.expenses[entry.row] = ExpenseState(
                columns["created_by_id"], columns["description"]
            )

    def _apply_split(self, entry: Entry, columns: Any, *, exists: bool) -> None:
        if not exists:
            self.splits.pop(entry.row, None)
        elif entry.row not in self.splits:
            self.splits[entry.row] = SplitState(columns["expense_id"], columns["participant_id"])
