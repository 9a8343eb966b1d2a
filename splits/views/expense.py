"""Expenses of a trip."""

from typing import Any, ClassVar

from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request
from rest_framework.response import Response

from splits.filters import ExpenseFilter
from splits.models import Division, Expense
from splits.models.expense import DividedByHand, expenses_of
from splits.models.preview import Preview
from splits.models.rate import NoRate
from splits.serializers.expense import (
    ExpensePreviewSerializer,
    ExpenseRequest,
    ExpenseSerializer,
)
from tripcompanion.kit.problems import LimitReached
from tripcompanion.kit.snapshots import snapshot
from trips.models import Trip, visible_row
from trips.models.trip import CurrencyChanged
from trips.permissions import TAGGED_ACTIONS, InTripViewSet
from trips.roles import Can


class ExpenseViewSet(InTripViewSet):
    """Expenses of a trip."""

    area = "expenses"
    queryset = Expense.objects.none()
    filter_backends = (DjangoFilterBackend,)
    filterset_class = ExpenseFilter
    tagged_actions: ClassVar = TAGGED_ACTIONS
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.RECORD,
        "update": Can.CHANGE_EXPENSES,
        "partial_update": Can.CHANGE_EXPENSES,
        "destroy": Can.CHANGE_EXPENSES,
        "preview": Can.RECORD,
    }
    problems: ClassVar = {
        "preview": (NoRate,),
        **dict.fromkeys(("update", "partial_update"), (NoRate, DividedByHand)),
        "create": (NoRate, LimitReached, CurrencyChanged),
    }
    bodies: ClassVar = {
        "create": ExpenseRequest,
        "preview": ExpenseRequest,
        "update": ExpenseRequest,
        "partial_update": ExpenseRequest,
    }
    answers: ClassVar = {
        "list": ExpenseSerializer,
        "retrieve": ExpenseSerializer,
        "create": ExpenseSerializer,
        "preview": ExpensePreviewSerializer,
        "update": ExpenseSerializer,
        "partial_update": ExpenseSerializer,
    }

    def list(self, request: Request, trip_id: int) -> Response:
        """Expenses, the newest date first unless `ordering` says otherwise."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        if request.query_params.keys().isdisjoint(ExpenseFilter.base_filters):
            return self.page(expenses_of(trip=trip.pk))
        return self.page(self.filter_queryset(trip.expenses.shown()))

    def create(self, request: Request, trip_id: int) -> Response:
        """Record an expense and divide it."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        expense = Expense.record(trip, self.caller, **self._new(trip))
        location = f"/api/trips/{trip_id}/expenses/{expense.pk}"
        return self.answer(expense, location=location)

    def preview(self, request: Request, trip_id: int) -> Response:
        """What an expense would be divided into, to the cent, without recording it."""
        with snapshot():
            trip = self.guarded(Trip.objects.all, pk=trip_id)
            return self.answer(Preview(trip, self.caller, **self._new(trip)))

    def retrieve(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """An expense with its payers and splits."""
        expense = self.guarded(Expense.objects.shown, trip_id=trip_id, pk=expense_id)
        return self.tagged(request, expense)

    def update(
        self, request: Request, trip_id: int, expense_id: int, *, partial: bool = False
    ) -> Response:
        """Replace an expense and divide it anew; without payers, the caller paid it all."""
        expense = self.guarded(Expense.objects.with_trip, trip_id=trip_id, pk=expense_id)
        read = self._part if partial else self._whole
        changes = read(trip=expense.trip, expense=expense)
        with self.unchanged(trip_id, lambda: self._shown(expense)):
            return self.tagged(request, expense.change(self.caller, **changes))

    def partial_update(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Change the fields that were sent; the rest, and what is not touched by it, stays."""
        return self.update(request, trip_id, expense_id, partial=True)

    def destroy(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Delete an expense with its splits."""
        expense = self.guarded(Expense.objects.all, trip_id=trip_id, pk=expense_id)
        with self.unchanged(trip_id, lambda: self._shown(expense)):
            expense.remove(by=self.caller)
        return self.done()

    def _shown(self, expense: Expense) -> Expense:
        # Somebody may have deleted it since.
        rows = Expense.objects.shown
        return visible_row(rows, self.caller, trip_id=expense.trip_id, pk=expense.pk)

    def _part(self, **context: Any) -> dict[str, Any]:
        return self.body(partial=True, **context)

    def _whole(self, **context: Any) -> dict[str, Any]:
        """The body of a whole expense; without payers, the caller paid it all."""
        body = self.body(**context)
        body["division"] = {"entered": None, **body["division"]}
        body["put_in"] = body["put_in"] or {self.caller.pk: body["entered_minor"]}
        return body

    def _new(self, trip: Trip) -> dict[str, Any]:
        body = self._whole(trip=trip)
        return body | {"division": Division(**body["division"])}
