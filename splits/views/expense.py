"""Expenses of a trip."""

from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request
from rest_framework.response import Response

from splits.filters import ExpenseFilter
from splits.models import DeletedEntry, Division, Expense
from splits.models.conflicts import ClosesTrip, DividedByHand, ExpenseChanged
from splits.models.debt import TooManyDebts
from splits.models.rate import NoRate
from splits.models.reads import expenses_of
from splits.models.restoring import Deleted, restore_expense
from splits.reports.preview import preview_of
from splits.serializers.expense import ExpenseRequest, NewExpense
from splits.serializers.expense_response import ExpensePreviewSerializer, ExpenseSerializer
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import CreatedQuery
from tripcompanion.database.snapshots import in_snapshot, snapshot
from trips.models import Trip, get_visible_or_404
from trips.models.conflicts import CurrencyChanged, NotRestorable
from trips.roles import Can
from trips.viewsets import InTripViewSet


class ExpenseViewSet(InTripViewSet):
    """Expenses of a trip."""

    tag = "expenses"
    scope_prefix = "expenses"
    queryset = Expense.objects.none()
    filter_backends = (DjangoFilterBackend,)
    filterset_class = ExpenseFilter
    response_serializer = ExpenseSerializer

    @operation("listExpenses", needs=Can.READ, query=CreatedQuery, single_statement=True)
    def list(self, request: Request, trip_id: int) -> Response:
        """The expenses of a trip, newest date first.

        The filters are combined, but not with `deleted`; `ordering` changes the order.
        """
        special = {"deleted", "clientId", *ExpenseFilter.base_filters}
        if request.query_params.keys().isdisjoint(special):
            found = self.paginate_queryset(expenses_of(user=self.caller, trip=trip_id)) or ()
            return self.paginated(self.get_permitted_list(found, trip_id))
        trip = self.get_permitted_trip(trip_id)
        chosen = self.query()
        if chosen.pop("deleted"):
            self.require_alone("deleted")
            return in_snapshot(self.page, Deleted(trip.deleted_entries.expenses()))
        self.limits.charge_rows(trip.expenses_recorded)
        rows = trip.expenses.with_details().filter(**chosen)
        return in_snapshot(self.page, self.filter_queryset(rows))

    @operation(
        "createExpense",
        needs=Can.RECORD,
        takes=NewExpense,
        problems=[NoRate, CurrencyChanged, TooManyDebts],
    )
    def create(self, request: Request, trip_id: int) -> Response:
        """Record an expense and divide it.

        The splits add up to the amount; cents left over by rounding go to some of them. Without
        payers, the caller paid everything. A payer's own split is paid from the start; others are
        owed.
        """
        trip = self.get_permitted_trip(trip_id)
        expense = self._create(trip)
        return self.answer(expense, location=f"/api/trips/{trip_id}/expenses/{expense.pk}")

    @operation(
        "previewExpense",
        needs=Can.RECORD,
        takes=NewExpense,
        answers=ExpensePreviewSerializer,
        only_reads=True,
        uncounted=True,
        problems=[NoRate],
    )
    def preview(self, request: Request, trip_id: int) -> Response:
        """Divide an expense without recording it.

        Takes the same body as `createExpense`, and says who would owe whom.
        """
        with snapshot():
            trip = self.get_permitted_trip(trip_id)
            return self.answer(preview_of(trip, self.caller, **self._new(trip)))

    @operation("getExpense", needs=Can.READ, has_etag=True, single_statement=True)
    def retrieve(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """An expense with its payers and splits."""
        expense = self.get_permitted_object(
            Expense.objects.with_details, trip_id=trip_id, pk=expense_id
        )
        return self.with_etag(request, expense)

    @operation(
        "replaceExpense",
        needs=Can.CHANGE_EXPENSES,
        takes=ExpenseRequest,
        has_etag=True,
        problems=[NoRate, DividedByHand, CurrencyChanged, ClosesTrip, TooManyDebts],
    )
    def update(
        self, request: Request, trip_id: int, expense_id: int, *, partial: bool = False
    ) -> Response:
        """Replace an expense and divide it again.

        Without payers, the caller paid everything. Splits that do not change keep their payments.
        """
        expense = self.get_permitted_object(
            Expense.objects.with_trip, trip_id=trip_id, pk=expense_id
        )
        with self.unchanged(trip_id, lambda: self._shown(expense)):
            changes = self._changes(partial=partial, trip=expense.trip, expense=expense)
            return self.with_etag(request, expense.change(self.caller, **changes))

    @operation(
        "updateExpense",
        needs=Can.CHANGE_EXPENSES,
        takes=ExpenseRequest,
        has_etag=True,
        problems=[NoRate, DividedByHand, CurrencyChanged, ExpenseChanged, ClosesTrip, TooManyDebts],
    )
    def partial_update(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Change the fields of an expense that are sent.

        Splits that do not change keep their payments.
        """
        return self.update(request, trip_id, expense_id, partial=True)

    @operation(
        "deleteExpense",
        needs=Can.CHANGE_EXPENSES,
        has_etag=True,
        problems=[ClosesTrip, TooManyDebts],
    )
    def destroy(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Delete an expense with its splits.

        For 30 days, `restoreExpense` undoes it.
        """
        expense = self.get_permitted_object(Expense.objects.all, trip_id=trip_id, pk=expense_id)
        with self.unchanged(trip_id, lambda: self._shown(expense)):
            expense.remove(by=self.caller)
        return self.no_content()

    @operation("restoreExpense", needs=Can.CHANGE_EXPENSES, problems=[NotRestorable, TooManyDebts])
    def restore(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Restore a deleted expense, with its id and its division.

        Payments that were recorded for its splits are restored as well. What else covered or closed
        them does so again if it still exists. None of its people may have left the trip since.
        """
        rows = DeletedEntry.objects.expenses
        with self.restoring(Expense.objects.all, trip_id=trip_id, pk=expense_id):
            entry = self.get_permitted_object(rows, trip_id=trip_id, object_id=expense_id)
            return self.answer(restore_expense(entry, self.caller))

    def _create(self, trip: Trip, row: dict[str, Any] | None = None) -> Expense:
        return self.created_once(
            trip.pk,
            Expense.objects.with_details,
            lambda: Expense.record(trip, self.caller, **self._new(trip, sent=row)),
            sent=row,
        )

    def _shown(self, expense: Expense) -> Expense:
        # It may have been deleted since it was read.
        rows = Expense.objects.with_details
        return get_visible_or_404(rows, self.caller, trip_id=expense.trip_id, pk=expense.pk)

    def _changes(self, *, partial: bool, **context: Any) -> dict[str, Any]:
        """The body of a change; in a complete one without payers, the caller paid everything."""

        def current() -> Expense:
            return self._shown(context["expense"])

        body = self.body(partial=partial, current=current, shape=ExpenseRequest, **context)
        if not partial:
            body["paid_by_user"] = body["paid_by_user"] or {self.caller.pk: None}
        return body

    def _new(self, trip: Trip, sent: Any = None) -> dict[str, Any]:
        body = self.body(trip=trip, sent=sent, shape=NewExpense)
        return {**body, "division": Division(**body["division"])}
