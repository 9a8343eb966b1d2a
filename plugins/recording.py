"""Many expenses and settlements at once, in the same few statements for any number of them.

The result is the same as if `Expense.record` and `Settlement.record` had written one entry after
the other: settlements are allocated to open debts as they are recorded, and close the trip when
they bring every balance to zero. What is open is kept in memory between the batches, so the whole
recording happens under one lock of the trip.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from django.utils import timezone

from splits import money
from splits.models.allocation import Allocation, recompute
from splits.models.debt import MAX_OPEN_DEBTS, Debt, TooManyDebts, require_few_debts
from splits.models.division import SCALE, Division, Part, Payment, SplitType
from splits.models.expense import Expense, expense_fields
from splits.models.payer import Payer
from splits.models.posting import Owed, Sums, amounts, debts_and_sums, new_debts
from splits.models.settlement import Settlement, settlement_entries, sums_of
from splits.models.split import Split
from tripcompanion.compiled import insert
from trips.models import Member, Trip
from trips.models.default_division import MAX_WEIGHT
from trips.models.events import Event
from trips.models.journal import Entry, entries_between, write
from users.models import User

Pair = tuple[int, int]
#: The split types that stay as entered, also where the exact parts differ in odd cents.
KEPT_TYPES = frozenset({SplitType.ITEMIZED, SplitType.ADJUSTMENT})


@dataclass(frozen=True)
class NewExpense:
    """An expense to record. `fields` are its columns, with the amounts in both currencies.

    `exact_parts` are minor units of `exact_currency`; where our own division differs from them, the
    expense is divided by these amounts instead. Items and adjustments stay all the same, and so
    does everything with `moved_payments`, of an expense that had these before.
    """

    fields: Mapping[str, Any]
    paid_by_user: Mapping[int, int]
    division: Division
    exact_parts: Mapping[int, int] | None = None
    exact_currency: str = ""
    moved_payments: Mapping[int, Payment] | None = None

    @property
    def keeps_type(self) -> bool:
        """Whether the division stays as entered, also where `exact_parts` differ from it."""
        return self.moved_payments is not None or self.division.split_type in KEPT_TYPES


@dataclass
class _Written:
    """An expense of a batch with its payments, parts and debts."""

    expense: Expense
    new: NewExpense
    payments: Mapping[int, Payment]
    parts: Mapping[int, Part]
    owed: Owed
    sums: Sums
    splits: list[Split] = field(default_factory=list)
    debts: list[Debt] = field(default_factory=list)


class Recording:
    """Records entries in `trip`, which is locked and has its people, on behalf of `by`."""

    def __init__(self, trip: Trip, by: User) -> None:
        self.trip, self.by = trip, by
        self._open: dict[Pair, deque[Debt]] = defaultdict(deque)
        self._credit: dict[Pair, deque[Settlement]] = defaultdict(deque)
        for debt in Debt.objects.open().filter(trip=trip.pk):
            self._open[debt.debtor_id, debt.creditor_id].append(debt)
        for settlement in Settlement.with_offsets.with_credit().filter(trip=trip.pk):
            self._credit[settlement.sender_id, settlement.receiver_id].append(settlement)
        #: Of closings in the batch, unsaved.
        self._offsets: list[Settlement] = []
        self._balances = Counter(
            {member.user_id: member.balance_minor for member in trip.members.all()}
        )

    def record(self, batch: Iterable[NewExpense | Settlement]) -> list[int]:
        """Record the entries of a batch, and return their ids.

        Settlements are unsaved, in minor units of the trip's currency. Raises `LimitReached`, and
        `ValidationError` if somebody is not a member, or the sums of an expense do not fit.
        """
        entries = list(batch)
        written = iter(self._insert_expenses([e for e in entries if isinstance(e, NewExpense)]))
        rows: list[_Written | Settlement] = []
        allocations: list[Allocation] = []
        sums: dict[int, Counter[str]] = defaultdict(Counter)
        for entry in entries:
            if isinstance(entry, NewExpense):
                row = next(written)
                rows.append(row)
                allocations += self._post(row, sums)
            else:
                rows.append(entry)
                allocations += self._settle(entry, sums)
        self._write(rows, allocations)
        for allocation in allocations:
            if allocation.debt is not None:
                sums[allocation.debt.debtor_id]["owed_minor"] -= allocation.amount_minor
        Member.increment_balances(self.trip.pk, sums)
        require_few_debts(self.trip.pk)
        write(self.trip.pk, self.by, *self._journal(rows))
        return [row.expense.pk if isinstance(row, _Written) else row.pk for row in rows]

    def rehearse(self, batch: Iterable[NewExpense | Settlement]) -> None:
        """Raise `TooManyDebts` if a batch would leave too many debts open; nothing is written.

        The people need not exist. Afterwards, this can only rehearse further batches.
        """
        sums: dict[int, Counter[str]] = defaultdict(Counter)
        for entry in batch:
            if isinstance(entry, NewExpense):
                row = self._divided(entry, self.trip.expenses_recorded)
                self.trip.expenses_recorded += 1
                row.splits = [Split(participant_id=user_id) for user_id in row.parts]
                self._post(row, sums)
            else:
                self._settle(entry, sums)
        TooManyDebts.require_at_most(MAX_OPEN_DEBTS, sum(map(len, self._open.values())))

    def _insert_expenses(self, news: Sequence[NewExpense]) -> list[_Written]:
        if not news:
            return []
        first = self.trip.expenses_recorded
        self.trip.count_expense(len(news))
        written = [self._divided(new, first + at) for at, new in enumerate(news)]
        insert([row.expense for row in written])
        trip_id = self.trip.pk
        insert(
            [
                Payer(trip_id=trip_id, expense_id=row.expense.pk, user_id=u, **payment._asdict())
                for row in written
                for u, payment in row.payments.items()
            ]
        )
        places = [(row, user_id) for row in written for user_id in row.parts]
        splits = insert(
            [
                Split(
                    trip_id=trip_id,
                    expense_id=row.expense.pk,
                    participant_id=user_id,
                    **row.parts[user_id]._asdict(),
                )
                for row, user_id in places
            ]
        )
        for (row, _user_id), split in zip(places, splits, strict=True):
            row.splits.append(split)
        return written

    def _divided(self, new: NewExpense, number: int) -> _Written:
        """The unsaved expense with its division; nothing is written."""
        trip = self.trip
        expense = Expense(trip=trip, created_by=self.by, number=number, **new.fields)
        trip.require_members(
            {"payers": new.paid_by_user, "participantUserIds": new.division.participants}
        )
        division = _exactly(new, expense)
        expense.set_division(division)
        payments, parts = division.payments_and_parts(
            expense.money, new.paid_by_user, number, expense.places, "payers"
        )
        payments = dict(new.moved_payments or payments)
        if new.exact_parts is not None:
            exact = money.divide(expense.amount_minor, new.exact_parts, number, expense.places)
            expense.divided = exact == amounts(parts)
            parts = {u: part._replace(amount_minor=exact[u]) for u, part in parts.items()}
        owed, sums = debts_and_sums(payments, parts, number, expense.places)
        return _Written(expense, new, payments, parts, owed, sums)

    def _post(self, row: _Written, sums: dict[int, Counter[str]]) -> list[Allocation]:
        """Open the debts of an expense, in memory, and cover them by credit."""
        for user_id, moved in row.sums.items():
            sums[user_id].update(moved)
            self._balances[user_id] += moved["paid_minor"] - moved["share_minor"]
        row.debts = new_debts(self.trip.pk, row.splits, row.owed)
        allocations: list[Allocation] = []
        for debt in row.debts:
            pair, left = (debt.debtor_id, debt.creditor_id), deque([debt])
            allocations += self._allocate(left, self._credit[pair])
            self._open[pair] += left
        return allocations

    def _settle(self, new: Settlement, sums: dict[int, Counter[str]]) -> list[Allocation]:
        """Allocate a settlement, in memory, and close the trip if every balance is zero."""
        self.trip.require_members({"fromUserId": [new.sender_id], "toUserId": [new.receiver_id]})
        new.trip, new.created_by, new.credit_minor = self.trip, self.by, new.amount_minor
        for user_id, moved in sums_of([new], []).items():
            sums[user_id].update(moved)
        self._balances[new.sender_id] += new.amount_minor
        self._balances[new.receiver_id] -= new.amount_minor
        pair, left = (new.sender_id, new.receiver_id), deque([new])
        allocations = self._allocate(self._open[pair], left)
        self._credit[pair] += left
        if not any(self._balances.values()):
            allocations += self._close(new)
        return allocations

    def _allocate(self, open_debts: deque[Debt], credit: deque[Settlement]) -> list[Allocation]:
        """Cover debts of two people with credit. One side is new: what was unpaid stays unpaid."""
        allocations = []
        while open_debts and credit:
            debt, row = open_debts[0], credit[0]
            amount_minor = min(debt.open_minor, row.credit_minor)
            debt.open_minor -= amount_minor
            row.credit_minor -= amount_minor
            sides = {"trip_id": self.trip.pk, "debt": debt, "settlement": row}
            allocations.append(Allocation(**sides, amount_minor=amount_minor))
            if not debt.open_minor:
                open_debts.popleft()
            if not row.credit_minor:
                credit.popleft()
        return allocations

    def _close(self, cause: Settlement) -> list[Allocation]:
        """Use up everything that is open; see `Closings.close`."""
        common: dict[str, Any] = {"trip_id": self.trip.pk}
        allocations = []
        for pair, debts in self._open.items():
            if not debts:
                continue
            offset = _offset(cause, pair, sum(debt.open_minor for debt in debts))
            self._offsets.append(offset)
            for debt in debts:
                sides = {"settlement": offset, "debt": debt}
                allocations.append(Allocation(**sides, amount_minor=debt.open_minor, **common))
                debt.open_minor = 0
        common["closed_by"] = cause
        for row in (row for rows in self._credit.values() for row in rows):
            allocations.append(Allocation(settlement=row, amount_minor=row.credit_minor, **common))
            row.credit_minor = 0
        self._open.clear()
        self._credit.clear()
        return allocations

    def _write(
        self, rows: Sequence["_Written | Settlement"], allocations: Sequence[Allocation]
    ) -> None:
        """Insert debts, settlements and allocations, and update what was there before."""
        debts = [debt for row in rows if isinstance(row, _Written) for debt in row.debts]
        settlements = [row for row in rows if isinstance(row, Settlement)]
        now = timezone.now()
        for debt in debts:
            debt.covered_at = None if debt.open_minor else now
        used_debts = {a.debt_id for a in allocations if a.debt is not None and a.debt.pk}
        used_credit = {
            a.settlement_id for a in allocations if a.settlement is not None and a.settlement.pk
        }
        insert(debts)
        insert(settlements)
        for offset in self._offsets:
            offset.closing = offset.closing
        insert(self._offsets)
        self._offsets.clear()
        for allocation in allocations:
            # The rows had no ids yet when they were allocated.
            allocation.debt, allocation.settlement = allocation.debt, allocation.settlement
            allocation.closed_by = allocation.closed_by
        insert(allocations)
        recompute(self.trip.pk, used_debts, used_credit, now)

    def _journal(self, rows: Sequence["_Written | Settlement"]) -> Iterator[Entry]:
        for row in rows:
            if isinstance(row, _Written):
                fields = expense_fields(row.expense, row.payments, row.parts)
                pk = row.expense.pk
                yield from entries_between(Event.EXPENSE_CREATED, pk, {}, fields, pk)
            else:
                yield from settlement_entries(Event.SETTLEMENT_CREATED, [row], self.trip.currency)


def _offset(closing: Settlement, pair: Pair, amount_minor: int) -> Settlement:
    """An unsaved offset of a closing, all of which is allocated."""
    debtor_id, creditor_id = pair
    return Settlement(
        trip_id=closing.trip_id,
        closing=closing,
        sender_id=debtor_id,
        receiver_id=creditor_id,
        amount_minor=amount_minor,
        credit_minor=0,
        settled_on=closing.settled_on,
        created_by_id=closing.created_by_id,
        created_at=closing.created_at,
    )


def _exactly(new: NewExpense, expense: Expense) -> Division:
    """The division of a new expense, or one by its exact parts if that one differs from them."""
    exact, own = new.exact_parts, new.division
    if exact is None or new.keeps_type:
        return own
    in_own = new.exact_currency == expense.currency
    total = expense.entered_minor if in_own else expense.amount_minor
    entered = own.entered or dict.fromkeys(own.participants, 1)
    parts = money.divide(total, entered, expense.number, expense.places)
    adds_up = own.split_type != SplitType.MANUAL or sum(entered.values()) == expense.entered_minor
    if adds_up and parts == exact:
        return own
    if in_own:
        return Division(SplitType.MANUAL, tuple(exact), exact)
    # In the trip's currency, while the expense is in another one: weights, if we can store them.
    weights = {user_id: abs(part) // gcd(*exact.values()) for user_id, part in exact.items()}
    if not 0 < min(weights.values()) <= max(weights.values()) <= MAX_WEIGHT * SCALE:
        return Division(SplitType.EQUAL, tuple(exact))
    unit = SCALE if max(weights.values()) <= MAX_WEIGHT else 1
    return Division(SplitType.SHARES, tuple(exact), {u: unit * w for u, w in weights.items()})
