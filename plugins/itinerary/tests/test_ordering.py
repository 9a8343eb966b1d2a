"""The numbers by which rows are ordered."""

from hypothesis import given
from hypothesis import strategies as st

from plugins.itinerary.ordering import STEP, renumbered


@given(st.lists(st.none() | st.integers(0, 3000)))
def test_new_numbers_rise(numbers):
    found = renumbered(numbers)
    assert len(found) == len(numbers)
    assert all(low < high for low, high in zip([0, *found], found, strict=False))


@given(st.sets(st.integers(1, 10**6)))
def test_numbers_that_rise_stay(numbers):
    assert renumbered(sorted(numbers)) == sorted(numbers)


def test_one_that_moves_changes_alone():
    assert renumbered([3 * STEP, STEP, 2 * STEP]) == [STEP // 2, STEP, 2 * STEP]
    assert renumbered([2 * STEP, STEP, 3 * STEP])[2] == 3 * STEP


def test_without_room_all_get_new_numbers():
    assert renumbered([1, None, 2]) == [STEP, 2 * STEP, 3 * STEP]
