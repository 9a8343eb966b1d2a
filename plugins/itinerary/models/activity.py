"""Activities: what the members of a trip plan to do, and when."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from django.db import models, transaction
from django.db.models import F, Max, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from plugins.itinerary.ordering import STEP, renumbered
from plugins.itinerary.rights import CanPlan
from plugins.restorable import Restorable, RestorableQuerySet, author_column
from tripcompanion.api.problems import Conflict
from trips.models import Trip, locked_trip, trip_key
from trips.models.client_ids import ClientNamed
from trips.models.events import Event
from trips.models.journal import Entry, entries_between, plain_values, write
from users.models import User, summary_of

MAX_MINUTES = 24 * 60
#: The largest number of an order that a file may have: there is room for more after it.
MAX_ORDER = 2**53
#: A column that is null as long as nothing is said, as in the API.
_OPTIONAL: Any = {"null": True, "blank": True, "default": None}


class OrderChanged(Conflict):
    """409 `order_changed`: the list does not have exactly the activities of the day."""

    default_code = "order_changed"
    default_detail = gettext_lazy("The activities of that day have changed. Please reload them.")


class ActivityType(models.TextChoices):
    ACTIVITY = "ACTIVITY", gettext_lazy("activity")
    TRANSITION = "TRANSITION", gettext_lazy("way between two places")


class ActivityCategory(models.TextChoices):
    RESTAURANT = "RESTAURANT", gettext_lazy("restaurant")
    MUSEUM = "MUSEUM", gettext_lazy("museum")
    PARK = "PARK", gettext_lazy("park")
    LANDMARK = "LANDMARK", gettext_lazy("landmark")
    SHOP = "SHOP", gettext_lazy("shop")
    TRANSPORT = "TRANSPORT", gettext_lazy("transport")
    HOTEL = "HOTEL", gettext_lazy("hotel")
    OTHER = "OTHER", gettext_lazy("other")


class ActivityQuerySet(RestorableQuerySet["Activity"]):
    def planned(self) -> Self:
        """In the order of the plan; those without a date come last."""
        return self.order_by(F("date").asc(nulls_last=True), "order", "id")

    def with_details(self) -> Self:
        """With what a response contains, but the expenses."""
        columns = (field.name for field in self.model._meta.concrete_fields)
        of_trip = ("trip__start_date", "trip__currency")
        rows = self.select_related("created_by", "trip")
        return rows.only(*columns, *of_trip, *summary_of("created_by"))


class Activity(ClientNamed, Restorable):
    """Something to do on a trip, on a day or on none yet. A deleted one keeps its place."""

    kind = "activity"
    limit = 2000
    added_by = changed_by = CanPlan.PLAN
    deleted_by = CanPlan.DELETE

    trip = trip_key("activities", db_index=False)
    created_by = author_column(gettext_lazy("added by"))
    title = models.CharField(gettext_lazy("title"), max_length=100)
    type = models.CharField(
        gettext_lazy("type"), max_length=10, choices=ActivityType, default=ActivityType.ACTIVITY
    )
    date = models.DateField(gettext_lazy("date"), **_OPTIONAL)
    #: `HH:mm`, where the trip is: the time on a clock there, in no time zone.
    start_time = models.CharField(gettext_lazy("start time"), max_length=5, **_OPTIONAL)
    duration_minutes = models.PositiveSmallIntegerField(
        gettext_lazy("duration in minutes"), **_OPTIONAL
    )
    location = models.CharField(gettext_lazy("place"), max_length=255, **_OPTIONAL)
    url = models.CharField(gettext_lazy("link"), max_length=2048, **_OPTIONAL)
    notes = models.TextField(gettext_lazy("notes"), max_length=2000, **_OPTIONAL)
    category = models.CharField(
        gettext_lazy("category"),
        max_length=10,
        choices=ActivityCategory,
        default=ActivityCategory.OTHER,
    )
    completed = models.BooleanField(gettext_lazy("done"), default=False)
    #: The place on its day; ties are broken by id.
    order = models.BigIntegerField(gettext_lazy("order"))
    #: When it was last restored: `updated_at` is as before, but calendars have seen its deletion.
    restored_at = models.DateTimeField(null=True, default=None, editable=False)

    objects = ActivityQuerySet.as_manager()

    #: Set by `with_costs`.
    loaded_links: list[Any]

    class Meta:
        verbose_name = gettext_lazy("activity")
        verbose_name_plural = gettext_lazy("activities")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(duration_minutes=None) | Q(duration_minutes__range=(1, MAX_MINUTES)),
                name="activity_within_a_day",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["trip", "date", "order", "id"], name="activity_planned")
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def day_index(self) -> int | None:
        """Which day of the trip it is on, from 0; None without a date."""
        return day_index(self.trip, self.date)

    @property
    def in_calendar(self) -> Mapping[str, Any]:
        """Its entry in calendars; see `Plugin.calendar`. It must have a date."""
        day: Any = self.date
        changed_at = self.deleted_at or max(self.updated_at, self.restored_at or self.updated_at)
        entry = {
            "uid": f"activity-{self.pk}",
            "summary": self.title,
            "location": self.location,
            "url": self.url,
            "description": self.notes,
            "dtstart": day,
            "created": self.created_at,
            "dtstamp": changed_at,
            # It rises with each change, also when it is deleted and restored.
            "sequence": max(0, int((changed_at - self.created_at).total_seconds())),
            "status": "CONFIRMED" if self.deleted_at is None else "CANCELLED",
        }
        if self.start_time is not None:
            entry["dtstart"] = datetime.datetime.combine(
                day, datetime.time.fromisoformat(self.start_time)
            )
            # RFC 5545 has none that is zero; without one, it ends when it begins.
            if self.duration_minutes is not None:
                entry["duration"] = datetime.timedelta(minutes=self.duration_minutes)
        return entry

    @property
    def expense_ids(self) -> list[int]:
        """The expenses that belong to it; `with_costs` reads them."""
        return [link.expense_id for link in self.loaded_links]

    @property
    def cost_minor(self) -> int:
        """What they cost, in minor units of the trip's currency."""
        return sum(link.amount_minor for link in self.loaded_links)

    def assign(self, **fields: Any) -> None:
        """Set these fields; on another day, and as a new one, it comes last."""
        day = fields.get("date", self.date)
        if self._state.adding or day != self.date:
            of_day = self.trip.activities.kept().filter(date=day)
            self.order = of_day.aggregate(last=Max("order", default=0))["last"] + STEP
        super().assign(**fields)

    def change(self, by: User, place: int | None = None, **fields: Any) -> "Activity":
        """Store the given fields only; with a `place`, it gets that on its day, from 0."""
        with transaction.atomic():
            stored = super().change(by, **fields)
            if place is not None:
                of_day = stored.trip.activities.kept().filter(date=stored.date)
                planned = list(of_day.exclude(pk=stored.pk).order_by("order", "id"))
                planned.insert(place, stored)
                rewrite(stored.trip, by, _in_order(planned, stored.date))
            return stored

    def restore(self, by: User) -> "Activity":
        with transaction.atomic():
            restored = super().restore(by)
            restored.restored_at = timezone.now()
            restored.save(update_fields=["restored_at"])
        return restored

    def entries_of_others(self) -> list[Entry]:
        """Its expenses belong to no activity while it is deleted."""
        links: Any = self.links
        ids = links.recorded().values_list("expense_id", flat=True)
        pair = (None, self.pk) if self.deleted_at is None else (self.pk, None)
        return [Entry(Event.EXPENSE_CHANGED, pk, {"activityId": pair}, pk) for pk in ids]

    @classmethod
    def arrange(cls, trip: Trip, by: User, days: Mapping[datetime.date, Sequence[int]]) -> None:
        """Put the activities of some days into this order; those of other days move to them.

        Raises `OrderChanged` unless all activities of these days are named, and nothing that is
        gone.
        """
        with locked_trip(trip.pk, by, CanPlan.PLAN) as locked:
            known = {row.pk: row for row in locked.activities.kept()}
            of_days = {row.pk for row in known.values() if row.date in days}
            if not of_days <= {pk for ids in days.values() for pk in ids} <= known.keys():
                raise OrderChanged
            changes: list[Change] = []
            for day, activity_ids in days.items():
                changes += _in_order([known[pk] for pk in activity_ids], day)
            rewrite(locked, by, changes)


