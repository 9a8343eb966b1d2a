"""The plan of an import: what would become of every row of a file. It writes nothing else."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial
from operator import contains
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import insert
from tripcompanion.currency.amounts import to_major
from tripcompanion.exchange.balances import compared
from tripcompanion.exchange.description import (
    DescribedExpense,
    DescribedSettlement,
    Entry,
    Note,
    SkippedRow,
    TripDescription,
)
from tripcompanion.exchange.fitting import Fitting, longest, plain
from tripcompanion.exchange.formats.entries import apportioned
from tripcompanion.exchange.formats.reading import RowError
from tripcompanion.exchange.identity import Identity, identified
from tripcompanion.exchange.known_rows import KnownRows, known_trip
from tripcompanion.exchange.models import (
    MAX_PLANS,
    EntryKind,
    Import,
    ImportedRow,
    Outcome,
)
from tripcompanion.exchange.people import PlannedPerson, planned_people
from tripcompanion.exchange.source import as_json
from trips.models import Trip
from trips.roles import Can, may
from users.models import User
from users.models.token import InsufficientScope

#: Rows per statement.
BATCH_ROWS = 500
#: Reasons for which no balance can differ.
_HARMLESS = frozenset({"repeated", "deleted_in_source", "no_amount"})


@dataclass(frozen=True)
class Choices:
    """What the caller chose: the trip to add to, fields of a new one, people and rates."""

    trip: Trip | None = None
    as_new_trip: bool = False
    title: str = ""
    destination: str = ""
    people: Mapping[str, int] = field(default_factory=dict)
    exchange_rates: Mapping[str, Decimal] = field(default_factory=dict)


def plan_import(
    caller: User,
    described: TripDescription,
    choices: Choices,
    progress: Callable[[Any], Any] = iter,
) -> Import:
    """Store the plan of importing a file, and return it. `progress` wraps its rows.

    Raises `ValidationError` for choices that do not fit, `PermissionDenied` if the caller's role in
    the trip does not cover it, `LimitReached`, and what reading the file raises.
    """
    trip = choices.trip
    is_known = trip is None and not choices.as_new_trip
    if is_known:
        trip = known_trip(caller, described)
    if trip is None and caller.confined_to is not None:
        raise InsufficientScope
    people = planned_people(described.people, caller, trip, choices.people)
    with transaction.atomic():
        _make_room(caller)
        stored = Import.objects.create(
            user=caller, trip=trip, makes_trip=trip is None, format=described.format, content=""
        )
        plan = _Plan(stored, described, choices, people, trip)
        if is_known and trip is not None:
            plan.notes.append(Note("known_trip"))
        plan.write_rows(progress)
        if trip is not None:
            plan.require_rights(trip, caller)
        stored.content = as_json(plan.content())
        if trip is None and described.read_whole is not None:
            stored.whole_file = zlib.compress(described.read_whole())
        stored.save(update_fields=["content", "whole_file"])
    return stored


def require_payments(trip: Trip, caller: User, pairs: Iterable[Iterable[int | None]]) -> None:
    """Raise `PermissionDenied` unless the caller's role covers payments between these people."""
    for pair in pairs:
        if not may(trip.caller_role, Can.SETTLE, partial(contains, [*pair], caller.pk)):
            raise PermissionDenied(_("Your role does not cover the payments of others."))


def _make_room(caller: User) -> None:
    """Delete the oldest plans of an account that has many."""
    plans = Import.objects.filter(user=caller, confirmed_at=None).order_by("-pk")
    old = list(plans.values_list("pk", flat=True)[MAX_PLANS - 1 :])
    if old:
        Import.objects.filter(pk__in=old).delete()


