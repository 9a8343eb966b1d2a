"""The itinerary of a trip, and what is stored of its days."""

import datetime
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Prefetch
from django.dispatch import receiver
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from plugins.itinerary.models.activity import Activity, day_index, rewrite
from plugins.itinerary.models.cost import ShownActivities, plan_of
from plugins.itinerary.rights import CanPlan
from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import CompiledQuery, Param
from trips.models import InTripQuerySet, Trip, ViewerParam, locked_trip, trip_key
from trips.models.journal import Entry, entries_between, write
from trips.signals import trip_changed
from users.models import User
from users.models.token import require_scopes

#: How many days of a trip are listed although nothing is planned, and how many have a title.
MAX_DAYS = 366


class ShownDays(InTripQuerySet["ItineraryDay"]):
    """Days with their activities, and with the expenses that the reader may see."""

    def visible_to(self, user: User | ViewerParam) -> Self:
        rows = super().visible_to(user).select_related("trip")
        planned = ShownActivities(Activity).kept().planned().shown_to(user)
        return rows.prefetch_related(Prefetch("trip__activities", planned))


class ItineraryDay(models.Model):
    """A day of an itinerary; it has a row if it was ever named or ticked.

    In an itinerary, the `date` of one is None: it has the activities without a date.
    """

    #: How many a trip may have.
    limit = MAX_DAYS

    trip = trip_key("itinerary_days", db_index=False)
    date: "models.DateField[Any, Any]" = models.DateField(gettext_lazy("date"))
    title = models.CharField(  # noqa: DJ001 -- as in the API
        gettext_lazy("title"), max_length=100, null=True, blank=True, default=None
    )
    #: What `completed` is without activities.
    is_ticked = models.BooleanField(gettext_lazy("done"), default=False)

    objects = InTripQuerySet["ItineraryDay"].as_manager()

    class Meta:
        verbose_name = gettext_lazy("day of an itinerary")
        verbose_name_plural = gettext_lazy("days of itineraries")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trip", "date"], name="itinerary_day_once")
        ]

    def __str__(self) -> str:
        return self.date.isoformat()

    @property
    def day_index(self) -> int | None:
        """Which day of the trip it is, from 0."""
        return day_index(self.trip, self.date)

    @cached_property
    def activities(self) -> list[Any]:
        """What is planned, in its order; `ShownDays` reads it."""
        return [row for row in self.trip.activities.all() if row.date == self.date]

    @property
    def completed(self) -> bool:
        """Whether all of its activities are done; without any, whether it was ticked."""
        return all(row.completed for row in self.activities) if self.activities else self.is_ticked

    @property
    def cost_minor(self) -> int:
        """What the expenses of its activities cost, in minor units of the trip's currency."""
        return sum(row.cost_minor for row in self.activities)

    @classmethod
    def change(
        cls, trip: Trip, by: User, day: datetime.date, completed: bool | None = None, **fields: Any
    ) -> None:
        """Name a day or tick it, and all of its activities with it, unless it shows this already.

        Raises `LimitReached` above `limit`.
        """
        with locked_trip(trip.pk, by, CanPlan.PLAN) as locked:
            stored = locked.itinerary_days.filter(date=day).first()
            if stored is None:
                LimitReached.require_at_most(cls.limit, locked.itinerary_days.count() + 1)
                stored = cls(trip=locked, date=day)
            old = {"title": stored.title, "completed": stored.is_ticked}
            stored.activities = list(locked.activities.kept().filter(date=day))
            if completed not in {None, stored.completed}:
                stored.is_ticked = bool(completed)
                ticked = {"completed": stored.is_ticked}
                rewrite(locked, by, [(row, ticked) for row in stored.activities])
            stored.title = fields.get("title", stored.title)
            new = {"title": stored.title, "completed": stored.is_ticked}
            if new != old:
                stored.save()
                write(locked.pk, by, *entries_between("day.changed", stored.pk, old, new))


@receiver(trip_changed)
def move_itinerary(
    trip: Trip, by: User, old: Mapping[str, Any], options: Mapping[str, Any], **_about: object
) -> None:
    """Move all dates as the start of the trip did, if `move_activities` asks for it.

    Raises `ValidationError` if one would be after the year 9999, and `InsufficientScope`.
    """
    days = trip.start_date - old["startDate"]
    if not (days and options.get("move_activities")):
        return
    require_scopes(by, ["activities:write"])
    dated = trip.activities.filter(date__isnull=False)
    named = list(trip.itinerary_days.all())
    try:
        rewrite(trip, by, [(row, {"date": row.date + days}) for row in dated.kept()])
        deleted = list(dated.deleted())
        moved: list[Any] = [*deleted, *named]
        for row in moved:
            row.date += days
    except OverflowError as error:
        text = _("An activity would be after the last day of the calendar.")
        raise ValidationError({"moveActivities": [text]}) from error
    entries = (Entry("day.changed", row.pk, {"date": (row.date - days, row.date)}) for row in named)
    write(trip.pk, by, *entries)
    Activity.objects.bulk_update(deleted, ["date"], 500)
    # Made again, because an update of all would have two of the same date for a moment.
    trip.itinerary_days.all().delete()
    ItineraryDay.objects.bulk_create(named)


class Itinerary:
    """The plan of a trip by day. Its number of statements is constant."""

    def __init__(self, trip: Trip, reader: User) -> None:
        self.trip, self.trip_id = trip, trip.pk
        self.activities = plan_of(trip, reader)
        self._stored = {row.date: row for row in _days_in(trip=trip.pk)}
        self._planned: dict[datetime.date | None, list[Any]] = defaultdict(list)
        for activity in self.activities:
            self._planned[activity.date].append(activity)

    def day(self, day: datetime.date | None) -> ItineraryDay:
        """The day with this date, or what has none."""
        found = self._stored.get(day) or ItineraryDay(date=day)
        found.trip, found.activities = self.trip, self._planned[day]
        return found

    @property
    def days(self) -> list[ItineraryDay]:
        """The days of the trip, at most `MAX_DAYS`, and others on which something is planned."""
        start, end = self.trip.start_date, self.trip.end_date
        length = min((end - start).days + 1, MAX_DAYS)
        dates = {start + datetime.timedelta(days=number) for number in range(length)}
        dates |= {day for day, planned in self._planned.items() if day and planned}
        dates |= {row.date for row in self._stored.values() if row.title or row.is_ticked}
        return [self.day(day) for day in sorted(dates)]

    @property
    def undated(self) -> list[Any]:
        """The activities without a date."""
        return self._planned[None]

    @property
    def completed_percent(self) -> int:
        """How many of the activities are done; 100 only if all are."""
        done = sum(row.completed for row in self.activities)
        return 100 * done // len(self.activities) if done else 0


@CompiledQuery
def _days_in(trip: Param) -> Any:
    return ItineraryDay.objects.filter(trip=trip)
