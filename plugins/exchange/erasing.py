"""Takes back entries that were recorded together, as if they had never been."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from django.db.models import Prefetch

from splits.models.allocation import Allocation
from splits.models.debt import Debt
from splits.models.expense import Expense, expense_fields
from splits.models.payer import Payer
from splits.models.posting import debts_and_sums, parts_of, payments_of
from splits.models.settlement import Settlement, settlement_entries
from splits.models.split import Split
from tripcompanion.compiled import ArrayParam
from tripcompanion.database.deletes import delete_unread
from trips.models import Member, Trip
from trips.models.events import Event
from trips.models.journal import Entry, entries_between, write
from users.models import User

#: Rows per statement.
_BATCH_ROWS = 500


def erase(trip: Trip, by: User, expense_ids: Sequence[int], settlement_ids: Sequence[int]) -> None:
    """Delete expenses and settlements of the locked `trip`, in a few statements for hundreds.

    What they had of the credit or the debts of others is these again. They are not kept.
    """
    # The latest first: what closed the trip goes before the money of which it used up the rest.
    for some in _portions(sorted(settlement_ids, reverse=True)):
        gone = Settlement.objects.filter(trip=trip.pk, pk__in=some).revoke().settlements
        write(trip.pk, by, *settlement_entries(Event.SETTLEMENT_DELETED, gone, trip.currency))
    for some in _portions(expense_ids):
        _erase_expenses(trip, by, some)


def _portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for first in range(0, len(ids), _BATCH_ROWS):
        yield ids[first : first + _BATCH_ROWS]


def _erase_expenses(trip: Trip, by: User, ids: Iterable[int]) -> None:
    # A join would compare them with all rows of a trip that PostgreSQL does not know.
    splits = Split.objects.filter(trip=trip.pk, expense__in=ids).values_list("pk", flat=True)
    debts = Debt.objects.filter(ArrayParam.among(splits, "split"), trip=trip.pk)
    covered = ArrayParam.among(debts.values_list("pk", flat=True), "debt")
    Allocation.objects.filter(covered, trip=trip.pk).unallocate(trip.pk)
    rows = Expense.objects.filter(trip=trip.pk, pk__in=ids)
    relations = {"payers": Payer.objects, "splits": Split.objects}
    with_people = rows.prefetch_related(
        *(
            Prefetch(name, found.filter(trip=trip.pk).order_by("id"), f"loaded_{name}")
            for name, found in relations.items()
        )
    )
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    entries: list[Entry] = []
    for expense in with_people.order_by("pk"):
        expense.trip = trip
        payments, parts = payments_of(expense.loaded_payers), parts_of(expense.loaded_splits)
        _owed, moved = debts_and_sums(payments, parts, expense.number, expense.places)
        for user_id, of_user in moved.items():
            sums[user_id].subtract(of_user)
        fields = expense_fields(expense, payments, parts)
        entries += entries_between(Event.EXPENSE_DELETED, expense.pk, fields, {}, expense.pk)
    Member.increment_balances(trip.pk, sums)
    delete_unread(rows)
    write(trip.pk, by, *entries)
