"""Restores deleted expenses and settlements, and lists them."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.utils.dateparse import parse_datetime

from splits.models.comment import Comment
from splits.models.deleted import DeletedEntry
from splits.models.expense import Expense
from splits.models.journal_fields import expense_fields, settlement_entries
from splits.models.merged import parts_of, payments_of
from splits.models.payer import Payer
from splits.models.posting import ExpensePosting
from splits.models.settlement import Debt, Settlement, sums_of
from splits.models.split import Split
from tripcompanion.compiled.queries import Pageable
from trips.models import Member, Trip, locked_row
from trips.models.events import Event
from trips.models.journal import write, write_change
from trips.roles import Can
from users.models import User, summaries


def restore_expense(entry: DeletedEntry, by: User) -> Expense:
    """Restore a deleted expense as it was, and return it with details.

    Its splits have their ids and parts again, with the settlements that `pay` recorded for them.
    What others covered of it became credit when it was deleted; what is left of that covers it
    again. If every balance is zero then, the last settlement closes the trip. Raises
    `NotRestorable`.
    """
    rows = DeletedEntry.objects.expenses
    with locked_row(rows, by, Can.CHANGE_EXPENSES, trip_id=entry.trip_id, pk=entry.pk) as kept:
        expense = deleted_expense(kept)
        settlements = kept.rows_of("settlements", Settlement)
        payments, parts = payments_of(expense), parts_of(expense)
        people = {*payments, *parts, *(s.sender_id for s in settlements)}
        kept.require_restorable(people | {s.receiver_id for s in settlements})
        expense.save(force_insert=True)
        _insert_with_credit(kept.trip, settlements)
        times = {split.pk: split.covered_at for split in expense.loaded_splits}
        ExpensePosting(expense).restore(payments, parts, expense.loaded_splits)
        _keep_times(expense, times)
        Comment.objects.bulk_create(kept.rows_of("comments", Comment))
        last = Settlement.objects.filter(trip=kept.trip).order_by("-pk").first()
        if last is not None:
            last.close_if_settled()
        kept.delete()
        shown = expense_fields(expense, payments, parts)
        currency = kept.trip.currency
        write_change(
            kept.trip_id,
            by,
            Event.EXPENSE_RESTORED,
            expense.pk,
            {},
            shown,
            expense_id=expense.pk,
            then=settlement_entries(Event.SETTLEMENT_RESTORED, settlements, currency),
        )
        return Expense.objects.with_details().get(pk=expense.pk)


def restore_settlement(entry: DeletedEntry, by: User) -> Settlement:
    """Restore a deleted settlement, and allocate it again: first to the split that it paid.

    Raises `NotRestorable`.
    """
    rows = DeletedEntry.objects.settlements
    with locked_row(rows, by, Can.DELETE_SETTLEMENTS, trip_id=entry.trip_id, pk=entry.pk) as kept:
        [settlement] = kept.rows_of("settlement", Settlement)
        kept.require_restorable([settlement.sender_id, settlement.receiver_id])
        settlement.trip = kept.trip
        paid = Split.objects.filter(trip=kept.trip, pk=settlement.split_id or 0)
        if not paid.exists():
            settlement.split_id = None
        settlement.enter()
        kept.delete()
        currency = kept.trip.currency
        write(
            kept.trip_id, by, *settlement_entries(Event.SETTLEMENT_RESTORED, [settlement], currency)
        )
        return Settlement.objects.with_details().get(pk=settlement.pk)


class DeletedExpenses(Pageable):
    """The deleted expenses of a trip as they were, last deleted first."""

    def __init__(self, trip: Trip) -> None:
        self._trip, self._entries = trip, DeletedEntry.objects.expenses().filter(trip=trip)

    def page(self, size: int, after: int) -> tuple[list[Expense], int]:
        """At most `size` expenses after so many, and how many there are in all."""
        entries = self._entries.order_by("-id")[after : after + size]
        expenses = [deleted_expense(entry, self._trip) for entry in entries]
        payers = [payer for expense in expenses for payer in expense.loaded_payers]
        splits = [split for expense in expenses for split in expense.loaded_splits]
        ids = {payer.user_id for payer in payers} | {split.participant_id for split in splits}
        people = _People(ids)
        for payer in payers:
            payer.user = people[payer.user_id]
        for split in splits:
            split.participant = people[split.participant_id]
        return expenses, self._entries.count()


class DeletedSettlements(Pageable):
    """The deleted settlements of a trip as they were, last deleted first."""

    def __init__(self, trip: Trip) -> None:
        self._trip, self._entries = trip, DeletedEntry.objects.settlements().filter(trip=trip)

    def page(self, size: int, after: int) -> tuple[list[Settlement], int]:
        """At most `size` settlements after so many, and how many there are in all."""
        entries = self._entries.order_by("-id")[after : after + size]
        rows = [entry.rows_of("settlement", Settlement)[0] for entry in entries]
        people = _People({user_id for row in rows for user_id in (row.sender_id, row.receiver_id)})
        for row in rows:
            row.trip = self._trip
            row.sender, row.receiver = people[row.sender_id], people[row.receiver_id]
        return rows, self._entries.count()


class _People(dict[int, User]):
    """Users by id; a guest whose row is gone has no name."""

    def __init__(self, user_ids: Iterable[int]) -> None:
        super().__init__(summaries(user_ids))

    def __missing__(self, user_id: int) -> User:
        return User(pk=user_id, name="", is_guest=True)


def deleted_expense(entry: DeletedEntry, trip: Trip | None = None) -> Expense:
    """The deleted expense as it was, with its payers and splits, unsaved."""
    [expense] = entry.rows_of("expense", Expense)
    expense.trip = trip or entry.trip
    expense.loaded_payers = entry.rows_of("payers", Payer)
    expense.loaded_splits = entry.rows_of("splits", Split)
    for payer in expense.loaded_payers:
        payer.expense = expense
    for split, state in zip(expense.loaded_splits, entry.stored["states"], strict=True):
        split.open_minor, covered_at = state
        split.covered_at = parse_datetime(covered_at) if covered_at else None
        split.trip_currency = entry.currency
    return expense


def _insert_with_credit(trip: Trip, settlements: list[Settlement]) -> None:
    """Insert settlements with their ids and all their credit, which covers what comes next."""
    for settlement in settlements:
        settlement.credit_minor, settlement.period = settlement.amount_minor, trip.period
    Settlement.objects.bulk_create(settlements)
    Member.increment_balances(trip.pk, sums_of(settlements, []))


def _keep_times(expense: Expense, times: Mapping[int, datetime | None]) -> None:
    """Date the payment of debts that are covered again as it was dated before, by split."""
    splits = Split.objects.filter(trip=expense.trip_id, expense=expense).values("pk")
    of_trip = Debt.objects.filter(trip=expense.trip_id)
    debts = list(of_trip.filter(split__in=splits, open_minor=0))
    for debt in debts:
        debt.covered_at = times[debt.split_id] or debt.covered_at
    of_trip.bulk_update(debts, ["covered_at"])
