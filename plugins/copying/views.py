"""Views that bring an expense to another trip."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.copying.expenses import OtherCurrency, PaidAlready, copy_expense, move_expense
from plugins.moving import QuotaExceeded
from splits.models import Expense
from splits.models.conflicts import ClosesTrip, DividedByHand
from splits.models.debt import TooManyDebts
from splits.serializers.expense_response import ExpenseSerializer
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import CamelCaseSerializer, IdField
from trips.models import Trip, get_visible_or_404
from trips.roles import Can
from trips.viewsets import InTripViewSet


class OtherTripRequest(CamelCaseSerializer):
    """Another trip."""

    trip_id = IdField(help_text="A trip of the caller in the same currency.")


class OtherTripViewSet(InTripViewSet):
    """Copies expenses to another trip, and moves them there."""

    tag = "expenses"
    scope_prefix = "expenses"
    response_serializer = ExpenseSerializer

    @operation(
        "copyExpense",
        needs=Can.RECORD,
        takes=OtherTripRequest,
        status=201,
        problems=[OtherCurrency, DividedByHand, TooManyDebts],
    )
    def copy(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Copy an expense to another trip of the same currency, with nothing paid.

        Everybody in it must be a member of the other trip, in which the caller may record expenses.
        Comments and attachments are not copied.
        """
        return self._transfer(copy_expense, trip_id, expense_id)

    @operation(
        "moveExpense",
        needs=Can.CHANGE_EXPENSES,
        takes=OtherTripRequest,
        status=201,
        problems=[
            OtherCurrency,
            PaidAlready,
            DividedByHand,
            ClosesTrip,
            TooManyDebts,
            QuotaExceeded,
        ],
    )
    def move(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Move an expense, for which nothing was paid, to another trip of the same currency.

        It gets another id; here it counts as deleted. Comments that people wrote here who are or
        were in the other trip go with it. Attachments keep their ids and stay with it, also if the
        expense is restored here; 409 `quota_exceeded` if the other trip has no room for them.
        """
        return self._transfer(move_expense, trip_id, expense_id)

    def _transfer(self, command: Any, trip_id: int, expense_id: int) -> Response:
        expense = self.get_permitted_object(
            Expense.objects.with_trip, trip_id=trip_id, pk=expense_id
        )
        other_id = self.body()["trip_id"]
        if other_id == trip_id:
            raise ValidationError({"tripId": [_("Must be another trip.")]})
        get_visible_or_404(Trip.objects.all, self.caller, pk=other_id)
        self.note_answer_in(trip_id, other_id)
        # Nobody can take the other trip from the caller before the answer is read.
        with transaction.atomic():
            made_id = command(expense, self.caller, other_id)
            made = get_visible_or_404(Expense.objects.with_details, self.caller, pk=made_id)
        return self.answer(made, location=f"/api/trips/{other_id}/expenses/{made_id}")
