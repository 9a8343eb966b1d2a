"""Recurring expenses of a trip."""

from datetime import date
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.recurring.body import preview
from plugins.recurring.models import Recurrence, TooManyRecurrences
from plugins.recurring.serializers import (
    RecurrenceChange,
    RecurrencePreview,
    RecurrenceRequest,
    RecurrenceSerializer,
    SkipRequest,
)
from splits.models.rate import NoRate
from tripcompanion.api.operations import operation
from tripcompanion.database.snapshots import snapshot
from trips.models.conflicts import CurrencyChanged
from trips.roles import Can
from trips.viewsets import InTripViewSet


class RecurrenceViewSet(InTripViewSet):
    """Expenses that are recorded on each date of a rule; what is recorded is counted then."""

    tag = "expenses"
    scope_prefix = "expenses"
    is_counted = False
    response_serializer = RecurrenceSerializer

    @operation("listRecurrences", needs=Can.READ)
    def list(self, request: Request, trip_id: int) -> Response:
        """The recurring expenses of a trip, oldest first."""
        trip = self.get_permitted_trip(trip_id)
        return self.page(trip.recurrences.order_by("id"))

    @operation(
        "createRecurrence",
        needs=Can.RECORD,
        takes=RecurrenceRequest,
        problems=[NoRate, CurrencyChanged, TooManyRecurrences],
    )
    def create(self, request: Request, trip_id: int) -> Response:
        """Have an expense recorded on each date of a rule, by the caller.

        It is recorded when the date begins in `timeZone`, within seconds, and divided among those
        of its participants who are members then, if it is divided by `EQUAL` or `SHARES`; in
        another currency at the last rate before the date. If it cannot be recorded, for instance
        because who paid has left the trip, it is paused, with the `reason`. A trip has at most 100.
        """
        trip = self.get_permitted_trip(trip_id)
        started = Recurrence.start(trip, self.caller, **self._sent())
        return self.answer(started, location=f"/api/trips/{trip_id}/recurring/{started.pk}")

    @operation(
        "previewRecurrence",
        needs=Can.RECORD,
        takes=RecurrenceRequest,
        answers=RecurrencePreview,
        only_reads=True,
        problems=[NoRate],
    )
    def preview(self, request: Request, trip_id: int) -> Response:
        """The next ten dates of a rule, and how the expense would be divided.

        Takes the same body as `createRecurrence`.
        """
        with snapshot():
            trip = self.get_permitted_trip(trip_id)
            planned: Any = Recurrence.plan(trip, self.caller, **self._sent())
            first = date.fromisoformat(planned.next[0])
            planned.preview = preview(planned.expense, trip, self.caller, first)
            return self.answer(planned)

    @operation("getRecurrence", needs=Can.READ, single_statement=True)
    def retrieve(self, request: Request, trip_id: int, recurrence_id: int) -> Response:
        """A recurring expense, with its next ten dates."""
        return self.answer(self._found(trip_id, recurrence_id))

    @operation(
        "updateRecurrence", needs=Can.CHANGE_EXPENSES, takes=RecurrenceChange, problems=[NoRate]
    )
    def partial_update(self, request: Request, trip_id: int, recurrence_id: int) -> Response:
        """Change all expenses that follow. Those that were recorded are changed one by one.

        Another `rule` counts from the same `startsOn`, but its dates before today are left out. Of
        `expense`, the fields that are sent replace the stored ones.
        """
        found = self._found(trip_id, recurrence_id)
        sent = self._sent(partial=True, current=lambda: found, starts_on=found.starts_on)
        return self.answer(found.change(self.caller, **sent))

    @operation("deleteRecurrence", needs=Can.CHANGE_EXPENSES)
    def destroy(self, request: Request, trip_id: int, recurrence_id: int) -> Response:
        """Record no more. What was recorded stays."""
        self._found(trip_id, recurrence_id).remove(self.caller)
        return self.no_content()

    @operation("pauseRecurrence", needs=Can.CHANGE_EXPENSES)
    def pause(self, request: Request, trip_id: int, recurrence_id: int) -> Response:
        """Record nothing until it is resumed."""
        return self.answer(self._found(trip_id, recurrence_id).pause(self.caller))

    @operation("resumeRecurrence", needs=Can.CHANGE_EXPENSES)
    def resume(self, request: Request, trip_id: int, recurrence_id: int) -> Response:
        """Go on recording.

        After a pause, dates that have passed are left out; if the service had paused it, it goes on
        with the date that it could not record. If its creator may no longer record expenses in the
        trip, for instance after leaving, the caller records it from then on.
        """
        return self.answer(self._found(trip_id, recurrence_id).resume(self.caller))

    @operation("skipRecurrence", needs=Can.CHANGE_EXPENSES, takes=SkipRequest)
    def skip(self, request: Request, trip_id: int, recurrence_id: int) -> Response:
        """Leave out one of the next dates."""
        found = self._found(trip_id, recurrence_id)
        return self.answer(found.skip(self.caller, self.body()["date"]))

    def _found(self, trip_id: int, recurrence_id: int) -> Recurrence:
        return self.get_permitted_object(Recurrence.objects.all, trip_id=trip_id, pk=recurrence_id)

    def _sent(self, *, partial: bool = False, **context: Any) -> dict[str, Any]:
        return self.body(partial=partial, **context) | {"context": self.names_context()}
