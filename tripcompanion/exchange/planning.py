"""The plan of an import: what would become of every row of a file. It writes nothing else."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Context, Decimal
from functools import partial
from operator import contains
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from splits.models import Rate
from splits.models.comment import MAX_COMMENT_CHARS, MAX_COMMENTS
from splits.models.division import PERCENTAGE_WHOLE
from splits.models.rate import ENTERED, NoRate
from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import insert
from tripcompanion.currency.amounts import MAX_AMOUNT, convert, to_major, to_minor
from tripcompanion.exchange.balances import compared
from tripcompanion.exchange.description import (
    DescribedExpense,
    DescribedSettlement,
    Entry,
    Note,
    SkippedRow,
    TripDescription,
)
from tripcompanion.exchange.formats.entries import apportioned
from tripcompanion.exchange.formats.reading import RowError
from tripcompanion.exchange.identity import Identity, identified
from tripcompanion.exchange.models import (
    MAX_PLANS,
    TAKEN,
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
#: By how many of its first rows a file is known again.
_SAMPLE_ROWS = 100
_MAX_DESCRIPTION, _MAX_NOTES, _MAX_TITLE = 255, 2000, 100
_MAX_PAYERS = 20
_FIRST_DAY, _LAST_DAY = date(1970, 1, 1), date(2100, 12, 31)
#: What both databases store of a rate.
_SIGNIFICANT = Context(prec=15)
_LAST_DECIMAL = Decimal(1).scaleb(-15)
_MAX_RATE = Decimal(10) ** 6


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


def known_trip(caller: User, described: TripDescription) -> Trip | None:
    """The trip that the caller imported an older file of the same group into, if there is one."""
    keys = set()
    for (_entry, identity), _at in zip(identified(described), range(_SAMPLE_ROWS), strict=False):
        if identity:
            keys.add(identity.key)
    rows = ImportedRow.objects.filter(key__in=keys, plan__user=caller)
    ids = rows.exclude(plan__confirmed_at=None).values_list("plan__trip", flat=True).distinct()
    return Trip.objects.visible_to(caller).filter(pk__in=list(ids)).order_by("pk").first()


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
        self.rates: dict[str, tuple[Decimal, str, date]] = {}
        self.counts: Counter[str] = Counter()
        self.balances: Counter[tuple[str, str]] = Counter()
        #: The lines of skipped rows and of rows with a note that may explain a difference.
        self.skipped: list[int] = []
        self.noted: list[int] = []
        self.days: list[date] = []
        self.pairs: set[tuple[str, str]] = set()
        self.notes = [*described.notes]
        self.known = _Known(trip, described)

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

    def _row(self, position: int, entry: Entry, identity: Identity | None) -> ImportedRow:
        row = ImportedRow(plan=self.stored, position=position, line=entry.line)
        if isinstance(entry, SkippedRow) or identity is None:
            shown = {"description": getattr(entry, "description", "")}
            reason = entry.reason if isinstance(entry, SkippedRow) else Note("unknown")
            return self._finished(row, Outcome.SKIPPED, shown, [reason])
        return self._identified(row, entry, identity)

    def _identified(self, row: ImportedRow, entry: Any, identity: Identity) -> ImportedRow:
        row.key, row.match, row.digest = identity
        row.entry_date = entry.date
        is_expense = isinstance(entry, DescribedExpense)
        row.kind = EntryKind.EXPENSE if is_expense else EntryKind.SETTLEMENT
        shown = _shown(entry)
        if changed := self.known.changes(identity, shown):
            outcome = Outcome.DIFFERS if changed[0] else Outcome.KNOWN
            notes = [Note("differs", {"fields": ", ".join(changed)})] if changed[0] else []
            self._count(entry)
            return self._finished(row, outcome, shown, notes)
        try:
            entry, notes = self._fitted(entry)
            content = self._content(entry)
        except RowError as error:
            return self._finished(row, Outcome.SKIPPED, shown, [*entry.notes, error.note])
        self._count(entry)
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

    def _fitted(self, entry: Any) -> tuple[Any, list[Note]]:
        """The entry as it can be recorded, with all notes. Raises `RowError`."""
        notes = list(entry.notes)
        tomorrow = timezone.now().date() + timedelta(days=1)
        if not _FIRST_DAY <= entry.date <= min(_LAST_DAY, tomorrow):
            raise RowError("date_out_of_range", date=str(entry.date))
        if entry.amount_minor <= 0:
            raise RowError("no_amount")
        if isinstance(entry, DescribedSettlement):
            people = {entry.sender, entry.receiver}
            if len(people) < 2:
                raise RowError("to_oneself")
            entry, cut = _cut(entry, "note", _MAX_NOTES)
        else:
            people = {key for key, _value in (*entry.payers, *entry.entered)}
            if len(entry.payers) > _MAX_PAYERS:
                raise RowError("too_many_payers", limit=_MAX_PAYERS)
            if not entry.description.strip():
                entry = replace(entry, description=_("Expense"))
                notes.append(Note("no_description"))
            entry, cut = _cut(entry, "description", _MAX_DESCRIPTION)
            notes += cut
            entry, cut = _cut(entry, "notes_text", _MAX_NOTES)
        if not people <= self.user_ids.keys():
            raise RowError("unknown_person")
        return self._in_trip_currency(entry), notes + cut

    def _in_trip_currency(self, entry: Any) -> Any:
        """The entry, whose rate leads to the trip's currency, unless that is not the file's."""
        if self.currency == self.described.currency:
            return entry
        if entry.converted_minor is not None:
            minor = entry.converted_minor
            changed: dict[str, Any] = {"currency": self.described.currency, "amount_minor": minor}
            if isinstance(entry, DescribedExpense):
                changed["payers"] = tuple(apportioned(minor, dict(entry.payers)).items())
            entry = replace(entry, **changed)
        return replace(entry, rate=None, converted_minor=None)

    def _count(self, entry: Any) -> None:
        """Add the entry to the balances that the file leads to."""
        converted = entry.converted_minor
        currency = entry.currency if converted is None else self.described.currency
        minor = entry.amount_minor if converted is None else converted
        if isinstance(entry, DescribedSettlement):
            self.balances[entry.sender, currency] += minor
            self.balances[entry.receiver, currency] -= minor
            return
        for key, part in apportioned(minor, dict(entry.payers)).items():
            self.balances[key, currency] += part
        weights = {key: 1 if value is None else value for key, value in entry.entered}
        parts = dict(entry.parts) if entry.parts else apportioned(minor, weights, entry.line)
        for key, part in parts.items():
            self.balances[key, currency] -= part

    def _content(self, entry: Any) -> dict[str, Any]:
        """What is recorded when the plan is confirmed, with people by key. Raises `RowError`."""
        amount_minor, rate, source, day = self._converted(entry)
        if not 0 < amount_minor <= to_minor(MAX_AMOUNT, self.currency):
            raise RowError("amount_out_of_range")
        if isinstance(entry, DescribedSettlement):
            return {
                "amount": amount_minor,
                "sender": entry.sender,
                "receiver": entry.receiver,
                "note": entry.note,
            }
        split_type, entered = entry.split_type, entry.entered
        if split_type == "PERCENTAGE" and sum(v for _k, v in entered) != PERCENTAGE_WHOLE:
            split_type = "SHARES"
        comments = [_comment_text(comment, self.described) for comment in entry.comments]
        return {
            "amount": amount_minor,
            "entered_amount": entry.amount_minor,
            "currency": entry.currency,
            "rate": rate,
            "rate_source": source,
            "rate_day": day,
            "description": entry.description,
            "notes": entry.notes_text,
            "category": entry.category,
            "receipt_url": _web_address(entry.receipt_url),
            "payers": entry.payers,
            "split_type": split_type,
            "entered": entered,
            "parts": entry.parts,
            "parts_currency": entry.currency
            if entry.converted_minor is None
            else self.described.currency,
            "comments": comments[:MAX_COMMENTS],
        }

    def _converted(self, entry: Any) -> tuple[int, Decimal | None, str, date | None]:
        """The amount in the trip's currency, and the rate with its source and day."""
        if entry.currency == self.currency:
            return entry.amount_minor, None, "", None
        rate, source, day = entry.rate, ENTERED, timezone.now().date()
        wanted = entry.converted_minor
        if rate is not None:
            rate = _storable(rate, Decimal(1))
        if wanted is not None and (rate is None or self._by(entry, rate) != wanted):
            own = to_major(wanted, self.currency)
            rate = _storable(own, to_major(entry.amount_minor, entry.currency))
        if rate is None:
            rate, source, day = self._rate(entry.currency)
        if not 0 < rate <= _MAX_RATE:
            raise RowError("bad_rate", currency=entry.currency)
        minor = self._by(entry, rate)
        if wanted is not None and minor != wanted:
            raise RowError("bad_rate", currency=entry.currency)
        return minor, rate, source, day

    def _by(self, entry: Any, rate: Decimal) -> int:
        return convert(entry.amount_minor, entry.currency, self.currency, rate)

    def _rate(self, currency: str) -> tuple[Decimal, str, date]:
        """The caller's rate to the trip's currency, or the latest stored. Raises `RowError`."""
        if currency not in self.rates:
            given = self.choices.exchange_rates.get(currency)
            if given is not None:
                rate = _storable(given, Decimal(1))
                self.rates[currency] = (rate, ENTERED, timezone.now().date())
            else:
                try:
                    found = Rate.objects.latest_to(self.currency, [currency])[currency]
                except NoRate as error:
                    raise RowError("no_rate", currency=currency) from error
                self.rates[currency] = (found.rate, found.source, found.day)
        return self.rates[currency]

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
        title = self.choices.title or described.name or _("Imported trip")
        destination = self.choices.destination or described.destination or title
        first = described.start_date or min(self.days, default=today)
        last = described.end_date or max(self.days, default=first)
        rows = sum(self.counts[kind] for kind in EntryKind.values)
        balances = compared(described, self.balances, self.skipped, self.noted, rows)
        return {
            "title": self.trip.title if self.trip else title[:_MAX_TITLE],
            "destination": destination[:_MAX_TITLE],
            "description": described.description[:_MAX_NOTES],
            "start_date": first,
            "end_date": max(first, last),
            "currency": self.currency,
            "people": [person.as_json for person in self.people],
            "balances": balances,
            "exchange_rates": [
                {"currency": code, "rate": f"{rate:f}", "rate_source": source, "rate_date": day}
                for code, (rate, source, day) in sorted(self.rates.items())
            ],
            "notes": [[note.code, dict(note.values)] for note in self.notes],
            "counts": {name: self.counts[name] for name in (*Outcome.values, *EntryKind.values)},
        }


