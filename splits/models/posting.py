"""How an expense is written to the ledger: payers, splits, debts, and the members' sums."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, Q, prefetch_related_objects
from django.utils.functional import cached_property

from splits import money
from splits.models.allocation import Allocation, recompute
from splits.models.debt import COUNT_EVERY, FEW_DEBTS, Debt, require_few_debts
from splits.models.division import Part, Payment
from splits.models.payer import Payer
from splits.models.settlement import (
    Revoked,
    Settlement,
    allocate_credit,
    make_allocations,
    settlement_entries,
)
from splits.models.split import Split
from splits.money import Places
from tripcompanion.compiled import insert, new_rows
from tripcompanion.database.deletes import delete_leaves
from trips.models import Member, Trip
from trips.models.events import Event
from trips.models.journal import entries_between, write
from users.models import User

Sums = dict[int, Counter[str]]
#: Amounts by debtor and creditor, and what is owed for each participant's split.
Pairs = dict[tuple[int, int], int]
Owed = Mapping[int, Pairs]


def payments_of(payers: Iterable[Payer]) -> dict[int, Payment]:
    """What each payer paid, by user id, the first payer first."""
    return {payer.user_id: Payment(payer.amount_minor, payer.entered_minor) for payer in payers}


def parts_of(splits: Iterable[Split]) -> dict[int, Part]:
    """Everybody's part, by user id."""
    return {
        split.participant_id: Part(*(getattr(split, name) for name in Part._fields))
        for split in splits
    }


def amounts(rows: Mapping[int, Part] | Mapping[int, Payment]) -> dict[int, int]:
    """The amounts by user, in minor units of the trip's currency."""
    return {user_id: row.amount_minor for user_id, row in rows.items()}


