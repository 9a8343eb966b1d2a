"""Rows that members add to a trip, change and delete: activities, documents, messages and polls.

Deleted ones can be restored for `DELETED_ENTRY_DAYS`.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q, QuerySet
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from tripcompanion.api.problems import LimitReached
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip
from trips.models.journal import Entry, entries_between, plain_values, write
from trips.roles import Capability
from trips.signals import author_replaced, happened, person_sought
from users.models import User, summary_of

Row = TypeVar("Row", bound="Restorable")


class RestorableQuerySet(InTripQuerySet[Row]):
    """A queryset of rows of which some are deleted."""

    def kept(self) -> Self:
        """Those that are not deleted."""
        return self.filter(deleted_at=None)

    def with_details(self) -> Self:
        """With what a response contains: by default, their columns and who added them."""
        own = (field.name for field in self.model._meta.concrete_fields)
        return self.select_related("created_by").only(*own, *summary_of("created_by"))

    def shown(self) -> Self:
        """Those that are not deleted, with what a response contains."""
        return self.kept().with_details()

    def deleted(self) -> Self:
        return self.filter(deleted_at__isnull=False)

    def restorable(self) -> Self:
        """Deleted ones that can still be restored, the last one first."""
        rows = self.filter(deleted_at__gt=_oldest_deletion(timezone.now()))
        return rows.order_by("-deleted_at", "-pk")

    def outdated(self, now: datetime) -> Self:
        """Deleted ones that cannot be restored any more, the oldest first: `Plugin.outdated`."""
        return self.filter(deleted_at__lte=_oldest_deletion(now)).order_by("deleted_at")


def _oldest_deletion(now: datetime) -> datetime:
    """The time of deletion until which rows cannot be restored any more."""
    return now - timedelta(days=settings.DELETED_ENTRY_DAYS)


def author_column(label: Any) -> "models.ForeignKey[User, User]":
    """The column of who added a row; the label says what they did."""
    return models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", verbose_name=label)


def time_column(label: Any, **options: Any) -> "models.DateTimeField[Any, Any]":
    """The column of a time that nobody enters, in UTC: by default now."""
    return models.DateTimeField(label, default=timezone.now, editable=False, **options)


class Restorable(models.Model):
    """A row that is only marked as deleted.

    The model has a `trip` and `created_by`.
    """

    created_at = time_column(gettext_lazy("created at"))
    updated_at = time_column(gettext_lazy("updated at"))
    deleted_at = models.DateTimeField(
        gettext_lazy("deleted at"), null=True, editable=False, db_index=True
    )

    #: The type of object in its events, such as `type.created`.
    kind: ClassVar[str]
    #: The column that says whose it is; other models with rows of imported files have one, too.
    person_column: ClassVar[str] = "created_by"
    #: How many a trip may have, without deleted ones.
    limit: ClassVar[int]
    #: What it needs to add one, to change it, and to delete or restore it.
    added_by: ClassVar[Capability]
    changed_by: ClassVar[Capability]
    deleted_by: ClassVar[Capability]
    objects: Any
    trip_id: int
    created_by_id: int
    caller_role: str

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"#{self.pk}"

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether `user` added it."""
        return user.pk == self.created_by_id

    @classmethod
    def add(cls, trip: Trip, by: User, **fields: Any) -> Self:
        """Add one to a trip. Raises what `require_room` and `assign` raise."""
        with locked_trip(trip.pk, by, cls.added_by) as locked:
            row = cls(trip=locked, created_by=by)
            row.require_room()
            row.assign(**fields)
            row.updated_at = row.created_at
            row.save(force_insert=True)
            event = f"{cls.kind}.created"
            write(trip.pk, by, *entries_between(event, row.pk, {}, row.values_in_history))
            happened.send(cls, event=event, people=Q(), by=by, trip_id=trip.pk)
            return row.read_again()

    def change(self, by: User, **fields: Any) -> Self:
        """Store the given fields only. Returns it as it is now. Raises what `assign` raises."""
        with self.locked(by, self.changed_by) as row:
            old = row.values_in_history
            row.assign(**fields)
            event = f"{self.kind}.changed"
            row.store(by, *entries_between(event, row.pk, old, row.values_in_history))
            return row.read_again()

    def assign(self, **fields: Any) -> None:
        """Set these fields, of a new row or of a stored one, under the trip's lock."""
        for name, value in fields.items():
            setattr(self, name, value)

    def store(self, by: User, *entries: Entry) -> Self:
        """Save it with what happened to it; if nothing did, do nothing."""
        if entries:
            self.updated_at = timezone.now()
            self.save()
            write(self.trip_id, by, *entries)
        return self

    def read_again(self) -> Self:
        """The row with all that a response contains, after it was added, changed or restored."""
        return self

    @property
    def values_in_history(self) -> dict[str, Any]:
        """Its fields as the history shows them."""
        return plain_values(self)

    def locked(self, by: User, can: Capability) -> AbstractContextManager[Self]:
        """Lock the trip for a command, and read the row again; see `locked_row`."""
        rows = type(self).objects.kept
        return locked_row(rows, by, can, trip_id=self.trip_id, pk=self.pk)

    def remove(self, by: User) -> None:
        """Mark it as deleted."""
        self._mark(by, type(self).objects.kept, timezone.now())

    def restore(self, by: User) -> Self:
        """Put it back as it was. Raises `NotFound`, and what `require_room` raises."""
        return self._mark(by, type(self).objects.deleted, None)

    def require_room(self) -> None:
        """Raise `LimitReached` if the trip has no room for it. Called under the trip's lock."""
        there = type(self).objects.kept().filter(trip=self.trip_id)
        LimitReached.require_at_most(self.limit, there.count() + 1)

    def _mark(self, by: User, rows: Any, at: datetime | None) -> Self:
        with locked_row(rows, by, self.deleted_by, trip_id=self.trip_id, pk=self.pk) as row:
            if at is None:
                if row.deleted_at <= _oldest_deletion(timezone.now()):
                    raise NotFound
                row.require_room()
            row.deleted_at = at
            row.save(update_fields=["deleted_at"])
            was, now = ({}, plain_values(row)) if at is None else (plain_values(row), {})
            event = f"{self.kind}.{'restored' if at is None else 'deleted'}"
            entries = entries_between(event, row.pk, was, now)
            write(self.trip_id, by, *entries, *row.entries_of_others())
            return row if at else row.read_again()

    def entries_of_others(self) -> list[Entry]:
        """What its deletion, or its restoration, changed in other objects."""
        return []


def _rows_of(trip: Trip, user_id: int) -> Iterator[tuple[QuerySet[Any], str]]:
    """This person's rows of all models with a `person_column`, and the column."""
    for model in apps.get_models():
        if column := getattr(model, "person_column", ""):
            yield model._default_manager.filter(trip=trip, **{column: user_id}), column


@receiver(author_replaced)
def give_rows(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Put `to` in the place of a guest whose rows came with an imported file."""
    for rows, column in _rows_of(trip, user_id):
        rows.update(**{column: to})


@receiver(person_sought)
def has_rows(trip: Trip, user_id: int, **_about: object) -> bool:
    """Whether rows are this person's."""
    return any(rows.exists() for rows, _column in _rows_of(trip, user_id))
