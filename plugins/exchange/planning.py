"""The plan of an import: what would become of every row of a file. It writes nothing else."""

import json
import pickle
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from itertools import islice
from operator import contains
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, cast
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import get_object_or_404

from plugins.exchange.balances import compared
from plugins.exchange.currencies import in_use
from plugins.exchange.description import Note, UnreadableFile
from plugins.exchange.fitting import Fitting, longest
from plugins.exchange.formats import describe
from plugins.exchange.formats.reading import RowError, TripDescription, plain
from plugins.exchange.known_rows import Identity, KnownRows, identified, known_trip, shown_of
from plugins.exchange.models import (
    MAX_PLANS,
    AlreadyImported,
    EntryKind,
    Import,
    ImportedRow,
    Outcome,
)
from plugins.exchange.notes import FileUnreadable
from plugins.exchange.people import PlannedPerson, changed_names, planned_people
from plugins.exchange.source import SourceFile, as_json
from plugins.exchange.trip_file import json_file, unknown_names
from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import insert
from tripcompanion.database.snapshots import snapshot
from trips.models import Trip, get_visible_or_404
from trips.roles import Can, may
from users.models import User
from users.models.token import InsufficientScope

#: Rows per statement.
BATCH_ROWS = 500
#: How many names that are not known are told.
_MOST_TOLD = 10
#: Reasons for which no balance can differ.
_HARMLESS = frozenset({"repeated", "deleted_in_source", "no_amount"})


@dataclass(frozen=True)
class Choices:
    """What the caller chose, which an import stores as JSON.

    Everything but the last two may be left to the file. `mapping` has user ids by keys or names of
    the people in the file; None is a guest. `exchange_rates` are numbers by currency, as text.
    """

    trip_id: int | None = None
    as_new_trip: bool = False
    title: str = ""
    destination: str = ""
    currency: str | None = None
    mapping: Mapping[str, int | None] = field(default_factory=dict)
    exchange_rates: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    time_zone: str = "UTC"
    file_name: str = ""

    def changed(self, changes: Mapping[str, Any]) -> "Choices":
        """With other choices; people and rates are added to those that were chosen before."""
        for name in ("mapping", "exchange_rates"):
            if name in changes:
                changes = {**changes, name: {**getattr(self, name), **changes[name]}}
        if "trip_id" in changes or changes.get("as_new_trip"):
            changes = {"trip_id": None, "as_new_trip": False, **changes}
        return replace(self, **changes)

    def source(self, file: BinaryIO) -> SourceFile:
        """A file with what it may not say. Raises `UnreadableFile`."""
        zone = ZoneInfo(self.time_zone)
        return SourceFile(file, self.file_name, self.currency or "", zone, self.group)


def plan_import(
    caller: User,
    file: BinaryIO,
    choices: Choices,
    progress: Callable[[Any], Any] = iter,
    replaced: Import | None = None,
) -> Import:
    """Store the plan of importing a file, and return it. `progress` wraps its rows.

    The plan takes the place of `replaced`, if that is given. Raises `ValidationError` for choices
    that do not fit, `NotFound`, `PermissionDenied` if the caller's role in the trip does not cover
    it, `LimitReached`, `AlreadyImported`, `InviteInstead`, and `FileUnreadable`.
    """
    trip = None
    if choices.trip_id is not None:
        trip = get_visible_or_404(Trip.objects.all, caller, pk=choices.trip_id)
    with TemporaryFile() as rows:
        try:
            described = describe(choices.source(file))
            newer = None if choices.as_new_trip else known_trip(caller, described)
            trip = trip or newer
            if trip is None and caller.confined_to is not None:
                raise InsufficientScope
            known = _known(trip, described)
            people = planned_people(
                described.people, caller, trip, choices.mapping, is_own=known.is_own_file
            )
            plan = _Plan(described, choices, people, trip, known)
            if newer is not None and trip == newer:
                plan.notes.append(Note("known_trip"))
            other_currency = choices.currency not in {None, described.currency}
            if trip is not None and (choices.title or choices.destination or other_currency):
                plan.notes.append(Note("keeps_title"))
            # No transaction waits for the file.
            _put_by(plan.rows(progress), rows)
            if unused := choices.exchange_rates.keys() - plan.fitting.given_used:
                plan.notes.append(Note("unused_rates", {"currencies": ", ".join(sorted(unused))}))
        except UnreadableFile as error:
            raise FileUnreadable.of(error) from error
        if trip is not None:
            plan.require_rights(trip, caller)
        file.seek(0)
        content = zlib.compress(file.read())
        with transaction.atomic():
            stored = _started(caller, replaced)
            stored.file = stored.file or content
            plan.save(stored, _batches(rows))
    return stored


