"""Views of imports (plan, read, confirm, undo) and of exports."""

from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import IO, Any

from django.core.files import File
from django.db import connection
from django.http import FileResponse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.exchange.confirming import confirm, delete, undo
from plugins.exchange.models import (
    AlreadyImported,
    ChangedSince,
    Import,
    ImportedMeanwhile,
    NotImported,
)
from plugins.exchange.notes import FileUnreadable, UnknownFormat
from plugins.exchange.planning import Choices, plan_again, plan_import
from plugins.exchange.serializers import (
    ImportedRowSerializer,
    ImportForm,
    ImportOptions,
    ImportSerializer,
    ImportTexts,
    RowsQuery,
)
from plugins.exchange.sheet import csv_file, xlsx_file
from plugins.exchange.trip_file import TripFile, json_file
from plugins.forms import FileFormParser, SentFile
from splits.models.debt import TooManyDebts
from tripcompanion.api.idempotency import HEADER as KEY_HEADER
from tripcompanion.api.operations import operation
from tripcompanion.api.parsing import PayloadTooLarge, StrictJSONParser, require_json
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.api.throttling import UserThrottle
from trips.models import Member
from trips.models.conflicts import CurrencyChanged, InviteInstead, UserNotFound
from trips.models.events import trip_objects
from trips.roles import Can
from trips.throttles import LookupThrottle
from trips.viewsets import InTripViewSet
from users.models.token import require_scopes
from users.scopes import Scope
from users.throttles import ExportThrottle

#: The largest file, in bytes.
MAX_FILE_BYTES = 10 * 1024 * 1024
#: How long the transaction of a request with an `Idempotency-Key` may wait for its file to be read.
READING_SECONDS = 60
#: Why a plan is refused.
_PLANNING = [FileUnreadable, InviteInstead, LimitReached, NotFound, PermissionDenied]
_WRITERS = {"json": json_file, "csv": csv_file, "xlsx": xlsx_file}