#: A row, and the fields to store.
Change = tuple[Activity, Mapping[str, Any]]


def _in_order(rows: Sequence[Activity], day: datetime.date | None) -> list[Change]:
    """What gives the rows this order on a day."""
    numbers = renumbered([row.order if row.date == day else None for row in rows])
    return [(row, {"date": day, "order": at}) for row, at in zip(rows, numbers, strict=True)]


def rewrite(trip: Trip, by: User, changes: Sequence[Change]) -> None:
    """Store these fields of each row, and write what changed into the journal.

    Call it under the trip's lock. It takes two statements, or one more for each 500 rows.
    """
    entries: list[Entry] = []
    changed: list[Activity] = []
    for row, fields in changes:
        old = plain_values(row)
        for name, value in fields.items():
            setattr(row, name, value)
        found = entries_between("activity.changed", row.pk, old, plain_values(row))
        if found:
            entries += found
            row.updated_at = timezone.now()
            changed.append(row)
    if changed:
        names = {name for _row, fields in changes for name in fields}
        Activity.objects.filter(trip=trip.pk).bulk_update(changed, [*names, "updated_at"], 500)
        write(trip.pk, by, *entries)


def day_index(trip: Trip, day: datetime.date | None) -> int | None:
    """Which day of the trip a date is, from 0, below 0 before it; None without one."""
    return None if day is None else (day - trip.start_date).days
