"""The numbers by which rows are ordered. Plain Python."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

#: The distance between the numbers of neighbours, so that others fit in between.
STEP = 1024


def renumbered(numbers: Sequence[int | None]) -> list[int]:
    """New numbers that rise from 0, of which as many as possible are as they were.

    None stands for a row that has no number yet. So one row that is moved among thousands changes
    its number alone, unless there is no room left between its neighbours.
    """
    fixed: list[Any] = [(-1, 0), *((place, numbers[place]) for place in _longest_rise(numbers))]
    place, number = fixed[-1]
    fixed.append((len(numbers), number + STEP * (len(numbers) - place)))
    found: list[int] = []
    for (start, low), (end, high) in pairwise(fixed):
        step = (high - low) // (end - start)
        if step < 1:
            return [STEP * place for place in range(1, len(numbers) + 1)]
        found += [*(low + step * place for place in range(1, end - start)), high]
    return found[:-1]


def _longest_rise(numbers: Sequence[int | None]) -> list[int]:
    """The places of the longest rising subsequence of the positive numbers."""
    #: For each length, the smallest number with which such a sequence ends, and its places from
    #: there: the last one, and those before it.
    ends: list[int] = []
    chains: list[Any] = []
    for place, number in enumerate(numbers):
        if number is not None and number > 0:
            length = bisect_left(ends, number)
            before = chains[length - 1] if length else None
            ends[length : length + 1], chains[length : length + 1] = [number], [(place, before)]
    rise, chain = [], chains[-1] if chains else None
    while chain is not None:
        place, chain = chain
        rise.append(place)
    return rise[::-1]
