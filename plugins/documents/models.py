"""Documents that a trip needs, and the files that were attached to them."""

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Prefetch, Q
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import PermissionDenied

from plugins.attachments.models import Attachment, State, columns_of
from plugins.attachments.parents import PARENTS, Parent
from plugins.documents.rights import CanDocument
from plugins.due import Due
from plugins.restorable import Restorable, RestorableQuerySet, author_column
from splits.models.in_trip import InTrip
from trips.models import InTripQuerySet, Member, trip_key
from trips.models.journal import Entry, plain_values
from trips.roles import may
from trips.signals import happened
from users.models import User, summary_of

MAX_NAME_CHARS = 100
MAX_WANTED = 1000
#: How the API and the history call it that each member is to bring one.
MEMBERS = "members"
#: How long before the due date people are reminded, and at which time (UTC).
REMIND_BEFORE = datetime.timedelta(days=3)
REMIND_AT = datetime.time(8, tzinfo=datetime.UTC)


class DocumentQuerySet(RestorableQuerySet["Document"]):
    def with_details(self) -> Self:
        """With their files, and with the members of their trips."""
        files = DocumentFile.objects.select_related("person", "attachment__created_by")
        files = files.only("trip", "document", *summary_of("person"), *columns_of("attachment__"))
        files = files.order_by("attachment_id")
        rows = self.select_related("trip", "created_by")
        rows = rows.prefetch_related(Prefetch("files", files, "loaded_files"))
        members = Member.objects.with_details().order_by("pk")
        return rows.prefetch_related(Prefetch("trip__members", members, "loaded_members"))

    def due(self) -> Self:
        """Those of which people are to be reminded now, the longest overdue first."""
        rows = self.kept().filter(remind_at__lte=timezone.now())
        return rows.in_kept_trips().order_by("remind_at", "pk")


class Document(Due, Restorable):
    """Something that a trip needs, once or several times, or once from each member."""

    kind = "document"
    due_column = "remind_at"
    limit = 200
    added_by = CanDocument.CREATE
    changed_by = deleted_by = CanDocument.CHANGE

    trip = trip_key("documents")
    created_by = author_column(gettext_lazy("asked for by"))
    name = models.CharField(gettext_lazy("name"), max_length=MAX_NAME_CHARS)
    #: How many files; null for one of each member, guests included.
    wanted = models.PositiveSmallIntegerField(gettext_lazy("wanted"), null=True, default=1)
    due_on: "models.DateField[Any, Any]" = models.DateField(
        gettext_lazy("due on"), null=True, default=None
    )
    #: When people are to be reminded; null if they were, or if there is no reason to.
    remind_at = models.DateTimeField(gettext_lazy("reminder at"), null=True, editable=False)

    objects = DocumentQuerySet.as_manager()

    #: Set by `with_details`.
    loaded_files: "list[DocumentFile]"

    class Meta:
        verbose_name = gettext_lazy("document")
        verbose_name_plural = gettext_lazy("documents")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(wanted=None) | Q(wanted__range=(1, MAX_WANTED)),
                name="document_wanted_positive",
            )
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["remind_at"],
                condition=Q(remind_at__isnull=False, deleted_at=None),
                name="document_to_remind",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def in_calendar(self) -> Mapping[str, Any]:
        """Its entry in calendars; see `Plugin.calendar`. It must have a due date."""
        return {
            "uid": f"document-{self.pk}",
            "summary": self.name,
            "dtstart": self.due_on,
            "created": self.created_at,
            "dtstamp": self.updated_at,
        }

    # -- What a response contains; `with_details` has read it --------------------------------------

    @property
    def per_member(self) -> bool:
        return self.wanted is None

    @property
    def attachments(self) -> list[Attachment]:
        return [file.attachment for file in self.loaded_files]

    @cached_property
    def members(self) -> list[User]:
        """The present members, in the order in which they came."""
        loaded: Any = self.trip
        return [member.user for member in loaded.loaded_members]

    @cached_property
    def missing(self) -> list[User]:
        """The members without a file of theirs, if each is to bring one; otherwise nobody."""
        if not self.per_member:
            return []
        brought = {file.person_id for file in self._good_files}
        return [user for user in self.members if user.pk not in brought]

    @property
    def wanted_now(self) -> int:
        """How many are wanted: of each member, the number of present members."""
        return len(self.members) if self.wanted is None else self.wanted

    @property
    def attached(self) -> int:
        """How many files there are; of each member, how many members have brought one."""
        return len(self.members) - len(self.missing) if self.per_member else len(self._good_files)

    @property
    def count(self) -> str:
        return f"{self.attached}/{self.wanted_now}"

    @property
    def complete(self) -> bool:
        return self.attached >= self.wanted_now

    @property
    def _good_files(self) -> "list[DocumentFile]":
        return [file for file in self.loaded_files if file.attachment.state != State.REFUSED]

    # -- Commands ----------------------------------------------------------------------------------

    def assign(self, **fields: Any) -> None:
        """Set these fields. With another due date, people are reminded again."""
        due_on = self.due_on
        super().assign(**fields)
        if self.due_on != due_on:
            self.plan_reminder()

    @property
    def values_in_history(self) -> dict[str, Any]:
        return {**plain_values(self), "wanted": self.wanted or MEMBERS}

    def read_again(self) -> "Document":
        """The document with what a response contains; raises `Http404`.

        Not in the statement that checks who may see it, which reads no members beside the files.
        """
        return get_object_or_404(Document.objects.shown(), trip=self.trip_id, pk=self.pk)

    def do_what_is_due(self) -> bool:
        """Mail those who have not attached their file or, of a number, whoever asked for it."""
        shown = self.read_again()
        people = shown.missing
        if not (shown.per_member or shown.complete):
            people = [shown.created_by]
        if people and self.due_on >= timezone.now().date():
            who = {"people": Q(pk__in=[user.pk for user in people]), "by": User()}
            happened.send(Document, event="document.due", trip_id=self.trip_id, **who)
        self.remind_at = None
        self.save(update_fields=["remind_at"])
        return True

    def plan_reminder(self, *_of_a_file: Any) -> None:
        """Set `remind_at`; what is due already needs none."""
        self.remind_at = None
        if self.due_on is not None and self.due_on >= timezone.now().date():
            at = datetime.datetime.combine(self.due_on, REMIND_AT)
            self.remind_at = at - REMIND_BEFORE