class FileParser(StrictJSONParser):
    """A JSON file of any shape; the query has what the caller chooses."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        require_json(media_type or "")
        return {"file": SentFile(File(BytesIO(stream.read()), name=""))}


FILE_PARSERS = (FileParser, FileFormParser)


class ImportThrottle(UserThrottle):
    """Files that are planned, and plans that are confirmed, per user."""

    scope = "import"


class MappingThrottle(LookupThrottle):
    """Accounts that people of a file are mapped to, unless they share a trip with the caller."""

    def allow_request(self, request: Request, view: Any) -> bool:
        chosen = {*view.choices.get("mapping", {}).values()} - {None, view.caller.pk}
        shared = Member.objects.sharing_a_trip_with(view.caller).filter(user__in=chosen)
        strangers = chosen - {*shared.values_list("user", flat=True)} if chosen else chosen
        return all(super(MappingThrottle, self).allow_request(request, view) for _ in strangers)


class ImportViewSet(InTripViewSet):
    """The caller's imports of files of other systems, and of this one."""

    tag = "imports"
    scope_prefix = "expenses"
    # It may make a trip, and adds members.
    more_scopes = (Scope.TRIPS_READ, Scope.TRIPS_WRITE)
    response_serializer = ImportSerializer

    @cached_property
    def choices(self) -> dict[str, Any]:
        """What the caller chose, by the body of a change, a form, or the query."""
        body: Any = self.request.data
        params = self.request.query_params
        query = {name: params[name] for name in self.parameter_names() if name in params}
        if twice := query.keys() & body.keys():
            raise ValidationError({name: [_("Send this parameter once.")] for name in twice})
        sent = query | {**body}
        sent.pop("file", None)
        serializer: CamelCaseSerializer
        if self.action == "create":
            serializer = ImportTexts(data=sent, context=self.names_context())
        else:
            stored = partial(self._get, self.kwargs["import_id"])
            serializer = ImportOptions(data=sent, context=self.names_context(stored))
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def _get(self, import_id: int) -> Import:
        return get_object_or_404(Import.objects.of(self.caller), pk=import_id)

    def _about_trip(self, stored: Import, location: str = "") -> Response:
        if stored.trip_id is not None:
            self.note_answer_in(stored.trip_id)
        return self.answer(stored, location=location)

    @operation(
        "planImport",
        needs=None,
        takes=ImportForm,
        query=ImportTexts,
        takes_file=True,
        problems=[*_PLANNING, UnknownFormat],
        throttles=[ImportThrottle, MappingThrottle],
    )
    def create(self, request: Request) -> Response:
        """Plan the import of a file; nothing else is written.

        The format is recognised from the content; the problem `unknown_format` lists the known
        ones. Send a form with the file, or a JSON file itself as the body, with what you choose in
        the query. The plan says what would become of every row, who the people of the file are,
        and how the balances that the file claims compare with those of its rows. It has the first
        1,000 rows; `listImportedRows` has all. It can be changed and confirmed for a day; so long
        the file is kept with it.
        """
        body: Any = request.data
        sent: SentFile | None = body.get("file")
        if sent is None:
            raise ValidationError({"file": [_("This field is required.")]})
        if sent.size > MAX_FILE_BYTES:
            raise PayloadTooLarge(MAX_FILE_BYTES)
        choices = Choices(file_name=sent.name).changed(self.choices)
        _read_patiently(request)
        stored = plan_import(self.caller, sent.file, choices)
        return self._about_trip(stored, f"/api/imports/{stored.pk}")

    @operation("getImport", needs=None)
    def retrieve(self, request: Request, import_id: int) -> Response:
        """The plan of an import, or what has become of it."""
        return self.answer(self._get(import_id))

    @operation(
        "changeImport",
        needs=None,
        takes=ImportOptions,
        problems=[*_PLANNING, AlreadyImported],
        throttles=[ImportThrottle, MappingThrottle],
    )
    def partial_update(self, request: Request, import_id: int) -> Response:
        """Plan an import with other choices.

        Those that are not sent stay; people and rates are added to those of before.
        """
        return self._about_trip(plan_again(import_id, self.caller, self.choices))

    @operation(
        "listImportedRows", needs=None, query=RowsQuery, answers=ImportedRowSerializer, many=True
    )
    def rows(self, request: Request, import_id: int) -> Response:
        """The rows of the file, with what becomes of each."""
        rows = self._get(import_id).rows.order_by("position")
        chosen = self.query().get("outcome")
        return self.page(rows.filter(outcome=chosen) if chosen else rows)

    @operation(
        "confirmImport",
        needs=None,
        problems=[
            AlreadyImported,
            CurrencyChanged,
            FileUnreadable,
            ImportedMeanwhile,
            InviteInstead,
            LimitReached,
            PermissionDenied,
            TooManyDebts,
            UserNotFound,
        ],
        throttles=[ImportThrottle],
    )
    def confirm(self, request: Request, import_id: int) -> Response:
        """Record everything that the plan contains, or nothing.

        The caller becomes OWNER of a new trip. People without an account become guests; accounts
        become VIEWERs.
        """
        _read_patiently(request)
        return self._about_trip(confirm(import_id, self.caller))

    @operation("undoImport", needs=None, problems=[ChangedSince, NotImported, PermissionDenied])
    def undo(self, request: Request, import_id: int) -> Response:
        """Undo an import as a whole, while nothing has happened to what it made.

        In a trip that it made, nothing at all may have happened; the trip is deleted.
        """
        return self._about_trip(undo(import_id, self.caller))

    @operation("deleteImport", needs=None, uncounted=True, problems=[AlreadyImported])
    def destroy(self, request: Request, import_id: int) -> Response:
        """Delete a plan, or an import that was undone. What is done can only be undone."""
        delete(import_id, self.caller)
        return self.no_content()


def _read_patiently(request: Request) -> None:
    """Let the transaction of a request that can be repeated be idle while a file is read."""
    if connection.vendor == "postgresql" and KEY_HEADER in request.headers:
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{READING_SECONDS}s'")


class ExportViewSet(InTripViewSet):
    """A trip as a file."""

    tag = "trips"
    scope_prefix = "trips"
    more_scopes = (Scope.EXPENSES_READ,)

    @operation(
        "exportTrip",
        needs=Can.READ,
        answers=TripFile,
        problems=[LimitReached],
        throttles=[ExportThrottle],
        files={
            "csv": "text/csv",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        },
    )
    def export(self, request: Request, trip_id: int) -> FileResponse:
        """A trip as a file: JSON, or a table as CSV or XLSX.

        JSON has all that was entered and can be imported without loss;
        `docs/trip-export.schema.json` describes it. Votes in polls are missing while members do not
        see them. A scoped token needs the read scopes of all that JSON has. The table has a row for
        each expense and settlement, and two columns for each person: what they put in, and their
        part. `Accept` chooses, or `?format=` with `json`, `csv` or `xlsx`.
        """
        chosen = request.accepted_renderer.format
        write = _WRITERS.get(chosen, json_file)
        if write is json_file:
            require_scopes(self.caller, {f"{kind.area}:read" for kind in trip_objects().values()})
        trip = self.get_permitted_trip(trip_id)
        return self.file(write(trip), f"trip-{trip_id}-{timezone.now():%Y-%m-%d}")
