"""Recurring expenses, and the dates on which they were recorded or skipped."""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.db import DataError, IntegrityError, models, transaction
from django.db.models import Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override
from rest_framework.exceptions import APIException, ValidationError

from plugins.due import Due
from plugins.recurring import body
from plugins.recurring.body import Body
from plugins.recurring.mails import RECURRENCE
from plugins.recurring.rules import MAX_OVERDUE, MAX_RULE_CHARS, dates_of
from plugins.restorable import author_column
from splits.models import Expense
from splits.models.in_trip import InTrip
from tripcompanion.api.problems import LimitReached, as_api_exception, document_of
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip, trip_key
from trips.models.conflicts import CurrencyChanged
from trips.models.journal import as_text
from trips.roles import Can, Capability, may
from trips.signals import person_replaced, trip_changed
from users.models import Mail, User

#: How many a trip may have.
MAX_RECURRENCES = 100
#: How many of the next dates a response has.
NEXT = 10


class TooManyRecurrences(LimitReached):
    """409 `too_many_recurrences`: the trip has as many recurring expenses as it may."""

    default_code = "too_many_recurrences"
    default_detail = gettext_lazy("A trip has at most %(limit)s recurring expenses.")
    example_values: ClassVar = {"limit": MAX_RECURRENCES}


class RateOfFormerCurrency(CurrencyChanged):
    """409 `currency_changed`: the rate is to the trip's previous currency."""

    default_detail = gettext_lazy(
        "Its exchange rate was to %(meant)s, but the trip's currency is now %(currency)s. Without "
        "another rate, it is recorded at that of the European Central Bank."
    )


class RecurrenceState(models.TextChoices):
    """Whether expenses are recorded. One without a next date has ended."""

    ON = "on", gettext_lazy("on")
    PAUSED = "paused", gettext_lazy("paused")


class RecurrenceQuerySet(InTripQuerySet["Recurrence"]):
    def due(self) -> "RecurrenceQuerySet":
        """Those with a date to record now, the one that waits longest first."""
        rows = self.filter(state=RecurrenceState.ON, due_at__lte=timezone.now())
        return rows.in_kept_trips().order_by("due_at", "id")


