"""What changed in all trips of a reader since a cursor, in pages.

A change names an object, whose current state is read with it. An object that changed several times
is in a page once. A page reads at most as many rows as it may have objects. The number of
statements is constant, whatever the number of trips and rows.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from plugins.sync.cursor import Cursor, CursorExpired, Partial
from plugins.sync.delivery import Stage, begin, send
from plugins.sync.touched import Touched, any_of
from trips.models import JournalEntry, Trip
from trips.models.events import Event, sees, trip_objects
from trips.models.journal import Subject
from users.models import User

_COLUMNS = ("trip", "number", "at", "event", "object_id", "expense_id", "stored_changes")
#: The cursor of a client that has nothing yet: all trips are new to it.
START = "start"
#: How many parts the objects of a page have, such as the votes of polls.
MAX_PARTS = 20_000
#: The keys of the objects of rows. Touched objects have their ids as keys.
_OWN_KEYS = (-1, 0)


class Change(NamedTuple):
    """An object of a trip that changed."""

    #: The cursor to go on with after this change.
    cursor: str
    trip_id: int
    #: What happened; of several events, the first of the page.
    event: str
    subject: Subject
    #: Whether the reader must drop it, even if it exists.
    is_gone: bool = False
    #: The object as it is now; the view reads it.
    state: Any = None


class ChangePage(NamedTuple):
    """Some changes, the cursor after them, and whether there are more."""

    items: list[Change]
    cursor: str
    more: bool


class _TripState(NamedTuple):
    """How far a trip of the reader has come."""

    #: The number of the last row of its journal.
    last: int
    #: How many expenses it ever recorded.
    expenses: int


class Changes:
    """What changed for `reader` after the position of a cursor. Read it in one snapshot."""

    def __init__(self, reader: User, since: str | None) -> None:
        """Raises what `Cursor.read` raises. Without `since`, there are no changes yet."""
        self._reader, self._money = reader, sees(reader, "expense")
        self._trips = _trips_of(reader)
        if since is None:
            self._cursor = Cursor.of(reader)
            self._cursor.positions = {trip_id: trip.last for trip_id, trip in self._trips.items()}
        elif since == START:
            self._cursor = Cursor.of(reader)
        else:
            self._cursor = Cursor.read(since, reader)
            self._require_past()
        self._items: list[Change] = []
        self._seen: set[tuple[int, Subject]] = set()

    @property
    def trips(self) -> frozenset[int]:
        """The ids of the trips that the reader is a member of."""
        return frozenset(self._trips)

    def page(self, limit: int) -> ChangePage:
        """At most `limit` changes, whose objects have at most `MAX_PARTS` parts, or one change."""
        self._limit = limit
        self._drop_lost_trips()
        self._begin_new_trip()
        if self._cursor.delivery is None:
            self._read_journals()
        else:
            self._deliver()
        return _bounded(ChangePage(self._items, self._cursor.text(), self._is_behind()))

    @property
    def _room(self) -> int:
        return self._limit - len(self._items)

    def _add(self, trip_id: int, event: str, subject: Subject, *, is_gone: bool = False) -> None:
        text = self._cursor.text()
        self._items.append(Change(text, trip_id, event, subject, is_gone))

    def _is_behind(self) -> bool:
        positions = {trip_id: trip.last for trip_id, trip in self._trips.items()}
        return self._cursor.delivery is not None or self._cursor.positions != positions

    def _require_past(self) -> None:
        """Raise `CursorExpired` if the cursor is ahead: the database was restored from a copy."""
        for trip_id, number in self._cursor.positions.items():
            if trip_id in self._trips and number > self._trips[trip_id].last:
                raise CursorExpired

    def _drop_lost_trips(self) -> None:
        lost = sorted(self._cursor.positions.keys() - self._trips.keys())[: self._room]
        if not lost:
            return
        events = self._events_of_loss(lost)
        for trip_id in lost:
            self._cursor.forget(trip_id)
            event = events.get(trip_id, Event.MEMBER_REMOVED)
            self._add(trip_id, event, Subject("trip", trip_id), is_gone=True)

    def _events_of_loss(self, trip_ids: list[int]) -> dict[int, str]:
        """How the reader lost each trip. What happened there later is not for them to see."""
        own = {"event__in": (Event.MEMBER_LEFT, Event.MEMBER_REMOVED)}
        ended = Q(object_id=self._reader.pk, **own) | Q(event=Event.TRIP_DELETED)
        unread = any_of(
            Q(trip=trip_id, number__gt=self._cursor.positions[trip_id]) for trip_id in trip_ids
        )
        rows = JournalEntry.objects.filter(
            unread, ended, event__in=(*own["event__in"], Event.TRIP_DELETED)
        )
        found: dict[int, str] = {}
        for trip_id, event in rows.order_by("trip", "number").values_list("trip", "event"):
            found.setdefault(trip_id, event)
        return found

    def _begin_new_trip(self) -> None:
        """Begin to deliver a trip that the cursor does not know yet."""
        new = self._trips.keys() - self._cursor.positions.keys()
        if new and self._cursor.delivery is None:
            trip_id = min(new)
            self._cursor.positions[trip_id] = self._trips[trip_id].last
            self._cursor.delivery = begin(trip_id, Event.MEMBER_JOINED, is_whole=True)

    def _deliver(self) -> None:
        while self._cursor.delivery is not None and self._room:
            delivery = self._cursor.delivery
            trip = self._trips[delivery.trip_id]
            sent, after = send(delivery, self._room, expenses=trip.expenses, reader=self._reader)
            is_gone = delivery.stage == Stage.NOTHING
            for subject, following in sent:
                self._cursor.delivery = following
                self._add(delivery.trip_id, delivery.event, subject, is_gone=is_gone)
            self._cursor.delivery = after
            if after is not None and after.stage == delivery.stage:
                return

    def _read_journals(self) -> None:
        rows = self._unread_rows()
        touched = Touched(rows, money=self._money)
        for row in rows:
            if not self._read(row, touched) or self._cursor.delivery is not None:
                return

    def _unread_rows(self) -> list[JournalEntry]:
        """The next rows of the journals, as many as there is room for, the oldest trip first."""
        unread, room = [], self._room
        for trip_id, number in sorted(self._cursor.positions.items()):
            last = min(self._trips[trip_id].last, number + room) if room else number
            if last > number:
                unread.append(Q(trip=trip_id, number__gt=number, number__lte=last))
                room -= last - number
        if not unread:
            return []
        rows = JournalEntry.objects.filter(any_of(unread)).order_by("trip", "number")
        return list(rows.only(*_COLUMNS))

    def _read(self, row: JournalEntry, touched: Touched) -> bool:
        """Add what a row changed, and move the cursor; False if there is no room for it."""
        cursor = self._cursor
        partial = cursor.partial
        done = partial.key if partial and partial.trip_id == row.trip_id else _OWN_KEYS[0] - 1
        subjects = list(self._subjects(row, touched)) if self._sees(row) else []
        left = [(key, subject) for key, subject in subjects if key > done]
        for at, (key, subject) in enumerate(left, start=1):
            is_new = (row.trip_id, subject) not in self._seen
            if is_new and not self._room:
                return False
            if at < len(left):
                cursor.partial = Partial(row.trip_id, key)
            else:
                self._pass(row, touched)
            if is_new:
                self._seen.add((row.trip_id, subject))
                self._add(row.trip_id, row.event, subject)
        self._pass(row, touched)
        return True

    def _pass(self, row: JournalEntry, touched: Touched) -> None:
        """Move the cursor past a row."""
        self._cursor.positions[row.trip_id] = row.number
        self._cursor.partial = None
        if self._sees(row) and (is_whole := touched.resends(row)) is not None:
            self._cursor.delivery = begin(row.trip_id, row.event, is_whole=is_whole)

    def _sees(self, row: JournalEntry) -> bool:
        return sees(self._reader, row.object_type)

    def _subjects(self, row: JournalEntry, touched: Touched) -> Iterator[tuple[int, Subject]]:
        """The objects that a row changed, each with a key for their order."""
        own = row.subject
        if own.type == "split":
            # They are shown as parts of their expense.
            own = Subject("expense", row.expense_id or 0)
        yield _OWN_KEYS[0], own
        if own == Subject("member", self._reader.pk):
            # Its response contains the reader's role.
            yield _OWN_KEYS[1], Subject("trip", row.trip_id)
        for subject in touched.by(row):
            yield subject.id, subject


def _bounded(page: ChangePage) -> ChangePage:
    """The page up to the change whose object would give it too many parts; see `TripObject`."""
    ids = defaultdict[str, set[int]](set)
    for change in page.items:
        ids[change.subject.type].add(change.subject.id)
    parts = {
        Subject(kind, pk): number
        for kind, source in trip_objects().items()
        if kind in ids and source.parts is not None
        for pk, number in source.parts(ids[kind]).items()
    }
    room = MAX_PARTS
    for place, change in enumerate(page.items):
        room -= parts.get(change.subject, 0)
        if room < 0 and place:
            return ChangePage(page.items[:place], page.items[place - 1].cursor, more=True)
    return page


def _trips_of(reader: User) -> dict[int, _TripState]:
    """The trips that `reader` is a member of, by id."""
    rows = JournalEntry.objects.filter(trip=OuterRef("pk")).order_by("-number")
    last = Coalesce(Subquery(rows.values("number")[:1]), 0)
    found = Trip.objects.of_member(reader).annotate(last=last)
    columns = found.values_list("pk", "last", "expenses_recorded")
    return {trip_id: _TripState(*state) for trip_id, *state in columns}
