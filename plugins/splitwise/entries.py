"""Finds what these clients call expenses: expenses and settlements, deleted ones included."""

from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Greatest
from rest_framework.exceptions import NotFound

from plugins.attachments.models import Attachment, State
from plugins.comments.models import Comment, comments_of
from plugins.splitwise import objects
from plugins.splitwise.models import GivenCategory, Group
from plugins.splitwise.objects import PAYMENTS_FROM, Entry
from splits.models import DeletedEntry, Expense, Settlement
from splits.models.deleted import AT_A_TIME, DeletedKind
from splits.models.payer import Payer
from splits.models.restoring import deleted_row
from splits.models.split import Split
from trips.models import JournalEntry
from trips.models.events import Event
from users.models import User, summaries

MAX_ROWS = 1000
#: How many people the entries of one answer may name together, and how many are loaded at once.
MAX_PEOPLE, _BATCH = 10_000, 100
_EXPENSE_EVENTS = (Event.EXPENSE_CHANGED, Event.EXPENSE_DELETED, Event.EXPENSE_RESTORED)
_SETTLEMENT_EVENTS = (Event.SETTLEMENT_DELETED, Event.SETTLEMENT_RESTORED)


class Filters(NamedTuple):
    """Which entries of the trips are wanted; None is all of them."""

    friend_id: int | None = None
    dated_after: date | None = None
    dated_before: date | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    without_deleted: bool = False

    def of(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows, which have `day` and `updated`, that match."""
        wanted = {
            "day__gte": self.dated_after,
            "day__lte": self.dated_before,
            "updated__gt": self.updated_after,
            "updated__lt": self.updated_before,
        }
        rows = rows.filter(**{name: value for name, value in wanted.items() if value is not None})
        return rows.values_list("day", "entry", "source")


def find(trip_ids: Collection[int], filters: Filters, limit: int, offset: int) -> list[Entry]:
    """The entries in these trips, newest day first, fewer if they name too many people.

    The number of statements is constant for each batch.
    """
    parts = [_expenses(trip_ids, filters), _settlements(trip_ids, filters)]
    # Whom a deleted entry names is not in a column.
    if not filters.without_deleted and filters.friend_id is None:
        parts.append(_deleted(trip_ids))
    first, *others = (filters.of(part) for part in parts)
    rows = first.union(*others, all=True).order_by("-day", "-entry")
    found = [(entry, source) for _day, entry, source in rows[offset : offset + limit]]
    entries: list[Entry] = []
    named = 0
    for start in range(0, len(found), _BATCH):
        batch = found[start : start + _BATCH]
        loaded = _load(batch)
        for entry in (loaded[pk] for pk, _source in batch if pk in loaded):
            named += len(entry.people)
            if entries and named > MAX_PEOPLE:
                return entries
            entries.append(entry)
    return entries


def _expenses(trip_ids: Collection[int], filters: Filters) -> QuerySet[Any]:
    restored = JournalEntry.objects.filter(
        expense_id=OuterRef("pk"), event=Event.EXPENSE_RESTORED
    ).order_by()
    rows = Expense.objects.filter(trip__in=trip_ids)
    if filters.friend_id is not None:
        paid = Payer.objects.filter(trip=OuterRef("trip"), expense=OuterRef("pk"))
        part = Split.objects.filter(trip=OuterRef("trip"), expense=OuterRef("pk"))
        friend = filters.friend_id
        rows = rows.filter(
            Exists(paid.filter(user=friend)) | Exists(part.filter(participant=friend))
        )
    return rows.annotate(
        day=F("expense_date"),
        entry=F("pk"),
        source=models.Value("expense", models.CharField()),
        updated=_later("updated_at", restored, "expense_id"),
    )


def _settlements(trip_ids: Collection[int], filters: Filters) -> QuerySet[Any]:
    restored = JournalEntry.objects.filter(
        trip=OuterRef("trip"), event=Event.SETTLEMENT_RESTORED, object_id=OuterRef("pk")
    ).order_by()
    rows = Settlement.objects.filter(trip__in=trip_ids)
    if filters.friend_id is not None:
        rows = rows.filter(Q(sender=filters.friend_id) | Q(receiver=filters.friend_id))
    return rows.annotate(
        day=F("settled_on"),
        entry=F("pk") + PAYMENTS_FROM,
        source=models.Value("settlement", models.CharField()),
        updated=_later("created_at", restored, "object_id"),
    )


def _later(column: str, restored: QuerySet[Any], group: str) -> Greatest:
    """When a row was last changed. Restoring it does not change its own columns."""
    last = restored.values(group).annotate(last=models.Max("at")).values("last")
    return Greatest(column, Coalesce(models.Subquery(last), column))


def _deleted(trip_ids: Collection[int]) -> QuerySet[Any]:
    day = Coalesce(KT("rows__expense__0__expense_date"), KT("rows__settlement__0__settled_on"))
    is_payment = Q(kind=DeletedKind.SETTLEMENT)
    rows = DeletedEntry.objects.filter(trip__in=trip_ids)
    return rows.annotate(rows=Cast("stored_rows", models.JSONField())).annotate(
        day=Cast(day, models.DateField()),
        entry=F("object_id") + models.Case(models.When(is_payment, then=PAYMENTS_FROM), default=0),
        source=models.Value("deleted", models.CharField()),
        updated=F("deleted_at"),
    )


def find_one(user: User, entry_id: int) -> Entry:
    """The entry with this id, if `user` may see it; raises `NotFound`."""
    is_payment, pk = objects.row_id(entry_id)
    kind: Any = Settlement if is_payment else Expense
    deleted = DeletedEntry.objects
    kept = deleted.settlements() if is_payment else deleted.expenses()
    source = "settlement" if is_payment else "expense"
    if not kind.objects.visible_to(user).filter(pk=pk).exists():
        source = "deleted"
        if not kept.visible_to(user).filter(object_id=pk).exists():
            raise NotFound
    [entry] = _load([(entry_id, source)]).values()
    return entry


def _load(found: Iterable[tuple[int, str]]) -> dict[int, Entry]:
    """The entries of these ids, each with the table it is in."""
    ids: dict[str, list[int]] = {"expense": [], "settlement": [], "deleted": []}
    for entry, source in found:
        ids[source].append(entry if source == "deleted" else objects.row_id(entry)[1])
    expenses: QuerySet[Any] = Expense.objects.select_related("trip").filter(pk__in=ids["expense"])
    loaded = (
        Prefetch("payers", Payer.objects.order_by("id"), "loaded_payers"),
        Prefetch("splits", Split.objects.order_by("id"), "loaded_splits"),
    )
    entries = [Entry.of_expense(row) for row in expenses.prefetch_related(*loaded)]
    settlements = Settlement.objects.select_related("trip").filter(pk__in=ids["settlement"])
    entries += [Entry.of_settlement(row) for row in settlements]
    entries += _as_deleted(ids["deleted"])
    _complete(entries)
    return {entry.id: entry for entry in entries}


def _as_deleted(ids: list[int]) -> list[Entry]:
    payments = [pk - PAYMENTS_FROM for pk in ids if pk >= PAYMENTS_FROM]
    wanted = Q(kind=DeletedKind.EXPENSE, object_id__in=[pk for pk in ids if pk < PAYMENTS_FROM])
    wanted |= Q(kind=DeletedKind.SETTLEMENT, object_id__in=payments)
    entries = []
    for kept in DeletedEntry.objects.select_related("trip").filter(wanted).iterator(AT_A_TIME):
        read = Entry.of_expense if kept.kind == DeletedKind.EXPENSE else Entry.of_settlement
        entry = read(deleted_row(kept))
        entry.deleted_at = entry.updated_at = kept.deleted_at
        entries.append(entry)
    return entries


def _complete(entries: list[Entry]) -> None:
    """Add what other tables know: comments, given categories, and who changed or deleted them."""
    by_id = {entry.id: entry for entry in entries}
    expense_ids = [entry.id for entry in entries if not entry.is_payment]
    written = Comment.objects.filter(expense__in=expense_ids).order_by().values_list("expense")
    for expense_id, count in written.annotate(models.Count("pk")):
        by_id[expense_id].comments = count
    files = Attachment.objects.filter(expense__in=expense_ids).exclude(state=State.REFUSED)
    for expense_id, pk in files.order_by("pk").values_list("expense", "pk"):
        entry, file = by_id[expense_id], Attachment(pk=pk)
        entry.receipt = None if entry.deleted_at else file.url
    given = GivenCategory.objects.filter(expense_id__in=expense_ids)
    for expense_id, category_id in given.values_list("expense_id", "category_id"):
        by_id[expense_id].given_category = category_id
    changes = JournalEntry.objects.filter(
        Q(event__in=_EXPENSE_EVENTS, expense_id__in=expense_ids)
        | Q(
            trip__in={entry.trip.pk for entry in entries if entry.is_payment},
            event__in=_SETTLEMENT_EVENTS,
            object_id__in=[entry.id - PAYMENTS_FROM for entry in entries if entry.is_payment],
        )
    )
    for row in changes.only("event", "object_id", "by", "at").order_by("number"):
        is_payment = row.event in _SETTLEMENT_EVENTS
        entry = by_id[row.object_id + (PAYMENTS_FROM if is_payment else 0)]
        entry.updated_by, entry.updated_at = row.by_id, max(entry.updated_at, row.at)
        is_deletion = row.event in {Event.EXPENSE_DELETED, Event.SETTLEMENT_DELETED}
        entry.deleted_by = row.by_id if is_deletion and entry.deleted_at else None


def shown(entries: list[Entry], address_of: Callable[[str], str]) -> list[dict[str, Any]]:
    """The objects of these entries; `address_of` makes the addresses of paths."""
    people = summaries({pk for entry in entries for pk in entry.people})
    trips = {entry.trip.pk for entry in entries}
    friendships = Group.objects.with_outside().filter(trip__in=trips, is_outside=True)
    outside = set(friendships.values_list("pk", flat=True))
    for entry in entries:
        entry.receipt = entry.receipt and address_of(entry.receipt)
    return [entry.shown(people, outside) for entry in entries]


def comments_on(entry: Entry) -> list[dict[str, Any]]:
    """The objects of the comments on an entry."""
    return [] if entry.is_payment else [objects.comment(row) for row in comments_of(entry.id)]
