"""App configuration."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zipfile import ZipInfo

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import (
    AssistantTool,
    Notice,
    Outdated,
    PersonalList,
    Plugin,
    Searched,
    TripObject,
    TripTable,
    WriteFile,
)


class DocumentsConfig(Plugin):
    name = "plugins.documents"
    verbose_name = gettext_lazy("Documents")
    watchers = ("remind_documents",)
    requires = ("plugins.attachments",)
    scopes = {
        "documents:read": gettext_lazy("See the documents of your trips, and whose are missing"),
        "documents:write": gettext_lazy("Ask for documents, change, delete and attach them"),
    }
    events = {
        "document.created": gettext_lazy("%(by)s asked for a document."),
        "document.changed": gettext_lazy("%(by)s changed %(changes)s of a document."),
        "document.deleted": gettext_lazy("%(by)s deleted a document."),
        "document.restored": gettext_lazy("%(by)s restored a document."),
    }
    phrases = {"wanted": gettext_lazy("how many are wanted"), "dueOn": gettext_lazy("the due date")}
    notices = {
        "document.created": Notice(
            gettext_lazy("notice: document"), gettext_lazy("A document is needed for a trip:")
        ),
        "document.due": Notice(
            gettext_lazy("notice: document due"),
            gettext_lazy("A document that a trip needs of you is due soon:"),
            at_first=True,
        ),
    }
    tools = {
        "documents": AssistantTool(
            "The documents that a trip needs, and who has not attached theirs.",
            "GET /api/trips/{trip}/documents",
        ),
        "ask_for_document": AssistantTool(
            "Asks the members of a trip for a document, such as a copy of a passport.",
            "POST /api/trips/{trip}/documents",
        ),
    }

    def objects(self) -> Mapping[str, TripObject]:
        from plugins.documents.models import Document
        from plugins.documents.serializers import DocumentSerializer

        rows = Document.objects.shown
        searched = Searched(("name",), "name")
        return {"document": TripObject("documents", rows, DocumentSerializer, searched=searched)}

    def trip_tables(self) -> Iterable[TripTable]:
        from plugins.documents.models import Document, DocumentFile, of_kept
        from plugins.documents.serializers import FiledDocument

        plan: Any = Document.plan_reminder
        yield TripTable("documents", Document, ("remind_at",), request=FiledDocument, fit=plan)
        yield TripTable("documentFiles", DocumentFile, ("id",), only=of_kept, is_restored=False)

    def calendar(self, trips: list[Any], limit: int) -> Iterable[Mapping[str, Any]]:
        from plugins.documents.models import Document

        rows = Document.objects.kept().filter(trip__in=trips, due_on__isnull=False)
        return [row.in_calendar for row in rows.order_by("-due_on", "-id")[:limit]]

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.documents.models import Document, DocumentFile
        from plugins.documents.serializers import ExportedDocument, ExportedDocumentFile

        yield PersonalList(
            "documents",
            ExportedDocument,
            "The documents that they asked for.",
            lambda user: Document.objects.filter(created_by=user).order_by("id"),
        )
        files = DocumentFile.objects.select_related("document").order_by("id")
        yield PersonalList(
            "document_files",
            ExportedDocumentFile,
            "The files of documents that are theirs, whoever attached them.",
            lambda user: files.filter(person=user),
        )

    def personal_files(self, user: Any) -> Iterator[tuple[str | ZipInfo, WriteFile]]:
        """Those that others attached; one's own are in the archive as attachments."""
        from plugins.documents.models import files_of

        yield from files_of(user).exclude(created_by=user).contents()

    def forget(self, account: Any, by: Any) -> None:
        """Delete their files: nobody needs the passport of somebody who is gone."""
        from plugins.documents.models import files_of

        files_of(account).forget(by)

    def traces(self, account: Any) -> Iterable[QuerySet[Any]]:
        from plugins.documents.models import DocumentFile

        return [DocumentFile.objects.filter(person=account)]

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.documents.models import Document, files_without_document

        yield "deleted documents", [Document.objects.outdated(now)]
        yield "files of deleted documents", [files_without_document()]

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        """What everybody has to bring to Lisbon."""
        from plugins.attachments.demo import page_of
        from plugins.documents.models import Document, DocumentFile

        at = {"created_at": trip.created_at, "updated_at": trip.created_at}
        due_on = trip.start_date - timedelta(days=14)
        olga = people["olga"]
        passports = Document.add(
            trip, olga, name="Copy of the passport", wanted=None, due_on=due_on, **at
        )
        Document.add(trip, olga, name="Rental agreement of the flat", **at)
        about = {"parent_type": Document.kind, "created_at": trip.created_at}
        for by in (olga, people["ed"]):
            page = page_of(trip, by, "Passport", f"Passport of\n{by.name}", **about)
            DocumentFile(trip=trip, document=passports, person=by, attachment=page)
            page.add()
