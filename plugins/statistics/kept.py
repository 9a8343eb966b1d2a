"""Sums of a trip by day, kept in the memory of the process and brought up to date by the journal.

A change of an expense writes a row of the journal, which says on which days the expense was. Only
the sums of these days are read again, so a report costs the same however many expenses a trip has.

Kept sums are valid where the journal has the row up to which they were read, with its number and
its time. An older snapshot, a replica that is behind or a restored backup may not have it. Then
everything is read.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from operator import add
from threading import Lock
from typing import Any, NamedTuple

from django.db.models import QuerySet

from splits.models import Expense
from tripcompanion.compiled import CompiledQuery, Param
from trips.models.events import Event
from trips.models.journal import JournalEntry

#: A day, a key, and their sums.
Row = tuple[Any, ...]
#: Reads the rows of trips and of the days from one to another, each with the id of its trip.
Read = Callable[[Iterable[int], date, date], Iterable[tuple[int, Row]]]

#: Of all sums that a process keeps; they take 10 MB, and more if expenses have tags.
MAX_ROWS = 20_000
#: With more changes or days of a trip, or more changed trips, everything is read again.
MAX_CHANGES, MAX_DAYS, MAX_TRIPS = 100, 10, 10
#: What changes no expense.
_ELSEWHERE = {Event.SPLIT_PAID, Event.SPLIT_UNPAID}
_ELSEWHERE |= {event for event in Event if event.object_type in {"settlement", "comment"}}


#: The number and the time of a row of the journal.
Last = tuple[int, datetime]


class Rows(list[Row]):
    """Rows of sums. Where groups of them are few, the last ones of each kind are kept, too."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self._groups: dict[Any, tuple[date, Mapping[Any, Sequence[int]]]] = {}

    def groups(
        self, keys_of: Callable[[Row], Sequence[Any]], until: date = date.max
    ) -> Mapping[Any, Sequence[int]]:
        """The sums of the days up to `until`, by the keys of each row."""
        day, kept = self._groups.get(keys_of, (None, {}))
        if day == until:
            return kept
        groups: dict[Any, Sequence[int]] = {}
        for row in self:
            for key in keys_of(row) if row[0] <= until else ():
                groups[key] = tuple(map(add, groups[key], row[2])) if key in groups else row[2]
        if 4 * len(groups) <= len(self):
            self._groups[keys_of] = (until, groups)
        return groups


class _Kept(NamedTuple):
    last: Last
    rows: Rows


class KeptSums:
    """The sums of the trips that were asked for last, `MAX_ROWS` at most."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()
        self._size, self._lock = 0, Lock()

    def of(self, trip_id: int, name: Any, read: Read) -> Rows:
        """What `read` returns for all days. `name` says which sums these are, and whose.

        Call it in a snapshot. Those of a trip without a journal are not kept.
        """
        kept, days = self._kept.get((trip_id, name)), None

        def rows_of(first: date, last: date) -> Iterable[Row]:
            return (row for _trip, row in read([trip_id], first, last))

        if kept:
            number, _at = kept.last
            journal = _journal_from.fetch(trip=trip_id, number=number)
            if journal and journal[0][:2] == kept.last:
                days = _changed_days(trip_id, journal[1:])
        if kept and days is not None:
            rows = kept.rows
            if days:
                rows = Rows(row for row in rows if row[0] not in days)
                rows += [row for day in days for row in rows_of(day, day)]
        else:
            journal = _end_of_journal.fetch(trip=trip_id)
            rows = Rows(rows_of(date.min, date.max))
        if journal:
            self._keep((trip_id, name), _Kept(journal[-1][:2], rows))
        return rows

    def of_all(self, trips: Mapping[int, Last | None], name: Any, read: Read) -> dict[int, Rows]:
        """The same of several trips, each with the last row of its journal."""
        found, changed = {}, []
        for trip_id, last in trips.items():
            if kept := self._kept.get((trip_id, name)):
                if kept.last == last:
                    found[trip_id] = kept.rows
                else:
                    changed.append(trip_id)
        if len(changed) <= MAX_TRIPS:
            found |= {trip_id: self.of(trip_id, name, read) for trip_id in changed}
        unread = {trip_id: Rows() for trip_id in trips.keys() - found.keys()}
        for trip_id, row in read(unread, date.min, date.max) if unread else ():
            unread[trip_id].append(row)
        found |= unread
        for trip_id, last in trips.items():
            if last:
                self._keep((trip_id, name), _Kept(last, found[trip_id]))
        return found

    def _keep(self, key: Any, kept: _Kept) -> None:
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self._size += _size(kept)
            while self._size > MAX_ROWS:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Any) -> None:
        if key in self._kept:
            self._size -= _size(self._kept.pop(key))


KEPT_SUMS = KeptSums()


def _size(kept: _Kept) -> int:
    # A trip without expenses takes memory, too.
    return 1 + len(kept.rows)


def _changed_days(trip_id: int, journal: Sequence[Row]) -> set[date] | None:
    """The days of the expenses that these rows changed, before and after; None if unknown."""
    rows = [row for row in journal if row[2] not in _ELSEWHERE]
    if len(journal) >= MAX_CHANGES or any(row[3] is None for row in rows):
        return None
    stored = Expense.objects.filter(trip=trip_id, pk__in={row[3] for row in rows})
    days = set(stored.values_list("expense_date", flat=True)) if rows else set()
    for *_columns, changes in rows:
        moved = json.loads(changes).get("expenseDate", {})
        days |= {date.fromisoformat(day) for day in moved.values() if day}
    return days if len(days) <= MAX_DAYS else None


_COLUMNS = ("number", "at", "event", "expense_id", "stored_changes")


@CompiledQuery
def _journal_from(trip: Param, number: Param) -> QuerySet[JournalEntry, Any]:
    rows = JournalEntry.objects.filter(trip=trip, number__gte=number).order_by("number")
    return rows.values_list(*_COLUMNS)[: MAX_CHANGES + 1]


@CompiledQuery
def _end_of_journal(trip: Param) -> QuerySet[JournalEntry, Any]:
    rows = JournalEntry.objects.filter(trip=trip).order_by("-number")
    return rows.values_list(*_COLUMNS[:2])[:1]
