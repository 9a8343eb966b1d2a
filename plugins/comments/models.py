"""Comments: what members write to each other about an expense."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy

from plugins.comments.rights import CanComment
from plugins.moving import expense_moved
from plugins.restorable import author_column, time_column
from splits.models.deleted import DeletedEntry
from splits.models.expense import Expense
from splits.models.in_trip import InTrip
from splits.models.posting import people_in
from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import insert
from trips.models import InTripQuerySet, Trip, locked_row
from trips.models.client_ids import ClientId, ClientNamed
from trips.models.journal import Entry, JournalEntry, JournalQuerySet, entries_between, write
from trips.roles import Capability
from trips.signals import author_replaced
from users.models import User, summary_of

MAX_COMMENTS = 500
MAX_COMMENT_CHARS = 2000
CREATED, CHANGED, DELETED = "comment.created", "comment.changed", "comment.deleted"


def shown() -> Q:
    """The condition for those whose expense is there; one may have been deleted without them."""
    return Q(Exists(Expense.objects.filter(pk=OuterRef("expense"), trip=OuterRef("trip"))))


class CommentQuerySet(InTripQuerySet["Comment"]):
    def with_expense(self) -> "CommentQuerySet":
        rows = self.select_related("expense", "created_by")
        return rows.filter(expense__trip=F("trip"))

    def with_details(self) -> "CommentQuerySet":
        """With the columns that a response contains."""
        columns = ("expense", "client_id", "text", "created_at", "updated_at")
        return self.select_related("created_by").only(*columns, *summary_of("created_by"))

    def outdated(self) -> "CommentQuerySet":
        """Those of expenses that were deleted without them, and cannot be restored any more."""
        entries = DeletedEntry.objects.expenses().filter(trip=OuterRef("trip"))
        restorable = Exists(entries.filter(object_id=OuterRef("expense")))
        return self.filter(~shown(), ~restorable).order_by("pk")


class Comment(ClientNamed, InTrip):
    """A comment on an expense. Its text is empty once the author has deleted their account."""

    expense = models.ForeignKey(
        Expense,
        on_delete=models.CASCADE,
        db_constraint=False,
        related_name="comments",
        verbose_name=gettext_lazy("expense"),
    )
    created_by = author_column(gettext_lazy("written by"))
    person_column = "created_by"
    text = models.TextField(gettext_lazy("text"), max_length=MAX_COMMENT_CHARS)
    created_at = time_column(gettext_lazy("created at"))
    updated_at = time_column(gettext_lazy("updated at"))

    objects = CommentQuerySet.as_manager()

    caller_role: str

    class Meta:
        db_table = "splits_comment"
        verbose_name = gettext_lazy("comment")
        verbose_name_plural = gettext_lazy("comments")

    def is_own(self, user: User, can: Capability) -> bool:
        return user.pk == self.created_by_id

    @classmethod
    def write(
        cls, expense: Expense, by: User, text: str, client_id: UUID | None = None
    ) -> "Comment":
        """Add a comment to `expense`. Raises `LimitReached` above `MAX_COMMENTS`."""
        rows = Expense.objects.with_trip
        with locked_row(
            rows, by, CanComment.COMMENT, trip_id=expense.trip_id, pk=expense.pk
        ) as locked:
            LimitReached.require_at_most(MAX_COMMENTS, locked.comments.count() + 1)
            now = timezone.now()
            fields: dict[str, Any] = {"text": text, "client_id": client_id, "created_by": by}
            comment = locked.comments.create(
                trip=locked.trip, created_at=now, updated_at=now, **fields
            )
            entry = Entry(CREATED, comment.pk, {"text": (None, text)}, locked.pk)
            write(locked.trip_id, by, entry)
            locked.notify(CREATED, people_in(locked.trip_id, locked.pk), by)
            return comment

    @classmethod
    def add(cls, trip: Trip, by: User, texts: Iterable[tuple[int, str]]) -> None:
        """Write many comments of `by` in a locked trip, each a text on the expense of this id."""
        new = (cls(trip=trip, expense_id=pk, created_by=by, text=text) for pk, text in texts)
        _write_in(trip, new)

    def change(self, by: User, text: str) -> "Comment":
        """Replace the text. Returns the comment as it is now."""
        with self._locked(by, CanComment.CHANGE_COMMENTS) as stored:
            old, new = {"text": stored.text}, {"text": text}
            changed = entries_between(CHANGED, stored.pk, old, new, stored.expense_id)
            if changed:
                stored.text, stored.updated_at = text, timezone.now()
                stored.save(update_fields=["text", "updated_at"])
                write(stored.trip_id, by, *changed)
            return stored

    def remove(self, by: User) -> None:
        with self._locked(by, CanComment.DELETE_COMMENTS) as stored:
            comment_id = stored.pk
            stored.delete()
            changes = {"text": (stored.text, None)}
            entry = Entry(DELETED, comment_id, changes, stored.expense_id)
            write(stored.trip_id, by, entry)

    def _locked(self, by: User, can: Capability) -> AbstractContextManager["Comment"]:
        rows = Comment.objects.with_expense
        return locked_row(rows, by, can, trip_id=self.trip_id, pk=self.pk)


def comments_of(expense_id: int) -> CommentQuerySet:
    """The comments on an expense with details, the oldest first."""
    return Comment.objects.with_details().filter(expense=expense_id).order_by("id")


def _write_in(trip: Trip, comments: Iterable[Comment]) -> None:
    """Write new comments in a locked trip, into its journal as well: each by its author."""
    entries: dict[User, list[Entry]] = defaultdict(list)
    for row in insert(comments):
        entry = Entry(CREATED, row.pk, {"text": (None, row.text)}, row.expense_id)
        entries[row.created_by].append(entry)
    for by, written in entries.items():
        write(trip.pk, by, *written)


@receiver(expense_moved)
def move_along(expense: Expense, trip: Trip, moved_id: int, **_about: object) -> None:
    """Write the comments of a moved expense again, as those of their authors.

    So they are emptied with the account. What people wrote who never were in the other trip stays
    behind, and so does what only an imported file says that somebody wrote.
    """
    members = {*trip.members.values_list("user", flat=True)}
    written = JournalEntry.objects.filter(trip=expense.trip_id, expense_id=expense.pk)
    authors = dict(written.filter(event=CREATED).values_list("object_id", "by"))
    names = ("created_by", "text", "created_at", "updated_at")
    moved = (
        Comment(trip=trip, expense_id=moved_id, **{name: getattr(row, name) for name in names})
        for row in comments_of(expense.pk).exclude(text="")
        if row.created_by_id in members and row.created_by_id == authors.get(row.pk)
    )
    _write_in(trip, moved)


@receiver(author_replaced)
def give_comments(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Give the comments on deleted expenses to the person `to`, as those on others."""
    for entry in trip.deleted_entries.expenses().one_by_one():
        rows = [row for row in entry.stored.get("comments", ()) if row["created_by_id"] == user_id]
        for row in rows:
            row["created_by_id"] = to
        if rows:
            entry.save_rows()


