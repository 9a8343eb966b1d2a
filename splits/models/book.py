"""Writing an expense into the book: its payers, splits, debts, and the sums of the members."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from splits import money
from splits.models.division import Part, Payment
from splits.models.settlement import Allocation, Debt, Settlement, cover, credit_between
from splits.models.split import Split
from tripcompanion.kit.deleting import delete_unread
from tripcompanion.kit.inserting import insert
from trips.models import Member
from users.models import User, summary_of

if TYPE_CHECKING:
    from splits.models.expense import Expense

Sums = dict[int, Counter[str]]
Owed = Mapping[int, dict[int, int]]


class PayerQuerySet(models.QuerySet["Payer"]):
    def shown(self) -> "PayerQuerySet":
        """Each with the person, and no more than an answer shows; the first one first."""
        columns = ("expense", "user", "entered_minor", *summary_of("user"))
        return self.select_related("user").only(*columns).order_by("id")


class Payer(models.Model):
    """What one person put into an expense; the rows of an expense add up to its amount."""

    expense = models.ForeignKey("splits.Expense", on_delete=models.CASCADE, related_name="payers")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="payments")
    amount_minor = models.BigIntegerField()
    #: As entered, in minor units of the expense's currency.
    entered_minor = models.BigIntegerField()

    objects = PayerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["expense", "user"], name="payer_once_in_expense"),
            models.CheckConstraint(
                condition=Q(amount_minor__gte=0, entered_minor__gt=0), name="payer_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} paid {self.amount_minor}"


class Entry:
    """An expense as the book has it, and as it is to be. Lives under the trip's lock.

    `put_in` is what each payer paid, the first one first; `parts` is everybody's part.
    Both are empty for an expense that is not written yet, and for one that is to go.
    """

    def __init__(self, expense: "Expense") -> None:
        self.expense = expense
        self.put_in: dict[int, Payment] = {}
        self.parts: dict[int, Part] = {}
        if expense.pk is not None:
            self.put_in = {
                payer.user_id: Payment(payer.amount_minor, payer.entered_minor)
                for payer in expense.payers.order_by("id")
            }
            self.parts = {
                split.participant_id: Part(*(getattr(split, name) for name in Part._fields))
                for split in expense.splits.order_by("id")
            }

    @property
    def entered(self) -> dict[int, int]:
        """What each payer entered in the expense's currency, in minor units, first one first."""
        return {user_id: payment.entered_minor for user_id, payment in self.put_in.items()}

    @property
    def left_minor(self) -> int:
        """What no split covers."""
        return self.expense.amount_minor - sum(part.amount_minor for part in self.parts.values())

    def rewrite(self, put_in: Mapping[int, Payment], parts: Mapping[int, Part]) -> None:
        """Make payers, splits, debts and sums those of `put_in` and `parts`.

        A split whose participant, amount and creditors stay keeps its state; all others start
        again, as if deleted and made new.
        """
        owed = self._owed(put_in, parts)
        sums = self._sums(put_in, parts, owed)
        owed_before = self._owed(self.put_in, self.parts)
        for user_id, moved in self._sums(self.put_in, self.parts, owed_before).items():
            sums.setdefault(user_id, Counter()).subtract(moved)
        is_new = not (self.put_in or self.parts)
        stored = [] if is_new else list(self.expense.splits.prefetch_related("debts"))
        kept = {s.participant_id: s for s in stored if _keeps_state(s, parts, owed)}
        self._drop([s.pk for s in stored if s.participant_id not in kept])
        for user_id, split in kept.items():
            _adjust(split, parts[user_id], owed[user_id])
        if list(self.put_in.items()) != list(put_in.items()):
            if self.put_in:
                self.expense.payers.all().delete()
            insert(
                Payer(expense=self.expense, user_id=user_id, **payment._asdict())
                for user_id, payment in put_in.items()
            )
        # First the new debts and then the credit that covers them: nobody owes less than nothing.
        Member.shift(self.expense.trip_id, sums)
        self._open({u: part for u, part in parts.items() if u not in kept}, owed)

    def _drop(self, split_ids: list[int]) -> None:
        """Delete splits with their allocations, and the settlements that `pay` recorded."""
        if split_ids:
            Settlement.objects.filter(split__in=split_ids).revoke()
            Debt.objects.filter(split__in=split_ids).itemise()
            Allocation.objects.filter(debt__split__in=split_ids).release(self.expense.trip_id)
            delete_unread(self.expense.splits.filter(pk__in=split_ids))

    def _open(self, parts: Mapping[int, Part], owed: Owed) -> None:
        """Make new splits and their debts, and let credit between the same two cover them."""
        splits = insert(
            Split(expense=self.expense, participant_id=user_id, **part._asdict())
            for user_id, part in parts.items()
        )
        debts = insert(
            Debt(
                trip=self.expense.trip,
                split=split,
                debtor_id=split.participant_id,
                creditor_id=creditor_id,
                amount_minor=amount_minor,
                open_minor=amount_minor,
                period=self.expense.trip.period,
            )
            for split in splits
            for creditor_id, amount_minor in owed[split.participant_id].items()
        )
        if debts:
            credits = credit_between(
                trip=self.expense.trip_id,
                senders={debt.debtor_id for debt in debts},
                receivers={debt.creditor_id for debt in debts},
            )
            Allocation.make(self.expense.trip_id, cover(debts, credits))

    def _sums(self, put_in: Mapping[int, Payment], parts: Mapping[int, Part], owed: Owed) -> Sums:
        """By how much an expense divided like this, with these debts, moves each member's sums."""
        own = money.own_parts(amounts(parts), amounts(put_in), self.expense.number)
        sums = {user_id: Counter(share_minor=amount_minor) for user_id, amount_minor in own.items()}
        for user_id, payment in put_in.items():
            sums.setdefault(user_id, Counter())["paid_minor"] += payment.amount_minor
        for user_id, debts in owed.items():
            sums[user_id]["owed_minor"] = sum(debts.values())
        return sums

    def _owed(self, put_in: Mapping[int, Payment], parts: Mapping[int, Part]) -> Owed:
        """By participant: how many minor units they owe to whom."""
        owed: Owed = {user_id: {} for user_id in parts}
        debts = money.debts(amounts(parts), amounts(put_in), self.expense.number)
        for (debtor, creditor), amount_minor in debts.items():
            owed[debtor][creditor] = amount_minor
        return owed


def amounts(rows: Mapping[int, Part] | Mapping[int, Payment]) -> dict[int, int]:
    return {user_id: row.amount_minor for user_id, row in rows.items()}


def _keeps_state(split: Split, parts: Mapping[int, Part], owed: Owed) -> bool:
    part = parts.get(split.participant_id)
    if part is None or part.amount_minor != split.amount_minor:
        return False
    return {debt.creditor_id for debt in split.debts.all()} == set(owed[split.participant_id])


def _adjust(split: Split, part: Part, owed: Mapping[int, int]) -> None:
    """Carry over to a kept split what may change in it: the entered figures, the debts' amounts."""
    entered = part._asdict()
    if any(getattr(split, name) != value for name, value in entered.items()):
        Split.objects.filter(pk=split.pk).update(**entered)
    for debt in split.debts.all():
        if debt.amount_minor != owed[debt.creditor_id]:
            debt.resize(owed[debt.creditor_id])