class ExpensePosting:
    """An expense as it is in the ledger, and how to change it. Use it under the trip's lock.

    `paid_by_user` is what each payer paid, the first one first; `parts` is everybody's part. They
    are read, unless the expense `is_new`: then it has none yet.
    """

    def __init__(
        self, trip: Trip, expense_id: int, number: int, places: Places, *, is_new: bool = False
    ) -> None:
        self.trip, self.expense_id = trip, expense_id
        #: These decide who gets odd cents; see `Expense`.
        self.number, self.places = number, places
        #: The settlements of deleted splits, with the allocations of both.
        self.revoked = Revoked()
        self.payers: list[Payer] = []
        self.splits: list[Split] = []
        if not is_new:
            self.payers += Payer.objects.filter(**self._expense()).order_by("id")
            self.splits += Split.objects.filter(**self._expense()).order_by("id")
        self.paid_by_user, self.parts = payments_of(self.payers), parts_of(self.splits)

    @cached_property
    def splits_with_debts(self) -> list[Split]:
        debts = Debt.objects.filter(trip=self.trip.pk)
        prefetch_related_objects(self.splits, Prefetch("debts", debts))
        return self.splits

    @property
    def entered(self) -> dict[int, int]:
        """What each payer paid, in minor units of the expense's currency, first payer first."""
        return {user_id: payment.entered_minor for user_id, payment in self.paid_by_user.items()}

    @property
    def covered_minor(self) -> int:
        return sum(part.amount_minor for part in self.parts.values())

    def people(self) -> Q:
        """Filters the accounts in the expense, both before and after the change."""
        before = {*self.paid_by_user, *self.parts}
        return Q(pk__in=before) | people_in(self.trip.pk, self.expense_id)

    def rewrite(
        self, paid_by_user: Mapping[int, Payment], parts: Mapping[int, Part]
    ) -> tuple[list[Payer], list[Split]]:
        """Change payers, splits, debts and sums to those of `paid_by_user` and `parts`.

        A split keeps its state if its participant, amount and creditors stay the same. All others
        start again, as if they had been deleted and created. Returns the payers and splits that
        were inserted. Raises `TooManyDebts`.
        """
        owed, sums = debts_and_sums(paid_by_user, parts, self.number, self.places)
        stored = self.splits_with_debts if self.splits else []
        if self.paid_by_user or self.parts:
            before = self.paid_by_user, self.parts
            for user_id, moved in debts_and_sums(*before, self.number, self.places)[1].items():
                sums.setdefault(user_id, Counter()).subtract(moved)
        kept = {s.participant_id: s for s in stored if _keeps_state(s, parts, owed)}
        self._drop([s for s in stored if s.participant_id not in kept])
        freed: list[int | None] = []
        grown = [d for u, s in kept.items() for d in _adjust(s, parts[u], owed[u], freed)]
        if freed:
            recompute(self.trip.pk, [], freed)
        payers = self._rewrite_payers(paid_by_user)
        # First the debts, then the credit that covers them, so that no owed sum becomes negative.
        Member.increment_balances(self.trip.pk, sums)
        rows = [
            {**self._expense(), "participant_id": user_id, **part._asdict()}
            for user_id, part in parts.items()
            if user_id not in kept
        ]
        splits = insert(new_rows(Split, rows))
        opened = [*grown, *insert(new_debts(self.trip.pk, splits, owed))]
        self._cover_by_credit(splits, opened, owed)
        is_counted = len(opened) > FEW_DEBTS or self.number % COUNT_EVERY == 0
        if opened and (self.paid_by_user or is_counted):
            require_few_debts(self.trip.pk)
        return payers, splits

    def restore(
        self, payers: list[Payer], splits: list[Split], debts: list[Debt] | None
    ) -> list[Debt]:
        """Write a deleted expense again, with these rows and their ids.

        Without `debts`, new ones are made. Returns the debts, none of which is covered yet.
        """
        owed, sums = debts_and_sums(payments_of(payers), parts_of(splits), self.number, self.places)
        Member.increment_balances(self.trip.pk, sums)
        Payer.objects.bulk_create(payers)
        Split.objects.bulk_create(splits)
        if debts is None:
            debts = insert(new_debts(self.trip.pk, splits, owed))
        else:
            for debt in debts:
                debt.open_minor, debt.covered_at = debt.amount_minor, None
            Debt.objects.bulk_create(debts)
        return debts

    def note(
        self,
        event: Event,
        by: User,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        split_id: int | None = None,
    ) -> None:
        """Write the changes of the expense or of one of its splits into the journal.

        Deleted settlements follow, each with a row of its own.
        """
        object_id = self.expense_id if split_id is None else split_id
        person_id = None if split_id is None else {**old, **new}["participantUserId"]
        changed = entries_between(event, object_id, old, new, self.expense_id, person_id)
        revoked = self.revoked.settlements
        deleted = settlement_entries(Event.SETTLEMENT_DELETED, revoked, self.trip.currency)
        write(self.trip.pk, by, *changed, *deleted)

    def _expense(self) -> dict[str, int]:
        """The columns that say to what a payer or a split belongs."""
        return {"trip_id": self.trip.pk, "expense_id": self.expense_id}

    def _rewrite_payers(self, paid_by_user: Mapping[int, Payment]) -> list[Payer]:
        """Replace the payers if they or their order changed; returns those that were inserted."""
        # Those of an expense that has none any more are deleted with it.
        if not paid_by_user or list(self.paid_by_user.items()) == list(paid_by_user.items()):
            return []
        if self.paid_by_user:
            Payer.objects.filter(**self._expense()).delete()
        rows = [
            {**self._expense(), "user_id": user_id, **payment._asdict()}
            for user_id, payment in paid_by_user.items()
        ]
        return insert(new_rows(Payer, rows))

    def _drop(self, splits: list[Split]) -> None:
        """Delete splits with their allocations, and the settlements that `pay` recorded."""
        if split_ids := [split.pk for split in splits]:
            trip_id = self.trip.pk
            of_trip = Settlement.objects.filter(trip=trip_id)
            self.revoked = of_trip.filter(split__in=split_ids).revoke()
            debts = [debt for split in splits for debt in split.debts.all()]
            if covered := [debt.pk for debt in debts if debt.open_minor < debt.amount_minor]:
                of_debts = Allocation.objects.filter(trip=trip_id, debt__in=covered)
                allocations = [*self.revoked.allocations, *of_debts.unallocate(trip_id)]
                self.revoked = self.revoked._replace(allocations=allocations)
            delete_leaves(Debt.objects.filter(trip=trip_id, pk__in=[debt.pk for debt in debts]))
            delete_leaves(Split.objects.filter(trip=trip_id, pk__in=split_ids))

    def _cover_by_credit(self, splits: Iterable[Split], debts: Iterable[Debt], owed: Owed) -> None:
        """Allocate credit to new debts, and set the open amounts of their splits."""
        covered_at: datetime | None = None
        if debts and (allocations := allocate_credit(self.trip.pk, debts)):
            covered_at = make_allocations(self.trip.pk, allocations)
        open_minor: Counter[int] = Counter()
        for debt in debts:
            open_minor[debt.split_id] += debt.open_minor
        for split in splits:
            split.open_minor = open_minor[split.pk]
            split.covered_at = covered_at if owed[split.participant_id] else None


