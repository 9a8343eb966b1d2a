"""Imports: the plan of one, and which entry became of which row of a file."""

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import orjson
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict
from trips.models import Trip
from users.models import User

#: How long a plan can be confirmed.
PLAN_LIFETIME = timedelta(days=1)
#: How many plans an account may have; the oldest is deleted for a new one.
MAX_PLANS = 10


class Outcome(models.TextChoices):
    """What becomes of a row of the file."""

    TAKEN = "TAKEN", gettext_lazy("taken")
    NOTED = "NOTED", gettext_lazy("taken, with a note")
    SKIPPED = "SKIPPED", gettext_lazy("skipped")
    KNOWN = "KNOWN", gettext_lazy("imported before")
    DIFFERS = "DIFFERS", gettext_lazy("imported before, but different since")


TAKEN = (Outcome.TAKEN, Outcome.NOTED)


class EntryKind(models.TextChoices):
    """What a row is recorded as."""

    EXPENSE = "expense", gettext_lazy("expense")
    SETTLEMENT = "settlement", gettext_lazy("settlement")


class AlreadyImported(Conflict):
    """409 `already_imported`: the import was confirmed before."""

    default_code = "already_imported"
    default_detail = gettext_lazy("This import was confirmed already.")


class ImportTouched(Conflict):
    """409 `import_touched`: something has happened since to what was imported."""

    default_code = "import_touched"
    default_detail = gettext_lazy(
        "The import cannot be undone: somebody has changed, paid or deleted something of it since."
    )


class ImportQuerySet(models.QuerySet["Import"]):
    def of(self, user: User) -> "ImportQuerySet":
        """The imports of `user` that still exist; only those of the trip of a confined token."""
        rows = self.filter(user=user).exclude(confirmed_at=None, created_at__lte=expiry())
        return rows if user.confined_to is None else rows.filter(trip=user.confined_to)

    def outdated(self) -> "ImportQuerySet":
        """Plans that nobody confirmed in time."""
        return self.filter(confirmed_at=None, created_at__lte=expiry())


def _decoded(values: dict[str, Any]) -> dict[str, Any]:
    """A JSON object of a plan, with its amounts and dates, which are texts."""
    for name, value in values.items():
        if name in _NUMBERS and value is not None:
            values[name] = Decimal(value)
        elif name in _DATES and value is not None:
            values[name] = date.fromisoformat(value)
        elif name in _LISTS:
            values[name] = [SimpleNamespace(**row) for row in value]
    return values


#: The names in a plan of numbers, of dates, and of lists of objects.
_NUMBERS = frozenset({"amount", "planned", "claimed", "rate"})
_DATES = frozenset({"date", "start_date", "end_date", "rate_date"})
_LISTS = frozenset({"people", "balances", "exchange_rates"})


def expiry() -> datetime:
    """Plans that were made by then are gone."""
    return timezone.now() - PLAN_LIFETIME


class Import(models.Model):
    """A file that is to be imported, or was: the plan, and of our own for a new trip the file.

    Only the caller who sent the file sees it. `content` is the plan as JSON: the fields of the
    trip, people, balances and notes.
    """

    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="imports",
        verbose_name=gettext_lazy("imported by"),
    )
    #: The trip that gets the entries; null while a new one is planned.
    trip = models.ForeignKey(
        Trip,
        on_delete=models.CASCADE,
        null=True,
        related_name="imports",
        verbose_name=gettext_lazy("trip"),
    )
    makes_trip = models.BooleanField(gettext_lazy("makes the trip"), default=False)
    format = models.CharField(gettext_lazy("format"), max_length=30)
    content = models.TextField(editable=False)
    #: Our own export, of which a new trip is to be made, compressed; null once it is confirmed.
    whole_file = models.BinaryField(null=True, editable=False)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    confirmed_at = models.DateTimeField(gettext_lazy("confirmed at"), null=True)
    #: The number of the last row that confirming wrote into the journal of the trip.
    last_number = models.BigIntegerField(null=True, editable=False)

    objects = ImportQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("import")
        verbose_name_plural = gettext_lazy("imports")
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(confirmed_at=None),
                name="import_unconfirmed",
            )
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"

    @cached_property
    def plan(self) -> SimpleNamespace:
        """The plan; see `planning.py` for its attributes."""
        return SimpleNamespace(**json.loads(self.content, object_hook=_decoded))

    @property
    def expires_at(self) -> datetime | None:
        """Until when it can be confirmed; None if it was."""
        return None if self.confirmed_at else self.created_at + PLAN_LIFETIME


class ImportedRow(models.Model):
    """A row of a file with what becomes of it.

    `key` is the id of the row in its source or, without one, a fingerprint of its content with its
    ordinal among equal rows. `match` is what stays the same when the row is edited there, and
    `digest` is the content. They stay, so that a newer file of the same group doubles nothing.
    """

    plan = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="rows", db_index=False)
    position = models.PositiveIntegerField()
    line = models.PositiveIntegerField()
    outcome = models.CharField(max_length=7, choices=Outcome)
    kind = models.CharField(max_length=10, choices=EntryKind, blank=True, default="")
    key = models.CharField(max_length=32, blank=True, default="")
    match = models.CharField(max_length=32, blank=True, default="")
    digest = models.CharField(max_length=32, blank=True, default="")
    entry_date = models.DateField(null=True)
    #: What the plan shows of it, its notes, and what is recorded; JSON.
    shown = models.TextField()
    notes = models.TextField(default="[]")
    #: Empty once it is confirmed.
    entry = models.TextField(blank=True, default="")
    #: The id of the expense or the settlement.
    object_id = models.BigIntegerField(null=True)

    class Meta:
        verbose_name = gettext_lazy("imported row")
        verbose_name_plural = gettext_lazy("imported rows")
        constraints = [
            models.UniqueConstraint(fields=["plan", "position"], name="imported_row_in_order")
        ]
        indexes = [models.Index(fields=["key"], name="imported_row_by_key")]

    def __str__(self) -> str:
        return f"{self.line}"

    @property
    def fields(self) -> SimpleNamespace:
        """What the plan shows of it: description, date, amount and currency, or None."""
        known = dict.fromkeys(("description", "date", "amount", "currency"))
        return SimpleNamespace(**known | _decoded(orjson.loads(self.shown)))

    @property
    def note_list(self) -> list[list[Any]]:
        return orjson.loads(self.notes)
