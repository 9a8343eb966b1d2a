"""Settling: the fewest transfers that bring every balance to zero.

Why groups: draw each transfer as an edge between two people. Every connected part of that graph
sums to zero, and a part of s people has at least s - 1 edges; s - 1 are also enough (see
`_settle_group`). So n people need n - k transfers, where k is the largest number of disjoint
zero-sum groups they fall into.

Why a limit: finding k is NP-hard. PARTITION reduces to it: let each weight be a debt, and let two
people be owed half the total each; two groups exist exactly when the weights can be halved.

Sources:
- T. Verhoeff, "Settling Multiple Debts Efficiently: An Invitation to Computing Science",
  Informatics in Education 3(1), 2004, pp. 105-126: the problem, zero-sum groups, NP-hardness.
- C. Pătcaş, "The debts' clearing problem's relation with complexity classes", Acta Mathematica
  Academiae Paedagogicae Nyíregyháziensis 28, 2012, pp. 217-226: NP-hard in the strong sense.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import NamedTuple

# The exact search visits 2^n subsets: 4,096 at 12 people, and twice that for each one more.
EXACT_LIMIT = 12


class Transfer(NamedTuple):
    """One payment that settles; `amount_minor` is positive."""

    sender_id: int
    receiver_id: int
    amount_minor: int


def fewest_transfers(balances: Mapping[int, int]) -> list[Transfer]:
    """Return the transfers after which every balance is zero.

    `balances` maps user id to minor units of one currency: positive is owed, negative owes.
    Raises ValueError if they do not sum to zero.

    The number of transfers is minimal for up to EXACT_LIMIT people with a balance, not counting
    those whom an exactly opposite balance settles. Above that it is at most n - 1, in O(n log n).
    Either way the total moved is minimal, and nobody both sends and receives.

    Sorted by sender id, then receiver id; each pair appears at most once. Ties between equally
    good solutions are broken by user id, so the order of the mapping does not matter.
    """
    if sum(balances.values()) != 0:
        raise ValueError("Balances must sum to zero.")
    unsettled = {user_id: balances[user_id] for user_id in sorted(balances) if balances[user_id]}
    transfers = _pair_opposites(unsettled)
    for transfer in transfers:
        del unsettled[transfer.sender_id], unsettled[transfer.receiver_id]
    exact = len(unsettled) <= EXACT_LIMIT
    for group in _zero_sum_groups(unsettled) if exact else [unsettled]:
        transfers += _settle_group(group)
    return sorted(transfers)


def _pair_opposites(balances: Mapping[int, int]) -> list[Transfer]:
    """Match every debt with an equal credit, if there is one.

    This never costs a transfer. Take a best grouping and two opposite people in it. If they share
    a group, splitting them off leaves a zero-sum rest; if not, the rests of their two groups sum
    to zero together. Either way there are no fewer groups than before.
    """
    debtor_ids: defaultdict[int, deque[int]] = defaultdict(deque)
    for user_id, balance in balances.items():
        if balance < 0:
            debtor_ids[-balance].append(user_id)
    return [
        Transfer(debtor_ids[balance].popleft(), user_id, balance)
        for user_id, balance in balances.items()
        if balance > 0 and debtor_ids[balance]
    ]


def _zero_sum_groups(balances: Mapping[int, int]) -> list[dict[int, int]]:
    """Split zero-sum balances into the largest number of zero-sum groups, in O(2^n n).

    A subset is a bit mask over the people. Build it up one person at a time: each time the sum so
    far is zero, a group is complete. `most[subset]` is the most groups that any order completes.
    """
    people = [(1 << index, user_id) for index, user_id in enumerate(balances)]
    sums = [0]
    for balance in balances.values():
        sums += [subset_sum + balance for subset_sum in sums]
    most = [0] * len(sums)
    for subset in range(1, len(sums)):
        before = max([most[subset ^ bit] for bit, _ in people if subset & bit])
        most[subset] = before + (sums[subset] == 0)

    groups: list[dict[int, int]] = []
    subset = len(sums) - 1
    while subset:
        if sums[subset] == 0:
            groups.append({})
        present = [person for person in people if subset & person[0]]
        bit, user_id = max(present, key=lambda person: most[subset ^ person[0]])
        groups[-1][user_id] = balances[user_id]
        subset ^= bit
    return groups


def _settle_group(balances: Mapping[int, int]) -> list[Transfer]:
    """Settle one zero-sum group, largest amounts first, in at most size - 1 transfers.

    Each transfer brings its sender or its receiver to zero, and the last one both.
    """
    by_size = sorted(balances.items(), key=lambda item: -abs(item[1]))
    senders = deque((user_id, -balance) for user_id, balance in by_size if balance < 0)
    receivers = deque((user_id, balance) for user_id, balance in by_size if balance > 0)
    transfers: list[Transfer] = []
    while senders:
        sender_id, debt = senders.popleft()
        receiver_id, credit = receivers.popleft()
        amount = min(debt, credit)
        transfers.append(Transfer(sender_id, receiver_id, amount))
        if debt > amount:
            senders.appendleft((sender_id, debt - amount))
        if credit > amount:
            receivers.appendleft((receiver_id, credit - amount))
    return transfers
