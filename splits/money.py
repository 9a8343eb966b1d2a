"""Exact division of money in whole minor units, without a database."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

#: Where somebody stands in the order of odd cents: at an id, and among those of the same id.
Place: TypeAlias = tuple[int, float]
#: The places of those who took somebody's: at the id of the first who had it, and of several such
#: places, the one that was taken last is first. Others stand at their own id, before these.
Places: TypeAlias = Mapping[int, Place]
NO_PLACES: Places = MappingProxyType({})


def parse_places(claimed: str, merged: str) -> Places:
    """The places of those who took somebody's: "17:11" says that 17 has that of 11.

    The pairs are in the order of time. 1.0.0 kept those of claims apart (`claimed`), so a guest
    with whom another one was merged may have been claimed since. Somebody whose place was taken may
    come back beside the taker, and lose the new place as well.
    """
    places: dict[int, Place] = {}
    later_is_less = count(-1, -1)
    for person, former in _pairs(claimed):
        places[person] = places.pop(former, (former, next(later_is_less)))
    claimers = {former: person for person, (former, _order) in places.items()}
    for person, former in _pairs(merged):
        heir = person if person in places else claimers.get(person, person)
        places[heir] = places.pop(former, (former, next(later_is_less)))
    return places


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    for pair in text.split():
        person, former = map(int, pair.split(":"))
        yield person, former


def apportion(total: int, weights: Sequence[int], seed: int) -> list[int]:
    """Divide `total` minor units in proportion to `weights`; the parts add up to `total`.

    Largest remainder method (Hamilton): each part is rounded down, then the largest remainders
    get one of the remaining units each. Ties rotate: `seed` determines which position comes first,
    so over consecutive seeds each position is first equally often.

    Raises ValueError for a negative total or weight, or if no weight is positive.
    """
    whole = sum(weights)
    if total < 0 or whole <= 0 or min(weights) < 0:
        raise ValueError("A total of at least 0 and positive weights are needed.")
    parts = [total * weight // whole for weight in weights]
    left_over = total - sum(parts)
    turns = len(weights)
    by_remainder = sorted(
        range(turns), key=lambda at: (-(total * weights[at] % whole), (at - seed) % turns)
    )
    for at in by_remainder[:left_over]:
        parts[at] += 1
    return parts


def divide(
    total: int, weights: Mapping[int, int], seed: int, places: Places = NO_PLACES
) -> dict[int, int]:
    """`apportion` by user id; ties rotate by id, regardless of the order of the mapping.

    Those who took somebody's place (`places`) count as them. A negative total, a refund, is divided
    as if it were positive; its weights may be negative, too.
    """
    if total < 0:
        mirrored = {user_id: abs(weight) for user_id, weight in weights.items()}
        parts = divide(-total, mirrored, seed, places)
        return {user_id: -part for user_id, part in parts.items()}
    if len(weights) == 1 and total >= 0 and min(weights.values()) > 0:
        return dict.fromkeys(weights, total)
    user_ids = _in_order(weights, places)
    found = apportion(total, [weights[user_id] for user_id in user_ids], seed)
    by_user = dict(zip(user_ids, found, strict=True))
    return {user_id: by_user[user_id] for user_id in weights}


def own_parts(
    shares: Mapping[int, int],
    paid_by_user: Mapping[int, int],
    seed: int,
    places: Places = NO_PLACES,
) -> dict[int, int]:
    """Each person's share of an expense, in minor units by user id.

    `shares` are the splits, `paid_by_user` what people paid. The payers bear what no split covers,
    in proportion to what they paid. Raises ValueError if the splits exceed the expense.
    """
    parts = dict.fromkeys(paid_by_user, 0) | dict(shares)
    total = sum(paid_by_user.values())
    uncovered = total - sum(shares.values())
    if uncovered * total < 0:
        raise ValueError("Splits within the expense are needed.")
    if paid_by_user and uncovered:
        for user_id, amount in divide(uncovered, paid_by_user, seed, places).items():
            parts[user_id] += amount
    return parts


def debts(
    shares: Mapping[int, int],
    paid_by_user: Mapping[int, int],
    seed: int,
    places: Places = NO_PLACES,
) -> dict[tuple[int, int], int]:
    """Who owes whom how much for one expense, in minor units: `{(debtor, creditor): amount}`.

    A payment covers the payer's own part first. Those who paid less than their part owe those who
    paid more, in proportion to what each of them is still owed. Debtors are processed one by one,
    so that each person's debts and claims add up exactly.
    """
    return own_parts_and_debts(shares, paid_by_user, seed, places)[1]


def own_parts_and_debts(
    shares: Mapping[int, int],
    paid_by_user: Mapping[int, int],
    seed: int,
    places: Places = NO_PLACES,
) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """`own_parts` and `debts` of one expense.

    A refund is the same expense with both sides exchanged: who received it owes the others.
    """
    if sum(paid_by_user.values()) < 0:
        mirrored = [{u: -amount for u, amount in side.items()} for side in (shares, paid_by_user)]
        own, owing = own_parts_and_debts(mirrored[0], mirrored[1], seed, places)
        return (
            {user_id: -part for user_id, part in own.items()},
            {(creditor, debtor): amount for (debtor, creditor), amount in owing.items()},
        )
    parts = own_parts(shares, paid_by_user, seed, places)
    surplus = {user_id: paid_by_user.get(user_id, 0) - part for user_id, part in parts.items()}
    claims = {
        user_id: surplus[user_id] for user_id in _in_order(surplus, places) if surplus[user_id] > 0
    }
    owed: dict[tuple[int, int], int] = {}
    for debtor in (user_id for user_id in _in_order(shares, places) if surplus[user_id] < 0):
        for creditor, amount in divide(-surplus[debtor], claims, seed, places).items():
            if amount:
                owed[debtor, creditor] = amount
                claims[creditor] -= amount
    return parts, owed


def place_of(user_id: int, places: Places) -> Place:
    """Where somebody stands in the order of odd cents."""
    return places.get(user_id, (user_id, -math.inf))


def _in_order(user_ids: Iterable[int], places: Places) -> list[int]:
    if not places:
        return sorted(user_ids)
    return sorted(user_ids, key=lambda pk: place_of(pk, places))
