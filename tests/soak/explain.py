"""Which requests can have written an entry of the log."""

from collections.abc import Callable, Iterable

from tests.soak.journal import ENDING_SESSIONS, TRANSFERS, Act, Journal, Request
from tests.soak.log import Entry
from tests.soak.state import TripState

#: The clocks of the database and of the soak are one, but SQLite's tells milliseconds only.
_SLACK_SECONDS = 0.02
#: If one of these succeeds, nothing else deleted the row then.
_DELETE_ONE = (Act.DELETE_SPLIT, Act.DELETE_SETTLEMENT)
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
            "trips_invitation": self._of_invitation,
            "users_user": self._of_guest,
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
        deleting = [one for one in found if one.act in _DELETE_ONE and one.key == entry.row]
        return [one for one in deleting if one.succeeded] or found

    def _of_trip(self, entry: Entry, state: TripState) -> Iterable[Request]:
        if entry.operation == "INSERT":
            return self._journal.marked(entry.new["title"])
        if entry.is_of_whole_trip:
            act = Act.DELETE_TRIP if entry.deletes_a_trip else Act.RESTORE_TRIP
            return self._journal.about(entry.trip, act)
        if entry.changed("title") or not entry.changed("code"):
            return self._journal.marked(entry.new["title"])
        renewals = self._journal.about(entry.trip, Act.RENEW_CODE)
        return [one for one in renewals if one.code == entry.new["code"]] or renewals

    def _of_member(self, entry: Entry, state: TripState) -> Iterable[Request]:
        user = entry.columns["user_id"]
        key = (entry.trip, user)
        if entry.new is None:
            # Only guests lose their row.
            return [*self._journal.about(key, Act.REMOVE_MEMBER), *self._taking(entry, state, user)]
        if not state.is_started:
            return self._journal.marked(state.title)
        if entry.changed("user_id"):
            user = entry.old["user_id"]
            # The place of one who leaves before they have answered is a guest's.
            left = self._journal.about((entry.trip, user), Act.REMOVE_MEMBER, Act.LEAVE)
            return [*self._taking(entry, state, user), *left]
        if entry.old is None or (entry.old["left_at"] and not entry.new["left_at"]):
            accepted = [one for one in self._accepting(state) if one.caller == user]
            added = self._journal.about(entry.trip, Act.ADD_GUEST) if entry.old is None else []
            return [*self._journal.about(key, Act.ADD_MEMBER, Act.JOIN), *added, *accepted]
        if entry.new["left_at"]:
            closing = self._journal.about(user, Act.CLOSE_ACCOUNT, Act.DELETE_ACCOUNT)
            return [*self._journal.about(key, Act.REMOVE_MEMBER, Act.LEAVE), *closing]
        changes = self._journal.about(key, Act.CHANGE_ROLE)
        return [one for one in changes if one.body["role"] == entry.new["role"]]

    def _of_invitation(self, entry: Entry, state: TripState) -> Iterable[Request]:
        if entry.operation == "INSERT":
            return self._journal.about(entry.trip, Act.INVITE)
        if entry.changed("revoked_at"):
            ended = self._journal.about(entry.columns["created_by_id"], *ENDING_SESSIONS)
            return [*self._journal.about(entry.row, Act.REVOKE_INVITATION), *ended]
        return self._journal.about(entry.row, Act.ACCEPT_INVITATION)

    def _of_guest(self, entry: Entry, state: TripState) -> Iterable[Request]:
        return self._journal.marked(entry.new["name"])

    def _accepting(self, state: TripState) -> list[Request]:
        return [
            request
            for invitation in state.invitations
            for request in self._journal.about(invitation, Act.ACCEPT_INVITATION)
        ]

    def _taking(self, entry: Entry, state: TripState, *people: int) -> list[Request]:
        """The requests that can have given somebody the place of one of these guests."""
        merges = [
            request
            for user in people
            for request in self._journal.about((entry.trip, user), Act.MERGE_GUEST)
        ]
        claims = [
            request
            for request in self._accepting(state)
            if state.invitations[request.key].guest in people
        ]
        return merges + claims

    def _of_expense(self, entry: Entry, state: TripState) -> Iterable[Request]:
        if entry.operation == "INSERT":
            if entry.row in state.deleted:
                return self._journal.about(entry.row, Act.RESTORE_EXPENSE)
            recorded = self._journal.marked(entry.new["description"])
            return [*recorded, *self._bringing(entry.trip, entry.row)]
        if entry.operation == "DELETE":
            return self._removing(entry.row)
        return self._journal.marked(entry.new["notes"])

    def _removing(self, expense: int) -> list[Request]:
        moved = self._journal.in_expense(expense, Act.MOVE_EXPENSE)
        return self._journal.about(expense, Act.DELETE_EXPENSE) + moved

    def _bringing(self, trip: int, expense: int) -> list[Request]:
        """The requests that can have brought the expense from another trip."""
        found = self._journal.about(trip, *TRANSFERS)
        return [one for one in found if expense in one.created or not one.created]

    def _of_split(self, entry: Entry, state: TripState) -> Iterable[Request]:
        expense = entry.columns["expense_id"]
        found = self._journal.in_expense(expense, *_DIVIDE)
        if entry.operation == "DELETE":
            deleted = self._journal.about(entry.row, Act.DELETE_SPLIT)
            found += self._removing(expense)
            taking = self._taking(entry, state, entry.old["participant_id"])
            return [*deleted, *found, *taking]
        found += self._journal.about(expense, Act.RESTORE_EXPENSE)
        found += self._bringing(entry.trip, expense)
        if expense in state.expenses:
            found += self._journal.marked(state.expenses[expense].marker)
        return found

    def _of_settlement(self, entry: Entry, state: TripState) -> Iterable[Request]:
        columns = entry.columns
        split = columns["split_id"]
        if entry.operation == "INSERT":
            if entry.row in state.deleted_settlements:
                restored = self._journal.about(entry.row, Act.RESTORE_SETTLEMENT)
                expense = state.deleted_splits.get(split or 0)
                return restored + self._journal.about(expense, Act.RESTORE_EXPENSE)
            if columns["note"]:
                return self._journal.marked(columns["note"])
            recorded = self._journal.about(entry.trip, Act.RECORD_PLAN)
            recorded += self._journal.about(split, Act.PAY) if split else []
            return [one for one in recorded if one.caller == columns["created_by_id"]]
        deleted = self._journal.about(entry.row, Act.DELETE_SETTLEMENT)
        deleted += self._taking(entry, state, columns["sender_id"], columns["receiver_id"])
        if split is None:
            return deleted
        deleted += self._journal.about(split, Act.UNPAY)
        if split in state.splits:
            expense = state.splits[split].expense
            deleted += self._journal.in_expense(expense, *_DIVIDE, Act.DELETE_EXPENSE)
        return deleted
