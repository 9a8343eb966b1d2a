"""Views of attachments."""

from pathlib import PurePath
from typing import Any, ClassVar

from django.http import HttpResponseBase, HttpResponseRedirect
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.attachments.models import (
    MAX_NAME_CHARS,
    Attachment,
    AttachmentRefused,
    OldOffice,
    State,
    StillProcessing,
    UnsupportedType,
)
from plugins.attachments.parents import PARENTS
from plugins.attachments.recognition import (
    START_BYTES,
    Kind,
    extension_of,
    is_old_office,
    kind_of_file,
)
from plugins.attachments.rights import CanAttach
from plugins.attachments.serializers import AttachmentRequest, AttachmentSerializer
from plugins.attachments.storage import StorageUnavailable, discard, keep, link_to, opened
from plugins.forms import FileFormParser, SentFile
from plugins.moving import QuotaExceeded
from splits.models import Expense
from tripcompanion.api.idempotency import REPLAYED
from tripcompanion.api.operations import operation
from tripcompanion.api.parsing import PayloadTooLarge
from tripcompanion.api.rendering import FileRenderer
from tripcompanion.api.throttling import UserThrottle
from trips.models import Trip, get_visible_or_404
from trips.roles import Can
from trips.viewsets import InTripViewSet
from users.models.token import require_scopes

#: Forbids everything, in case a browser displays a file instead of saving it.
_SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"


class UploadThrottle(UserThrottle):
    """Uploaded files, per user."""

    scope = "upload"