def debts_and_sums(
    paid_by_user: Mapping[int, Payment], parts: Mapping[int, Part], number: int, places: Places
) -> tuple[Owed, Sums]:
    """The effect on the ledger of an expense that is divided like this, in minor units.

    What is owed for each participant's part, and the changes of each member's sums.
    """
    own_parts, debts = money.own_parts_and_debts(
        amounts(parts), amounts(paid_by_user), number, places
    )
    owed: Owed = {user_id: {} for user_id in parts}
    is_refund = sum(amounts(paid_by_user).values()) < 0
    for pair, amount_minor in debts.items():
        owed[pair[1] if is_refund else pair[0]][pair] = amount_minor
    sums = {user_id: Counter(share_minor=own_part) for user_id, own_part in own_parts.items()}
    for user_id, payment in paid_by_user.items():
        sums.setdefault(user_id, Counter())["paid_minor"] += payment.amount_minor
    for (debtor, _creditor), amount_minor in debts.items():
        sums[debtor]["owed_minor"] += amount_minor
    return owed, sums


def new_debts(trip_id: int, splits: Iterable[Split], owed: Owed) -> list[Debt]:
    """The unsaved debts of new splits, which nothing covers yet."""
    rows = [
        {
            "trip_id": trip_id,
            "split_id": split.pk,
            "debtor_id": debtor_id,
            "creditor_id": creditor_id,
            "amount_minor": amount_minor,
            "open_minor": amount_minor,
        }
        for split in splits
        for (debtor_id, creditor_id), amount_minor in owed[split.participant_id].items()
    ]
    return new_rows(Debt, rows)


def people_in(trip_id: int, expense_id: int) -> Q:
    """Filters the payers and participants of an expense."""
    where = {"trip": trip_id, "expense": expense_id}
    payers = Payer.objects.filter(**where).values("user")
    return Q(pk__in=payers) | Q(pk__in=Split.objects.filter(**where).values("participant"))


def _keeps_state(split: Split, parts: Mapping[int, Part], owed: Owed) -> bool:
    part = parts.get(split.participant_id)
    if part is None or part.amount_minor != split.amount_minor:
        return False
    return {_pair(debt) for debt in split.debts.all()} == set(owed[split.participant_id])


def _pair(debt: Debt) -> tuple[int, int]:
    return debt.debtor_id, debt.creditor_id


def _adjust(split: Split, part: Part, owed: Pairs, freed: list[int | None]) -> Iterator[Debt]:
    """Update the entered values of a kept split, and the amounts of its debts.

    Yields the debts that grow, open by the growth only; `freed` gets what `Debt.resize` returns.
    """
    entered = part._asdict()
    if any(getattr(split, name) != value for name, value in entered.items()):
        Split.objects.filter(trip=split.trip_id, pk=split.pk).update(**entered)
    for debt in split.debts.all():
        if more := owed[_pair(debt)] - debt.amount_minor:
            freed += debt.resize(owed[_pair(debt)])
            if more > 0:
                debt.open_minor = more
                yield debt