#: Reasons for which no balance can differ.
_HARMLESS = frozenset({"repeated", "deleted_in_source", "no_amount"})


class _Known:
    """The rows of earlier imports into a trip."""

    def __init__(self, trip: Trip | None, described: TripDescription) -> None:
        self.rows: dict[str, tuple[str, str]] = {}
        self.by_match: dict[str, list[str]] = defaultdict(list)
        if trip is None:
            return
        rows = ImportedRow.objects.filter(
            plan__trip=trip.pk, plan__confirmed_at__isnull=False, outcome__in=TAKEN
        )
        found = list(rows.order_by("pk").values_list("key", "match", "digest", "shown"))
        if not found:
            return
        in_file = {identity.key for _entry, identity in identified(described) if identity}
        for key, match, digest, shown in found:
            self.rows[key] = (digest, shown)
            if key not in in_file:
                self.by_match[match].append(shown)

    def changes(self, identity: Identity, shown: Mapping[str, Any]) -> list[str]:
        """What has changed in a row since it was imported: [""] is nothing, [] a new row."""
        if known := self.rows.get(identity.key):
            digest, before = known
            return [""] if digest == identity.digest else _changed(before, shown)
        if left := self.by_match.get(identity.match):
            return _changed(left.pop(0), shown)
        return []