class AttachmentViewSet(InTripViewSet):
    """Receipts and documents of an expense."""

    tag = "attachments"
    scope_prefix = "expenses"
    response_serializer = AttachmentSerializer

    #: A file that is stored and has no row yet, an `Attachment`; `create` always has it.
    draft: Any = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.action == "create":
            # Not in `create`, which an `Idempotency-Key` runs in a transaction.
            self._store(request)

    def _store(self, request: Request) -> None:
        """Store the file if the caller may attach one here; its row follows."""
        draft = self.new_draft()
        self.check_object_permissions(request, draft)
        if not (request.content_type or "").startswith(FileFormParser.media_type):
            raise UnsupportedType
        store_file(draft, self.body()["file"])
        self.draft = draft

    def new_draft(self) -> Attachment:
        """An attachment of the trip or expense in the path; raises `NotFound`."""
        kept: Any = {"created_by": self.caller}
        if "trip_id" in self.kwargs:
            parent: Any = get_visible_or_404(
                Trip.objects.all, self.caller, pk=self.kwargs["trip_id"]
            )
            draft = Attachment(trip=parent, **kept)
        else:
            rows = Expense.objects.with_trip
            parent = get_visible_or_404(rows, self.caller, pk=self.kwargs["expense_id"])
            draft = Attachment(trip=parent.trip, expense=parent, **kept)
        draft.caller_role = parent.caller_role
        return draft

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        # After a 5xx, the row may be stored; `sweep` knows later.
        is_refused = 400 <= response.status_code < 500
        if self.draft is not None and (is_refused or REPLAYED in response):
            discard(self.draft.file)
        return super().finalize_response(request, response, *args, **kwargs)

    @operation("listExpenseAttachments", needs=Can.READ)
    def list(self, request: Request, **parent: int) -> Response:
        """The files of an expense or of a trip, oldest first.

        Those of a trip are the ones that belong to nothing in it.
        """
        rows: Any = Trip.objects.all if "trip_id" in parent else Expense.objects.all
        found = self.get_permitted_object(rows, pk=next(iter(parent.values())))
        of_trip = {"expense": None, "parent_type": None, "trip": found}
        where = of_trip if "trip_id" in parent else {"expense": found}
        return self.page(Attachment.objects.shown().filter(**where).order_by("id"))

    @operation(
        "createExpenseAttachment",
        needs=CanAttach.ATTACH,
        takes=AttachmentRequest,
        problems=[UnsupportedType, PayloadTooLarge, QuotaExceeded, StorageUnavailable],
        throttles=[UploadThrottle],
    )
    def create(self, request: Request, **parent: int) -> Response:
        """Attach a file, recognised by its content.

        It is a JPEG, PNG, WebP, HEIC, PDF, text, CSV, DOCX, XLSX, PPTX, ODT, ODS, ODP, GPX,
        iCalendar or e-mail. All but PDF are `processing` until they were checked: an Office file
        with macros is refused, and so is what is something else further on. A picture is turned
        upright, its metadata, such as where it was taken, is removed, and it keeps at most 12
        million pixels. A VIEWER may attach files to an expense that they recorded or paid. A
        deleted expense keeps its files for as long as it can be restored.
        """
        self.draft.add()
        self.note_answer_in(self.draft.trip_id)
        return self.answer(self.draft, location=self.draft.path)

    def _get(self, attachment_id: int) -> Attachment:
        """The file; raises `InsufficientScope` if a token may not see what it belongs to."""
        row = self.get_permitted_object(Attachment.objects.shown, pk=attachment_id)
        if row.parent_type:
            right = "write" if self.action == "destroy" else "read"
            require_scopes(self.caller, [f"{PARENTS[row.parent_type].area}:{right}"])
        return row

    @operation("getAttachment", needs=Can.READ, single_statement=True)
    def retrieve(self, request: Request, attachment_id: int) -> Response:
        """An attachment, without its content."""
        return self.answer(self._get(attachment_id))

    @operation("deleteAttachment", needs=CanAttach.DELETE)
    def destroy(self, request: Request, attachment_id: int) -> Response:
        """Delete an attachment. It cannot be restored.

        Whose file of a document it is may delete it, too.
        """
        self._get(attachment_id).remove(by=self.caller)
        return self.no_content()

    @operation(
        "getAttachmentContent",
        needs=Can.READ,
        answers=None,
        single_statement=True,
        problems=[StillProcessing, AttachmentRefused, StorageUnavailable],
        files={extension_of(kind): kind.value for kind in Kind},
    )
    def content(self, request: Request, attachment_id: int) -> HttpResponseBase:
        """The file, as a download.

        A service that keeps files in a bucket answers with a redirect to a link that is valid for a
        minute. Whatever `Accept` says, the type is that of the file.
        """
        row = self._get(attachment_id)
        if row.state == State.PROCESSING:
            raise StillProcessing
        if row.state == State.REFUSED:
            raise AttachmentRefused(reason=row.get_refusal_display())
        return self._download(row, row.file, row.type)

    @operation(
        "getAttachmentThumbnail",
        needs=Can.READ,
        answers=None,
        single_statement=True,
        problems=[StorageUnavailable],
        files={"jpg": Kind.JPEG.value},
    )
    def thumbnail(self, request: Request, attachment_id: int) -> HttpResponseBase:
        """A small JPEG of a picture; 404 if there is none."""
        row = self._get(attachment_id)
        if not row.thumbnail:
            raise NotFound
        return self._download(row, row.thumbnail, Kind.JPEG.value)

    def _download(self, row: Attachment, name: str, media_type: str) -> HttpResponseBase:
        stem, extension = PurePath(row.name).stem, extension_of(media_type)
        if link := link_to(name, f"{stem}.{extension}", media_type):
            return HttpResponseRedirect(link)
        try:
            file = opened(name)
        except StorageUnavailable:
            # Raises `NotFound` if it was deleted since the row was read.
            self._get(row.pk)
            raise
        response = self.file(file, stem, FileRenderer(extension, media_type))
        response["Content-Security-Policy"] = _SANDBOX
        return response


class TripAttachmentViewSet(AttachmentViewSet):
    """Documents of a trip that belong to no expense."""

    operation_ids: ClassVar = {"list": "listTripAttachments", "create": "createTripAttachment"}
    needs: ClassVar = {"list": Can.READ, "create": CanAttach.ATTACH}


def store_file(draft: Attachment, sent: SentFile) -> None:
    """Store the file of an attachment without a row; raises `UnsupportedType`."""
    kind = kind_of_file(sent.file)
    if kind is None:
        raise OldOffice if is_old_office(sent.start(START_BYTES)) else UnsupportedType
    draft.type, draft.size_bytes, draft.name = kind, sent.size, _shown_name(sent.name, kind)
    draft.file = keep(sent.file)


def _shown_name(name: str, kind: Kind) -> str:
    """The name of a file without letters that do not print, such as reversals."""
    printed = "".join(letter for letter in name if letter.isprintable()).strip()
    return printed[-MAX_NAME_CHARS:] or f"file.{extension_of(kind)}"
