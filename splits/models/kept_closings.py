"""Which closings a deleted entry puts back: what was offset, and the credit that was used up.

What is offset in somebody's favour is only equal to what is offset against them if all of it is
there. So a closing is put back whole, or not at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from splits.models.deleted import DeletedEntry
from splits.models.settlement import Settlement, closings_in
from trips.models import Member

#: The columns of kept allocations and offsets.
_DEBT, _SETTLEMENT, _CLOSED_BY, _MINOR = 1, 2, 3, 4
_CLOSING, _PEOPLE = 1, slice(2, 4)
#: The id of no settlement.
_NOWHERE = 0


class KeptClosings:
    """The closings in a deleted entry, whose settlements have been inserted again.

    `split_off` leaves in the entry those that can be put back now. A closing whose settlements are
    partly deleted waits in the entry of one of them. What can never be put back is dropped: then
    the settlement that closed is a payment like any other.
    """

    def __init__(self, entry: DeletedEntry) -> None:
        self.entry, self.trip_id = entry, entry.trip_id
        self.offsets: dict[int, list[Any]] = defaultdict(list)
        for row in entry.stored.setdefault("offsets", []):
            self.offsets[row[_CLOSING]].append(row)
        #: What used up credit, by closing; the rest covers debts.
        self.used: dict[int, list[Any]] = defaultdict(list)
        self.covering: list[Any] = []
        #: Closings that an older release stored without offsets.
        self.incomplete: set[int] = set()
        #: Whether rows of such a release are replaced.
        self.is_rewritten = False
        for row in self._rows():
            if row[_CLOSED_BY] is None:
                self.covering.append(row)
            else:
                self.used[row[_CLOSED_BY]].append(row)
        self.ids = sorted(self.offsets.keys() | self.used.keys() | self.incomplete)

    def _rows(self) -> Iterator[Any]:
        """The kept allocations. What was closed before there were offsets is covered by offsets."""
        rows = self.entry.stored["allocations"]
        former = {row[_CLOSED_BY] for row in rows if row[_SETTLEMENT] is None}
        offsets = Settlement.with_offsets.filter(trip=self.trip_id, closing__in=former)
        triples = offsets.values_list("closing", "sender", "receiver", "pk") if former else ()
        by_pair = {tuple(pair): pk for *pair, pk in triples}
        debts = {row["id"]: row for row in self.entry.stored.get("debts", ())}
        for row in rows:
            if row[_SETTLEMENT] is not None:
                yield row
                continue
            debt = debts.get(row[_DEBT], {})
            pair = (row[_CLOSED_BY], debt.get("debtor_id"), debt.get("creditor_id"))
            if pair in by_pair:
                self.is_rewritten = True
                yield [row[0], row[_DEBT], by_pair[pair], None, *row[_MINOR:]]
            else:
                self.incomplete.add(row[_CLOSED_BY])

    def split_off(self) -> set[int]:
        """Returns the closings that were dropped."""
        if not self.ids:
            self._keep([])
            return set()
        rows = Settlement.with_offsets.filter(trip=self.trip_id)
        self._credit = dict(rows.filter(credit_minor__gt=0).values_list("pk", "credit_minor"))
        self._present = set(rows.filter(pk__in=self.ids).values_list("pk", flat=True))
        self._present -= closings_in(self.trip_id).causes(self.ids)
        self._people = set(Member.objects.filter(trip=self.trip_id).values_list("user", flat=True))
        ready, dropped = [], set()
        for pk in self.ids:
            missing = self._missing(pk)
            if not missing:
                self._take(pk)
                ready.append(pk)
            elif not self._hand_over(pk, missing):
                dropped.add(pk)
        self._keep(ready)
        return dropped

    def _missing(self, pk: int) -> set[int]:
        """The settlements that a closing lacks, or that have too little credit for it."""
        needed = _by_settlement(self.used[pk])
        missing = {row for row, minor in needed.items() if self._credit.get(row, 0) < minor}
        people = {person for row in self.offsets[pk] for person in row[_PEOPLE]}
        if pk in self.incomplete or people - self._people:
            missing.add(_NOWHERE)
        return missing | ({pk} - self._present)

    def _take(self, pk: int) -> None:
        for row, minor in _by_settlement(self.used[pk]).items():
            self._credit[row] -= minor
        self._credit |= {row[0]: row[_MINOR] for row in self.offsets[pk]}

    def _hand_over(self, pk: int, missing: set[int]) -> bool:
        """Whether another deleted entry has one of the missing settlements, and now the closing."""
        ids = {row[0] for row in self.offsets[pk]}
        covering = [row for row in self.covering if row[_SETTLEMENT] in ids]
        for other in self.entry.trip.deleted_entries.exclude(pk=self.entry.pk).one_by_one():
            if missing & other.settlement_ids and "allocations" in other.stored:
                other.stored.setdefault("offsets", []).extend(self.offsets[pk])
                other.stored["allocations"] += [*self.used[pk], *covering]
                other.save_rows()
                return True
        return False

    def _keep(self, ready: list[int]) -> None:
        """Leave only these closings in the entry."""
        if ready == self.ids and not self.is_rewritten:
            # Writing the rows again would double the memory that a large closing takes.
            return
        gone = {row[0] for pk in self.ids if pk not in ready for row in self.offsets[pk]}
        covering = [row for row in self.covering if row[_SETTLEMENT] not in gone]
        stored = self.entry.stored
        stored["offsets"] = [row for pk in ready for row in self.offsets[pk]]
        stored["allocations"] = [*covering, *(row for pk in ready for row in self.used[pk])]
        self.entry.save_rows()


def _by_settlement(used: Iterable[Any]) -> dict[int, int]:
    sums: dict[int, int] = defaultdict(int)
    for row in used:
        sums[row[_SETTLEMENT]] += row[_MINOR]
    return sums
