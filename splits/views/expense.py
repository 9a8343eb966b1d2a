"""Expenses of a trip."""

from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from splits.filters import ExpenseFilter
from splits.models import DeletedEntry, Division, Expense
from splits.models.conflicts import DividedByHand, ExpenseChanged
from splits.models.debt import TooManyDebts
from splits.models.rate import NoRate
from splits.models.reads import expenses_of
from splits.models.restoring import DeletedExpenses, restore_expense
from splits.reports.preview import Preview
from splits.serializers.expense import ExpenseRequest
from splits.serializers.expense_response import ExpensePreviewSerializer, ExpenseSerializer
from tripcompanion.api.serializers import DeletedQuery
from tripcompanion.database.snapshots import in_snapshot, snapshot
from trips.models import Trip, get_visible_or_404
from trips.models.conflicts import CurrencyChanged, NotRestorable
from trips.roles import Can
from trips.viewsets import ETAG_ACTIONS, InTripViewSet


class ExpenseViewSet(InTripViewSet):
    """Expenses of a trip."""

    tag = "expenses"
    operation_ids: ClassVar = {
        "list": "listExpenses",
        "create": "createExpense",
        "preview": "previewExpense",
        "retrieve": "getExpense",
        "update": "replaceExpense",
        "partial_update": "updateExpense",
        "destroy": "deleteExpense",
        "restore": "restoreExpense",
    }
    scope_prefix = "expenses"
    queryset = Expense.objects.none()
    filter_backends = (DjangoFilterBackend,)
    filterset_class = ExpenseFilter
    etag_actions: ClassVar = ETAG_ACTIONS
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.RECORD,
        "update": Can.CHANGE_EXPENSES,
        "partial_update": Can.CHANGE_EXPENSES,
        "destroy": Can.CHANGE_EXPENSES,
        "restore": Can.CHANGE_EXPENSES,
        "preview": Can.RECORD,
    }
    problems: ClassVar = {
        "preview": (NoRate,),
        "update": (NoRate, DividedByHand, CurrencyChanged, TooManyDebts),
        "partial_update": (
            NoRate,
            DividedByHand,
            CurrencyChanged,
            ExpenseChanged,
            TooManyDebts,
        ),
        "create": (NoRate, CurrencyChanged, TooManyDebts),
        "restore": (NotRestorable, TooManyDebts),
        "destroy": (TooManyDebts,),
    }
    uncounted = frozenset({"preview"})
    request_serializers: ClassVar = {
        "create": ExpenseRequest,
        "preview": ExpenseRequest,
        "update": ExpenseRequest,
        "partial_update": ExpenseRequest,
    }
    response_serializers: ClassVar = {
        "list": ExpenseSerializer,
        "retrieve": ExpenseSerializer,
        "create": ExpenseSerializer,
        "preview": ExpensePreviewSerializer,
        "update": ExpenseSerializer,
        "partial_update": ExpenseSerializer,
        "restore": ExpenseSerializer,
    }
    query_serializers: ClassVar = {"list": DeletedQuery}
    single_statement: ClassVar = frozenset({"list", "retrieve"})
    only_reads: ClassVar = frozenset({"preview"})

    def list(self, request: Request, trip_id: int) -> Response:
        """The expenses of a trip, newest date first.

        The filters are combined; `ordering` changes the order.
        """
        special = {"deleted", *ExpenseFilter.base_filters}
        if request.query_params.keys().isdisjoint(special):
            found = self.paginate_queryset(expenses_of(user=self.caller, trip=trip_id)) or ()
            return self.paginated(self.get_permitted_list(found, trip_id))
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        if "deleted" in request.query_params and self.query()["deleted"]:
            return in_snapshot(self.page, DeletedExpenses(trip))
        return in_snapshot(self.page, self.filter_queryset(trip.expenses.with_details()))

    def create(self, request: Request, trip_id: int) -> Response:
        """Record an expense and divide it.

        The splits add up to the amount; cents left over by rounding go to some of them. Without
        payers, the caller paid everything. A payer's own split is paid from the start; others are
        owed.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        expense = Expense.record(trip, self.caller, **self._new(trip))
        location = f"/api/trips/{trip_id}/expenses/{expense.pk}"
        return self.answer(expense, location=location)

    def preview(self, request: Request, trip_id: int) -> Response:
        """Divide an expense without recording it.

        Takes the same body as `createExpense`, and says who would owe whom.
        """
        with snapshot():
            trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
            return self.answer(Preview(trip, self.caller, **self._new(trip)))

    def retrieve(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """An expense with its payers and splits."""
        expense = self.get_permitted_object(
            Expense.objects.with_details, trip_id=trip_id, pk=expense_id
        )
        return self.with_etag(request, expense)

    def update(
        self, request: Request, trip_id: int, expense_id: int, *, partial: bool = False
    ) -> Response:
        """Replace an expense and divide it again.

        Without payers, the caller paid everything. Splits that do not change keep their payments.
        """
        expense = self.get_permitted_object(
            Expense.objects.with_trip, trip_id=trip_id, pk=expense_id
        )
        read = self._part if partial else self._whole
        changes = read(trip=expense.trip, expense=expense)
        with self.unchanged(trip_id, lambda: self._shown(expense)):
            return self.with_etag(request, expense.change(self.caller, **changes))

    def partial_update(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Change the fields of an expense that are sent.

        Splits that do not change keep their payments.
        """
        return self.update(request, trip_id, expense_id, partial=True)

    def destroy(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Delete an expense with its splits.

        For 30 days, `restoreExpense` undoes it.
        """
        expense = self.get_permitted_object(Expense.objects.all, trip_id=trip_id, pk=expense_id)
        with self.unchanged(trip_id, lambda: self._shown(expense)):
            expense.remove(by=self.caller)
        return self.no_content()

    def restore(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Restore a deleted expense, with its id and its division.

        Payments that were recorded for its splits are restored as well. What else covered or closed
        them does so again if it still exists. None of its people may have left the trip since.
        """
        try:
            entry = self.get_permitted_object(
                DeletedEntry.objects.expenses, trip_id=trip_id, object_id=expense_id
            )
            return self.answer(restore_expense(entry, self.caller))
        except NotFound:
            self.get_permitted_object(Expense.objects.all, trip_id=trip_id, pk=expense_id)
            raise NotRestorable(reason=_("It is not deleted.")) from None

    def _shown(self, expense: Expense) -> Expense:
        # It may have been deleted since it was read.
        rows = Expense.objects.with_details
        return get_visible_or_404(rows, self.caller, trip_id=expense.trip_id, pk=expense.pk)

    def _part(self, **context: Any) -> dict[str, Any]:
        return self.body(partial=True, **context)

    def _whole(self, **context: Any) -> dict[str, Any]:
        """The body of a complete expense; without payers, the caller paid everything."""
        body = self.body(**context)
        body["division"] = {"entered": None, **body["division"]}
        body["paid_by_user"] = body["paid_by_user"] or {self.caller.pk: None}
        return body

    def _new(self, trip: Trip) -> dict[str, Any]:
        body = self._whole(trip=trip)
        return body | {"division": Division(**body["division"])}
