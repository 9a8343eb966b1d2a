"""The tags of a trip with their uses, and how one is renamed in all expenses."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import NotFound

from plugins.expense_filters.conditions import spellings, tagged
from splits.models import Expense, Payer
from splits.models.in_trip import is_among
from splits.models.tag import clean_tags, tag_key
from trips.models import Trip, locked_trip
from trips.models.events import Event
from trips.models.journal import Entry, write
from trips.roles import Can
from users.models import User

#: Rows per statement.
BATCH_ROWS = 500


@dataclass(frozen=True)
class TagUse:
    """A tag as it is written most often, and how many expenses have it."""

    name: str
    count: int


def tags_of(rows: QuerySet[Expense]) -> list[TagUse]:
    """The tags of these expenses, the most frequent first, then by name."""
    return sorted(
        (TagUse(uses.most_common(1)[0][0], uses.total()) for uses in spellings(rows).values()),
        key=lambda use: (-use.count, tag_key(use.name)),
    )


def tag_or_404(trip: Trip, tag: str) -> TagUse:
    """The tag of a trip, in any spelling; raises `NotFound` if no expense has it."""
    for use in tags_of(trip.expenses.all()):
        if tag_key(use.name) == tag_key(tag):
            return use
    raise NotFound


def is_tag_of_own(trip: Trip, by: User, tag: str) -> bool:
    """Whether all expenses of the trip that have the tag are own ones of `by`."""
    paid = Payer.objects.filter(trip=trip, user=by).values("expense")
    others = trip.expenses.exclude(created_by=by).exclude(is_among(paid))
    return not tagged(others, tag).exists()


def rename_tag(trip: Trip, by: User, tag: str, name: str) -> TagUse:
    """Rename a tag in all expenses of a trip. No expense gets the new one twice.

    Raises `NotFound` if no expense has it, and `PermissionDenied` unless the role of `by` covers
    the change of all of them.
    """
    [name] = clean_tags([name])
    are_own = partial(is_tag_of_own, by=by, tag=tag)
    with locked_trip(trip.pk, by, Can.CHANGE_EXPENSES, are_own) as locked:
        # Without the items: together, those of all expenses may not fit into memory.
        rows = list(tagged(locked.expenses.order_by("pk").only("trip", "tags"), tag))
        if not rows:
            raise NotFound
        key, entries = tag_key(tag), []
        renamed: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for row in rows:
            tags = clean_tags([name if tag_key(one) == key else one for one in row.tags])
            if tags != row.tags:
                renamed[tuple(tags)].append(row.pk)
                changes = {"tags": (row.tags, tags)}
                entries.append(Entry(Event.EXPENSE_CHANGED, row.pk, changes, row.pk))
        _store(locked, renamed)
        write(locked.pk, by, *entries)
        uses = {tag_key(use.name): use for use in tags_of(locked.expenses.all())}
        return uses[tag_key(name)]


def _store(trip: Trip, renamed: Mapping[tuple[str, ...], Sequence[int]]) -> None:
    """Store the tags of expenses, whose ids are given. Many expenses have the same few tags."""
    now = timezone.now()
    for tags, ids in renamed.items():
        for first in range(0, len(ids), BATCH_ROWS):
            rows = Expense.objects.filter(trip=trip.pk, pk__in=ids[first : first + BATCH_ROWS])
            rows.update(tags=list(tags), updated_at=now)
