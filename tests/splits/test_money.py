"""Division of money: exact to the last minor unit, fair, and always the same."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splits.money import apportion, debts, divide, own_parts, parse_places, place_of
from tests.splits.rules import Bill, borne, owed, share_out

pytestmark = pytest.mark.once


TOTALS = st.integers(0, 10**15)
SEEDS = st.integers(0, 10**6)
#: In any order, which changes nothing. Small ones have equal remainders.
WEIGHTS = st.dictionaries(
    st.integers(1, 2**63 - 1), st.integers(0, 3) | st.integers(0, 10**10), min_size=1, max_size=12
).filter(lambda weights: any(weights.values()))


@st.composite
def expenses(draw):
    """Splits and what was put in, in minor units by user id; the splits may leave a rest.

    All amounts of a refund are negative.
    """
    people, sign = draw(st.permutations(range(1, 8))), draw(st.sampled_from([1, -1]))
    paid_by_user = {
        user_id: draw(st.integers(1, 99)) for user_id in people[: draw(st.integers(1, 4))]
    }
    left, shares = sum(paid_by_user.values()), {}
    for user_id in people[draw(st.integers(0, 7)) :]:
        shares[user_id] = draw(st.integers(0, left // 2))
        left -= shares[user_id]
    sides = dict(draw(st.permutations(list(shares.items())))), paid_by_user
    signed = [{user: sign * minor for user, minor in side.items()} for side in sides]
    return signed[0], signed[1]


@given(TOTALS, WEIGHTS, SEEDS)
def test_each_part_is_less_than_one_unit_off_and_all_add_up(total, weights, seed):
    parts = apportion(total, list(weights.values()), seed)
    assert sum(parts) == total
    for part, weight in zip(parts, weights.values(), strict=True):
        assert abs(part - Fraction(total * weight, sum(weights.values()))) < 1


@given(st.integers(1, 10**15), WEIGHTS, SEEDS)
def test_units_left_over_go_to_the_largest_remainders_and_ties_go_round(total, weights, seed):
    parts = divide(total, weights, seed)
    assert parts == share_out(total, weights, seed)
    assert list(parts) == list(weights)
    for signed in (weights, {user: -weight for user, weight in weights.items()}):
        assert divide(-total, signed, seed) == {user: -part for user, part in parts.items()}


@given(st.integers(1, 12), TOTALS, SEEDS)
def test_over_consecutive_seeds_everybody_pays_the_odd_unit_equally_often(
    people, total, first_seed
):
    paid = [0] * people
    for seed in range(first_seed, first_seed + people):
        parts = apportion(total, [1] * people, seed)
        paid = [before + part for before, part in zip(paid, parts, strict=True)]
    assert paid == [total] * people


@pytest.mark.parametrize(
    "texts", [("17:11 18:11", ""), ("17:11", "18:11"), ("", "17:11 18:11")], ids=str
)
def test_who_took_a_place_last_stands_first_there_but_after_its_owner(texts):
    places = parse_places(*texts)
    assert sorted([17, 11, 18], key=lambda person: place_of(person, places)) == [11, 18, 17]
    assert divide(1, {17: 1, 18: 1, 11: 1}, 0, places) == {17: 0, 18: 0, 11: 1}


@pytest.mark.parametrize(
    ("total", "weights"), [(-1, [1]), (1, []), (1, [0, 0]), (1, [2, -1]), (0, [])]
)
def test_what_cannot_be_divided_is_refused(total, weights):
    with pytest.raises(ValueError, match="needed"):
        apportion(total, weights, 0)


@given(expenses(), SEEDS)
def test_own_parts_and_debts_are_what_the_rules_say(expense, seed):
    shares, paid_by_user = expense
    bill = Bill(seed, 0, paid_by_user, shares)
    assert own_parts(shares, paid_by_user, seed) == borne(bill)
    assert debts(shares, paid_by_user, seed) == owed(bill)


def test_splits_above_the_expense_are_refused():
    with pytest.raises(ValueError, match="needed"):
        own_parts({1: 6, 2: 5}, {1: 10}, 0)


def test_nobody_owes_for_an_expense_that_nobody_paid():
    assert own_parts({}, {}, 0) == {}
    assert own_parts({1: 6, 2: 5}, {}, 0) == {1: 6, 2: 5}
