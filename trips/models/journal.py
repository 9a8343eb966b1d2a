"""The journal of a trip: a row for every change, written by the command that makes it.

Call `write` under the trip's lock, after the change, once in each command. A command that changes
nothing writes nothing. Each trip counts its rows from 1, without gaps. Nothing changes or deletes
a row, with two exceptions: deleting an account empties what the rows hold of the person
(`forget`), and `prune` deletes the rows of trips that are gone.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import LimitReached
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.serializers import camel_case
from tripcompanion.compiled import fetch_all
from tripcompanion.plugin import MAX_EVENT_CHARS
from trips.models.events import Event, all_events, object_type_of
from trips.models.visibility import InTripQuerySet
from users.models import User, Via

#: The old and the new value of each field that changed, under its name in the API.
Changes = Mapping[str, tuple[Any, Any]]


#: Events by which people leave or end something are always possible, even in a full trip.
_ENDINGS = frozenset({Event.TRIP_DELETED, Event.MEMBER_LEFT, Event.MEMBER_REMOVED})


class Subject(NamedTuple):
    """The object of a row."""

    type: str
    id: int


class Entry(NamedTuple):
    """What `write` records of one object.

    `object_id` is what the path of the object in the API ends with: for a member or a guest, the
    user's id. `expense_id` is the expense to which the object belongs, or which it is; `person_id`
    is the participant of a split.
    """

    #: An `Event`, or one of a plugin.
    event: str
    object_id: int
    changes: Changes = {}
    expense_id: int | None = None
    person_id: int | None = None


class JournalQuerySet(InTripQuerySet["JournalEntry"]):
    def outdated(self, before: datetime) -> "JournalQuerySet":
        """The rows of trips that no longer exist and were deleted before this; the oldest first."""
        deletions = self.model.objects.filter(event=Event.TRIP_DELETED)
        later = deletions.filter(trip=OuterRef("trip"), number__gt=OuterRef("number"))
        # A trip may have been deleted more than once.
        deleted = deletions.filter(~Exists(later), at__lte=before)
        trips = apps.get_model("trips", "Trip").objects.filter(pk=OuterRef("trip"))
        gone = self.filter(~Exists(trips), trip__in=deleted.values("trip"))
        # The rows of the deletions go last, so that a part of the rows can be deleted.
        others = self.model.objects.filter(trip=OuterRef("trip")).exclude(event=Event.TRIP_DELETED)
        return gone.exclude(Q(Exists(others), event=Event.TRIP_DELETED)).order_by(
            "trip_id", "number"
        )

    def about(self, user_ids: Iterable[int]) -> "JournalQuerySet":
        """The rows that may have the name of one of these guests."""
        named = (Event.GUEST_ADDED, Event.GUEST_RENAMED, Event.MEMBER_REMOVED)
        return self.filter(event__in=named, object_id__in=user_ids)

    def forget(self, *fields: str) -> None:
        """Replace the old and new values of `fields` by null, for personal data of an account."""
        for row in self:
            known = row.changes
            emptied = {name: {"old": None, "new": None} for name in fields if name in known}
            if emptied:
                text = as_text({**known, **emptied})
                self.model.objects.filter(pk=row.pk).update(stored_changes=text)


class JournalEntry(models.Model):
    """One change of a trip. Its rows outlive the trip, so that clients learn of its deletion."""

    trip = models.ForeignKey(
        "trips.Trip",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="journal",
        verbose_name=gettext_lazy("trip"),
    )
    #: Counts the rows of the trip from 1, without gaps.
    number = models.BigIntegerField(gettext_lazy("number"))
    at = models.DateTimeField(gettext_lazy("at"))
    #: Who did it; null for the service.
    by = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        null=True,
        db_index=False,
        related_name="+",
        verbose_name=gettext_lazy("by"),
    )
    via = models.CharField(gettext_lazy("via"), max_length=7, choices=Via)
    #: Who did it, as an imported file says, if they have no account here; then `by` is null.
    author_name = models.CharField(max_length=50, default="", db_default="", editable=False)
    event = models.CharField(gettext_lazy("event"), max_length=MAX_EVENT_CHARS, choices=all_events)
    object_id = models.BigIntegerField(gettext_lazy("object"))
    #: The expense that is the object, or to which it belongs; null for other objects.
    expense_id = models.BigIntegerField(null=True)
    #: The participant of a split; null for other objects.
    person_id = models.BigIntegerField(null=True)
    #: `changes` as JSON text, which keeps the digits of amounts and the order of the fields.
    stored_changes = models.TextField()

    objects = JournalQuerySet.as_manager()

    caller_role: str
    #: A sentence for people, if somebody sets it.
    text: str

    class Meta:
        verbose_name = gettext_lazy("journal entry")
        verbose_name_plural = gettext_lazy("journal")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trip", "number"], name="journal_number_in_trip"),
            models.CheckConstraint(condition=Q(number__gt=0), name="journal_number_positive"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["trip", "at", "number"], name="journal_by_time"),
            models.Index(fields=["trip", "event", "number"], name="journal_by_event"),
            models.Index(fields=["by", "trip", "number"], name="journal_by_author"),
            models.Index(
                fields=["at"],
                condition=Q(event=Event.TRIP_DELETED),
                name="journal_of_deleted_trips",
            ),
            models.Index(
                fields=["expense_id", "number"],
                condition=Q(expense_id__isnull=False),
                name="journal_by_expense",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}. {self.get_event_display()}"

    @property
    def changes(self) -> dict[str, dict[str, Any]]:
        """`{field: {"old", "new"}}` with the values as the API shows them."""
        return json.loads(self.stored_changes, parse_float=Decimal)

    @property
    def object_type(self) -> str:
        return object_type_of(self.event)

    @property
    def subject(self) -> "Subject":
        return Subject(self.object_type, self.object_id)


@cache
def plain_fields(model: type[models.Model]) -> "Mapping[str, models.Field[Any, Any]]":
    """The columns that are shown as they are, by their names in the API.

    The history, CSV files and the admin site take them from here, so they have each new column. It
    is plain if it is editable, and neither a key, nor an amount in minor units, nor one of the
    model's `special_columns`, which all of them name themselves.
    """
    special = getattr(model, "special_columns", ())
    return {
        camel_case(field.name): field
        for field in model._meta.concrete_fields
        if field.editable
        and not (field.primary_key or field.is_relation)
        and not field.name.endswith("_minor")
        and field.name not in special
    }


def plain_values(row: models.Model) -> dict[str, Any]:
    """The values of the plain fields, by their names in the API."""
    return {name: getattr(row, field.attname) for name, field in plain_fields(type(row)).items()}


def entries_between(
    event: str,
    object_id: int,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    expense_id: int | None = None,
    person_id: int | None = None,
) -> list[Entry]:
    """An entry with the fields that differ, or none if all are equal.

    A field that is missing on one side is None there. Values are as the API shows them: amounts as
    decimals in major units, dates, ids of people.
    """
    pairs = {name: (old.get(name), new.get(name)) for name in {**old, **new}}
    changes = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    return [Entry(event, object_id, changes, expense_id, person_id)] if changes else []


def write(trip_id: int, by: User | None, *entries: Entry, is_limited: bool = True) -> None:
    """Write rows into the journal of a trip with one statement; without `entries`, do nothing.

    Call it under the trip's lock. `by` is the caller as the request authenticated them; None is the
    service. Raises `LimitReached` if it `is_limited`, ends nothing, and the trip got too many rows
    within a day.
    """
    if not entries:
        return
    rows = [
        {
            "place": place,
            "event": str(entry.event),
            "object_id": entry.object_id,
            "expense_id": entry.expense_id,
            "person_id": entry.person_id,
            "changes": {
                name: {"old": old, "new": new} for name, (old, new) in entry.changes.items()
            },
        }
        for place, entry in enumerate(entries, start=1)
    ]
    author_id, via = (None, Via.SERVICE) if by is None else (by.pk, by.via)
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    values = [now, author_id, via.value, trip_id, trip_id, as_text(rows)]
    numbers = fetch_all(_INSERT.format(**_PLACES[connection.vendor]), values)
    if is_limited and not any(entry.event in _ENDINGS for entry in entries):
        _require_quota(trip_id, max(number for (number,) in numbers))


def _require_quota(trip_id: int, last: int) -> None:
    """Raise `LimitReached` if a trip got more than `QUOTA_CHANGES` rows within a day."""
    if last <= settings.QUOTA_CHANGES:
        return
    first = JournalEntry.objects.filter(trip=trip_id, number=last - settings.QUOTA_CHANGES)
    if first.filter(at__gt=timezone.now() - timedelta(days=1)).exists():
        raise LimitReached(limit=settings.QUOTA_CHANGES)


#: Written by hand: one statement counts and inserts any number of rows. Under the trip's lock the
#: last number is final, so there is no counter to update.
_INSERT = (
    "INSERT INTO trips_journalentry (at, by_id, via, trip_id, number, event, object_id, "
    "expense_id, person_id, stored_changes) SELECT {at}, {by}, {via}, {trip}, place + "
    "(SELECT COALESCE(MAX(number), 0) FROM trips_journalentry WHERE trip_id = {trip}), "
    "event, object_id, expense_id, person_id, {changes} "
    "FROM {entries} RETURNING number"
)
_TYPES = {
    "place": "bigint",
    "event": "text",
    "object_id": "bigint",
    "expense_id": "bigint",
    "person_id": "bigint",
    # Unlike jsonb, it keeps the text as it is.
    "changes": "json",
}
_PLACES = {
    "postgresql": {
        "at": "%s::timestamptz",
        "by": "%s::bigint",
        "via": "%s::text",
        "trip": "%s::bigint",
        "changes": "changes::text",
        "entries": "json_to_recordset(%s::json) AS entry({})".format(
            ", ".join(f"{name} {kind}" for name, kind in _TYPES.items())
        ),
    },
    "sqlite": {
        **dict.fromkeys(("at", "by", "via", "trip"), "%s"),
        "changes": "changes",
        "entries": "(SELECT {} FROM json_each(%s)) AS entry".format(  # noqa: S608 -- names only
            ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in _TYPES)
        ),
    },
}


def as_text(changes: Any) -> str:
    """`changes`, or rows with changes, as JSON with exact numbers."""
    return ExactJSONRenderer().render(changes).decode()
