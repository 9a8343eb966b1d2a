"""The balances that a file claims, beside those that its rows lead to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from plugins.exchange.formats.reading import TripDescription
from tripcompanion.currency.amounts import to_major

#: How many lines explain a difference.
_MOST_LINES = 50


def compared(
    described: TripDescription,
    planned: Mapping[tuple[str, str], int],
    skipped: Sequence[int],
    noted: Sequence[int],
    entries: int,
) -> list[dict[str, Any]]:
    """A comparison for each person, by currency: the file's own claim, if it has one, and ours.

    `why` are notes. A difference is explained by skipped rows, which the file counts and we do not,
    by rounding, or by rows with a note; `entries` were rounded at most.
    """
    claimed = described.claimed
    codes_of: dict[str, list[str]] = defaultdict(list)
    for key, code in sorted({*claimed, *planned}):
        codes_of[key].append(code)
    found = []
    for person in described.people:
        codes = codes_of[person.key]
        ours = {code: planned.get((person.key, code), 0) for code in codes}
        theirs = {c: claimed[person.key, c] for c in codes if (person.key, c) in claimed}
        difference = max((abs(ours[code] - minor) for code, minor in theirs.items()), default=0)
        found.append(
            {
                "name": person.name,
                "claimed": _major(theirs) if theirs else None,
                "ours": _major(ours),
                "why": [_why(difference, skipped, noted, entries)] if difference else [],
            }
        )
    return found


def _major(amounts: Mapping[str, int]) -> dict[str, str]:
    return {code: f"{to_major(minor, code):f}" for code, minor in amounts.items()}


def _why(
    difference: int, skipped: Sequence[int], noted: Sequence[int], entries: int
) -> tuple[str, dict[str, str]]:
    if skipped:
        return "skipped_rows", {"lines": _listed(skipped)}
    if difference <= entries:
        return "rounding", {}
    return ("noted_rows", {"lines": _listed(noted)}) if noted else ("contradicts_rows", {})


def _listed(lines: Sequence[int]) -> str:
    more = ["…"] if len(lines) > _MOST_LINES else []
    return ", ".join([*map(str, lines[:_MOST_LINES]), *more])
