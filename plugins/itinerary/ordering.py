"""The numbers by which rows are ordered. Plain Python."""

from bisect import bisect_left
from collections.abc import Sequence

#: The distance between the numbers of neighbours, so that others fit in between.
STEP = 1024


def renumbered(numbers: Sequence[int | None]) -> list[int]:
    """New numbers that rise from 0, of which as many as possible are as they were.

    None stands for a row that has no number yet. So one row that is moved among thousands changes
    its number alone, unless there is no room left between its neighbours.
    """
    kept = _longest_rise(numbers)
    found: list[int] = []
    for start, end in zip([-1, *kept], [*kept, len(numbers)], strict=True):
        low = found[-1] if found else 0
        last = numbers[end] if end < len(numbers) else None
        high = low + STEP * (end - start) if last is None else last
        step = (high - low) // (end - start)
        if step < 1:
            return [STEP * place for place in range(1, len(numbers) + 1)]
        found += [low + step * place for place in range(1, end - start)]
        if last is not None:
            found.append(last)
    return found


def _longest_rise(numbers: Sequence[int | None]) -> list[int]:
    """The places of the longest rising subsequence of the positive numbers."""
    #: For each length, the smallest number with which such a sequence ends, and its place.
    ends: list[int] = []
    places: list[int] = []
    before: dict[int, int | None] = {}
    for place, number in enumerate(numbers):
        if number is None or number < 1:
            continue
        length = bisect_left(ends, number)
        ends[length : length + 1], places[length : length + 1] = [number], [place]
        before[place] = places[length - 1] if length else None
    rise: list[int] = []
    at = places[-1] if places else None
    while at is not None:
        rise.append(at)
        at = before[at]
    return rise[::-1]
