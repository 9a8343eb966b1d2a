"""The secret addresses of calendars, and what these show."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from datetime import date, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override
from rest_framework.exceptions import NotFound

from plugins.calendar.rights import CanSubscribe
from tripcompanion.database.watching import DATABASE_AWAY
from tripcompanion.plugin import plugins
from trips.models import Member, Trip, locked_trip, trip_key
from users.models import Role, User, user_key
from users.random_tokens import digest_of, new_token
from users.signals import admin_ended, sessions_ended

#: The prefix of every secret.
PREFIX = "tcc_"
#: How many trips and entries a calendar shows, the last ones by their day.
MAX_TRIPS = 100
MAX_ENTRIES = 2000
#: A link is noted as read once in this time.
_READ_EVERY = timedelta(hours=1)


class CalendarLink(models.Model):
    """The address of a calendar: of a trip, or of all trips of an account without one.

    Whoever has its secret reads the calendar. Only a digest of the secret is stored, and a link
    that ends is deleted.
    """

    user = user_key("calendar_links", db_index=False)
    trip: Any = trip_key("+", null=True)
    #: SHA-256 of the secret, in hexadecimal digits.
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    read_at = models.DateTimeField(gettext_lazy("last read at"), null=True)

    #: The secret itself; set by `renew` only.
    secret: str

    class Meta:
        verbose_name = gettext_lazy("calendar link")
        verbose_name_plural = gettext_lazy("calendar links")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "trip"], name="calendar_link_of_trip"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(trip=None), name="calendar_link_of_account"
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"

    @classmethod
    def renew(cls, by: User, trip: Trip | None) -> "CalendarLink":
        """Make a link of `by` to a trip or to all, with `.secret` set; the former one ends."""
        secret = new_token(PREFIX)
        reading = nullcontext() if trip is None else locked_trip(trip.pk, by, CanSubscribe.LINK)
        # With the account: once its sessions have ended, it makes no more.
        with by.locked(by=by), reading:
            cls.objects.filter(user=by, trip=trip).delete()
            made = cls.objects.create(user=by, trip=trip, digest=digest_of(secret))
        made.secret = secret
        return made

    @property
    def url(self) -> str:
        """The address; only after `renew`."""
        return f"{settings.PUBLIC_URL}/api/calendars/{self.secret}.ics"

    @classmethod
    def of(cls, user: User, trip: Trip | None) -> "CalendarLink":
        """The link of `user` to a trip or to all; without one, it was never created."""
        found = cls.objects.filter(user=user, trip=trip).first()
        return found or cls(user=user, trip=trip, created_at=None)

    def end(self) -> None:
        """Delete it. Raises `NotFound` if there is none."""
        if self.pk is None:
            raise NotFound
        self.delete()

    @classmethod
    def presented(cls, secret: str) -> "CalendarLink":
        """The link with this secret, its account and trip. Raises `NotFound`.

        It asks again whether the account may see the trip, in the same statement.
        """
        may_see = Q(user__role=Role.ADMIN) | Q(Exists(_membership()))
        rows = cls.objects.filter(Q(trip=None) | (Q(trip__deleted_at=None) & may_see))
        rows = rows.filter(digest=digest_of(secret), user__is_active=True)
        found = rows.select_related("user", "trip").first()
        if found is None:
            raise NotFound
        return found

    def note_reading(self) -> None:
        """Note that it was read, if it was not in the last hour."""
        now = timezone.now()
        if self.read_at is None or self.read_at <= now - _READ_EVERY:
            # If the database is away, the next reading is noted.
            with suppress(*DATABASE_AWAY):
                CalendarLink.objects.filter(pk=self.pk).update(read_at=now)

    def contents(self) -> tuple[str, list[Mapping[str, Any]]]:
        """The name of the calendar and its entries by time, in the language of its account.

        The statements are one for each app that has entries, and one for the trips of an account.
        """
        with override(self.user.notice_language):
            if self.trip is None:
                # Or whoever adds the account to trips displaces its own.
                unanswered = Member.objects.unanswered_by(self.user)
                trips = Trip.objects.of_member(self.user).exclude(pk__in=unanswered.values("trip"))
                chosen = list(trips.order_by("-start_date", "-id")[:MAX_TRIPS])
            else:
                chosen = [self.trip]
            found = [_entry_of(trip) for trip in chosen]
            for app in plugins():
                found += app.calendar(chosen, MAX_ENTRIES)
            found.sort(key=lambda entry: (entry["dtstart"].isoformat(), entry["uid"]))
            return self.trip.title if self.trip else _("My trips"), found[-MAX_ENTRIES:]


def _entry_of(trip: Trip) -> Mapping[str, Any]:
    """A trip as an entry of whole days; the end is the day after the last one."""
    last_day = min(trip.end_date, date.max - timedelta(days=1))
    return {
        "uid": f"trip-{trip.pk}",
        "summary": trip.title,
        "location": trip.destination,
        "description": trip.description,
        "dtstart": trip.start_date,
        "dtend": last_day + timedelta(days=1),
        "created": trip.created_at,
        "dtstamp": trip.updated_at,
    }


def _membership() -> "models.QuerySet[Member]":
    """The present membership behind a link to a trip."""
    return Member.objects.present().filter(user=OuterRef("user"), trip=OuterRef("trip"))


def end_with_membership(trip_id: int, user_id: int) -> None:
    """Delete the link of somebody to a trip, unless they are a member. See `Plugin.revoked`."""
    links = CalendarLink.objects.filter(trip=trip_id, user=user_id)
    links.exclude(Exists(_membership())).delete()


@receiver([sessions_ended, admin_ended])
def end_links_of(account: User, **_about: object) -> None:
    """Delete all links of an account. Called under its lock."""
    CalendarLink.objects.filter(user=account).delete()
