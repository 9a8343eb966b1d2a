"""Moves that bring back what was deleted."""

from tests.soak.journal import Act
from tests.soak.moves import Moves
from tests.soak.world import PlayedTrip


class RestoringMoves(Moves):
    """Restores expenses and settlements."""

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
