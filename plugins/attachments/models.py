"""Attachments: files that belong to an expense, to an object of another app or to a trip."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar
from zipfile import ZipInfo

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException

from plugins.attachments.parents import PARENTS
from plugins.attachments.recognition import Kind, extension_of
from plugins.attachments.rights import CanAttach
from plugins.attachments.storage import copy, discard
from plugins.moving import QuotaExceeded, expense_moved
from plugins.restorable import author_column
from splits.models import DeletedEntry, Expense
from tripcompanion.api.problems import Conflict
from tripcompanion.plugin import WriteFile
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip, trip_key
from trips.models.events import Event
from trips.models.journal import Entry, write
from trips.roles import Capability
from users.models import User, summary_of

MEBIBYTE = 1024 * 1024
MAX_FILE_BYTES = 10 * MEBIBYTE
MAX_NAME_CHARS = 100
#: How long a worker has for a picture before another one may take it.
LEASE = timedelta(minutes=1)
#: How often cleaning a picture may crash before it is refused.
MAX_ATTEMPTS = 3
#: How many pictures a worker tries to claim before it asks the database again.
_CANDIDATES = 20


class UnsupportedType(APIException):
    """415 `unsupported_type`: the file is of no type that is accepted, whatever its name says."""

    status_code = 415
    default_code = "unsupported_type"
    default_detail = gettext_lazy(
        "Send a form (multipart/form-data) with a picture (JPEG, PNG, WebP, HEIC), PDF, text, CSV, "
        "Office (DOCX, XLSX, PPTX, ODT, ODS, ODP), GPX, iCalendar or e-mail file in `file`."
    )


class OldOffice(UnsupportedType):
    """415 `unsupported_type`: the file is of Office until 2003, which hides macros anywhere."""

    default_detail = gettext_lazy(
        "A file of Office until 2003 is not accepted. Please save it as DOCX, XLSX or PPTX."
    )


class StillProcessing(Conflict):
    """409 `still_processing`: the file has not been cleaned or checked yet."""

    default_code = "still_processing"
    default_detail = gettext_lazy("The file is still being processed.")
    wait = 2


class AttachmentRefused(Conflict):
    """409 `attachment_refused`: the file was not what it seemed to be, and was deleted."""

    default_code = "attachment_refused"
    default_detail = gettext_lazy("The file was refused: %(reason)s.")
    example_values: ClassVar = {"reason": "it cannot be read"}


class State(models.TextChoices):
    """Whether the file can be downloaded."""

    PROCESSING = "processing", gettext_lazy("processing")
    READY = "ready", gettext_lazy("ready")
    REFUSED = "refused", gettext_lazy("refused")


class Refusal(models.TextChoices):
    """Why a file was refused."""

    NONE = "", gettext_lazy("none")
    UNREADABLE = "unreadable", gettext_lazy("it cannot be read")
    TOO_MANY_PIXELS = "too_many_pixels", gettext_lazy("it has too many pixels")
    MACROS = "macros", gettext_lazy("it has macros")
    TOO_LARGE = "too_large", gettext_lazy("it is too large once it is unpacked")


def _same_expense(rows: Any, column: str) -> Any:
    return rows.filter(**{column: OuterRef("expense_id"), "trip": OuterRef("trip_id")})


def shown() -> Q:
    """The condition for those that are not of something that is deleted.

    Without the app of their object, nobody sees files.
    """
    condition = Q(expense=None, parent_type=None)
    condition |= Q(Exists(_same_expense(Expense.objects.all(), "pk")))
    for name, parent in PARENTS.items():
        condition |= Q(parent_type=name) & parent.shown()
    return condition


def columns_of(path: str) -> tuple[str, ...]:
    """What responses contain of a file, for `only`; `path` leads to it, such as `attachment__`."""
    columns = (
        "trip expense parent_type created_at name type size_bytes state refusal file thumbnail"
    )
    return *(f"{path}{name}" for name in columns.split()), *summary_of(f"{path}created_by")


class AttachmentQuerySet(InTripQuerySet["Attachment"]):
    def shown(self) -> "AttachmentQuerySet":
        """Those that are not of something that is deleted, with what a response contains."""
        rows = self.filter(shown()).select_related("created_by")
        return rows.only(*columns_of(""))

    def contents(self) -> "Iterator[tuple[ZipInfo, WriteFile]]":
        """The files for the archive of an account; see `Plugin.personal_files`."""
        ready = self.filter(state=State.READY).order_by("id")
        # One by one, because PostgreSQL ends a transaction in which nothing happens for a while.
        for row in ready.iterator(1):
            # They are compressed already.
            name = ZipInfo(f"attachments/{row.pk}.{extension_of(row.type)}")
            yield name, partial(copy, row.file)

    def forget(self, by: User) -> None:
        """Delete these rows and their files; their trips are locked."""
        rows, entries = list(self.order_by("pk")), defaultdict[int, list[Entry]](list)
        for row in rows:
            entries[row.trip_id].append(row._entry((row.pk, None)))
            transaction.on_commit(partial(discard, row.file, row.thumbnail))
        Attachment.objects.filter(pk__in=[row.pk for row in rows]).delete()
        for trip_id, of_trip in entries.items():
            write(trip_id, by, *of_trip, is_limited=False)

    def outdated(self) -> "AttachmentQuerySet":
        """Those of expenses that were deleted and cannot be restored any more."""
        kept = _same_expense(Expense.objects.all(), "pk")
        restorable = _same_expense(DeletedEntry.objects.expenses(), "object_id")
        rows = self.filter(expense__isnull=False)
        return rows.filter(~Exists(kept), ~Exists(restorable)).order_by("pk")

    def unclaimed(self) -> "AttachmentQuerySet":
        """Files that wait for a worker, or whose worker has let its lease end.

        Not those of types that only a newer release knows.
        """
        is_free = Q(claimed_until=None) | Q(claimed_until__lte=timezone.now())
        return self.filter(is_free, state=State.PROCESSING, type__in=Kind.values)

    def require_room(self, *sizes: int, count: int, megabytes: int) -> None:
        """Raise `QuotaExceeded` if, with files of these sizes in bytes, there are too many."""
        used = self.aggregate(count=Count("pk"), size=Sum("size_bytes", default=0))
        if used["count"] + len(sizes) > count or used["size"] + sum(sizes) > megabytes * MEBIBYTE:
            raise QuotaExceeded(count=count, size=megabytes)


class Attachment(models.Model):
    """A file that somebody attached to an expense, an object of another app, or else the trip.

    It outlives these for as long as they can be restored, and nobody sees it meanwhile.
    A picture is not served before a worker has cleaned it, and another file but a PDF not before
    one has checked it.
    """

    trip = trip_key("attachments")
    #: Deleted expenses have no row.
    expense = models.ForeignKey(
        Expense,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="attachments",
        verbose_name=gettext_lazy("expense"),
    )
    #: The type of the object of another app that it belongs to; see `PARENTS`.
    parent_type = models.CharField(  # noqa: DJ001 -- "" is no type
        gettext_lazy("object"), max_length=24, null=True, editable=False
    )
    created_by = author_column(gettext_lazy("uploaded by"))
    #: The name that the file had; nothing is stored under it.
    name = models.CharField(gettext_lazy("name"), max_length=MAX_NAME_CHARS)
    type = models.CharField(gettext_lazy("type"), max_length=100, choices=Kind)
    size_bytes = models.PositiveIntegerField(gettext_lazy("bytes"))
    state = models.CharField(gettext_lazy("state"), max_length=10, choices=State)
    refusal = models.CharField(
        gettext_lazy("reason"), max_length=20, choices=Refusal, default=Refusal.NONE, blank=True
    )
    #: The names of the stored files: what was uploaded or, once it is ready, the cleaned picture.
    file = models.CharField(max_length=40, blank=True)
    thumbnail = models.CharField(max_length=40, blank=True, default="")
    #: How often workers took it, and until when the last one has it.
    attempts = models.PositiveSmallIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)

    objects = AttachmentQuerySet.as_manager()

    caller_role: str

    class Meta:
        verbose_name = gettext_lazy("attachment")
        verbose_name_plural = gettext_lazy("attachments")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state=State.REFUSED, file="") | (~Q(state=State.REFUSED) & ~Q(file="")),
                name="attachment_has_file",
            ),
            models.CheckConstraint(
                condition=Q(expense=None) | Q(parent_type=None), name="attachment_of_one_object"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["created_by", "id"],
                condition=Q(state=State.PROCESSING),
                name="attachment_by_uploader",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether it is a file of `user` or, to attach it, whether the expense is theirs."""
        if can is CanAttach.ATTACH:
            return self.expense is not None and self.expense.is_own(user, can)
        if user.pk == self.created_by_id:
            return True
        return self.parent_type is not None and PARENTS[self.parent_type].is_of(self, user)

    @property
    def path(self) -> str:
        """The path in the API."""
        return f"/api/attachments/{self.pk}"

    @property
    def url(self) -> str:
        return f"{self.path}/content"

    @property
    def thumbnail_url(self) -> str | None:
        return f"{self.path}/thumbnail" if self.thumbnail else None

    def add(self) -> None:
        """Store the row of a file that is stored. Raises `QuotaExceeded`.

        It locks the account first, so that its quota holds in all trips together.
        """
        by, size = self.created_by, self.size_bytes
        with by.locked(by=by), self._locked_parent(by):
            _require_room_in(self.trip_id, size)
            Attachment.objects.filter(created_by=by).require_room(
                size,
                count=settings.QUOTA_ACCOUNT_ATTACHMENTS,
                megabytes=settings.QUOTA_ACCOUNT_ATTACHMENT_MB,
            )
            self.state = State.READY if self.type == Kind.PDF else State.PROCESSING
            self.save()
            write(self.trip_id, by, self._entry((None, self.pk)))

    def remove(self, by: User) -> None:
        """Delete the row, and then its files."""
        rows = Attachment.objects.shown
        with locked_row(rows, by, CanAttach.DELETE, trip_id=self.trip_id, pk=self.pk) as stored:
            entry = stored._entry((stored.pk, None))
            stored.delete()
            write(self.trip_id, by, entry)
            transaction.on_commit(partial(discard, stored.file, stored.thumbnail))

    def _locked_parent(self, by: User) -> AbstractContextManager[Any]:
        if self.parent_type:
            return PARENTS[self.parent_type].attaching(self, by)
        if self.expense_id is None:
            return locked_trip(self.trip_id, by, CanAttach.ATTACH)
        rows = Expense.objects.with_trip
        return locked_row(rows, by, CanAttach.ATTACH, trip_id=self.trip_id, pk=self.expense_id)

    def _entry(self, ids: tuple[int | None, int | None]) -> Entry:
        """What the journal says: what it belongs to got an attachment, or lost one."""
        if self.parent_type:
            return PARENTS[self.parent_type].changed(self, ids)
        changes = {"attachments": ids}
        if self.expense_id is None:
            return Entry(Event.TRIP_CHANGED, self.trip_id, changes)
        return Entry(Event.EXPENSE_CHANGED, self.expense_id, changes, self.expense_id)

    @classmethod
    def claim(cls, after: int = 0) -> "Attachment | None":
        """Claim a picture for a worker; None if none waits.

        Accounts take turns: the oldest one of the next account after this id comes first. So many
        pictures of one account delay those of others by one each.
        """
        waiting = cls.objects.unclaimed().order_by("created_by", "pk")
        for turns in (waiting.filter(created_by__gt=after), waiting.filter(created_by__lte=after)):
            for row in turns[:_CANDIDATES]:
                # Only columns of the row, because PostgreSQL compares them again after waiting.
                free = cls.objects.unclaimed().filter(trip=row.trip_id, pk=row.pk)
                until = timezone.now() + LEASE
                if free.update(claimed_until=until, attempts=F("attempts") + 1):
                    row.attempts += 1
                    return row
        return None

    def _mine(self) -> AttachmentQuerySet:
        """This row, unless it was deleted or another worker has taken it."""
        rows = Attachment.objects.filter(trip=self.trip_id, pk=self.pk)
        return rows.filter(state=State.PROCESSING, attempts=self.attempts)

    def finish(self, **fields: Any) -> None:
        """Store what became of the picture, and delete what was uploaded."""
        new = fields.get("file", ""), fields.get("thumbnail", "")
        done = self._mine().update(**fields)
        discard(*([self.file] if done else new))

    def accept(self) -> None:
        """Serve the file as it was uploaded."""
        self._mine().update(state=State.READY)

    def refuse(self, why: Refusal) -> None:
        self.finish(state=State.REFUSED, refusal=why, file="", size_bytes=0)

    def release(self) -> None:
        """Let any worker try again, because the program that cleans it was killed."""
        self._mine().update(claimed_until=None)

    def postpone(self) -> None:
        """Leave it to the next worker after the lease, because the storage is away."""
        self._mine().update(attempts=F("attempts") - 1)


