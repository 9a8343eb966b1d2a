"""The rows that an audit reads: streamed, grouped, and joined within their trip."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import BigIntegerField, F, Model, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from splits.models.allocation import Allocation

CHUNK_ROWS = 10_000


def plan_for_all_rows() -> None:
    """Make PostgreSQL plan cursors for all of their rows, until the transaction ends.

    By default it plans for the first tenth of the rows. It then prefers searching an index for each
    row to sorting them. With the rows of some trips, it would search those of all. In a new trip it
    expects hardly any rows, and would compare all with each other.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
            cursor.execute("SET LOCAL enable_nestloop = off")


def streamed(queryset: QuerySet[Any], *columns: str) -> Iterator[tuple[Any, ...]]:
    return queryset.values_list(*columns).iterator(chunk_size=CHUNK_ROWS)


class Joins(NamedTuple):
    """How tables are joined: by the trip too, so that Citus joins them where they are.

    If a row is stored with the wrong trip, which cannot happen on Citus, they are joined by the ids
    alone.
    """

    of_trip: Q
    by_trip: bool

    def __call__(self, *paths: str) -> Q:
        """The condition that the rows at the end of `paths` are in the same trip."""
        same = {f"{path}__trip": F("trip") for path in paths}
        return Q(**same) if self.by_trip else Q()

    def among(self, path: str, parents: type[Model]) -> Q:
        """The condition that `path` leads to one of the audited `parents`."""
        if not self.of_trip:
            return Q()
        found = Q(**{f"{path}__in": parents._base_manager.filter(self.of_trip)})
        return self.of_trip & found if self.by_trip else found

    def with_allocated(self, rows: QuerySet[Any], side: str, name: str) -> QuerySet[Any]:
        same: dict[str, Any] = {"trip": OuterRef("trip")} if self.by_trip else {}
        found = Allocation.objects.filter(**{side: OuterRef("pk")}, **same).order_by()
        sums = found.values(*same, side).annotate(sum=Sum("amount_minor")).values("sum")
        return rows.annotate(**{name: Coalesce(Subquery(sums), 0, output_field=BigIntegerField())})


class ByExpense:
    """Rows grouped by expense; `key` is the path to it."""

    def __init__(self, queryset: QuerySet[Any], key: str, *columns: str) -> None:
        rows = streamed(queryset.order_by(key, "id"), key, *columns)
        self._groups = groupby(rows, key=lambda row: row[0])
        self._next = next(self._groups, None)

    def of(self, expense_id: int) -> list[tuple[Any, ...]]:
        """The rows of one expense. Call it for all expenses, in the order of their ids."""
        if self._next is None or self._next[0] != expense_id:
            return []
        rows = [row[1:] for row in self._next[1]]
        self._next = next(self._groups, None)
        return rows
