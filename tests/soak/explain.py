"""Which requests can have written an entry of the log."""

from collections.abc import Callable, Iterable

from tests.soak.journal import Act, Journal, Request
from tests.soak.log import Entry
from tests.soak.state import TripState

#: The clocks of the database and of the soak are one, but SQLite's tells milliseconds only.
_SLACK_SECONDS = 0.02
#: A change of one split can have others of the expense deleted and made anew.
_DIVIDE = (Act.CHANGE_EXPENSE, Act.ADD_SPLIT, Act.DELETE_SPLIT)


class Explainer:
    """Finds the requests behind an entry, in a trip whose state before it is known."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def candidates(self, entry: Entry, state: TripState) -> list[Request]:
        """The requests that can have written `entry`; one alone if an answer names the row.

        All were under way at that moment. Refused ones are among them only if there are no others.
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
        found = [request for request in found if request.may_have_written] or found
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
        found = self._journal.in_expense(expense, *_DIVIDE)
        if entry.operation == "DELETE":
            deleted = self._journal.about(entry.row, Act.DELETE_SPLIT)
            answered = [request for request in deleted if request.succeeded]
            return answered or [*found, *self._journal.about(expense, Act.DELETE_EXPENSE)]
        if expense in state.expenses:
            found += self._journal.marked(state.expenses[expense].marker)
        return found

    def _of_settlement(self, entry: Entry, state: TripState) -> Iterable[Request]:
        columns = entry.columns
        split = columns["split_id"]
        if entry.operation == "INSERT":
            if columns["note"]:
                return self._journal.marked(columns["note"])
            recorded = self._journal.about(entry.trip, Act.RECORD_PLAN)
            recorded += self._journal.about(split, Act.PAY) if split else []
            return [one for one in recorded if one.caller == columns["created_by_id"]]
        deleted = self._journal.about(entry.row, Act.DELETE_SETTLEMENT)
        if split is None or any(request.succeeded for request in deleted):
            return deleted
        deleted += self._journal.about(split, Act.UNPAY)
        if split in state.splits:
            expense = state.splits[split].expense
            deleted += self._journal.in_expense(expense, *_DIVIDE, Act.DELETE_EXPENSE)
        return deleted