def _require_room_in(trip_id: int, *sizes: int) -> None:
    Attachment.objects.filter(trip=trip_id).require_room(
        *sizes, count=settings.QUOTA_ATTACHMENTS, megabytes=settings.QUOTA_ATTACHMENT_MB
    )


@receiver(expense_moved)
def move_attachments(
    expense: Expense, trip: Trip, moved_id: int, by: User, **_about: object
) -> None:
    """Give the rows to the expense in the other trip. Raises `QuotaExceeded`."""
    of_expense = Attachment.objects.filter(trip=expense.trip_id, expense=expense.pk)
    rows = list(of_expense.select_for_update().order_by("pk"))
    if not rows:
        return
    _require_room_in(trip.pk, *(row.size_bytes for row in rows))
    # Citus cannot update the trip of a row.
    of_expense.delete()
    for row in rows:
        row.trip, row.expense_id, row.claimed_until = trip, moved_id, None
    Attachment.objects.bulk_create(rows)
    write(trip.pk, by, *(row._entry((None, row.pk)) for row in rows))


def named_files(names: Iterable[str]) -> set[str]:
    """Which of these files are in a row."""
    given = list(names)
    rows = Attachment.objects.filter(Q(file__in=given) | Q(thumbnail__in=given))
    return {name for pair in rows.values_list("file", "thumbnail") for name in pair}