class _Plan:
    """A plan that is being made."""

    def __init__(
        self,
        stored: Import,
        described: TripDescription,
        choices: Choices,
        people: list[PlannedPerson],
        trip: Trip | None,
    ) -> None:
        self.stored, self.described, self.choices = stored, described, choices
        self.people, self.trip = people, trip
        self.currency = trip.currency if trip else described.currency
        self.user_ids = {person.key: person.user_id for person in people}
        self.order = {person.key: at for at, person in enumerate(people)}
        self.fitting = Fitting(
            described, self.currency, self.user_ids.keys(), choices.exchange_rates
        )
        self.counts: Counter[str] = Counter()
        self.balances: Counter[tuple[str, str]] = Counter()
        #: The lines of skipped rows and of rows with a note that may explain a difference.
        self.skipped: list[int] = []
        self.noted: list[int] = []
        self.days: list[date] = []
        self.pairs: set[tuple[str, str]] = set()
        self.notes = [*described.notes]
        self.known = KnownRows(trip, described)

    def write_rows(self, progress: Callable[[Any], Any]) -> None:
        """Write a row for each of the file, in batches. Raises `LimitReached`."""
        batch: list[ImportedRow] = []
        for position, (entry, identity) in enumerate(progress(identified(self.described)), start=1):
            batch.append(self._row(position, entry, identity))
            if self.counts[EntryKind.EXPENSE] > settings.QUOTA_EXPENSES:
                raise LimitReached(limit=settings.QUOTA_EXPENSES)
            # Fewer could be recorded in a day; a newer file also has what was imported before.
            if position > 2 * settings.QUOTA_CHANGES:
                raise LimitReached(limit=2 * settings.QUOTA_CHANGES)
            if len(batch) == BATCH_ROWS:
                insert(batch)
                batch = []
        insert(batch)

    def _row(self, position: int, entry: Entry, identity: Any) -> ImportedRow:
        row = ImportedRow(plan=self.stored, position=position, line=entry.line)
        if isinstance(entry, SkippedRow):
            shown = {"description": entry.description}
            return self._finished(row, Outcome.SKIPPED, shown, [entry.reason])
        return self._identified(row, entry, identity)

    def _identified(self, row: ImportedRow, entry: Any, identity: Identity) -> ImportedRow:
        row.key, row.match, row.digest = identity
        row.entry_date = entry.date
        is_expense = isinstance(entry, DescribedExpense)
        row.kind = EntryKind.EXPENSE if is_expense else EntryKind.SETTLEMENT
        shown = _shown(entry)
        changed = self.known.changes(identity, shown)
        try:
            if changed is None:
                entry, notes = self.fitting.fitted(entry)
                content = self.fitting.content(entry)
            moved = self._moved(entry)
        except RowError as error:
            return self._finished(row, Outcome.SKIPPED, shown, [*entry.notes, error.note])
        self.balances.update(moved)
        if changed is not None:
            outcome = Outcome.DIFFERS if changed else Outcome.KNOWN
            notes = [Note("differs", {"fields": ", ".join(changed)})] if changed else []
            return self._finished(row, outcome, shown, notes)
        self.days = [min([*self.days, entry.date]), max([*self.days, entry.date])]
        if isinstance(entry, DescribedSettlement):
            self.pairs.add((entry.sender, entry.receiver))
        self.counts[row.kind] += 1
        row.entry = as_json(content)
        return self._finished(row, Outcome.NOTED if notes else Outcome.TAKEN, _shown(entry), notes)

    def _finished(
        self, row: ImportedRow, outcome: Outcome, shown: Mapping[str, Any], notes: list[Note]
    ) -> ImportedRow:
        row.outcome, row.shown = outcome, as_json(shown)
        row.notes = as_json([[note.code, dict(note.values)] for note in notes])
        self.counts[outcome] += 1
        if outcome == Outcome.SKIPPED and notes[-1].code not in _HARMLESS:
            self.skipped.append(row.line)
        if outcome == Outcome.NOTED:
            self.noted.append(row.line)
        return row

    def _moved(self, entry: Any) -> Counter[tuple[str, str]]:
        """What the entry changes in the balances that the file leads to. Raises `RowError`."""
        moved: Counter[tuple[str, str]] = Counter()
        converted = entry.converted_minor
        currency = entry.currency if converted is None else self.described.currency
        minor = entry.amount_minor if converted is None else converted
        if isinstance(entry, DescribedSettlement):
            moved[entry.sender, currency] += minor
            moved[entry.receiver, currency] -= minor
            return moved
        for key, part in apportioned(minor, dict(entry.payers)).items():
            moved[key, currency] += part
        weights = {key: 1 if value is None else value for key, value in entry.entered}
        parts = dict(entry.parts) if entry.parts else apportioned(minor, weights, entry.line)
        for key, part in parts.items():
            moved[key, currency] -= part
        return moved

    def require_rights(self, trip: Trip, caller: User) -> None:
        """Raise `PermissionDenied` unless the caller's role covers everything that is planned."""
        needed = [Can.RECORD] if self.counts[EntryKind.EXPENSE] else []
        if any(not person.is_member for person in self.people):
            needed.append(Can.ADD_MEMBERS)
        if not all(may(trip.caller_role, can, lambda: False) for can in needed):
            raise PermissionDenied
        require_payments(trip, caller, (map(self.user_ids.get, pair) for pair in self.pairs))

    def content(self) -> dict[str, Any]:
        """The plan without its rows."""
        described, today = self.described, timezone.now().date()
        title = self.choices.title or plain(described.name) or _("Imported trip")
        destination = self.choices.destination or plain(described.destination) or title
        first = described.start_date or min(self.days, default=today)
        last = described.end_date or max(self.days, default=first)
        rows = sum(self.counts[kind] for kind in EntryKind.values)
        balances = compared(described, self.balances, self.skipped, self.noted, rows)
        return {
            "title": self.trip.title if self.trip else title[: longest(Trip, "title")],
            "destination": destination[: longest(Trip, "destination")],
            "description": plain(described.description)[: longest(Trip, "description")],
            "start_date": first,
            "end_date": max(first, last),
            "currency": self.currency,
            "people": list(map(asdict, self.people)),
            "balances": balances,
            "exchange_rates": [
                {"currency": code, "rate": f"{rate:f}", "rate_source": source, "rate_date": day}
                for code, (rate, source, day) in sorted(self.fitting.rates.items())
            ],
            "notes": [[note.code, dict(note.values)] for note in self.notes],
            "counts": {name: self.counts[name] for name in (*Outcome.values, *EntryKind.values)},
        }


def _shown(entry: Any) -> dict[str, Any]:
    """The fields of an entry that the plan shows."""
    is_expense = isinstance(entry, DescribedExpense)
    return {
        "description": entry.description if is_expense else entry.note,
        "date": str(entry.date),
        "amount": f"{to_major(entry.amount_minor, entry.currency):f}",
        "currency": entry.currency,
    }
