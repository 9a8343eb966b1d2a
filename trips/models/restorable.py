"""Rows of a trip that can be restored for `DELETED_ENTRY_DAYS` after they are deleted."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from trips.models.journal import entries_between, plain_values, write
from trips.models.trip import locked_row
from trips.models.visibility import InTripQuerySet
from trips.roles import Capability
from users.models import User

Row = TypeVar("Row", bound="Restorable")


class RestorableQuerySet(InTripQuerySet[Row]):
    """A queryset of rows of which some are deleted."""

    def kept(self) -> Self:
        """Those that are not deleted."""
        return self.filter(deleted_at=None)

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


class Restorable(models.Model):
    """A row that is only marked as deleted. The model has a trip, and `is_own`."""

    deleted_at = models.DateTimeField(
        gettext_lazy("deleted at"), null=True, editable=False, db_index=True
    )

    #: The type of object in the events `type.deleted` and `type.restored`.
    kind: ClassVar[str]
    #: What deleting and restoring it needs.
    deleted_by: ClassVar[Capability]
    objects: Any
    trip_id: int

    class Meta:
        abstract = True

    def remove(self, by: User) -> None:
        """Mark it as deleted."""
        self._mark(by, type(self).objects.kept, timezone.now())

    def restore(self, by: User) -> Self:
        """Put it back as it was. Raises `NotFound`, and what `require_room` raises."""
        return self._mark(by, type(self).objects.deleted, None)

    def require_room(self) -> None:
        """Raise `LimitReached` if the trip has no room for it. Called under the trip's lock."""

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
            write(self.trip_id, by, *entries_between(event, row.pk, was, now))
            return row
