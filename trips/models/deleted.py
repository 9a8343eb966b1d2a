"""Deleted trips: kept as they were, out of every sum and list, until they are restored.

A deleted trip has no present members, so every check of membership fails: its members left at the
very instant at which it was deleted. Restoring it brings back exactly these members.
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, F, Q, Value
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict
from tripcompanion.database.deletes import delete_unread
from trips.models.events import Event
from trips.models.journal import Entry, write
from trips.models.lock import locked_deleted_trip, locked_trip
from trips.models.visibility import InTripQuerySet
from trips.roles import CREATOR_ROLE, OWNER_ROLES, Can
from users.models import Mail, User
from users.models.lock import lock_rows
from users.models.position import store_position_after_commit

Row = TypeVar("Row", bound=models.Model)

#: How many trips are looked up at a time to be purged.
BATCH_TRIPS = 100


class NotRestorable(Conflict):
    """409 `not_restorable`: what was deleted no longer fits."""

    default_code = "not_restorable"
    default_detail = gettext_lazy("It cannot be restored: %(reason)s")
    example_values: ClassVar = {"reason": "Not members of the trip any more: 7."}


class DeletableTripQuerySet(InTripQuerySet[Row]):
    members_path = "members"

    def restorable(self) -> Self:
        """Deleted trips that can still be restored."""
        return self.filter(deleted_at__gt=_oldest_deletion())

    def outdated(self) -> Self:
        """Deleted trips that cannot be restored any more."""
        return self.filter(deleted_at__lte=_oldest_deletion())

    def restorable_to(self, user: User) -> Self:
        """Deleted trips that `user` may see, with the `caller_role` from the time of deletion.

        An ADMIN sees all of them, as an OWNER.
        """
        rows = self.restorable().in_token_scope(user)
        if user.is_admin:
            return rows.annotate(caller_role=Value(CREATOR_ROLE.value))
        then = rows.filter(members__user=user, members__left_at=F("deleted_at"))
        return then.annotate(caller_role=F("members__role"))

    def deleted_of(self, user: User) -> Self:
        """Deleted trips that `user` owned and can restore, last deleted first."""
        owned = {"members__user": user, "members__role__in": OWNER_ROLES}
        rows = self.restorable().in_token_scope(user)
        then = rows.filter(members__left_at=F("deleted_at"), **owned)
        return then.annotate(caller_role=F("members__role")).order_by("-deleted_at", "-id")

    def purge(self) -> int:
        """Delete these trips and everything in them with their guests; return how many.

        Each is deleted in a transaction of its own. Trips that somebody else has locked are
        skipped. Their journals stay until `prune` deletes them.
        """
        purged = found = done = 0
        while found == done:
            pks = list(self.order_by("deleted_at").values_list("pk", flat=True)[:BATCH_TRIPS])
            found, done = BATCH_TRIPS, sum(map(self._purge_one, pks))
            purged += done
        return purged

    def _purge_one(self, trip_id: int) -> bool:
        """Delete this trip for good; False if it is locked, or was restored."""
        with transaction.atomic():
            rows: Any = self.filter(pk=trip_id).select_for_update(skip_locked=True)
            trip = rows.first()
            if trip is None:
                return False
            guests = trip.members.filter(user__is_guest=True)
            guest_ids = list(guests.values_list("user", flat=True))
            delete_unread(self.model._default_manager.filter(pk=trip_id))
            if guest_ids:
                User.objects.filter(pk__in=guest_ids).delete()
            return True


class DeletableTrip(models.Model):
    """Base of `Trip`: deleting it, and restoring it."""

    #: When it was deleted; `prune` ends it after `DELETED_TRIP_DAYS`.
    deleted_at = models.DateTimeField(gettext_lazy("deleted at"), null=True, editable=False)

    title: Any
    #: The reverse relation of `Member.trip`.
    members: Any

    class Meta:
        abstract = True

    def remove(self, by: User) -> None:
        """Delete the trip with everything in it. Pending notices about it are not sent."""
        with locked_trip(self.pk, by, Can.MANAGE_TRIP) as trip:
            write(trip.pk, by, Entry(Event.TRIP_DELETED, trip.pk, {"title": (trip.title, None)}))
            store_position_after_commit(trip.present_roles)
            trip.deleted_at = timezone.now()
            trip.save(update_fields=["deleted_at"])
            trip.members.present().update(left_at=trip.deleted_at)
            Mail.objects.filter(trip=trip.pk).delete()

    def restore(self: Any, by: User) -> None:
        """Undo the deletion that this instance was read with.

        Those who were members then are members again, unless they deleted their account. Raises
        `NotFound` if the deletion was undone or is final, and `NotRestorable` if none of the trip's
        owners can log in, or a member would have more than `QUOTA_TRIPS` trips.
        """
        with transaction.atomic():
            then = self.members.filter(left_at=self.deleted_at)
            # Accounts are locked before trips. Nobody can join a deleted trip meanwhile.
            lock_rows(User.objects.all(), then.values_list("user", flat=True))
            rows = type(self).objects.restorable().filter(pk=self.pk, deleted_at=self.deleted_at)
            with locked_deleted_trip(rows, by, Can.MANAGE_TRIP) as trip:
                _require_owner(then)
                _require_trip_quotas(then)
                store_position_after_commit(then.values_list("user", flat=True))
                trip.deleted_at = None
                trip.save(update_fields=["deleted_at"])
                then.update(left_at=None)
                restored = {"title": (None, trip.title)}
                write(trip.pk, by, Entry(Event.TRIP_RESTORED, trip.pk, restored))


def _oldest_deletion() -> datetime:
    """The earliest time of deletion after which trips can still be restored."""
    return timezone.now() - timedelta(days=settings.DELETED_TRIP_DAYS)


def _require_owner(members: models.QuerySet[Any]) -> None:
    if not members.filter(role__in=OWNER_ROLES, user__is_active=True).exists():
        raise NotRestorable(reason=_("None of its owners can log in any more."))


def _require_trip_quotas(members: models.QuerySet[Any]) -> None:
    """Raise `NotRestorable` if one of the members has `QUOTA_TRIPS` trips; guests have none."""
    answered = Q(memberships__left_at=None, memberships__introduced_by=None)
    present = Count("memberships", filter=answered)
    accounts = User.objects.filter(pk__in=members.values("user"), is_guest=False)
    full = accounts.annotate(trips=present).filter(trips__gte=settings.QUOTA_TRIPS).order_by("pk")
    ids = ", ".join(map(str, full.values_list("pk", flat=True)))
    if ids:
        raise NotRestorable(reason=_("These members have too many trips: %(ids)s.") % {"ids": ids})