def written_by(account: User) -> JournalQuerySet:
    """The rows of the journal for comments, including those on deleted expenses."""
    return JournalEntry.objects.filter(by=account, event=CREATED)


def forget_comments_of(account: User, by: User | None) -> None:
    """Empty all comments of an account, also in the journal and on deleted expenses.

    The comments stay, so that replies keep their place. Call it under the locks of the trips of
    `comments_written_by`.
    """
    entries: dict[int, list[Entry]] = defaultdict(list)
    texts = Comment.objects.filter(created_by=account).exclude(text="")
    columns = ("trip", "expense", "pk")
    emptied = list(texts.order_by("pk").values_list(*columns))
    ClientId.forget(texts)
    texts.update(text="")
    written = written_by(account)
    emptied += _forget_in_deleted(account, written)
    for trip_id, expense_id, comment_id in emptied:
        changes = {"text": (None, "")}
        entries[trip_id].append(Entry(CHANGED, comment_id, changes, expense_id))
    events = (CREATED, CHANGED, DELETED)
    rows = JournalEntry.objects.filter(trip__in=written.values("trip"), event__in=events)
    rows.filter(object_id__in=written.values("object_id")).forget("text")
    for trip_id, of_trip in entries.items():
        write(trip_id, by, *of_trip, is_limited=False)


def _forget_in_deleted(account: User, written: JournalQuerySet) -> Iterator[tuple[int, int, int]]:
    """Empty the comments of an account on deleted expenses; yields trip, expense and comment."""
    expenses = DeletedEntry.objects.expenses().filter(trip__in=written.values("trip"))
    for entry in expenses.filter(object_id__in=written.values("expense_id")).one_by_one():
        for row in entry.stored.get("comments", ()):
            if row["created_by_id"] == account.pk and row["text"]:
                row["text"] = ""
                yield entry.trip_id, entry.object_id, row["id"]
        entry.save_rows()
