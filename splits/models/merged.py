"""People who were merged into one member, in an expense that was divided among them.

Merging changes nobody else's part and nobody else's debt. Rounding depends on who was there, and
those who paid too little owe those who paid too much; so an expense may keep, in `Expense.merged`,
what each of the merged people paid and had to bear. All that follows from the expense is computed
for them separately and then added up. Dividing the expense again forgets it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from splits import money
from splits.models.division import SCALE, Division, Part, Payment, SplitType, entered_for

if TYPE_CHECKING:
    from splits.models.expense import Expense

ByUser = Mapping[int, int]


class Merged(NamedTuple):
    """What `user_id` has of an expense in the place of `person_id`, who may be the user too."""

    user_id: int
    person_id: int
    part: Part | None
    payment: Payment | None


class MergedPeople:
    """The merged people of one expense; mostly none."""

    def __init__(self, rows: Iterable[Merged] = ()) -> None:
        self.rows = tuple(rows)
        #: The JSON text of `Expense.merged`; empty if nobody was merged.
        self.text = json.dumps(self.rows) if self.rows else ""
        self._user_ids = {row.person_id: row.user_id for row in self.rows}

    @classmethod
    def load(cls, stored: str) -> Self:
        """From the JSON text of `Expense.merged`."""
        return cls(
            Merged(user_id, person_id, part and Part(*part), payment and Payment(*payment))
            for user_id, person_id, part, payment in (json.loads(stored) if stored else ())
        )

    def given_to(self, user_id: int, by: int) -> Self:
        """With everything of the user `by` under `user_id`."""
        rows = (row._replace(user_id=user_id) if row.user_id == by else row for row in self.rows)
        return type(self)(rows)

    def add_up(self, parts: Mapping[int, Part], payments: Mapping[int, Payment]) -> bool:
        """Whether what each of them had adds up to what their member has."""
        sums = [self.by_user(amounts(self.parts(parts)))]
        sums.append(self.by_user(amounts(self.payments(payments))))
        return sums == [amounts(parts), amounts(payments)]

    def parts(self, by_user: Mapping[int, Part]) -> dict[int, Part]:
        """The parts by person, for those by user."""
        rows = {row.person_id: row.part for row in self.rows if row.part is not None}
        return self._without_merged(by_user) | rows

    def payments(self, by_user: Mapping[int, Payment]) -> dict[int, Payment]:
        """The payments by person, for those by user."""
        rows = {row.person_id: row.payment for row in self.rows if row.payment is not None}
        return self._without_merged(by_user) | rows

    def own_parts(
        self, shares: ByUser, paid_by_user: ByUser, seed: int, ranks: ByUser
    ) -> dict[int, int]:
        """`money.own_parts`, added up by user."""
        if not self.rows:
            return money.own_parts(shares, paid_by_user, seed, ranks)
        shares, paid = self._by_person(shares, paid_by_user)
        return dict(self.by_user(money.own_parts(shares, paid, seed, ranks)))

    def debts(
        self, shares: ByUser, paid_by_user: ByUser, seed: int, ranks: ByUser
    ) -> dict[tuple[int, int], int]:
        """`money.debts`, added up by user; nobody owes themself."""
        return self._own_parts_and_debts(shares, paid_by_user, seed, ranks)[1]

    def own_parts_and_debts(
        self,
        parts: Mapping[int, Part],
        payments: Mapping[int, Payment],
        seed: int,
        ranks: ByUser,
    ) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
        """`own_parts` and `debts` of an expense that is divided and paid like this."""
        return self._own_parts_and_debts(amounts(parts), amounts(payments), seed, ranks)

    def _own_parts_and_debts(
        self, shares: ByUser, paid_by_user: ByUser, seed: int, ranks: ByUser
    ) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
        if not self.rows:
            return money.own_parts_and_debts(shares, paid_by_user, seed, ranks)
        shares, paid = self._by_person(shares, paid_by_user)
        own_parts, debts = money.own_parts_and_debts(shares, paid, seed, ranks)
        owed: Counter[tuple[int, int]] = Counter()
        for (debtor, creditor), amount in debts.items():
            pair = (self._user(debtor), self._user(creditor))
            if pair[0] != pair[1]:
                owed[pair] += amount
        return dict(self.by_user(own_parts)), dict(owed)

    def by_user(self, amounts: ByUser) -> Counter[int]:
        """Amounts by person, added up by user."""
        sums: Counter[int] = Counter()
        for person_id, amount in amounts.items():
            sums[self._user(person_id)] += amount
        return sums

    def _by_person(
        self, shares: ByUser, paid_by_user: ByUser
    ) -> tuple[dict[int, int], dict[int, int]]:
        by_person = self._without_merged(shares), self._without_merged(paid_by_user)
        for row in self.rows:
            for amounts, value in zip(by_person, (row.part, row.payment), strict=True):
                if value is not None:
                    amounts[row.person_id] = value.amount_minor
        return by_person

    def _without_merged(self, by_user: Mapping[int, Any]) -> dict[int, Any]:
        users = set(self._user_ids.values())
        return {user_id: value for user_id, value in by_user.items() if user_id not in users}

    def _user(self, person_id: int) -> int:
        return self._user_ids.get(person_id, person_id)


NOBODY_MERGED = MergedPeople()


def parts_of(expense: "Expense") -> dict[int, Part]:
    """The parts by user of an expense with `loaded_splits`."""
    return {
        row.participant_id: Part(*(getattr(row, name) for name in Part._fields))
        for row in expense.loaded_splits
    }


def payments_of(expense: "Expense") -> dict[int, Payment]:
    """The payments by user of an expense with `loaded_payers`, first payer first."""
    return {
        row.user_id: Payment(row.amount_minor, row.entered_minor) for row in expense.loaded_payers
    }


def merge_people(
    expense: "Expense", guest_id: int, user_id: int
) -> tuple[dict[int, Part], dict[int, Payment]]:
    """Merge two people of an expense with `loaded_payers` and `loaded_splits`; it is not saved.

    Returns the parts and payments by user, with those of the two added up. Sets `merged`, which is
    empty where the sums alone give all that the expense gave, and `split_type`: somebody with two
    equal parts has the weight 2.
    """
    parts, payments = parts_of(expense), payments_of(expense)
    rows = list(MergedPeople.load(expense.merged).rows)
    is_equal = expense.divided and expense.split_type == SplitType.EQUAL
    if is_equal and {guest_id, user_id} <= parts.keys():
        expense.split_type = SplitType.SHARES
        parts = {key: part._replace(weight_e4=SCALE) for key, part in parts.items()}
        rows = [row._replace(part=row.part and row.part._replace(weight_e4=SCALE)) for row in rows]
    known = {row.user_id for row in rows}
    rows += [
        Merged(person_id, person_id, parts.get(person_id), payments.get(person_id))
        for person_id in (user_id, guest_id)
        if person_id not in known and (person_id in parts or person_id in payments)
    ]
    merged = MergedPeople(rows).given_to(user_id, by=guest_id)
    parts, payments = (_added_up(rows, guest_id, user_id) for rows in (parts, payments))
    follows = _all_follows(expense, parts, payments, merged)
    expense.merged = "" if follows else merged.text
    return parts, payments


def _added_up(rows: Mapping[int, Any], guest_id: int, user_id: int) -> dict[int, Any]:
    """`rows` by user, with the guest's added to the user's."""
    sums: dict[int, Any] = {}
    for key, row in rows.items():
        key = user_id if key == guest_id else key
        sums[key] = _added(sums.get(key), row)
    return sums


def _added(own: Any, other: Any) -> Any:
    """The sum of two parts or two payments; values that neither has stay None."""
    if own is None:
        return other
    sums = (
        None if a is None and b is None else (a or 0) + (b or 0)
        for a, b in zip(own, other, strict=True)
    )
    return type(own)(*sums)


def _all_follows(
    expense: "Expense",
    parts: Mapping[int, Part],
    payments: Mapping[int, Payment],
    merged: MergedPeople,
) -> bool:
    """Whether the sums alone give what is computed for the merged people separately."""
    shares, paid = amounts(parts), amounts(payments)
    entered = {user_id: payment.entered_minor for user_id, payment in payments.items()}
    turn = (expense.number, expense.trip.ranks)
    if expense.divided and shares:
        split_type = SplitType(expense.split_type)
        division = Division(split_type, tuple(parts), entered_for(split_type, parts))
        divided = division.parts(expense.money, *turn)
        if shares != amounts(divided):
            return False
    return (
        paid == money.divide(expense.amount_minor, entered, *turn)
        and money.own_parts(shares, paid, *turn) == merged.own_parts(shares, paid, *turn)
        and money.debts(shares, paid, *turn) == merged.debts(shares, paid, *turn)
    )


def amounts(rows: Mapping[int, Part] | Mapping[int, Payment]) -> dict[int, int]:
    return {user_id: row.amount_minor for user_id, row in rows.items()}
