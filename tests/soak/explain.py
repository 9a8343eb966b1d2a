"""Which requests can have written an entry of the log."""

from collections.abc import Callable, Iterable

from tests.soak.journal import Act, Journal, Request
from tests.soak.log import Entry
from tests.soak.state import TripState

#: The clocks of the database and of the soak are one, but SQLite's tells milliseconds only.
_SLACK_SECONDS = 0.02
_OF_EXPENSE = (Act.CHANGE_EXPENSE, Act.DELETE_EXPENSE)


class Explainer:
    """Finds the requests behind an entry, in a trip whose state before it is known."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def candidates(self, entry: Entry, state: TripState) -> list[Request]:
        """The requests that can have written `entry`; one alone if an answer names the row.

        None that was refused, and none that was not under way at that moment.
        """
        finders: dict[str, Callable[[Entry, TripState], Iterable[Request]]] = {
            "trips_trip": self._of_trip,
            "trips_member": self._of_member,
            "splits_expense": self._of_expense,
            "splits_split": self._of_split,
            "splits_settlement": self._of_settlement,
        }
        found = [
            request
            for request in finders[entry.table](entry, state)
            if request.started - _SLACK_SECONDS <= entry.at <= request.ended + _SLACK_SECONDS
        ]
        if entry.operation == "INSERT":
            return [request for request in found if entry.row in request.created] or found
        return found

    def _of_trip(self, entry: Entry, state: TripState) -> Iterable[Request]:
        if entry.operation == "INSERT":
            return self._journal.marked(entry.new["title"])
        if entry.operation == "DELETE":
            return self._journal.about(entry.trip, Act.DELETE_TRIP)
        if entry.changed("title") or not entry.changed("code"):
            return self._journal.marked(entry.new["title"])
        renewals = self._journal.about(entry.trip, Act.RENEW_CODE)
        return [one for one in renewals if one.code == entry.new["code"]] or renewals

    def _of_member(self, entry: Entry, state: TripState) -> Iterable[Request]:
        user = entry.columns["user_id"]
        key = (entry.trip, user)
        if entry.new is None:
            return ()
        if not state.is_started:
            return self._journal.marked(state.title)
        if entry.old is None or (entry.old["left_at"] and not entry.new["left_at"]):
            return self._journal.about(key, Act.ADD_MEMBER, Act.JOIN)
        if entry.new["left_at"]:
            closing = self._journal.about(user, Act.CLOSE_ACCOUNT, Act.DELETE_ACCOUNT)
            return [*self._journal.about(key, Act.REMOVE_MEMBER, Act.LEAVE), *closing]
        changes = self._journal.about(key, Act.CHANGE_ROLE)
        return [one for one in changes if one.body["role"] == entry.new["role"]]

    def _of_expense(self, entry: Entry, state: TripState) -> Iterable[Request]:
        if entry.operation == "INSERT":
            return self._journal.marked(entry.new["description"])
        if entry.operation == "DELETE":
            return self._journal.about(entry.row, Act.DELETE_EXPENSE)
        return self._journal.marked(entry.new["notes"])

    def _of_split(self, entry: Entry, state: TripState) -> Iterable[Request]:
        expense = entry.columns["expense_id"]
        if entry.operation == "DELETE":
            deleted = self._journal.about(entry.row, Act.DELETE_SPLIT)
            answered = [one for one in deleted if one.succeeded]
            return answered or [*deleted, *self._journal.about(expense, *_OF_EXPENSE)]
        found = self._journal.about(expense, Act.ADD_SPLIT, Act.CHANGE_EXPENSE)
        if expense in state.expenses:
            found += self._journal.marked(state.expenses[expense].marker)
        return found

    def _of_settlement(self, entry: Entry, state: TripState) -> Iterable[Request]:
        columns = entry.columns
        if entry.operation == "INSERT":
            if columns["note"]:
                return self._journal.marked(columns["note"])
            found = [
                *self._journal.about(entry.trip, Act.RECORD_PLAN),
                *self._journal.about(columns["split_id"] or 0, Act.PAY),
            ]
            return [one for one in found if one.caller == columns["created_by_id"]]
        deleted = self._journal.about(entry.row, Act.DELETE_SETTLEMENT)
        split = columns["split_id"]
        if split is None or any(one.succeeded for one in deleted):
            return deleted
        deleted += self._journal.about(split, Act.UNPAY, Act.DELETE_SPLIT)
        if split in state.splits:
            deleted += self._journal.about(state.splits[split].expense, *_OF_EXPENSE)
        return deleted