def _put_by(rows: Iterable[ImportedRow], file: IO[bytes]) -> None:
    """Write rows to a file, from which `_batches` reads them: in memory, each takes 1.5 kB."""
    left = iter(rows)
    while batch := list(islice(left, BATCH_ROWS)):
        pickle.dump(batch, file)
    file.seek(0)


def _batches(file: IO[bytes]) -> Iterator[list[ImportedRow]]:
    with suppress(EOFError):
        while True:
            yield pickle.load(file)  # noqa: S301 -- this process wrote it


def plan_again(import_id: int, caller: User, changes: Mapping[str, Any]) -> Import:
    """Plan an import with other choices. Raises `NotFound`, and what `plan_import` raises."""
    stored = get_object_or_404(Import.objects.of(caller), pk=import_id)
    if stored.file is None:
        raise AlreadyImported
    choices = Choices(**json.loads(stored.choices)).changed(changes)
    return plan_import(caller, stored.opened(), choices, replaced=stored)


def _started(caller: User, replaced: Import | None) -> Import:
    """The import that a plan is written into, without rows."""
    if replaced is None:
        _make_room(caller)
        return Import.objects.create(user=caller)
    stored = Import.objects.locked(replaced.pk, caller)
    if stored.confirmed_at is not None:
        raise AlreadyImported
    stored.rows.all().delete()
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
        described: TripDescription,
        choices: Choices,
        people: list[PlannedPerson],
        trip: Trip | None,
        known: KnownRows,
    ) -> None:
        self.described, self.choices = described, choices
        self.all_people, self.trip, self.known = people, trip, known
        self.currency = trip.currency if trip else choices.currency or _in_use(described)
        self.user_ids = {person.key: person.user_id for person in people}
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
        #: The keys of those whom the rows name that are recorded.
        self.named: set[str] = set()
        #: A new trip is made of our own file as a whole, so each row is recorded as it is.
        self.is_copy = described.is_own and not trip and self.currency == described.currency
        self.notes = [*described.notes]
        if described.is_own and (unknown := unknown_names(described.file.head.paths)):
            told = ", ".join(unknown[:_MOST_TOLD])
            self.notes.append(Note("unknown_names", {"names": told}))
        if not self.is_copy:
            self.notes += [*described.notes_on_rest, *changed_names(people)]

    @property
    def people(self) -> list[PlannedPerson]:
        """Everybody who is to be a member; whoever left the trip is one only if a row needs it."""
        if not self.known.is_own_file:
            return self.all_people
        return [p for p in self.all_people if p.is_member or p.key in self.named]

    def rows(self, progress: Callable[[Any], Any]) -> Iterator[ImportedRow]:
        """A row for each of the file. Raises `LimitReached`."""
        for position, (entry, identity) in enumerate(progress(identified(self.described)), start=1):
            yield self._row(position, entry, identity)
            LimitReached.require_at_most(settings.QUOTA_EXPENSES, self.counts[EntryKind.EXPENSE])
            # Fewer could be recorded in a day; a newer file also has what was imported before.
            LimitReached.require_at_most(2 * settings.QUOTA_CHANGES, position)

    def _row(self, position: int, entry: Any, identity: Identity | None) -> ImportedRow:
        row = ImportedRow(position=position, line=entry.line)
        shown = {"description": entry.title} if identity is None else shown_of(entry)
        try:
            if identity is None:
                raise RowError(entry.reason.code, **entry.reason.values)
            outcome, notes = self._outcome(row, entry, identity, shown)
        except RowError as error:
            if self.is_copy:
                raise error.of_file(row.line) from error
            outcome, notes = Outcome.SKIPPED, [*entry.notes, error.note]
            if error.note.code not in _HARMLESS:
                self.skipped.append(row.line)
        row.outcome, row.shown, row.notes = outcome, as_json(shown), as_json(notes)
        self.counts[outcome] += 1
        return row

    def _outcome(
        self, row: ImportedRow, entry: Any, identity: Identity, shown: dict[str, Any]
    ) -> tuple[Outcome, list[Note]]:
        """Complete the row of an entry; what becomes of it, and notes. Raises `RowError`."""
        row.key, row.match, row.digest = identity
        row.entry_date, row.kind = entry.date, entry.kind
        changed = self.known.changes(entry, identity, shown)
        fitted, notes = entry, [*entry.notes]
        if changed is None:
            if not self.is_copy:
                fitted, notes = self.fitting.fitted(entry)
            self._require_different(fitted)
            row.entry = self._entry_text(fitted)
            self.named |= entry.people
        self.balances.update(self.fitting.moved(entry))
        if notes:
            self.noted.append(row.line)
        if changed is not None:
            about = [Note("differs", {"fields": ", ".join(changed)})] if changed else []
            return (Outcome.DIFFERS if changed else Outcome.KNOWN), about
        self.days = [min([*self.days, entry.date]), max([*self.days, entry.date])]
        if entry.kind == EntryKind.SETTLEMENT:
            self.pairs.add((entry.sender, entry.receiver))
        self.counts[row.kind] += 1
        shown["description"] = fitted.title
        return (Outcome.NOTED if notes else Outcome.TAKEN), notes

    def _require_different(self, entry: Any) -> None:
        """Raise `RowError` if a side of it names two people who are one member by now."""
        for keys in entry.sides:
            used = [pk for key in keys if (pk := self.user_ids.get(key)) is not None]
            if len(set(used)) < len(used):
                raise RowError("named_twice")

    def _entry_text(self, entry: Any) -> str:
        """What is recorded; of a copy, what is shown of it, which may be nothing."""
        try:
            self.fitting.require_people(entry)
            return as_json(self.fitting.content(entry))
        except RowError:
            if self.is_copy:
                return ""
            raise

    def require_rights(self, trip: Trip, caller: User) -> None:
        """Raise `PermissionDenied` unless the caller's role covers everything that is planned."""
        needed = [Can.RECORD] if self.counts[EntryKind.EXPENSE] else []
        if any(not person.is_member for person in self.people):
            needed.append(Can.ADD_MEMBERS)
        if not all(may(trip.caller_role, can, lambda: False) for can in needed):
            raise PermissionDenied
        require_payments(trip, caller, (map(self.user_ids.get, pair) for pair in self.pairs))

    def save(self, stored: Import, rows: Iterable[list[ImportedRow]]) -> None:
        """Store the plan with the batches of its rows."""
        stored.trip, stored.makes_trip = self.trip, self.trip is None
        stored.format = self.described.format
        stored.content, stored.choices = as_json(self._content()), as_json(asdict(self.choices))
        stored.save()
        for batch in rows:
            for row in batch:
                row.plan = stored
            insert(batch)

    def _content(self) -> dict[str, Any]:
        described, today = self.described, timezone.now().date()
        cleaned = str if self.is_copy else plain
        title = self.choices.title or cleaned(described.name) or _("Imported trip")
        destination = self.choices.destination or cleaned(described.destination) or title
        first = described.start_date or min(self.days, default=today)
        last = described.end_date or max(self.days, default=first)
        entries = sum(self.counts[name] for name in Outcome.values if name != Outcome.SKIPPED)
        balances = compared(described, self.balances, self.skipped, self.noted, entries)
        return {
            "title": self.trip.title if self.trip else title[: longest(Trip, "title")],
            "destination": destination[: longest(Trip, "destination")],
            "description": cleaned(described.description)[: longest(Trip, "description")],
            "start_date": first,
            "end_date": max(first, last),
            "currency": self.currency,
            "is_copy": self.is_copy,
            "recorded_until": self.known.until,
            "people": list(map(asdict, self.people)),
            "balances": balances,
            "exchange_rates": [
                {"currency": code, "rate": f"{rate:f}", "rate_source": source, "rate_date": day}
                for code, (rate, source, day) in sorted(self.fitting.rates.items())
            ],
            "notes": self.notes,
            "row_count": sum(self.counts[name] for name in Outcome.values),
            "counts": {name: self.counts[name] for name in (*Outcome.values, *EntryKind.values)},
        }


def _known(trip: Trip | None, described: TripDescription) -> KnownRows:
    """What the trip has of the file already; for its own file, as that says it now."""
    if trip is None or not described.is_own:
        return KnownRows(trip, described)
    with snapshot():
        written = json_file(trip)
    # No transaction waits while it is read.
    with written as file:
        return KnownRows(trip, described, describe(SourceFile(cast(BinaryIO, file))))


def _in_use(described: TripDescription) -> str:
    """The file's currency, or the one that took its place. Raises `UnreadableFile` without one."""
    found = in_use(described.currency)
    if found is None:
        raise UnreadableFile("currency_ended", currency=described.currency)
    return found