class Recurrence(Due, models.Model):
    """An expense that is recorded on each date of a rule, by the account that created it."""

    due_column = "due_at"

    trip = trip_key("recurrences")
    created_by = author_column(gettext_lazy("recorded by"))
    rule = models.CharField(gettext_lazy("rule"), max_length=MAX_RULE_CHARS)
    time_zone = models.CharField(gettext_lazy("time zone"), max_length=64)
    starts_on = models.DateField(gettext_lazy("starts on"))
    #: The body that is recorded, as JSON with exact numbers.
    stored_expense = models.TextField(gettext_lazy("expense"))
    state = models.CharField(
        gettext_lazy("state"), max_length=6, choices=RecurrenceState, default=RecurrenceState.ON
    )
    #: Why the service paused it: the code of a problem, and a text; empty if a person did.
    reason_code = models.CharField(gettext_lazy("reason"), max_length=40, blank=True, default="")
    reason_text = models.TextField(gettext_lazy("explanation"), blank=True, default="")
    #: The participants who had left the trip when it was last recorded.
    left_out = models.JSONField(default=list)
    #: The last date that was recorded or left out; only later ones follow.
    done_through = models.DateField(null=True)
    #: The next dates, and when the first of them begins.
    next = models.JSONField(default=list)
    due_at = models.DateTimeField(gettext_lazy("next date"), null=True)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)

    objects = RecurrenceQuerySet.as_manager()

    caller_role: str

    class Meta:
        verbose_name = gettext_lazy("recurring expense")
        verbose_name_plural = gettext_lazy("recurring expenses")
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=Q(state="on"), name="recurrence_due")
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether `user` created it."""
        return user.pk == self.created_by_id

    @property
    def expense(self) -> Body:
        return json.loads(self.stored_expense, parse_float=Decimal)

    @property
    def shown_state(self) -> str:
        return self.state if self.next else "ended"

    @property
    def reason(self) -> "Recurrence | None":
        """Why the service paused it, whose columns are in this row; None unless it did."""
        return self if self.reason_code else None

    @property
    def today(self) -> date:
        """Today in its time zone."""
        return timezone.now().astimezone(ZoneInfo(self.time_zone)).date()

    @property
    def in_calendar(self) -> Mapping[str, Any]:
        """Its next date as an entry in calendars; see `Plugin.calendar`."""
        expense, day = self.expense, self.next[0]
        amount = f"{expense.get('amount')} {expense.get('currency')}"
        return {
            "uid": f"recurrence-{self.pk}-{day}",
            "summary": expense.get("description"),
            "description": _("Recurring expense: %(amount)s") % {"amount": amount},
            "dtstart": date.fromisoformat(day),
            "created": self.created_at,
            "dtstamp": self.created_at,
        }

    @classmethod
    def plan(
        cls, trip: Trip, by: User, *, expense: Any, context: Any, **fields: Any
    ) -> "Recurrence":
        """An unsaved recurrence. Raises `ValidationError`, and `NoRate`."""
        planned = cls(trip=trip, created_by=by, **fields)
        planned._find_next()
        planned._require_dates()
        planned._set_expense(expense, by, context)
        return planned

    @classmethod
    def start(cls, trip: Trip, by: User, **fields: Any) -> "Recurrence":
        """Create one. Raises what `plan` raises, and `TooManyRecurrences`."""
        with locked_trip(trip.pk, by, Can.RECORD) as locked:
            locked.require_currency(trip.currency)
            TooManyRecurrences.require_at_most(MAX_RECURRENCES, locked.recurrences.count() + 1)
            planned = cls.plan(locked, by, **fields)
            planned.save()
            return planned

    @classmethod
    def resume_imported(cls, trip: Trip) -> None:
        """Find the next dates of rows that come from a file. Raises `TooManyRecurrences`."""
        TooManyRecurrences.require_at_most(MAX_RECURRENCES, trip.recurrences.count())
        for row in trip.recurrences.all():
            oldest = row.today - MAX_OVERDUE
            if (row.done_through or row.starts_on) < oldest:
                row.done_through = oldest
            row._find_next()
            row.save()

    def change(self, by: User, *, context: Any, expense: Any = None, **fields: Any) -> "Recurrence":
        """Change what follows; recorded expenses stay. Raises what `plan` raises.

        Another rule from the same start has no dates before today.
        """
        with self._locked(by) as stored:
            former_rule, former_start = stored.rule, stored.starts_on
            for name, value in fields.items():
                setattr(stored, name, value)
            yesterday = stored.today - timedelta(days=1)
            is_another = stored.rule != former_rule and stored.starts_on == former_start
            if is_another and stored.starts_on <= yesterday:
                stored.done_through = max(stored.done_through or yesterday, yesterday)
            if fields:
                stored._find_next()
                stored._require_dates()
            if expense is not None:
                sent = body.merged(stored.expense, expense)
                # It may be what was answered, with somebody who has left the trip since.
                if sent != stored.expense:
                    stored._set_expense(sent, stored.created_by, context)
            stored.save()
            return stored

    def pause(self, by: User) -> "Recurrence":
        """Record nothing until it is resumed."""
        with self._locked(by) as stored:
            if stored.state != RecurrenceState.PAUSED:
                stored.state = RecurrenceState.PAUSED
                stored.save()
            return stored

    def resume(self, by: User) -> "Recurrence":
        """Go on with the date that the service could not record, otherwise with today's.

        If its creator may not record it any more, `by` does so from now on.
        """
        with self._locked(by) as stored:
            if stored.state == RecurrenceState.PAUSED:
                if stored._hindrance:
                    stored.created_by = by
                if not stored.reason_code:
                    yesterday = stored.today - timedelta(days=1)
                    stored.done_through = max(stored.done_through or yesterday, yesterday)
                stored._go_on()
                stored.save()
            return stored

    def _go_on(self) -> None:
        self.state = RecurrenceState.ON
        self.reason_code = self.reason_text = ""
        self._find_next()

    def skip(self, by: User, day: date) -> "Recurrence":
        """Leave out one of the next dates. Raises `ValidationError` on `date`."""
        with self._locked(by) as stored:
            if not stored.occurrences.filter(day=day, expense_id=None).exists():
                if day.isoformat() not in stored.next:
                    raise ValidationError({"date": [_("This is not one of the next dates.")]})
                stored.occurrences.create(trip=stored.trip, day=day)
                stored._find_next()
                stored.save()
            return stored

    def remove(self, by: User) -> None:
        """Delete it; what was recorded stays."""
        with self._locked(by) as stored:
            stored.delete()

    def do_what_is_due(self) -> bool:
        """Record the expense of its oldest date that is due, or pause it if that cannot be done."""
        trip, day = self.trip, date.fromisoformat(self.next[0])
        expense, left_out = body.without_former(self.expense, trip.present_roles)
        try:
            with override(self.created_by.notice_language), transaction.atomic():
                # What is stored may have names that were allowed when it was.
                new = body.arguments(expense, trip, day, is_lenient=True)
                recorded = Expense.record(trip, self.created_by, **new)
        except (APIException, DataError, IntegrityError) as error:
            # The database refuses sums that do not fit into 64 bits.
            self._pause_because(error)
            return False
        self.occurrences.create(trip=trip, day=day, expense_id=recorded.pk)
        if not set(left_out) <= set(self.left_out):
            self._tell()
        self.left_out, self.done_through = left_out, day
        self._find_next()
        self.save()
        return True

    def _pause_because(self, error: Exception) -> None:
        with override(self.created_by.notice_language):
            refusal = document_of(as_api_exception(error))
            hindrance = self._hindrance
            who = _("Its creator or an owner of the trip can resume it.")
            if hindrance:
                who = _("An owner of the trip can resume it, and records it from then on.")
            text = f"{hindrance or refusal['detail']} {who}"
        self.state = RecurrenceState.PAUSED
        self.reason_code, self.reason_text = refusal["code"], text
        self.save()
        self._tell()

    @property
    def _hindrance(self) -> str:
        """Why its creator may not record it any more; empty if they may."""
        name = {"name": self.created_by.shown_name}
        role = self.trip.present_roles.get(self.created_by_id)
        if self.created_by.is_guest:
            return _("%(name)s, who created it, is a guest without an account.") % name
        if not self.created_by.is_active:
            return _("The account of %(name)s, who created it, was deactivated or deleted.") % name
        if role is None and not self.created_by.is_admin:
            return _("%(name)s, who created it, has left the trip.") % name
        if role is not None and not may(role, Can.RECORD, lambda: True):
            return _("%(name)s, who created it, may not record expenses any more.") % name
        return ""

    def _tell(self) -> None:
        """Mail the account that records it, if the address is known to be its own."""
        user = self.created_by
        if user.email and user.email_verified_at:
            with override(user.notice_language):
                Mail.objects.tell(user, RECURRENCE, user.email)

    def _find_next(self) -> None:
        """Set the next dates: those after the last one that is done, without skipped ones."""
        skipped = set(self.occurrences.values_list("day", flat=True)) if self.pk else set()
        done = self.done_through or date.min
        dates = (day for day in self._dates() if day > done)
        left = list(islice((day for day in dates if day not in skipped), NEXT))
        self.next = [day.isoformat() for day in left]
        zone = ZoneInfo(self.time_zone)
        self.due_at = datetime.combine(left[0], time(), zone) if left else None

    def _dates(self) -> Iterator[date]:
        """All dates of its rule, whether they are done or not."""
        return dates_of(self.rule, self.starts_on, self.time_zone)

    def _require_dates(self) -> None:
        if next(self._dates(), None) is None:
            raise ValidationError({"rule": [_("There is no such date.")]})

    def _set_expense(self, sent: Any, by: User, context: Any) -> None:
        day = date.fromisoformat(self.next[0]) if self.next else self.starts_on
        self.stored_expense = as_text(body.checked(sent, self.trip, by, day, **context))

    def _locked(self, by: User) -> AbstractContextManager["Recurrence"]:
        rows = Recurrence.objects.all
        return locked_row(rows, by, Can.CHANGE_EXPENSES, trip_id=self.trip_id, pk=self.pk)


class Occurrence(InTrip):
    """A date of a recurrence that was recorded, or skipped."""

    recurrence = models.ForeignKey(
        Recurrence, on_delete=models.CASCADE, related_name="occurrences", db_index=False
    )
    day = models.DateField()
    #: Not a foreign key: the expense may be deleted. None if the date was skipped.
    expense_id = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["recurrence", "day"], name="occurrence_once")
        ]

    def __str__(self) -> str:
        return f"{self.recurrence_id}: {self.day}"

    def take_new_ids(self, ids: Mapping[Any, Mapping[int, int]]) -> None:
        """Name the new row of the expense of a file; a negative id is that of a deleted one."""
        if self.expense_id is not None:
            self.expense_id = ids[Expense].get(self.expense_id, -abs(self.expense_id))


@receiver(person_replaced)
def rename_in_recurrences(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Put `to` in the place of `user_id` in what will be recorded.

    What a guest created, in an imported file, goes on when an account takes their place.
    """
    people = {user_id: to}
    for row in Recurrence.objects.filter(trip=trip):
        row.stored_expense = as_text(body.with_people(row.expense, people))
        if row.created_by_id == user_id:
            row.created_by_id = to
            if row.reason_code:
                row._go_on()
        row.save()


@receiver(trip_changed)
def drop_former_rates(trip: Trip, old: Mapping[str, Any], **_about: object) -> None:
    """Take out the rates to the former currency of the trip, and pause what had them."""
    if trip.currency == old["currency"]:
        return
    for row in Recurrence.objects.filter(trip=trip).select_related("created_by"):
        row.trip, expense = trip, row.expense
        if expense.pop("exchangeRate", None) is None:
            continue
        row.stored_expense = as_text(expense)
        if row.shown_state == RecurrenceState.ON:
            row._pause_because(RateOfFormerCurrency(meant=old["currency"], currency=trip.currency))
        else:
            row.save()
