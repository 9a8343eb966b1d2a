"""The rules of a trip's money once more, written for reading: plain dicts, nothing kept twice.

All amounts are minor units. The machine of the ledger compares the service with this.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import NamedTuple

ByUser = Mapping[int, int]
#: Amounts by debtor and creditor.
Owed = dict[tuple[int, int], int]


class DebtKey(NamedTuple):
    split: int
    debtor: int
    creditor: int


class Money(NamedTuple):
    """A settlement; `split` is the one whose `pay` recorded it."""

    sender: int
    receiver: int
    amount: int
    by: int
    split: int | None = None


class OffsetKey(NamedTuple):
    """What a closing offset of all debts of one person to another."""

    closing: int
    debtor: int
    creditor: int


#: What has credit: a settlement or an offset.
Source = int | OffsetKey


@dataclass
class Use:
    """So much of a settlement or an offset covers so much of a debt, or is used up by a closing."""

    source: Source
    debt: DebtKey | None
    amount: int
    closed_by: int | None = None


@dataclass
class Bill:
    """An expense: the how manieth, who recorded it, what people put in, and their parts."""

    number: int
    by: int
    paid_by_user: ByUser = field(default_factory=dict)
    parts: ByUser = field(default_factory=dict)
    #: Whether the parts are a division of the amount, with none added or deleted by hand.
    divided: bool = True


def share_out(total: int, weights: ByUser, turn: int) -> dict[int, int]:
    """Largest remainder; ties go round by user id, `turn` says who is first."""
    if total < 0:
        parts = share_out(-total, {user: abs(weight) for user, weight in weights.items()}, turn)
        return {user: -part for user, part in parts.items()}
    users = sorted(weights)
    exact = {user: Fraction(total * weights[user], sum(weights.values())) for user in users}
    parts = {user: floor(exact[user]) for user in users}
    nearest = sorted(
        users, key=lambda user: (parts[user] - exact[user], (users.index(user) - turn) % len(users))
    )
    for user in nearest[: total - sum(parts.values())]:
        parts[user] += 1
    return parts


def borne(bill: Bill) -> dict[int, int]:
    """What everybody has to bear: the own part, and for payers what no split covers."""
    rest = sum(bill.paid_by_user.values()) - sum(bill.parts.values())
    uncovered = share_out(rest, bill.paid_by_user, bill.number) if rest else {}
    people = bill.parts.keys() | bill.paid_by_user.keys()
    return {user: bill.parts.get(user, 0) + uncovered.get(user, 0) for user in people}


def owed(bill: Bill) -> Owed:
    """`{(debtor, creditor): amount}`: what own money does not cover, in proportion to claims.

    In a refund it is the other way round.
    """
    if sum(bill.paid_by_user.values()) < 0:
        sides = [{u: -a for u, a in side.items()} for side in (bill.paid_by_user, bill.parts)]
        opposite = owed(Bill(bill.number, bill.by, *sides))
        return {(creditor, debtor): amount for (debtor, creditor), amount in opposite.items()}
    left = {user: bill.paid_by_user.get(user, 0) - part for user, part in borne(bill).items()}
    claims = {user: amount for user, amount in left.items() if amount > 0}
    result = {}
    for debtor in sorted(user for user in bill.parts if left[user] < 0):
        for creditor, amount in share_out(-left[debtor], claims, bill.number).items():
            result[debtor, creditor] = amount
            claims[creditor] -= amount
    return {pair: amount for pair, amount in result.items() if amount}


class Rules:
    """One trip. Commands take the ids that the service gave to what they made."""

    def __init__(self) -> None:
        self.recorded = 0
        self.bills: dict[int, Bill] = {}
        self.splits: dict[int, tuple[int, int]] = {}
        self.debts: dict[DebtKey, int] = {}
        self.money: dict[int, Money] = {}
        self.offsets: dict[OffsetKey, int] = {}
        self.uses: list[Use] = []

    # -- Questions --------------------------------------------------------------------------------

    def open(self, debt: DebtKey) -> int:
        return self.debts[debt] - sum(use.amount for use in self.uses if use.debt == debt)

    def credit(self, source: Source) -> int:
        used = sum(use.amount for use in self.uses if use.source == source)
        is_offset = isinstance(source, OffsetKey)
        amount = self.offsets[source] if is_offset else self.money[source].amount
        return amount - used

    def closed_on_top(self, settlements: Iterable[int]) -> int | None:
        """The last settlement that used up credit of these, or of what they closed.

        Nobody can delete these before that one.
        """
        ids = {*settlements}
        later = {
            use.closed_by
            for use in self.uses
            if use.closed_by is not None
            and (use.source.closing if isinstance(use.source, OffsetKey) else use.source) in ids
        }
        return max(later - ids, default=None)

    def paying(self, splits: Iterable[int]) -> list[int]:
        """The settlements that `pay` recorded for these splits."""
        return [pk for pk, money in self.money.items() if money.split in {*splits}]

    def law(self, user: int) -> int:
        """What is open and credit in somebody's favour, less what is against them."""
        favour = [
            *((debt.creditor, debt.debtor, self.open(debt)) for debt in self.debts),
            *((money.sender, money.receiver, self.credit(pk)) for pk, money in self.money.items()),
            *((key.debtor, key.creditor, self.credit(key)) for key in self.offsets),
        ]
        gets = sum(minor for first, _second, minor in favour if first == user)
        return gets - sum(minor for _first, second, minor in favour if second == user)

    def of_split(self, split: int) -> list[DebtKey]:
        return sorted(debt for debt in self.debts if debt.split == split)

    def still_open(self, split: int) -> int:
        return sum(self.open(debt) for debt in self.of_split(split))

    def amount(self, split: int) -> int:
        bill, user = self.splits[split]
        return self.bills[bill].parts[user]

    def paid(self, split: int) -> int:
        """How much of it is; negative in a refund, as its amount is."""
        amount, still_open = self.amount(split), self.still_open(split)
        return amount + still_open if amount < 0 else amount - still_open

    def sides(self, split: int) -> set[tuple[int, int]]:
        """The debtor and the creditor of each debt."""
        return {(debt.debtor, debt.creditor) for debt in self.of_split(split)}

    def pending(self, user: int) -> list[int]:
        return sorted(
            {debt.split for debt in self.debts if debt.debtor == user and self.open(debt)}
        )

    def balance(self, user: int) -> int:
        paid = sum(bill.paid_by_user.get(user, 0) for bill in self.bills.values())
        share = sum(borne(bill).get(user, 0) for bill in self.bills.values())
        sent = sum(money.amount for money in self.money.values() if money.sender == user)
        received = sum(money.amount for money in self.money.values() if money.receiver == user)
        return paid - share + sent - received

    def people(self) -> set[int]:
        """Everybody of whose sums one is not zero."""
        sides = {user for money in self.money.values() for user in money[:2]}
        paid, shares = Counter[int](), Counter[int]()
        for bill in self.bills.values():
            paid.update(bill.paid_by_user)
            shares.update(borne(bill))
        return sides | {user for sums in (paid, shares) for user in sums if sums[user]}

    # -- Commands ---------------------------------------------------------------------------------

    def record(self, bill: int, by: int) -> int:
        """A new expense; `rewrite` says who paid and who has which part."""
        self.bills[bill] = Bill(self.recorded, by)
        self.recorded += 1
        return bill

    def owes(self, bill: int, paid_by_user: ByUser, parts: ByUser) -> dict[int, Owed]:
        """What is owed for each person's part if the bill is divided like this."""
        owes: dict[int, Owed] = {user: {} for user in parts}
        is_refund = sum(paid_by_user.values()) < 0
        for sides, amount in owed(Bill(self.bills[bill].number, 0, paid_by_user, parts)).items():
            owes[sides[is_refund]][sides] = amount
        return owes

    def of_bill(self, bill: int) -> dict[int, int]:
        """Its splits by user."""
        return {user: split for split, (of, user) in self.splits.items() if of == bill}

    def kept(self, bill: int, paid_by_user: ByUser, parts: ByUser) -> set[int]:
        """Whose splits keep their state if the bill is divided like this."""
        before, old = self.bills[bill], self.of_bill(bill)
        owes = self.owes(bill, paid_by_user, parts)
        return {
            user
            for user in old.keys() & parts.keys()
            if parts[user] == before.parts[user] and owes[user].keys() == self.sides(old[user])
        }

    def closed_on_top_of(self, bill: int, paid_by_user: ByUser, parts: ByUser) -> int | None:
        """See `closed_on_top`: of what goes if the bill is divided like this."""
        kept = self.kept(bill, paid_by_user, parts)
        gone = [split for user, split in self.of_bill(bill).items() if user not in kept]
        return self.closed_on_top(self.paying(gone))

    def rewrite(self, bill: int, paid_by_user: ByUser, parts: ByUser, ids: ByUser) -> None:
        """`ids` are the splits by user: kept ones have to have kept theirs."""
        before, old = self.bills[bill], self.of_bill(bill)
        owes = self.owes(bill, paid_by_user, parts)
        kept = self.kept(bill, paid_by_user, parts)
        assert ids.keys() == parts.keys()
        assert {user for user in ids if ids[user] == old.get(user)} == kept
        for user in old.keys() - kept:
            self.drop(old[user])
        for user in kept:
            for sides, amount in owes[user].items():
                self.resize(DebtKey(old[user], *sides), amount)
        before.paid_by_user, before.parts = paid_by_user, parts
        for user in parts.keys() - kept:
            self.splits[ids[user]] = (bill, user)
            for sides, amount in owes[user].items():
                debt = DebtKey(ids[user], *sides)
                self.debts[debt] = amount
                self.cover(debt, self.between(*sides))

    def delete(self, bill: int) -> None:
        for split in [split for split, (of, _user) in self.splits.items() if of == bill]:
            self.drop(split)
        del self.bills[bill]

    def pay(self, split: int, by: int) -> list[Money]:
        """The settlements that are to be recorded after credit is used; `enter` them then."""
        for debt in self.of_split(split):
            self.cover(debt, self.between(debt.debtor, debt.creditor))
        rest = [(debt.debtor, debt.creditor, self.open(debt)) for debt in self.of_split(split)]
        return [Money(*sides, amount, by, split) for *sides, amount in rest if amount]

    def unpay(self, split: int) -> None:
        for settlement in self.paying([split]):
            self.delete_settlement(settlement)
        self.uses = [use for use in self.uses if not (use.debt and use.debt.split == split)]

    def enter(self, new: Mapping[int, Money]) -> None:
        """Record settlements at once, each to cover what is oldest; then close if all is zero."""
        self.money.update(new)
        for settlement, money in new.items():
            for debt in sorted(self.debts):
                if debt[1:] == money[:2] and money.split in {None, debt.split}:
                    self.cover(debt, [settlement])
        if new and not any(self.balance(user) for user in self.people()):
            self.close(max(new))

    def close(self, settlement: int) -> None:
        for source in (*self.money, *self.offsets):
            self.use(Use(source, None, self.credit(source), settlement))
        for debt in self.debts:
            if amount := self.open(debt):
                key = OffsetKey(settlement, *debt[1:])
                self.offsets[key] = self.offsets.get(key, 0) + amount
                self.use(Use(key, debt, amount))

    def delete_settlement(self, settlement: int) -> None:
        del self.money[settlement]
        offsets = {key for key in self.offsets if key.closing == settlement}
        self.offsets = {key: minor for key, minor in self.offsets.items() if key not in offsets}
        gone = {settlement, *offsets}
        self.uses = [u for u in self.uses if u.source not in gone and u.closed_by != settlement]

    # -- Steps ------------------------------------------------------------------------------------

    def between(self, sender: int, receiver: int) -> list[Source]:
        """The oldest first; offsets are written after their closing."""
        sides = (sender, receiver)
        sources: dict[Source, tuple[int, int]] = {
            **{pk: (pk, 0) for pk, m in self.money.items() if (m.sender, m.receiver) == sides},
            **{key: (key.closing, 1) for key in self.offsets if key[1:] == sides},
        }
        return sorted(sources, key=sources.__getitem__)

    def cover(self, debt: DebtKey, sources: Iterable[Source]) -> None:
        for source in sources:
            self.use(Use(source, debt, min(self.open(debt), self.credit(source))))

    def use(self, use: Use) -> None:
        if use.amount:
            self.uses.append(use)

    def drop(self, split: int) -> None:
        self.unpay(split)
        del self.splits[split]
        self.debts = {debt: amount for debt, amount in self.debts.items() if debt.split != split}

    def resize(self, debt: DebtKey, amount: int) -> None:
        """What covers more than the new amount is credit again, the latest first.

        Credit covers what the debt grows by, and no more of it.
        """
        grown = amount - self.debts[debt]
        excess = self.debts[debt] - self.open(debt) - amount
        for use in [use for use in self.uses if use.debt == debt][::-1]:
            freed = max(0, min(excess, use.amount))
            excess -= freed
            use.amount -= freed
        self.debts[debt] = amount
        self.uses = [use for use in self.uses if use.amount]
        for source in self.between(debt.debtor, debt.creditor):
            minor = max(0, min(grown, self.credit(source)))
            grown -= minor
            self.use(Use(source, debt, minor))
