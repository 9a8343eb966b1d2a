"""Restores deleted expenses and settlements, and lists them."""

from collections.abc import Sequence
from copy import copy
from typing import Any

from django.utils.dateparse import parse_datetime

from splits.models.debt import Debt, require_few_debts
from splits.models.deleted import AT_A_TIME, DeletedEntry, DeletedKind, DeletedQuerySet
from splits.models.expense import Expense, expense_fields
from splits.models.in_trip import added_rows
from splits.models.kept_allocations import allocate_again, insert_offsets
from splits.models.kept_closings import KeptClosings
from splits.models.payer import Payer
from splits.models.plugin_fields import plugin_fields, with_plugin_fields
from splits.models.posting import parts_of, payments_of
from splits.models.settlement import (
    Settlement,
    allocate_credit,
    make_allocations,
    settlement_entries,
    sums_of,
)
from splits.models.split import Split
from tripcompanion.api.serializers import camel_case
from trips.models import Member, Trip, locked_row
from trips.models.events import Event
from trips.models.journal import entries_between, write
from trips.roles import Can
from users.models import User, summaries


def restore_expense(entry: DeletedEntry, by: User) -> Expense:
    """Restore a deleted expense as it was, and return it with details.

    Its splits get their ids and parts back, with the settlements that `pay` recorded for them. What
    covered or closed its debts does so again, as far as it still exists. Raises `NotRestorable` and
    `TooManyDebts`.
    """
    entries = DeletedEntry.objects.expenses
    with locked_row(entries, by, Can.CHANGE_EXPENSES, trip_id=entry.trip_id, pk=entry.pk) as kept:
        kept.require_restorable()
        expense = deleted_expense(kept)
        expense.save(force_insert=True)
        # Until 1.0.0, debts and allocations were not kept.
        kept_debts = kept.rows_of("debts", Debt) if "debts" in kept.stored else None
        payers, splits = expense.loaded_payers, expense.loaded_splits
        debts = expense.posting(is_new=True).restore(payers, splits, kept_debts)
        settlements = kept.rows_of("settlements", Settlement)
        _insert(kept.trip, settlements)
        _put_back(kept, settlements, debts)
        require_few_debts(kept.trip_id)
        for settlement_id, split_id in kept.stored.get("awaited", ()):
            Settlement.objects.filter(trip=kept.trip, pk=settlement_id).update(split=split_id)
        for name, rows in added_rows().items():
            rows.model.objects.bulk_create(kept.rows_of(name, rows.model))
        kept.delete()
        found = Expense.objects.with_details().get(pk=expense.pk)
        fields = expense_fields(expense, payments_of(payers), parts_of(splits))
        fields |= {camel_case(name): getattr(found, name) for name in plugin_fields()}
        restored = entries_between(Event.EXPENSE_RESTORED, expense.pk, {}, fields, expense.pk)
        paid = settlement_entries(Event.SETTLEMENT_RESTORED, settlements, kept.trip.currency)
        write(kept.trip_id, by, *restored, *paid)
        return found


def restore_settlement(entry: DeletedEntry, by: User) -> Settlement:
    """Restore a deleted settlement, with what it covered or closed, as far as that is still open.

    Raises `NotRestorable`.
    """
    rows = DeletedEntry.objects.settlements
    with locked_row(rows, by, Can.DELETE_SETTLEMENTS, trip_id=entry.trip_id, pk=entry.pk) as kept:
        kept.require_restorable()
        [settlement] = kept.rows_of("settlement", Settlement)
        if not Split.objects.filter(trip=kept.trip, pk=settlement.split_id or 0).exists():
            _await_split(kept, settlement)
        _insert(kept.trip, [settlement])
        _put_back(kept, [settlement])
        kept.delete()
        restored = settlement_entries(Event.SETTLEMENT_RESTORED, [settlement], kept.trip.currency)
        write(kept.trip_id, by, *restored)
        return Settlement.objects.with_details().get(pk=settlement.pk)


def _await_split(entry: DeletedEntry, settlement: Settlement) -> None:
    """Take a settlement from its split, until the expense of that is restored, too."""
    split_id, settlement.split_id = settlement.split_id, None
    for other in entry.trip.deleted_entries.expenses().one_by_one() if split_id else ():
        if any(row["id"] == split_id for row in other.stored["splits"]):
            other.stored.setdefault("awaited", []).append([settlement.pk, split_id])
            other.save_rows()


