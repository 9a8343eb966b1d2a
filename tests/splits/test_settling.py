"""The fewest transfers that bring every balance to zero."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splits.settling import EXACT_LIMIT, Transfer, fewest_transfers

pytestmark = pytest.mark.once

# No two are opposite, and no subset but the four rows and their unions sums to zero.
FOUR_TRIPLES = [(100, 23, -123), (1_000, 7, -1_007), (61, -50, -11), (40_003, -40_000, -3)]


@st.composite
def zero_sums(draw, min_size, max_size, largest):
    """Balances of min_size to max_size people that sum to zero; some may be zero themselves."""
    others = st.lists(st.integers(-largest, largest), min_size=min_size - 1, max_size=max_size - 1)
    amounts = draw(others)
    return numbered(draw, [*amounts, -sum(amounts)])


@st.composite
def planted_groups(draw):
    """Up to EXACT_LIMIT non-zero balances, shuffled, and how many zero-sum groups they hide."""
    nonzero = st.integers(-500, 500).filter(bool)
    group = st.lists(nonzero, min_size=1, max_size=3).filter(sum)
    groups = draw(st.lists(group, min_size=1, max_size=EXACT_LIMIT // 4))
    amounts = [amount for group in groups for amount in [*group, -sum(group)]]
    return numbered(draw, draw(st.permutations(amounts))), len(groups)


def numbered(draw, amounts):
    size = len(amounts)
    user_ids = st.lists(st.integers(1, 10**6), min_size=size, max_size=size, unique=True)
    return dict(zip(draw(user_ids), amounts, strict=True))


def people(balances):
    return sum(1 for balance in balances.values() if balance)


def settled(balances, transfers):
    left = Counter(balances)
    for transfer in transfers:
        left[transfer.sender_id] += transfer.amount_minor
        left[transfer.receiver_id] -= transfer.amount_minor
    return not any(left.values())


def fewest_by_trying_everything(amounts):
    """Close the first open balance against every opposite one in turn, and count the transfers.

    This finds the optimum: in a best answer, the people whom transfers link to the first sum to
    zero with them, so one is opposite; closing the first there saves a person and a transfer.
    """
    if not amounts:
        return 0
    first, *rest = amounts
    if first == 0:
        return fewest_by_trying_everything(rest)
    return 1 + min(
        fewest_by_trying_everything([*rest[:index], first + other, *rest[index + 1 :]])
        for index, other in enumerate(rest)
        if first * other < 0
    )


def test_zero_balances_are_ignored():
    assert fewest_transfers({1: 0, 2: 50, 3: 0, 4: -50}) == [Transfer(4, 2, 50)]


def test_equal_balances_are_matched_by_lowest_id():
    assert fewest_transfers({4: -5, 3: 5, 2: -5, 1: 5}) == [Transfer(2, 1, 5), Transfer(4, 3, 5)]


def test_the_largest_amounts_are_settled_first():
    assert fewest_transfers({1: -20, 2: -50, 3: 40, 4: 30}) == [
        Transfer(1, 4, 20), Transfer(2, 3, 40), Transfer(2, 4, 10),
    ]  # fmt: skip


@pytest.mark.parametrize("balances", [{1: 1}, {1: 5, 2: -4}, dict.fromkeys(range(20), -1)])
def test_balances_that_do_not_sum_to_zero_are_refused(balances):
    with pytest.raises(ValueError, match="sum to zero"):
        fewest_transfers(balances)


# Beyond 2^53, where a float would round.
@given(zero_sums(1, 40, 10**18))
def test_huge_amounts_stay_exact(balances):
    transfers = fewest_transfers(balances)
    assert all(type(transfer.amount_minor) is int for transfer in transfers)
    assert settled(balances, transfers)


@given(zero_sums(1, 40, 100))
def test_every_amount_is_positive_and_nobody_both_sends_and_receives(balances):
    for transfer in fewest_transfers(balances):
        assert transfer.amount_minor > 0
        assert balances[transfer.sender_id] < 0 < balances[transfer.receiver_id]


@given(zero_sums(1, 8, 12))
def test_up_to_eight_people_match_the_brute_force(balances):
    amounts = list(balances.values())
    assert len(fewest_transfers(balances)) == fewest_by_trying_everything(amounts)


@given(planted_groups())
def test_up_to_twelve_people_use_every_hidden_group(planted):
    balances, groups = planted
    assert len(fewest_transfers(balances)) <= people(balances) - groups


def test_zero_balances_and_opposite_pairs_do_not_count_towards_the_limit():
    triples = [amount for triple in FOUR_TRIPLES for amount in triple]
    pairs = [amount * sign for amount in range(200, 206) for sign in (1, -1)]
    balances = dict(enumerate([0, *triples, 0, *pairs]))
    assert len(balances) > EXACT_LIMIT
    assert len(fewest_transfers(balances)) == 8 + 6


@given(zero_sums(EXACT_LIMIT + 1, 60, 1_000))
def test_beyond_the_limit_there_are_at_most_n_minus_one_transfers(balances):
    assert len(fewest_transfers(balances)) <= max(0, people(balances) - 1)


def test_ten_thousand_people_are_settled_in_at_most_n_minus_one_transfers():
    balances = {user_id: user_id * user_id for user_id in range(1, 10_000)}
    balances |= {user_id: -balances[user_id] - 1 for user_id in range(1, 10_000, 2)}
    balances[10_000] = -sum(balances.values())
    transfers = fewest_transfers(balances)
    assert settled(balances, transfers)
    assert len(transfers) <= len(balances) - 1


@given(st.data(), zero_sums(1, 20, 10))
def test_the_order_of_the_input_changes_nothing(data, balances):
    shuffled = dict(data.draw(st.permutations(list(balances.items()))))
    assert fewest_transfers(shuffled) == fewest_transfers(balances)


@given(zero_sums(1, 40, 20))
def test_transfers_are_sorted_by_sender_then_receiver_and_pairs_are_unique(balances):
    pairs = [(transfer.sender_id, transfer.receiver_id) for transfer in fewest_transfers(balances)]
    assert pairs == sorted(set(pairs))
