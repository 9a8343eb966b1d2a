"""Views of imports: plan, read, confirm, undo."""

from typing import Any, ClassVar

from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.parsing import StrictJSONParser
from tripcompanion.api.problems import LimitReached
from tripcompanion.exchange.confirming import confirm, undo
from tripcompanion.exchange.description import UnreadableFile
from tripcompanion.exchange.models import AlreadyImported, Import, ImportTouched
from tripcompanion.exchange.notes import FileUnreadable
from tripcompanion.exchange.parsing import FileFormParser
from tripcompanion.exchange.planning import Choices, plan_import
from tripcompanion.exchange.recognition import describe
from tripcompanion.exchange.serializers import (
    ImportedRowSerializer,
    ImportForm,
    ImportRequest,
    ImportSerializer,
    RowsQuery,
)
from tripcompanion.exchange.source import SourceFile
from tripcompanion.exchange.throttles import ImportThrottle
from trips.models import Trip, get_visible_or_404
from trips.models.conflicts import CurrencyChanged
from trips.viewsets import InTripViewSet
from users.scopes import Scope


class ImportViewSet(InTripViewSet):
    """The caller's imports of files of other systems, and of this one."""

    tag = "imports"
    operation_ids: ClassVar = {
        "create": "planImport",
        "retrieve": "getImport",
        "rows": "listImportedRows",
        "confirm": "confirmImport",
        "destroy": "undoImport",
    }
    scope_prefix = "expenses"
    # It may make a trip, and adds members.
    more_scopes = (Scope.TRIPS_READ, Scope.TRIPS_WRITE)
    needs: ClassVar = dict.fromkeys(operation_ids)
    parser_classes = (StrictJSONParser, FileFormParser)
    request_serializers: ClassVar = {"create": ImportRequest}
    form_serializers: ClassVar = {"create": ImportForm}
    response_serializers: ClassVar = {
        "create": ImportSerializer,
        "retrieve": ImportSerializer,
        "confirm": ImportSerializer,
        "rows": ImportedRowSerializer,
    }
    query_serializers: ClassVar = {"rows": RowsQuery}
    lists: ClassVar = frozenset({"rows"})
    throttles: ClassVar = dict.fromkeys(("create", "confirm"), [ImportThrottle])
    problems: ClassVar = {
        "create": [FileUnreadable, LimitReached, NotFound, PermissionDenied],
        "confirm": [
            AlreadyImported,
            CurrencyChanged,
            FileUnreadable,
            LimitReached,
            PermissionDenied,
        ],
        "destroy": [ImportTouched, PermissionDenied],
    }

    def _get(self, import_id: int) -> Import:
        return get_object_or_404(Import.objects.of(self.caller), pk=import_id)

    def create(self, request: Request) -> Response:
        """Plan the import of a file; nothing else is written.

        The format is recognised from the content: Splitwise, Spliit, ihatemoney, Cospend,
        Abrechnung, SplitPro, Settle Up, Tricount, or the JSON of `exportTrip`. The plan says what
        would become of every row, who the people of the file are, and how the balances that the
        file claims compare with those of its rows. It can be confirmed for a day. The file is not
        stored, except the JSON of `exportTrip` for a new trip: that is kept with the plan, until
        the plan is confirmed or deleted.
        """
        given: dict[str, Any] = self.body()
        trip = None
        if (trip_id := given.pop("trip_id", None)) is not None:
            trip = get_visible_or_404(Trip.objects.all, self.caller, pk=trip_id)
        names = {name: given.pop(name) for name in ("file", "name", "zone")}
        chosen = {"currency": given.pop("currency", None), "group": given.pop("group", "")}
        try:
            file = SourceFile(names["file"], names["name"], zone=names["zone"], **chosen)
            described = describe(file)
            stored = plan_import(self.caller, described, Choices(trip=trip, **given))
        except UnreadableFile as error:
            raise FileUnreadable(error) from error
        if stored.trip_id is not None:
            self._note_answer_in(stored.trip_id)
        return self.answer(stored, location=f"/api/imports/{stored.pk}")

    def retrieve(self, request: Request, import_id: int) -> Response:
        """The plan of an import, without its rows."""
        return self.answer(self._get(import_id))

    def rows(self, request: Request, import_id: int) -> Response:
        """The rows of the file, with what becomes of each."""
        rows = self._get(import_id).rows.order_by("position")
        chosen = self.query().get("outcome")
        return self.page(rows.filter(outcome=chosen) if chosen else rows)

    def confirm(self, request: Request, import_id: int) -> Response:
        """Record everything that the plan contains, or nothing.

        The caller becomes OWNER of a new trip. People without an account become guests; accounts
        become VIEWERs.
        """
        return self.answer(confirm(import_id, self.caller))

    def destroy(self, request: Request, import_id: int) -> Response:
        """Delete a plan, or undo an import as a whole.

        An import can be undone while nothing has happened to what it made: in a trip that it made,
        nothing at all.
        """
        undo(import_id, self.caller)
        return self.no_content()
