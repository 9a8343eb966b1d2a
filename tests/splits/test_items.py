"""Division by items and by adjustments: exact, fair, and the same in any order."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from splits.models.division import Division, Money, SplitType
from splits.models.items import EXTRAS, Item, Items
from splits.models.posting import amounts

pytestmark = pytest.mark.once

PEOPLE = st.integers(1, 9)
SHARES = st.dictionaries(PEOPLE, st.integers(1, 10**10), min_size=1, max_size=6)
LINES = st.lists(st.builds(Item, st.just("Tea"), st.integers(0, 10**9), SHARES), min_size=1)
FOREIGN = st.integers(1, 10**12)


@st.composite
def bills(draw):
    """Items that add up to something, with any of tax, tip and discount."""
    extras = draw(st.dictionaries(st.sampled_from([*EXTRAS]), st.integers(0, 10**6)))
    items = Items(tuple(draw(LINES)), extras)
    assume(items.total_minor > 0 and any(item.amount_minor for item in items.lines))
    return items


def parts(items, total=None, seed=0):
    entered = items.total_minor
    money = Money(entered if total is None else total, entered, "EUR")
    division = Division(SplitType.ITEMIZED, items.people, None, items)
    return amounts(division.parts(money, seed))


@given(bills(), FOREIGN, st.integers(0, 99))
def test_the_parts_are_within_one_unit_of_what_everybody_had(items, total, seed):
    """Also in the trip's currency, in which the whole amount is another."""
    found = parts(items, total, seed)
    assert sum(found.values()) == total
    whole = sum(item.amount_minor for item in items.lines)
    for person, part in found.items():
        had = sum(
            Fraction(item.amount_minor * item.shares.get(person, 0), sum(item.shares.values()))
            for item in items.lines
        )
        assert abs(part - had * total / whole) < 1


@given(bills(), st.randoms(), st.integers(0, 99))
def test_the_order_of_the_items_changes_no_part(items, order, seed):
    lines = list(items.lines)
    order.shuffle(lines)
    assert parts(items._replace(lines=tuple(lines)), seed=seed) == parts(items, seed=seed)


@given(st.integers(1, 9), st.integers(1, 10**9))
def test_the_odd_units_of_an_item_rotate(people, amount):
    items = Items((Item("Tea", amount, dict.fromkeys(range(1, people + 1), 1)),), {})
    found = [parts(items, seed=seed) for seed in range(people)]
    assert {sum(part[person] for part in found) for person in found[0]} == {amount}


@given(bills())
def test_items_are_stored_exactly(items):
    assert Items.of(items.text("EUR"), "EUR") == items


@given(
    st.dictionaries(PEOPLE, st.integers(-1000, 1000), min_size=1),
    st.integers(1, 10**9),
    st.integers(0, 99),
)
def test_adjusted_parts_differ_by_the_adjustments(entered, equal, seed):
    """All others bear the same, but for one unit."""
    assume(equal + min(entered.values()) >= 0)
    total = equal * len(entered) + sum(entered.values()) + seed % len(entered)
    division = Division(SplitType.ADJUSTMENT, tuple(entered), entered)
    found = amounts(division.parts(Money(total, total, "EUR"), seed))
    assert sum(found.values()) == total
    assert {found[person] - entered[person] for person in entered} <= {equal, equal + 1}
    backwards = Division(SplitType.ADJUSTMENT, tuple(reversed(list(entered))), entered)
    assert amounts(backwards.parts(Money(total, total, "EUR"), seed)) == found
