"""Fills a database with trips of a known size: `python -m benchmarks.data EXPENSES [EXPENSES …]`.

W(n) is a trip of ten members with n expenses, each split equally among all ten. Every third split
is paid, and all of expenses older than the last `OPEN_DAYS`, because a trip may have only so many
open debts. The rows are inserted in bulk and equal those that the ledger's commands would have
written; the audit verifies this.
"""

import sys
from collections import Counter
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from splits import money
from splits.models import Allocation, Debt, Expense, Payer, Settlement, Split, SplitType
from splits.models.settlement import sums_of
from trips.models import Member, Trip
from trips.models.events import Event
from trips.models.journal import JournalEntry
from trips.roles import TripRole
from users.models import User, Via

MEMBERS = 10
PASSWORD = "four-green-suitcases"
FIRST_DAY = date(2020, 1, 1)
#: Expenses are on these many days, from the first one on.
DAYS = 3_000
OPEN_DAYS = 333
#: Later than every expense.
LAST_DAY = date(2099, 12, 31)
CHUNK_EXPENSES = 2_000


def fill(expenses: int) -> Trip:
    """Create W(`expenses`) with members `w<n>-<i>@example.com`."""
    with transaction.atomic():
        people = _people(expenses)
        trip = Trip.objects.create(
            title=f"W({expenses})",
            destination="Everywhere",
            start_date=FIRST_DAY,
            end_date=FIRST_DAY + timedelta(days=expenses),
            currency="EUR",
            expenses_recorded=expenses,
        )
        Member.objects.bulk_create(
            Member(trip=trip, user=person, role=TripRole.EDITOR if at else TripRole.OWNER)
            for at, person in enumerate(people)
        )
        for first in range(0, expenses, CHUNK_EXPENSES):
            _record(trip, people, range(first, min(first + CHUNK_EXPENSES, expenses)))
    return trip


def _people(expenses: int) -> list[User]:
    password = make_password(PASSWORD)
    names = [f"w{expenses}-{at}" for at in range(MEMBERS)]
    User.objects.bulk_create(
        User(
            name=name,
            email=f"{name}@example.com",
            email_key=f"{name}@example.com",
            password=password,
        )
        for name in names
    )
    return list(User.objects.filter(name__in=names).order_by("pk"))


def _record(trip: Trip, people: list[User], numbers: range) -> None:
    """Insert the expenses with these numbers; payer and amount rotate."""
    user_ids = [person.pk for person in people]
    expenses = Expense.objects.bulk_create(
        Expense(
            trip=trip,
            number=number,
            description=f"Expense {number}",
            amount_minor=1_000 + number % 9_000,
            entered_minor=1_000 + number % 9_000,
            currency=trip.currency,
            expense_date=FIRST_DAY + timedelta(days=number % DAYS),
            split_type=SplitType.EQUAL,
            created_by=people[number % MEMBERS],
        )
        for number in numbers
    )
    payers, splits, owed = [], [], {}
    sums: dict[int, Counter[str]] = {user_id: Counter() for user_id in user_ids}
    for expense in expenses:
        payer_id, amount_minor = expense.created_by_id, expense.amount_minor
        shares = money.divide(amount_minor, dict.fromkeys(user_ids, 1), expense.number)
        owed[expense.pk] = money.debts(shares, {payer_id: amount_minor}, expense.number)
        both = {"amount_minor": amount_minor, "entered_minor": amount_minor}
        payers.append(Payer(trip=trip, expense=expense, user_id=payer_id, **both))
        sums[payer_id]["paid_minor"] += amount_minor
        for user_id, share in shares.items():
            splits.append(
                Split(trip=trip, expense=expense, participant_id=user_id, amount_minor=share)
            )
            sums[user_id]["share_minor"] += share
        for (debtor, _creditor), amount_minor in owed[expense.pk].items():
            sums[debtor]["owed_minor"] += amount_minor
    Payer.objects.bulk_create(payers)
    JournalEntry.objects.bulk_create(map(_entry, expenses))
    splits = Split.objects.bulk_create(splits, batch_size=CHUNK_EXPENSES)
    Member.increment_balances(trip.pk, sums)
    size = trip.expenses_recorded
    old = {expense.pk for expense in expenses if is_old(expense.number, size)}
    _pay(trip, _owe(trip, splits, owed, old))


def _entry(expense: Expense) -> JournalEntry:
    """The row of the journal for an expense, without its fields, which nothing reads here."""
    return JournalEntry(
        trip=expense.trip,
        number=expense.number + 1,
        at=expense.created_at,
        by=expense.created_by,
        via=Via.SESSION,
        event=Event.EXPENSE_CREATED,
        object_id=expense.pk,
        expense_id=expense.pk,
        stored_changes="{}",
    )


def is_old(number: int, size: int) -> bool:
    """Whether an expense of W(`size`) is older than the last `OPEN_DAYS`."""
    return number % DAYS < min(size, DAYS) - OPEN_DAYS


def _owe(trip: Trip, splits: list[Split], owed: dict[int, Any], old: set[int]) -> list[Debt]:
    """Insert the debts of the splits, every third and those of `old` expenses covered.

    Returns the covered ones.
    """
    by_pair = {(split.expense_id, split.participant_id): split for split in splits}
    now = timezone.now()
    debts = []
    for expense_id, amounts in owed.items():
        for (debtor, creditor), amount_minor in amounts.items():
            is_paid = len(debts) % 3 == 0 or expense_id in old
            debts.append(
                Debt(
                    trip=trip,
                    split=by_pair[expense_id, debtor],
                    debtor_id=debtor,
                    creditor_id=creditor,
                    amount_minor=amount_minor,
                    open_minor=0 if is_paid else amount_minor,
                    covered_at=now if is_paid else None,
                )
            )
    rows = Debt.objects.bulk_create(debts, batch_size=CHUNK_EXPENSES)
    return [debt for debt in rows if not debt.open_minor]


def _pay(trip: Trip, debts: list[Debt]) -> None:
    """Insert the settlements that cover these debts."""
    settlements = Settlement.objects.bulk_create(
        (
            Settlement(
                trip=trip,
                sender_id=debt.debtor_id,
                receiver_id=debt.creditor_id,
                amount_minor=debt.amount_minor,
                credit_minor=0,
                split=debt.split,
                created_by_id=debt.debtor_id,
            )
            for debt in debts
        ),
        batch_size=CHUNK_EXPENSES,
    )
    allocations = Allocation.objects.bulk_create(
        (
            Allocation(trip=trip, settlement=settlement, debt=debt, amount_minor=debt.amount_minor)
            for settlement, debt in zip(settlements, debts, strict=True)
        ),
        batch_size=CHUNK_EXPENSES,
    )
    Member.increment_balances(trip.pk, sums_of(settlements, allocations))


if __name__ == "__main__":
    for size in sys.argv[1:]:
        made = fill(int(size))
        sys.stdout.write(f"{made.title}: trip {made.pk}\n")
