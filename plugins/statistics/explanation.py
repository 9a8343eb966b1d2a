"""Explains a balance: its entries, with the running sum."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from plugins.statistics.report import uncovered, with_uncovered
from splits.models.payer import Payer
from splits.models.split import Split
from trips.models import Trip

_CHUNK_ROWS = 500
_AS_RECORDED = attrgetter("recorded_at", "kind", "id")


@dataclass
class Line:
    """One entry of a balance, in minor units, with the balance after it."""

    kind: str
    id: int
    day: date
    description: str
    recorded_at: datetime
    currency: str
    paid_minor: int = 0
    share_minor: int = 0
    sent_minor: int = 0
    received_minor: int = 0
    balance_minor: int = 0

    @property
    def change_minor(self) -> int:
        return self.paid_minor - self.share_minor + self.sent_minor - self.received_minor


class Explanation:
    """The entries of a balance in the order recorded, with the running sum."""

    def __init__(self, trip: Trip, user_id: int) -> None:
        self._trip, self._user_id = trip, user_id

    def page(self, size: int, after: int) -> tuple[list[Line], int]:
        """At most `size` lines from an offset, and the total number of lines.

        Streams all entries, because the running sum needs the earlier ones; keeps only the page.
        """
        lines, total, balance_minor = [], 0, 0
        for line in merge(self._expenses(), self._settlements(), key=_AS_RECORDED):
            total += 1
            balance_minor += line.change_minor
            line.balance_minor = balance_minor
            if after < total <= after + size:
                lines.append(line)
        return lines, total

    def _expenses(self) -> Iterator[Line]:
        same = {"trip": self._trip, "expense": OuterRef("pk")}
        mine = Payer.objects.filter(user=self._user_id, **same)
        my_split = Split.objects.filter(participant=self._user_id, **same)
        entries: QuerySet[Any] = self._trip.expenses.annotate(
            paid_minor=Subquery(mine.values("amount_minor")),
            share_minor=Subquery(my_split.values("amount_minor")),
        ).exclude(paid_minor=None, share_minor=None)
        # Without the items: those of all expenses would take much longer to read.
        columns = ("trip", "description", "expense_date", "created_at", "divided")
        rows = entries.only(*columns).order_by("created_at", "id").iterator(_CHUNK_ROWS)
        while chunk := list(islice(rows, _CHUNK_ROWS)):
            by_hand = [row.pk for row in chunk if row.paid_minor and not row.divided]
            payers = Payer.objects.filter(trip=self._trip, expense__in=by_hand)
            left = {pk: parts for (pk,), parts in uncovered(with_uncovered(payers, "expense"))}
            for expense in chunk:
                yield Line(
                    "EXPENSE",
                    expense.pk,
                    expense.expense_date,
                    expense.description,
                    expense.created_at,
                    self._trip.currency,
                    paid_minor=expense.paid_minor or 0,
                    share_minor=(expense.share_minor or 0)
                    + left.get(expense.pk, {}).get(self._user_id, 0),
                )

    def _settlements(self) -> Iterator[Line]:
        is_side = Q(sender=self._user_id) | Q(receiver=self._user_id)
        entries = self._trip.settlements.filter(is_side).order_by("created_at", "id")
        for entry in entries.iterator(_CHUNK_ROWS):
            yield Line(
                "SETTLEMENT",
                entry.pk,
                entry.settled_on,
                entry.note,
                entry.created_at,
                self._trip.currency,
                sent_minor=entry.amount_minor if entry.sender_id == self._user_id else 0,
                received_minor=entry.amount_minor if entry.receiver_id == self._user_id else 0,
            )
