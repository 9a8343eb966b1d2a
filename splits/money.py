"""Exact division of money: whole minor units in, whole minor units out. Knows no database."""

from collections.abc import Mapping, Sequence


def apportion(total: int, weights: Sequence[int], seed: int) -> list[int]:
    """Divide `total` minor units in proportion to `weights`; the parts add up to `total`.

    Largest remainder method (Hamilton): each part is rounded down, then the units left over go,
    one each, to the largest remainders. Ties go round: `seed` says at whose position the turn
    begins, so that of consecutive seeds each position is first equally often.

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


def divide(total: int, weights: Mapping[int, int], seed: int) -> dict[int, int]:
    """`apportion` by user id; the turn goes by id, whatever the order of the mapping."""
    if len(weights) == 1 and total >= 0 and min(weights.values()) > 0:
        return dict.fromkeys(weights, total)
    user_ids = sorted(weights)
    parts = apportion(total, [weights[user_id] for user_id in user_ids], seed)
    by_user = dict(zip(user_ids, parts, strict=True))
    return {user_id: by_user[user_id] for user_id in weights}


def own_parts(shares: Mapping[int, int], put_in: Mapping[int, int], seed: int) -> dict[int, int]:
    """What each person has to bear of an expense, in minor units by user id.

    `shares` are the splits, `put_in` what people paid. What no split covers falls to those who
    paid, in proportion to what they put in. Raises ValueError if the splits exceed the expense.
    """
    parts = dict.fromkeys(put_in, 0) | dict(shares)
    uncovered = sum(put_in.values()) - sum(shares.values())
    if put_in and uncovered:
        for user_id, amount in divide(uncovered, put_in, seed).items():
            parts[user_id] += amount
    return parts


def debts(
    shares: Mapping[int, int], put_in: Mapping[int, int], seed: int
) -> dict[tuple[int, int], int]:
    """Who owes whom how many minor units for one expense: `{(debtor, creditor): amount}`.

    What people put in covers their own part first. Who put in too little owes those who put in
    too much, in proportion to what each is still owed; taken debtor by debtor, so that both the
    debts of a person and the claims of a person add up exactly.
    """
    parts = own_parts(shares, put_in, seed)
    surplus = {user_id: put_in.get(user_id, 0) - part for user_id, part in parts.items()}
    claims = {user_id: amount for user_id, amount in sorted(surplus.items()) if amount > 0}
    owed: dict[tuple[int, int], int] = {}
    for debtor in (user_id for user_id in sorted(shares) if surplus[user_id] < 0):
        for creditor, amount in divide(-surplus[debtor], claims, seed).items():
            if amount:
                owed[debtor, creditor] = amount
                claims[creditor] -= amount
    return owed
