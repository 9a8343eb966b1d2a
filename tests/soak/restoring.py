"""Moves that bring back what was deleted, and comments, which come back with their expense."""

from tests.soak.journal import Act
from tests.soak.moves import Moves
from tests.soak.world import PlayedTrip


class RestoringMoves(Moves):
    """Restores expenses and settlements; writes, changes and deletes comments."""

    def _restore_expense(self, trip: PlayedTrip) -> None:
        expense = self._one(trip.deleted_expenses)
        if expense is not None:
            path = f"/trips/{trip.id}/expenses/{expense}/restore"
            shown = self._send(Act.RESTORE_EXPENSE, self._anybody(trip), expense, "POST", path)
            if shown:
                # Among the latest again.
                trip.expenses.append(expense)
                trip.splits += [(expense, split["id"]) for split in shown["splits"]]

    def _restore_settlement(self, trip: PlayedTrip) -> None:
        settlement = self._one(trip.deleted_settlements)
        if settlement is not None:
            path = f"/trips/{trip.id}/settlements/{settlement}/restore"
            caller = self._anybody(trip)
            if self._send(Act.RESTORE_SETTLEMENT, caller, settlement, "POST", path):
                trip.settlements.append(settlement)

    def _comment(self, trip: PlayedTrip) -> None:
        expense = self._one(trip.expenses)
        if expense is not None:
            path = f"/expenses/{expense}/comments"
            shown = self._send(
                Act.COMMENT, self._anybody(trip), None, "POST", path,
                lambda marker: {"text": marker},
            )  # fmt: skip
            if shown:
                trip.comments.append((expense, shown["id"]))

    def _change_comment(self, trip: PlayedTrip) -> None:
        found = self._one(trip.comments)
        if found is not None:
            path = f"/expenses/{found[0]}/comments/{found[1]}"
            self._send(
                Act.CHANGE_COMMENT, self._anybody(trip), found[1], "PUT", path,
                lambda marker: {"text": marker},
            )  # fmt: skip

    def _delete_comment(self, trip: PlayedTrip) -> None:
        found = self._one(trip.comments)
        if found is not None:
            path = f"/expenses/{found[0]}/comments/{found[1]}"
            self._send(Act.DELETE_COMMENT, self._anybody(trip), found[1], "DELETE", path)
