"""Rows of a trip that can be restored for some weeks after they are deleted."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

from trips.models.journal import entries_between, plain_values, write
from trips.models.trip import locked_row
from trips.models.visibility import InTripQuerySet
from trips.roles import Capability
from users.models import User

Row = TypeVar("Row", bound="Restorable")


class RestorableQuerySet(InTripQuerySet[Row]):
    """A queryset of rows of which some are deleted."""

    def kept(self) -> Self:
        return self.filter(deleted_at=None)

    def deleted(self) -> Self:
        """Those that are deleted, the last one first."""
        return self.filter(deleted_at__isnull=False).order_by("-deleted_at", "-pk")

    def outdated(self, now: datetime) -> Self:
        """Those that cannot be restored any more, for `Plugin.outdated`."""
        days = timedelta(days=settings.DELETED_ENTRY_DAYS)
        return self.filter(deleted_at__lte=now - days).order_by("deleted_at")


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

    def restore(self, by: User) -> None:
        self._mark(by, type(self).objects.deleted, None)

    def _mark(self, by: User, rows: Any, at: datetime | None) -> None:
        with locked_row(rows, by, self.deleted_by, trip_id=self.trip_id, pk=self.pk) as row:
            row.deleted_at = at
            row.save(update_fields=["deleted_at"])
            was, now = ({}, plain_values(row)) if at is None else (plain_values(row), {})
            event = f"{self.kind}.{'restored' if at is None else 'deleted'}"
            write(self.trip_id, by, *entries_between(event, row.pk, was, now))