def _changed(before: str, shown: Mapping[str, Any]) -> list[str]:
    names = [n for n, value in shown.items() if as_json(value) not in before]
    return names or ["division"]


def _shown(entry: Any) -> dict[str, Any]:
    """The fields of an entry that the plan shows."""
    is_expense = isinstance(entry, DescribedExpense)
    return {
        "description": entry.description if is_expense else entry.note,
        "date": str(entry.date),
        "amount": f"{to_major(entry.amount_minor, entry.currency):f}",
        "currency": entry.currency,
    }


def _cut(entry: Any, name: str, limit: int) -> tuple[Any, list[Note]]:
    """The entry with a text that is not too long and has no control characters."""
    text = getattr(entry, name)
    plain = "".join(c if c.isprintable() or c in "\n\t" else " " for c in text).strip()
    if plain == text and len(text) <= limit:
        return entry, []
    notes = [Note("cut", {"limit": limit})] if len(plain) > limit else []
    return replace(entry, **{name: plain[:limit].strip()}), notes


def _comment_text(comment: Any, described: TripDescription) -> str:
    """A comment of somebody else, which the caller writes: it begins with the author's name."""
    names = {person.key: person.name for person in described.people}
    text = "\n".join(line.rstrip() for line in comment.text.splitlines())
    return f"{names.get(comment.person, '?')}: {text}"[:MAX_COMMENT_CHARS]


def _web_address(text: str | None) -> str | None:
    is_short = text is not None and len(text) <= 2048 and text.isprintable() and " " not in text
    return text if is_short and text and text.startswith(("https://", "http://")) else None


def _storable(numerator: Decimal, denominator: Decimal) -> Decimal:
    """The quotient as both databases store it."""
    return _SIGNIFICANT.divide(numerator, denominator).quantize(
        _LAST_DECIMAL, context=Context(prec=40)
    )
