"""Division of money: exact to the last minor unit, fair, and always the same."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splits.money import apportion, debts, divide, own_parts

pytestmark = pytest.mark.once

TOTALS = st.integers(0, 10**15)
SEEDS = st.integers(0, 10**6)
WEIGHTS = st.lists(st.integers(0, 10**10), min_size=1, max_size=12).filter(any)
BY_USER = st.dictionaries(st.integers(1, 2**63 - 1), st.integers(1, 10**10), min_size=1, max_size=8)


@st.composite
def expenses(draw: st.DrawFn) -> tuple[dict[int, int], dict[int, int]]:
    """Splits and what was put in, in minor units by user id; the splits may leave a rest."""
    people = draw(st.permutations(range(1, 8)))
    paid_by_user = {
        user_id: draw(st.integers(1, 99)) for user_id in people[: draw(st.integers(1, 4))]
    }
    left, shares = sum(paid_by_user.values()), {}
    for user_id in people[draw(st.integers(0, 7)) :]:
        shares[user_id] = draw(st.integers(0, left // 2))
        left -= shares[user_id]
    return dict(draw(st.permutations(list(shares.items())))), paid_by_user


def sums(owed: Mapping[tuple[int, int], int], side: int) -> Counter[int]:
    by_user: Counter[int] = Counter()
    for pair, amount in owed.items():
        by_user[pair[side]] += amount
    return by_user


def shuffled(data: st.DataObject, by_user: Mapping[int, int]) -> dict[int, int]:
    return dict(data.draw(st.permutations(list(by_user.items()))))


@given(TOTALS, WEIGHTS, SEEDS)
def test_the_parts_add_up_to_the_total(total: int, weights: list[int], seed: int) -> None:
    assert sum(apportion(total, weights, seed)) == total


@given(TOTALS, WEIGHTS, SEEDS)
def test_each_part_is_less_than_one_unit_off_the_exact_share(
    total: int, weights: list[int], seed: int
) -> None:
    parts = apportion(total, weights, seed)
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(total * weight, sum(weights))) < 1


@given(TOTALS, WEIGHTS, SEEDS)
def test_units_left_over_go_to_the_largest_remainders(
    total: int, weights: list[int], seed: int
) -> None:
    exact = [Fraction(total * weight, sum(weights)) for weight in weights]
    rounded_up, rounded_down = [], []
    for part, share in zip(apportion(total, weights, seed), exact, strict=True):
        (rounded_up if part > share else rounded_down).append(share % 1)
    assert not rounded_up or min(rounded_up) >= max(rounded_down)


@given(TOTALS, WEIGHTS, SEEDS)
def test_who_weighs_nothing_gets_nothing(total: int, weights: list[int], seed: int) -> None:
    parts = apportion(total, [*weights, 0], seed)
    assert parts[-1] == 0


@given(st.integers(1, 12), TOTALS, SEEDS)
def test_over_consecutive_seeds_everybody_pays_the_odd_unit_equally_often(
    people: int, total: int, first_seed: int
) -> None:
    paid = [0] * people
    for seed in range(first_seed, first_seed + people):
        parts = apportion(total, [1] * people, seed)
        paid = [before + part for before, part in zip(paid, parts, strict=True)]
    assert paid == [total] * people


@pytest.mark.parametrize(
    ("total", "weights"), [(-1, [1]), (1, []), (1, [0, 0]), (1, [2, -1]), (0, [])]
)
def test_what_cannot_be_divided_is_refused(total: int, weights: list[int]) -> None:
    with pytest.raises(ValueError, match="needed"):
        apportion(total, weights, 0)


@given(st.data(), TOTALS, BY_USER, SEEDS)
def test_the_order_of_the_people_changes_no_share(
    data: st.DataObject, total: int, weights: dict[int, int], seed: int
) -> None:
    once = divide(total, weights, seed)
    assert divide(total, shuffled(data, weights), seed) == once == divide(total, weights, seed)


@given(TOTALS, BY_USER, SEEDS)
def test_shares_stand_in_the_order_that_was_given(
    total: int, weights: dict[int, int], seed: int
) -> None:
    assert list(divide(total, weights, seed)) == list(weights)


@given(expenses(), SEEDS)
def test_own_parts_add_up_to_what_was_put_in(
    expense: tuple[dict[int, int], dict[int, int]], seed: int
) -> None:
    shares, paid_by_user = expense
    assert sum(own_parts(shares, paid_by_user, seed).values()) == sum(paid_by_user.values())


@given(expenses(), SEEDS)
def test_what_no_split_covers_falls_to_the_payers_in_proportion(
    expense: tuple[dict[int, int], dict[int, int]], seed: int
) -> None:
    shares, paid_by_user = expense
    uncovered = sum(paid_by_user.values()) - sum(shares.values())
    for user_id, part in own_parts(shares, paid_by_user, seed).items():
        exact = Fraction(uncovered * paid_by_user.get(user_id, 0), sum(paid_by_user.values()))
        assert abs(part - shares.get(user_id, 0) - exact) < 1


def test_splits_above_the_expense_are_refused() -> None:
    with pytest.raises(ValueError, match="needed"):
        own_parts({1: 6, 2: 5}, {1: 10}, 0)


@given(expenses(), SEEDS)
def test_a_debt_is_what_the_own_money_does_not_cover(
    expense: tuple[dict[int, int], dict[int, int]], seed: int
) -> None:
    shares, paid_by_user = expense
    parts = own_parts(shares, paid_by_user, seed)
    short = {user_id: part - paid_by_user.get(user_id, 0) for user_id, part in parts.items()}
    owed = debts(shares, paid_by_user, seed)
    assert sums(owed, 0) == {u: amount for u, amount in short.items() if amount > 0}
    assert sums(owed, 1) == {u: -amount for u, amount in short.items() if amount < 0}
    assert all(amount > 0 for amount in owed.values())


@given(st.data(), expenses(), SEEDS)
def test_the_order_of_splits_and_payers_changes_no_debt(
    data: st.DataObject, expense: tuple[dict[int, int], dict[int, int]], seed: int
) -> None:
    shares, paid_by_user = expense
    again = debts(shuffled(data, shares), shuffled(data, paid_by_user), seed)
    assert again == debts(shares, paid_by_user, seed)


@given(expenses(), SEEDS)
def test_nobody_owes_for_an_expense_that_nobody_paid(
    expense: tuple[dict[int, int], dict[int, int]], seed: int
) -> None:
    shares, _put_in = expense
    assert own_parts({}, {}, seed) == {}
    assert own_parts(shares, {}, seed) == shares


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), SEEDS)
def test_a_debt_is_owed_in_proportion_to_what_the_payers_paid_by_user_too_much(
    first: int, second: int, third: int, seed: int
) -> None:
    paid_by_user = {1: first, 2: second, 3: third}
    total = sum(paid_by_user.values())
    owed = debts({4: total}, paid_by_user, seed)
    for payer, amount in paid_by_user.items():
        assert owed[4, payer] == amount
    half = debts({4: total - total // 2, 1: 0}, paid_by_user, seed)
    assert sum(half.values()) == total - total // 2
    for payer, amount in paid_by_user.items():
        assert abs(half.get((4, payer), 0) - Fraction(amount * (total - total // 2), total)) <= 2
