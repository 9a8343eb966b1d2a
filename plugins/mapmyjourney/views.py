"""The service's views, with the fields, names and paths of the client."""

from typing import Any, ClassVar

from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.invitations import views as invitations
from plugins.mapmyjourney.paying import pay_whatever_one_may
from plugins.mapmyjourney.renaming import Renamed
from plugins.mapmyjourney.serializers import (
    ExpenseSerializer,
    NamedTransfer,
    NewExpenseRequest,
    TripDetailSerializer,
    TripReference,
    TripRequest,
    TripSerializer,
)
from splits import views as splits
from splits.models import Expense
from splits.reports.balances import Plan, balances_of
from tripcompanion.api.operations import operation
from tripcompanion.api.pagination import NumberedPages
from tripcompanion.currency.amounts import to_major
from trips import views as trips
from trips.roles import Can


class TripViewSet(trips.TripViewSet):
    """Trips, whose title is also their `name`."""

    request_serializers: ClassVar = {**trips.TripViewSet.request_serializers, "update": TripRequest}
    response_serializer = TripDetailSerializer
    response_serializers: ClassVar = {"list": TripSerializer}

    def body(self, *, partial: bool = False, **context: Any) -> dict[str, Any]:
        """The validated body; a PUT with a `name` and no `title` changes only what it names."""
        sent = self.request.data
        is_part = self.action == "update" and "name" in sent and "title" not in sent
        return super().body(partial=partial or is_part, **context)


class CodeViewSet(invitations.CodeViewSet):
    """The code of a trip."""

    response_serializer = TripDetailSerializer


class TripsOfUserViewSet(TripViewSet):
    """The trips of the caller, by the id of the caller."""

    def list(self, request: Request, user_id: int) -> Response:  # type: ignore[override]
        """The trips of the caller. Raises `NotFound` for anybody else."""
        if user_id != self.caller.pk:
            raise NotFound
        return super().list(request)


class ContentPages(NumberedPages):
    """Pages that repeat their rows as `content`."""

    def get_paginated_response(self, data: Any) -> Response:
        response = super().get_paginated_response(data)
        response.data["content"] = response.data["items"]
        return response


class ExpenseViewSet(splits.ExpenseViewSet):
    """Expenses of a trip."""

    pagination_class = ContentPages
    response_serializer = ExpenseSerializer


class FlatExpenseViewSet(Renamed, ExpenseViewSet):
    """Expenses outside the path of their trip."""

    FIELDS = NewExpenseRequest.FIELDS

    @operation(needs=Can.RECORD, takes=NewExpenseRequest, status=201)
    def record(self, request: Request) -> Response:
        """Record an expense in the trip that the body names, and divide it equally."""
        reference = TripReference(data=request.data, context=self.names_context())
        reference.is_valid(raise_exception=True)
        return self.create(request, reference.validated_data["trip_id"])

    @operation(needs=Can.READ, has_etag=True)
    def read(self, request: Request, expense_id: int) -> Response:
        """An expense."""
        return self.retrieve(request, self._found(expense_id).trip_id, expense_id)

    @operation(needs=Can.CHANGE_EXPENSES, takes=NewExpenseRequest, has_etag=True)
    def replace(self, request: Request, expense_id: int) -> Response:
        """Change what the body names; other participants only if it is divided equally."""
        return self.update(request, self._found(expense_id).trip_id, expense_id, partial=True)

    @operation(needs=Can.CHANGE_EXPENSES, answers=None, has_etag=True)
    def remove(self, request: Request, expense_id: int) -> Response:
        """Delete an expense with its splits."""
        return self.destroy(request, self._found(expense_id).trip_id, expense_id)

    @operation(needs=Can.READ)
    def paid(self, request: Request, expense_id: int) -> Response:
        """Pay all splits of an expense that the caller may pay."""
        expense = self._found(expense_id)
        pay_whatever_one_may(expense, self.caller)
        return self.retrieve(request, expense.trip_id, expense_id)

    def _found(self, expense_id: int) -> Expense:
        return self.get_permitted_object(Expense.objects.all, pk=expense_id)


class SumsViewSet(splits.BalanceViewSet):
    """Who pays whom, and how everybody stands, by names."""

    @operation(needs=Can.READ, answers=NamedTransfer, many=True)
    def transfers(self, request: Request, trip_id: int) -> Response:
        """The fewest payments that bring every balance to zero."""
        trip = self.get_permitted_trip(trip_id)
        return self.answer(Plan(trip).transfers)

    @operation(needs=Can.READ)
    def summary(self, request: Request, trip_id: int) -> Response:
        """The balance of each person, by name; of two with one name, the second has its id."""
        found: dict[str, Any] = {}
        for row in self.get_permitted_list(balances_of(self.caller, trip=trip_id), trip_id):
            name = row.user.shown_name
            name = f"{name} ({row.user_id})" if name in found else name
            found[name] = to_major(row.balance_minor, row.trip.currency)
        return Response(found)


class ParticipantViewSet(trips.MemberViewSet):
    """Members of a trip, whom the client calls participants."""
