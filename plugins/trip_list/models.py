"""The trips that members have archived, each in their own list."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext_lazy

from plugins.trip_list.rights import CanArchive
from trips.models import InTripQuerySet, Member, Trip, locked_trip, trip_key
from users.models import User, user_key


class ArchivedTrip(models.Model):
    """A trip that one of its members has archived; it is there for everybody else as before."""

    trip = trip_key("archived_by", db_index=False)
    user = user_key("+")
    at = models.DateTimeField(gettext_lazy("at"), default=timezone.now, editable=False)

    objects = InTripQuerySet["ArchivedTrip"].as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trip", "user"], name="trip_archived_once")
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"

    @classmethod
    def add(cls, trip: Trip, user: User) -> None:
        """Archive the trip in the list of `user`; if it is there already, nothing changes."""
        # Under the lock, or the row outlives a membership that ends at this moment.
        with locked_trip(trip.pk, user, CanArchive.ARCHIVE) as locked:
            rows: list[Any] = [cls(trip=locked, user=user)]
            cls.objects.bulk_create(rows, ignore_conflicts=True)

    @classmethod
    def remove(cls, trip: Trip, user: User) -> None:
        """Put the trip back into the list of `user`; if it is in it, nothing changes."""
        cls.objects.filter(trip=trip, user=user).delete()


def is_archived_by(user: Any) -> Exists:
    """Condition on trips: this reader has archived them."""
    return Exists(ArchivedTrip.objects.filter(trip=OuterRef("pk"), user=user))


def end_with_membership(trip_id: int, user_id: int) -> None:
    """Forget that somebody archived a trip, unless they are a member. See `Plugin.revoked`."""
    present = Member.objects.present().filter(trip=OuterRef("trip"), user=OuterRef("user"))
    rows = ArchivedTrip.objects.filter(trip=trip_id, user=user_id)
    rows.exclude(Exists(present)).delete()
