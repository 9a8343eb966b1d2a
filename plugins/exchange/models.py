"""Imports: the plan of one, and which entry became of which row of a file."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import orjson
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from plugins.exchange.columns import MODELS, carried
from splits.models import Expense, SplitType
from splits.models.division import OF_AMOUNTS, SCALE
from splits.models.items import Items, load_items
from tripcompanion.api.problems import Conflict
from tripcompanion.currency.amounts import to_major
from trips.models import trip_key
from users.models import User

#: How long a plan can be confirmed.
PLAN_LIFETIME = timedelta(days=1)
#: How many plans an account may have; the oldest is deleted for a new one.
MAX_PLANS = 10
#: How many rows of the file a response shows; `rows` has all.
MAX_SHOWN_ROWS = 1000


class Outcome(models.TextChoices):
    """What becomes of a row of the file."""

    TAKEN = "taken", gettext_lazy("taken")
    NOTED = "noted", gettext_lazy("taken, with a note")
    SKIPPED = "skipped", gettext_lazy("skipped")
    KNOWN = "known", gettext_lazy("imported before")
    DIFFERS = "differs", gettext_lazy("imported before, but different since")


STATES = ("planned", "done", "undone")
TAKEN = (Outcome.TAKEN, Outcome.NOTED)


class EntryKind(models.TextChoices):
    """What a row is recorded as."""

    EXPENSE = "expense", gettext_lazy("expense")
    SETTLEMENT = "settlement", gettext_lazy("settlement")


class AlreadyImported(Conflict):
    """409 `already_imported`: the import was confirmed before."""

    default_code = "already_imported"
    default_detail = gettext_lazy(
        "This import was confirmed before. Undo it, or plan the file again."
    )


class ImportedMeanwhile(Conflict):
    """409 `imported_meanwhile`: another import has recorded some of these rows since the plan."""

    default_code = "imported_meanwhile"
    default_detail = gettext_lazy(
        "Some of these rows were imported into the trip after they were planned. Plan them again."
    )


class NotImported(Conflict):
    """409 `not_imported`: the import was not confirmed, or has been undone."""

    default_code = "not_imported"
    default_detail = gettext_lazy("This import was not confirmed, or has been undone.")


class ChangedSince(Conflict):
    """409 `changed_since`: something has happened since to what was imported."""

    default_code = "changed_since"
    default_detail = gettext_lazy(
        "The import cannot be undone: somebody has changed, paid or deleted something of it since."
    )


class ImportQuerySet(models.QuerySet["Import"]):
    def of(self, user: User) -> "ImportQuerySet":
        """The imports of `user` that still exist; only those of the trip of a confined token."""
        rows = self.filter(user=user).exclude(confirmed_at=None, created_at__lte=expiry())
        rows = rows.defer("file")
        return rows if user.confined_to is None else rows.filter(trip=user.confined_to)

    def locked(self, import_id: int, user: User) -> "Import":
        """The import of `user`, locked until the transaction ends. Raises `NotFound`.

        The accounts that it names are locked before, as whoever deletes an account does.
        """
        rows = self.of(user).filter(pk=import_id)
        named = [person.user_id for plan in rows for person in plan.plan.people]
        User.objects.lock({user.pk, *named} - {None})
        found = rows.select_for_update().first()
        if found is None:
            raise NotFound
        return found

    def recorded(self) -> "ImportQuerySet":
        """Imports whose entries are in their trips.

        One that made a trip is undone by deleting it; if it is restored, they are in it again.
        """
        return self.exclude(confirmed_at=None).exclude(undone_at__isnull=False, makes_trip=False)

    def rows_in(self, trip_id: int) -> "models.QuerySet[ImportedRow]":
        """The rows of files that entries of a trip were recorded for."""
        plans = self.recorded().filter(trip=trip_id)
        return ImportedRow.objects.filter(plan__in=plans, outcome__in=TAKEN)

    def outdated(self) -> "ImportQuerySet":
        """Plans that nobody confirmed in time."""
        return self.filter(confirmed_at=None, created_at__lte=expiry())


def _decoded(values: dict[str, Any]) -> dict[str, Any]:
    """A JSON object of a plan, with its dates, which are texts."""
    for name, value in values.items():
        if name in _DATES:
            values[name] = date.fromisoformat(value)
        elif name in _LISTS:
            values[name] = [SimpleNamespace(**row) for row in value]
    return values


#: The names in a plan of dates, and of lists of objects.
_DATES = frozenset({"start_date", "end_date", "rate_date"})
_LISTS = frozenset({"people", "balances", "exchange_rates"})


def expiry() -> datetime:
    """The time by which a plan was made that has expired."""
    return timezone.now() - PLAN_LIFETIME


class Import(models.Model):
    """A file that is to be imported, or was: the plan, and until it is confirmed the file.

    Only the caller who sent the file sees it. `content` is the plan as JSON: the fields of the
    trip, people, balances and notes. `choices` are what the caller chose; see `planning.Choices`.
    """

    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="imports",
        verbose_name=gettext_lazy("imported by"),
    )
    #: The trip that gets the entries; null while a new one is planned.
    trip: Any = trip_key("imports", null=True)
    makes_trip = models.BooleanField(gettext_lazy("makes the trip"), default=False)
    format = models.CharField(gettext_lazy("format"), max_length=30)
    content = models.TextField(editable=False)
    choices = models.TextField(default="{}", editable=False)
    #: Compressed; null once the plan is confirmed.
    file = models.BinaryField(null=True, editable=False)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    confirmed_at = models.DateTimeField(gettext_lazy("confirmed at"), null=True)
    undone_at = models.DateTimeField(gettext_lazy("undone at"), null=True)
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

    def opened(self) -> BytesIO:
        """The file of a plan."""
        return BytesIO(zlib.decompress(self.file or b""))

    @property
    def state(self) -> str:
        """`planned`, `done` or `undone`."""
        if self.undone_at is not None:
            return "undone"
        return "planned" if self.confirmed_at is None else "done"

    @property
    def expires_at(self) -> datetime:
        """Until when the plan can be confirmed."""
        return self.created_at + PLAN_LIFETIME

    @property
    def first_rows(self) -> list["ImportedRow"]:
        """As many rows of the file as one response has."""
        return list(self.rows.order_by("position")[:MAX_SHOWN_ROWS])

    @cached_property
    def people(self) -> dict[str, int | str]:
        """The user ids of the people in the file by their keys; names of those without one."""
        people = self.plan.people
        names = Counter(person.original for person in people)
        return {
            person.key: person.user_id
            or (person.original if names[person.original] == 1 else person.key)
            for person in people
        }


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
    #: What it is, its notes, and what is recorded; JSON.
    shown = models.TextField()
    notes = models.TextField(default="[]")
    entry = models.TextField(blank=True, default="")
    #: The id of the expense or the settlement.
    object_id = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "position"], name="imported_row_in_order")
        ]
        indexes = [models.Index(fields=["key"], name="imported_row_by_key")]

    def __str__(self) -> str:
        return f"{self.line}"

    @property
    def shown_kind(self) -> str:
        return self.kind or "other"

    @property
    def description(self) -> str:
        return orjson.loads(self.shown).get("description", "")

    @property
    def note_list(self) -> list[list[Any]]:
        return orjson.loads(self.notes)

    @property
    def body(self) -> dict[str, Any] | None:
        """The body of the request that records it; None if nothing is recorded.

        A person who has no user id yet has their name there.
        """
        if not self.entry:
            return None
        ids, entry = self.plan.people, orjson.loads(self.entry)
        code, rate = entry["currency"], entry["rate"]
        body = {
            name: entry.get(column.name, column.get_default())
            for name, column in carried(MODELS.get(self.kind, Expense)).items()
        }
        body |= {
            "amount": to_major(entry["entered_amount"], code),
            "currency": code,
            "exchangeRate": None if rate is None else Decimal(rate),
        }
        if self.kind == EntryKind.SETTLEMENT:
            people = {"fromUserId": ids[entry["sender"]], "toUserId": ids[entry["receiver"]]}
            return {**body, **people, "settledOn": str(self.entry_date)}
        payers = [
            {"userId": ids[key], "amount": to_major(minor, code)} for key, minor in entry["payers"]
        ]
        paid = {"paidByUserId": payers[0]["userId"], "payers": payers}
        return {
            **body,
            "expenseDate": str(self.entry_date),
            **paid,
            **_division_of(entry, ids, code),
        }


def _division_of(entry: Mapping[str, Any], ids: Any, code: str) -> dict[str, Any]:
    """How a planned expense is divided, as the body of a request."""
    split_type, entered = entry["split_type"], entry["entered"]
    division = {
        "splitType": split_type,
        "participantUserIds": [ids[key] for key, _value in entered],
    }
    items = Items.of(entry["items"], code)
    if items is not None:
        named = items.renamed({int(key): ids[key] for key, _value in entered})
        return division | load_items(named.text(code))
    if split_type != SplitType.EQUAL:
        division["splitAmounts"] = {
            str(ids[key]): to_major(value, code)
            if split_type in OF_AMOUNTS
            else Decimal(value) / SCALE
            for key, value in entered
            if value is not None
        }
    return division
