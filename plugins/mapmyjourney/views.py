"""The service's views, with the fields, names and paths of the client."""

from typing import Any, ClassVar

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.mapmyjourney.serializers import (
    ExpenseSerializer,
    NewExpenseRequest,
    TripDetailSerializer,
    TripReference,
    TripRequest,
    TripSerializer,
)
from splits import views as splits
from splits.models import Expense
from tripcompanion.api.pagination import NumberedPages
from trips import views as trips
from trips.roles import Can


class TripViewSet(trips.TripViewSet):
    """Trips, whose title is also their `name`."""

    request_serializers: ClassVar = trips.TripViewSet.request_serializers | {"update": TripRequest}
    response_serializer = TripDetailSerializer
    response_serializers: ClassVar = {"list": TripSerializer}

    def body(self, *, partial: bool = False, **context: Any) -> dict[str, Any]:
        """The validated body; a PUT with a `name` and no `title` changes only what it names."""
        sent = self.request.data
        is_part = self.action == "update" and "name" in sent and "title" not in sent
        return super().body(partial=partial or is_part, **context)


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


class FlatExpenseViewSet(ExpenseViewSet):
    """Expenses outside the path of their trip."""

    needs: ClassVar = {"record": Can.RECORD, "remove": Can.CHANGE_EXPENSES}
    creates: ClassVar = frozenset({"record"})
    request_serializers: ClassVar = {"record": NewExpenseRequest}
    response_serializers: ClassVar = {"remove": None}

    def record(self, request: Request) -> Response:
        """Record an expense in the trip that the body names, and divide it equally."""
        reference = TripReference(data=request.data, context=self.names_context())
        reference.is_valid(raise_exception=True)
        return self.create(request, reference.validated_data["trip_id"])

    def remove(self, request: Request, expense_id: int) -> Response:
        """Delete an expense with its splits."""
        expense = self.get_permitted_object(Expense.objects.all, pk=expense_id)
        return self.destroy(request, expense.trip_id, expense_id)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ValidationError) and isinstance(exc.detail, dict):
            names = {field: name for name, field in NewExpenseRequest.FIELDS.items()}
            exc.detail = {names.get(field, field): texts for field, texts in exc.detail.items()}
        return super().handle_exception(exc)
