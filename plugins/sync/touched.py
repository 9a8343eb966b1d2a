"""What else rows of the journal changed besides their own objects.

A settlement pays splits, and deleting it reopens them. These effects have no rows of their own.
Touched objects are read in their current state: if one changed again since, a later row touches it
again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any

from django.db.models import F, Q

from splits.models import Allocation, Debt, Settlement
from splits.models.in_trip import added_rows
from trips.models import JournalEntry
from trips.models.events import Event
from trips.models.journal import Subject

#: How many touched objects of each type a page reads. If there are more, the trip is sent again.
MAX_TOUCHED = 1000

_PAYING = {Event.SETTLEMENT_CREATED, Event.SETTLEMENT_RESTORED}
_MERGING = {Event.GUEST_CLAIMED, Event.GUEST_MERGED}

Rows = Sequence[JournalEntry]
#: Ids by what touched them.
Found = Mapping[Any, set[int]]


class Touched:
    """What these rows touched, read in a constant number of statements.

    If `money` is false, expenses are left out.
    """

    def __init__(self, rows: Rows, *, money: bool) -> None:
        read = rows if money else ()
        self._paid, self._opened = _paid(read), _opened(read)
        self._restored = _restored(read)
        self._closed_by = _closings(read)

    def by(self, row: JournalEntry) -> list[Subject]:
        """The objects that a row touched, ordered by type and id."""
        if row.event in _PAYING:
            return _subjects("expense", self._paid, row.object_id)
        if row.event == Event.SETTLEMENT_DELETED:
            return _subjects("expense", self._opened, _pair(row))
        if row.event == Event.EXPENSE_RESTORED:
            kinds = [rows.kind for rows in added_rows().values()]
            found = (_subjects(kind, self._restored, (kind, row.object_id)) for kind in kinds)
            return [*chain.from_iterable(found)]
        return []

    def resends(self, row: JournalEntry) -> bool | None:
        """Whether the whole trip must be sent again after a row (True) or its expenses (False).

        None: neither, because `by` returns everything.
        """
        is_whole = (
            row.event in _MERGING
            or (row.event == Event.GUEST_ADDED and "userId" in row.changes)
            or (row.event == Event.EXPENSE_RESTORED and self._restored is None)
        )
        touches_all = (
            row.event in _PAYING and (self._paid is None or row.object_id in self._closed_by)
        ) or (
            row.event == Event.SETTLEMENT_DELETED
            and (self._opened is None or "closed" in row.changes)
        )
        return is_whole if is_whole or touches_all else None


def _subjects(kind: str, found: Found | None, key: Any) -> list[Subject]:
    ids = () if found is None else found.get(key, ())
    return [Subject(kind, object_id) for object_id in sorted(ids)]


def _gather(pairs: Iterable[tuple[Any, int]]) -> Found | None:
    """The ids by what touched them; None if there are too many."""
    found = defaultdict(set)
    for at, (key, object_id) in enumerate(pairs):
        if at == MAX_TOUCHED:
            return None
        found[key].add(object_id)
    return found


def any_of(conditions: Iterable[Q]) -> Q:
    """One condition that is true if any of these is."""
    return reduce(or_, conditions)


def _pair(row: JournalEntry) -> tuple[int, Any, Any]:
    """The trip of a deleted settlement, its sender and its receiver."""
    changes = row.changes
    return row.trip_id, changes["fromUserId"]["old"], changes["toUserId"]["old"]


def _paid(rows: Rows) -> Found | None:
    """The expenses that each settlement pays for now."""
    ids = [row.object_id for row in rows if row.event in _PAYING]
    if not ids:
        return {}
    same = {"debt__trip": F("trip"), "debt__split__trip": F("trip")}
    covering = Allocation.objects.filter(settlement__in=ids, **same).order_by()
    pairs = covering.values_list("settlement", "debt__split__expense").distinct()
    return _gather(pairs[: MAX_TOUCHED + 1])


def _closings(rows: Rows) -> set[int]:
    """The settlements that have closed debts of their trip."""
    ids = [row.object_id for row in rows if row.event in _PAYING]
    if not ids:
        return set()
    offsets = Settlement.with_offsets.filter(closing__in=ids).order_by()
    return {pk for pk in offsets.values_list("closing", flat=True).distinct() if pk}


def _opened(rows: Rows) -> Found | None:
    """The expenses with an open debt between the two people of each deleted settlement."""
    deleted = {_pair(row) for row in rows if row.event == Event.SETTLEMENT_DELETED}
    if not deleted:
        return {}
    between = any_of(
        Q(trip=trip_id, debtor=sender_id, creditor=receiver_id)
        for trip_id, sender_id, receiver_id in deleted
    )
    columns = ("trip", "debtor", "creditor", "split__expense")
    debts = (
        Debt.objects.open()
        .filter(between, split__trip=F("trip"))
        .order_by()
        .values_list(*columns)
        .distinct()
    )
    return _gather((row[:3], row[3]) for row in debts[: MAX_TOUCHED + 1])


def _restored(rows: Rows) -> Found | None:
    """The rows that each restored expense has of plugins, by type and expense."""
    ids = [row.object_id for row in rows if row.event == Event.EXPENSE_RESTORED]
    if not ids:
        return {}
    return _gather(
        ((added.kind, expense_id), object_id)
        for added in added_rows().values()
        for expense_id, object_id in added.model.objects.filter(expense__in=ids).values_list(
            "expense", "pk"
        )[: MAX_TOUCHED + 1]
    )