class DocumentFile(InTrip):
    """Which document a file belongs to, and whose it is: the uploader's, or that of another.

    Without this app, files can be deleted; then the row remains and means nothing.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="files")
    attachment = models.OneToOneField(
        Attachment, on_delete=models.CASCADE, db_constraint=False, related_name="document_file"
    )
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    person_column = "person"

    objects = InTripQuerySet["DocumentFile"].as_manager()


@contextmanager
def attaching(attachment: Attachment, by: User) -> Iterator[None]:
    """Lock the document of a file without a row; at the end, say that it has the file.

    Raises `NotFound`, and `PermissionDenied` or `ValidationError` for the file of another.
    """
    file = attachment.document_file
    with file.document.locked(by, CanDocument.ATTACH) as document:
        if file.person_id != by.pk:
            if not may(document.caller_role, CanDocument.ATTACH_FOR, lambda: False):
                raise PermissionDenied
            document.trip.require_members({"userId": [file.person_id]})
        yield
        file.save(force_insert=True)


def _of_document(**where: Any) -> Q:
    """The condition on attachments that they belong to such a document."""
    rows = DocumentFile.objects.filter(trip=OuterRef("trip"), attachment=OuterRef("pk"), **where)
    return Q(Exists(rows))


PARENTS[Document.kind] = Parent(
    "documents",
    lambda: _of_document(document__deleted_at=None),
    attaching,
    lambda attachment, ids: Entry(
        "document.changed", attachment.document_file.document_id, {"attachments": ids}
    ),
    # Whose passport it is may delete it, whoever uploaded it.
    lambda attachment, user: attachment.document_file.person_id == user.pk,
)


def files_without_document() -> Any:
    """Files whose document is gone for good; for `Plugin.outdated`."""
    rows = Attachment.objects.filter(parent_type=Document.kind)
    return rows.filter(~_of_document()).order_by("pk")


def of_kept() -> Q:
    """Condition on `DocumentFile`: neither the document nor the file is deleted."""
    return Q(attachment__trip=F("trip"), document__deleted_at=None)


def files_of(account: User) -> Any:
    """The files of documents that are an account's, whoever attached them."""
    rows = Attachment.objects.select_related("document_file")
    return rows.filter(document_file__person=account, trip=F("document_file__trip"))