class Deleted:
    """Deleted expenses, or settlements, of a trip as they were, the last deleted first."""

    def __init__(self, entries: DeletedQuerySet) -> None:
        self._entries = entries

    def page(self, size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` of them after the first `after`, and the number of all."""
        entries = self._entries.order_by("-id")[after : after + size]
        entries = with_plugin_fields(entries, "object_id")
        rows = [deleted_row(entry) for entry in entries.iterator(AT_A_TIME)]
        naming = [pair for row in rows for pair in _relations_to_people(row)]
        people = summaries({getattr(row, f"{name}_id") for row, name in naming})
        for row, name in naming:
            setattr(row, name, people[getattr(row, f"{name}_id")])
        return rows, self._entries.count()


def _relations_to_people(row: Any) -> list[tuple[Any, str]]:
    """The rows of an expense or settlement that name people, each with the relation to one."""
    if isinstance(row, Settlement):
        return [(row, "sender"), (row, "receiver")]
    payers = [(payer, "user") for payer in row.loaded_payers]
    return payers + [(split, "participant") for split in row.loaded_splits]


def deleted_row(entry: DeletedEntry) -> Any:
    """The deleted expense or settlement as it was, unsaved, in the trip's currency of then."""
    if entry.kind == DeletedKind.EXPENSE:
        return deleted_expense(entry)
    [settlement] = entry.rows_of("settlement", Settlement)
    settlement.trip = _trip_of(entry)
    return settlement


def _trip_of(entry: DeletedEntry) -> Trip:
    """The trip, with the currency that it had when the entry was deleted."""
    trip = entry.trip
    if trip.currency != entry.currency:
        trip = copy(trip)
        trip.currency = entry.currency
    return trip


def deleted_expense(entry: DeletedEntry) -> Expense:
    """The deleted expense as it was, with its payers and splits, unsaved."""
    [expense] = entry.rows_of("expense", Expense)
    expense.trip = _trip_of(entry)
    expense.loaded_payers = entry.rows_of("payers", Payer)
    expense.loaded_splits = entry.rows_of("splits", Split)
    for payer in expense.loaded_payers:
        payer.expense = expense
    for split, state in zip(expense.loaded_splits, entry.stored["states"], strict=True):
        split.open_minor, covered_at = state
        split.covered_at = parse_datetime(covered_at) if covered_at else None
        split.trip_currency = entry.currency
    vars(expense).update({name: getattr(entry, name, None) for name in plugin_fields()})
    return expense


def _insert(trip: Trip, settlements: list[Settlement]) -> None:
    """Insert settlements with their ids, and with their whole amounts as credit."""
    for settlement in settlements:
        settlement.credit_minor = settlement.amount_minor
    Settlement.objects.bulk_create(settlements)
    Member.increment_balances(trip.pk, sums_of(settlements, []))


def _put_back(
    entry: DeletedEntry, settlements: Sequence[Settlement], new: Sequence[Debt] = ()
) -> None:
    """Allocate again what was allocated, and hand over what cannot be allocated yet.

    `new` are the debts of the restored expense. Nothing else is allocated, so deleting an entry and
    restoring it at once changes nothing. Only a settlement of `settlements` whose closing cannot be
    put back closes the trip anew, if every balance is zero.
    """
    if "allocations" not in entry.stored:
        make_allocations(entry.trip_id, allocate_credit(entry.trip_id, new) if new else ())
        return
    dropped = KeptClosings(entry).split_off()
    insert_offsets(entry)
    if missed := allocate_again(entry):
        _hand_over(entry, missed)
    for settlement in settlements:
        if settlement.pk in dropped:
            settlement.close_if_settled()


def _hand_over(entry: DeletedEntry, rows: list[list[Any]]) -> None:
    """Hand allocations over to the deleted entries on their other side, until these are restored.

    So several entries can be restored in any order.
    """
    for other in entry.trip.deleted_entries.exclude(pk=entry.pk).one_by_one():
        debts, money = {row["id"] for row in other.stored.get("debts", ())}, other.settlement_ids
        missed = [row for row in rows if row[1] in debts or row[2] in money]
        if missed and "allocations" in other.stored:
            other.stored["allocations"] += missed
            other.save_rows()
