"""The view of many expenses."""

from collections import defaultdict
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.bulk.serializers import BulkRequest, BulkSerializer
from splits.models import Expense
from splits.models.conflicts import ClosesTrip, DividedByHand
from splits.models.debt import TooManyDebts
from splits.models.rate import NoRate
from splits.views import ExpenseViewSet
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import IdField
from trips.models import Trip, get_visible_or_404, locked_trip
from trips.models.client_ids import ClientIdTaken
from trips.models.conflicts import CurrencyChanged
from trips.roles import Can


class BulkViewSet(ExpenseViewSet):
    """Creates, changes and deletes expenses as the view of one does."""

    @operation(
        "changeManyExpenses",
        needs=Can.RECORD,
        takes=BulkRequest,
        answers=BulkSerializer,
        problems=[NoRate, DividedByHand, CurrencyChanged, ClosesTrip, TooManyDebts, ClientIdTaken],
    )
    def bulk(self, request: Request, trip_id: int) -> Response:
        """Create, change and delete up to 100 expenses: all of it, or nothing.

        Errors name the row, such as `create.3.amount`. Each row needs the right to do it by itself.
        """
        trip = self.get_permitted_trip(trip_id)
        rows, errors = self.body(), defaultdict[str, Any](dict)
        commands: Mapping[str, Any] = {
            "create": self._create,
            "change": self._change,
            "delete": self._delete,
        }
        made = {kind: list[Any]() for kind in commands}
        with locked_trip(trip_id, self.caller, Can.RECORD) as locked:
            locked.require_expense_quota(len(rows["create"]))
            for kind, command in commands.items():
                for place, row in enumerate(rows[kind]):
                    try:
                        # A command that refuses undoes what it wrote.
                        made[kind].append(command(trip, row))
                    except ValidationError as error:
                        errors[kind][place] = error.detail
                    except APIException as error:
                        refused: Any = error
                        refused.errors = {f"{kind}.{place}": [str(error.detail)]}
                        raise
            if errors:
                raise ValidationError(errors)
        return self.answer(SimpleNamespace(**made))

    def sent_body(self) -> Any:
        """The body as it is counted: a deletion costs as much as any other row, but is a number."""
        body: Any = self.request.data
        gone = body.get("delete")
        if not isinstance(gone, list):
            return body
        return {**body, "delete": [{"id": expense_id} for expense_id in gone]}

    def _change(self, trip: Trip, row: dict[str, Any]) -> Expense:
        field = IdField()
        try:
            if "id" not in row:
                field.fail("required")
            expense_id = field.run_validation(row.pop("id"))
            expense = self._named(trip, expense_id)
        except ValidationError as error:
            raise ValidationError({"id": error.detail}) from error
        changes = self._changes(partial=True, trip=trip, expense=expense, sent=row)
        return expense.change(self.caller, **changes)

    def _delete(self, trip: Trip, expense_id: int) -> int:
        self._named(trip, expense_id).remove(self.caller)
        return expense_id

    def _named(self, trip: Trip, expense_id: int) -> Expense:
        """An expense that a body names; raises `ValidationError` if there is none."""
        rows = Expense.objects.with_trip
        try:
            return get_visible_or_404(rows, self.caller, trip_id=trip.pk, pk=expense_id)
        except NotFound as error:
            raise ValidationError([_("There is no such expense in the trip.")]) from error
