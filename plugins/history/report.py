"""The history of a trip and of an expense: rows of the journal, with a sentence for each."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from plugins.history.sentences import Names, people_in, sentence
from splits.models import Expense
from trips.models import JournalEntry, Trip
from trips.models.events import Event, all_events, object_type_of, sees
from trips.models.journal import JournalQuerySet
from users.models import User, named, summary_of


class History:
    """The rows of a trip's journal, newest first, with `text` in the active language.

    `lookup` narrows them; `alone` if all are about one object, which the texts need not name.
    """

    def __init__(
        self, trip: Trip, reader: User | None = None, *, alone: bool = False, **lookup: Any
    ) -> None:
        self.trip, self._alone = trip, alone
        self.rows: JournalQuerySet = JournalEntry.objects.filter(trip=trip.pk, **lookup)
        events = [event for event, _label in all_events()]
        shown = [one for one in events if reader is None or sees(reader, object_type_of(one))]
        self._is_whole = not lookup and shown == events
        if shown != events:
            self.rows = self.rows.filter(event__in=shown)

    def page(self, size: int, after: int) -> tuple[list[JournalEntry], int]:
        """At most `size` rows after the first `after`, and the number of all.

        Rows are numbered without gaps, so the whole history need not be counted, and a page takes
        the same time in any history.
        """
        newest = self.rows.order_by("-number")
        if not self._is_whole:
            total = self.rows.count()
            return self._told(newest[after : after + size]), total
        total = newest.values_list("number", flat=True).first() or 0
        last = total - after
        return self._told(newest.filter(number__gt=last - size, number__lte=last)), total

    def _told(self, found: JournalQuerySet) -> list[JournalEntry]:
        return with_sentences(found, {self.trip.pk: self.trip.currency}, alone=self._alone)


def with_sentences(
    found: JournalQuerySet, currencies: Mapping[int, str], *, alone: bool = False
) -> list[JournalEntry]:
    """The rows with their sentences. Looking up the names takes at most three statements.

    `currencies` are those of the trips, by id; `alone` if all rows are about one object.
    """
    columns = (field.name for field in JournalEntry._meta.concrete_fields)
    rows = list(found.select_related("by").only(*columns, *summary_of("by")))
    people = named({user_id for row in rows for user_id in people_in(row)})
    titles = _Titles(rows)
    for row in rows:
        then = {pk: people[pk].name_at(row.at) for pk in people_in(row) & people.keys()}
        names = Names(then, titles.at(row))
        row.text = sentence(row, names, currencies[row.trip_id], alone=alone)
    return rows


class _Titles:
    """The descriptions of expenses at the time of each row of the journal."""

    def __init__(self, rows: list[JournalEntry]) -> None:
        expense_ids = {row.expense_id for row in rows if row.expense_id}
        stored = Expense.objects.filter(pk__in=expense_ids).values_list("pk", "description")
        self._now = dict(stored)
        #: By expense, the number of each row that ended a description, and that description.
        self._ended: dict[int, list[tuple[int, str]]] = defaultdict(list)
        ends = JournalEntry.objects.filter(
            expense_id__in=expense_ids,
            number__gte=min((row.number for row in rows), default=0),
            event__in=(Event.EXPENSE_CHANGED, Event.EXPENSE_DELETED),
            stored_changes__contains='"description"',
        )
        for row in ends.only("object_id", "number", "stored_changes").order_by("number"):
            # The text may also be a value, or a key inside of one.
            if description := row.changes.get("description"):
                self._ended[row.object_id].append((row.number, description["old"]))

    def at(self, row: JournalEntry) -> str | None:
        """What the expense of a row was called after it; None if that is not known."""
        expense_id = row.expense_id or 0
        ended = self._ended[expense_id]
        at = bisect_right(ended, row.number, key=itemgetter(0))
        if at < len(ended):
            return ended[at][1]
        return self._now.get(expense_id, ended[-1][1] if ended else None)
