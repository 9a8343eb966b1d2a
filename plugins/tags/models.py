"""The tags of a trip with their uses, and how one is renamed in all expenses."""

from dataclasses import dataclass
from functools import partial

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import NotFound

from plugins.expense_filters.conditions import spellings, tagged
from splits.models import Expense
from splits.models.tag import clean_tags, tag_key
from trips.models import Trip, locked_trip
from trips.models.events import Event
from trips.models.journal import Entry, write
from trips.roles import Can
from users.models import User


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
    rows = tagged(trip.expenses.only("trip", "created_by"), tag)
    return all(row.is_own(by, Can.CHANGE_EXPENSES) for row in rows)


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
        for row in rows:
            old, now = row.tags, [name if tag_key(one) == key else one for one in row.tags]
            row.tags = clean_tags(now)
            if row.tags != old:
                changes = {"tags": (old, row.tags)}
                row.updated_at = timezone.now()
                entries.append(Entry(Event.EXPENSE_CHANGED, row.pk, changes, row.pk))
        Expense.objects.filter(trip=locked.pk).bulk_update(rows, ["tags", "updated_at"], 500)
        write(locked.pk, by, *entries)
        uses = {tag_key(use.name): use for use in tags_of(locked.expenses.all())}
        return uses[tag_key(name)]
