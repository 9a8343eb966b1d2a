"""The history of a trip and of an expense: rows of the journal, with a sentence for each."""

from collections.abc import Mapping
from typing import Any

from splits.models import Expense
from splits.reports.sentences import Names, people_in, sentence
from tripcompanion.compiled.queries import Pageable
from trips.models import JournalEntry, Trip
from trips.models.events import Event
from trips.models.journal import JournalQuerySet
from users.models import User, summaries
from users.scopes import Scope

#: The types of objects that a token sees without the scope `expenses:read`.
OF_TRIPS = {"trip", "member", "invitation"}
#: The column and the lookup of each filter.
_FILTERS = {"since": "at__gte", "by": "by", "event": "event", "number": "number"}


def sees_money(reader: User) -> bool:
    """Whether `reader` sees expenses and settlements; a scoped token may not."""
    token = reader.by_token
    return token is None or Scope.EXPENSES_READ in token.scopes


class History(Pageable):
    """The rows of a trip's journal, newest first, with `text` in the active language."""

    def __init__(
        self, trip: Trip, reader: User | None = None, filters: Mapping[str, Any] | None = None
    ) -> None:
        self.trip = trip
        self.rows: JournalQuerySet = JournalEntry.objects.filter(trip=trip.pk)
        wanted = {_FILTERS[name]: value for name, value in (filters or {}).items()}
        if reader is not None and not sees_money(reader):
            of_trips = [event for event in Event if event.object_type in OF_TRIPS]
            self.rows = self.rows.filter(event__in=of_trips)
        elif not wanted:
            self._is_whole = True
        self.rows = self.rows.filter(**wanted)

    _is_whole = False
    _alone = False

    def page(self, size: int, after: int) -> tuple[list[JournalEntry], int]:
        """At most `size` rows after so many, and how many there are in all.

        The whole history is not counted: its rows are numbered without gaps, so that a page takes
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
        """The rows with their sentences; the names in them take three statements at most."""
        rows = list(found.with_author())
        ids = {user_id for row in rows for user_id in people_in(row)}
        people = {user.pk: user.shown_name for user in summaries(ids).values()} if ids else {}
        names = Names(people, self._descriptions({row.expense_id for row in rows} - {None}))
        for row in rows:
            row.text = sentence(row, names, self.trip.currency, alone=self._alone)
        return rows

    def _descriptions(self, expense_ids: set[Any]) -> dict[int, str]:
        """The descriptions of expenses; those of deleted ones are in the journal."""
        if not expense_ids:
            return {}
        stored = Expense.objects.filter(pk__in=expense_ids).values_list("pk", "description")
        known = dict(stored)
        if gone := expense_ids - known.keys():
            rows = JournalEntry.objects.filter(expense_id__in=gone, event=Event.EXPENSE_DELETED)
            for row in rows:
                known[row.object_id] = row.changes.get("description", {}).get("old") or ""
        return known


class ExpenseHistory(History):
    """The rows about one expense, its splits and its comments, newest first."""

    _alone = True

    def __init__(self, trip: Trip, reader: User, expense_id: int) -> None:
        super().__init__(trip, reader)
        self._is_whole = False
        self.rows = self.rows.filter(expense_id=expense_id)
