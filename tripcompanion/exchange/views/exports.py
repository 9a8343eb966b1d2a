"""A trip as a file."""

from typing import ClassVar

from django.http import FileResponse
from django.utils import timezone
from rest_framework.request import Request

from tripcompanion.api.problems import LimitReached
from tripcompanion.exchange.sheet import csv_file, xlsx_file
from tripcompanion.exchange.trip_file import json_file
from tripcompanion.exchange.trip_schema import TripFile
from trips.models import Trip
from trips.roles import Can
from trips.viewsets import InTripViewSet
from users.scopes import Scope

_WRITERS = {"json": json_file, "csv": csv_file, "xlsx": xlsx_file}


class ExportViewSet(InTripViewSet):
    """A trip as a file."""

    tag = "trips"
    operation_ids: ClassVar = {"export": "exportTrip"}
    scope_prefix = "trips"
    more_scopes = (Scope.EXPENSES_READ,)
    needs: ClassVar = {"export": Can.READ}
    response_serializers: ClassVar = {"export": TripFile}
    files: ClassVar = {
        "export": {
            "csv": "text/csv",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
    problems: ClassVar = {"export": [LimitReached]}

    def export(self, request: Request, trip_id: int) -> FileResponse:
        """A trip as a file: JSON, or a table as CSV or XLSX.

        JSON has all that was entered and can be imported without loss;
        `docs/trip-export.schema.json` describes it. The table has a row for each expense and
        settlement, and two columns for each person: what they put in, and their part. `Accept`
        chooses, or `?format=` with `json`, `csv` or `xlsx`.
        """
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        chosen = request.accepted_renderer.format
        write = _WRITERS.get(chosen, json_file)
        return self.file(write(trip), f"trip-{trip_id}-{timezone.now():%Y-%m-%d}")
