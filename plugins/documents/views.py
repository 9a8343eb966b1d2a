"""Documents of a trip, and the files that members attach to them."""

from django.db.models import F
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.attachments.models import Attachment
from plugins.attachments.views import AttachmentViewSet
from plugins.documents.models import Document, DocumentFile
from plugins.documents.rights import CanDocument
from plugins.documents.serializers import (
    DocumentAttachmentRequest,
    DocumentAttachmentSerializer,
    DocumentRequest,
    DocumentSerializer,
)
from plugins.restorable_views import RestorableViewSet
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import DeletedQuery
from tripcompanion.database.snapshots import snapshot
from trips.models import get_visible_or_404
from trips.models.conflicts import NotRestorable
from trips.roles import Can


class DocumentViewSet(RestorableViewSet):
    """What everybody has to bring."""

    tag = "documents"
    scope_prefix = "documents"
    model = Document
    response_serializer = DocumentSerializer

    @operation("listDocuments", needs=Can.READ, query=DeletedQuery)
    def list(self, request: Request, trip_id: int) -> Response:
        """What a trip needs: by due date, then what has none."""
        trip = self.get_permitted_trip(trip_id)
        by_due_date = F("due_on").asc(nulls_last=True), "pk"
        return self.page_of_query(trip.documents.with_details().order_by(*by_due_date))

    @operation("createDocument", needs=CanDocument.CREATE, takes=DocumentRequest)
    def create(self, request: Request, trip_id: int) -> Response:
        """Ask for a document.

        With `wanted: "members"`, each present member is to attach one, guests too, and the number
        follows the members as they come and go. Three days before `dueOn`, those who have not are
        reminded by mail, if they want mails about `document.due`; if a number is not complete,
        whoever asked for it. A trip has at most 200 documents.
        """
        trip = self.get_permitted_trip(trip_id)
        document = Document.add(trip, self.caller, **self.body())
        return self.answer(document, location=f"/api/trips/{trip_id}/documents/{document.pk}")

    @operation("getDocument", needs=Can.READ)
    def retrieve(self, request: Request, trip_id: int, document_id: int) -> Response:
        """One document."""
        with snapshot():
            return self.answer(self.get_kept(trip_id, document_id).read_again())

    @operation("updateDocument", needs=CanDocument.CHANGE, takes=DocumentRequest)
    def partial_update(self, request: Request, trip_id: int, document_id: int) -> Response:
        """Change a document. Its files stay.

        `wanted` of an answer can be sent back: beside `perMember: true`, the number of members
        changes nothing.
        """
        document = self.get_kept(trip_id, document_id).read_again()
        body = self.body(partial=True, current=lambda: document)
        is_sent_back = document.per_member and self.sent_body().get("perMember") is True
        if is_sent_back and body.get("wanted") == document.wanted_now:
            del body["wanted"]
        return self.answer(document.change(self.caller, **body))

    @operation("deleteDocument", needs=CanDocument.CHANGE)
    def destroy(self, request: Request, trip_id: int, document_id: int) -> Response:
        """Delete a document. For 30 days, `restoreDocument` brings it back with its files."""
        return self.remove(trip_id, document_id)

    @operation("restoreDocument", needs=CanDocument.CHANGE, problems=[NotRestorable])
    def restore(self, request: Request, trip_id: int, document_id: int) -> Response:
        """Restore a deleted document, with its files."""
        return self.answer(self.restored(trip_id, document_id))


class DocumentAttachmentViewSet(AttachmentViewSet):
    """Files of a document."""

    tag = "documents"
    scope_prefix = "documents"
    response_serializer = DocumentAttachmentSerializer

    def new_draft(self) -> Attachment:
        rows = Document.objects.kept
        where = {"trip_id": self.kwargs["trip_id"], "pk": self.kwargs["document_id"]}
        document = get_visible_or_404(rows, self.caller, **where)
        draft = Attachment(
            trip_id=document.trip_id, parent_type=Document.kind, created_by=self.caller
        )
        # Refers to the draft, which knows it by `document_file`.
        DocumentFile(trip_id=document.trip_id, document=document, attachment=draft)
        draft.caller_role = document.caller_role
        return draft

    @operation(
        "createDocumentAttachment",
        needs=CanDocument.ATTACH,
        takes=DocumentAttachmentRequest,
        problems=[*AttachmentViewSet.problems["create"], PermissionDenied],
    )
    def create(self, request: Request, **parent: int) -> Response:
        """Attach a file to a document: one's own, or that of `userId`.

        Every member attaches their own. What OWNERs and EDITORs have of others, such as guests,
        they attach for them. A token also needs `expenses:read` to download files.
        """
        self.draft.document_file.person_id = self.body().get("user_id", self.caller.pk)
        return super().create(request, **parent)
