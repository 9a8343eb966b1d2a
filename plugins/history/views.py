"""The history of a trip and of an expense."""

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.history.report import History
from plugins.history.serializers import HistoryEntrySerializer, HistoryQuery
from splits.models import Expense
from tripcompanion.api.operations import operation
from trips.roles import Can
from trips.viewsets import InTripViewSet


class HistoryViewSet(InTripViewSet):
    """What happened in a trip."""

    tag = "history"
    scope_prefix = "trips"

    @operation("listHistory", needs=Can.READ, query=HistoryQuery, answers=HistoryEntrySerializer)
    def list(self, request: Request, trip_id: int) -> Response:
        """Every change of a trip, its members, invitations and money, newest first.

        A scoped token without `expenses:read` does not see what happened to expenses and
        settlements.
        """
        filters = self.query()
        trip = self.get_permitted_trip(trip_id)
        return self.page(History(trip, self.caller, **filters))


class ExpenseHistoryViewSet(InTripViewSet):
    """What happened to an expense."""

    tag = "history"
    scope_prefix = "expenses"

    @operation("listExpenseHistory", needs=Can.READ, answers=HistoryEntrySerializer)
    def list(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Every change of an expense and its splits, newest first.

        It remains after the expense is deleted.
        """
        trip = self.get_permitted_trip(trip_id)
        history = History(trip, self.caller, alone=True, expense_id=expense_id)
        if not history.rows.exists():
            # It may be older than the journal.
            self.get_permitted_object(Expense.objects.all, trip_id=trip_id, pk=expense_id)
        return self.page(history)
