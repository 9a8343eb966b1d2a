"""The balances that a file claims, beside those that its rows lead to."""

from collections.abc import Mapping, Sequence
from typing import Any

from tripcompanion.currency.amounts import to_major
from tripcompanion.exchange.description import TripDescription

#: How many lines explain a difference.
_MOST_LINES = 50


def compared(
    described: TripDescription,
    planned: Mapping[tuple[str, str], int],
    skipped: Sequence[int],
    noted: Sequence[int],
    rows: int,
) -> list[dict[str, Any]]:
    """A comparison for each person and currency, by the file's own claim if it has one.

    A difference is explained by skipped rows, which the file counts and we do not, by rounding, or
    by rows with a note. The lines are those of `skipped` and `noted`; `rows` were rounded at most.
    """
    claimed = {(row.person, row.currency): row.amount_minor for row in described.claimed}
    names = {person.key: person.name for person in described.people}
    found = []
    for person, currency in sorted({*claimed, *planned}, key=lambda k: (k[1], names.get(k[0], ""))):
        ours, theirs = planned.get((person, currency), 0), claimed.get((person, currency))
        if not ours and not theirs:
            continue
        entry: dict[str, Any] = {
            "name": names.get(person, person),
            "currency": currency,
            "planned": f"{to_major(ours, currency):f}",
            "claimed": None if theirs is None else f"{to_major(theirs, currency):f}",
            "explanation": "",
            "lines": [],
        }
        if theirs is not None and ours != theirs:
            entry |= _explained(abs(ours - theirs), skipped, noted, rows)
        found.append(entry)
    return found


def _explained(
    difference: int, skipped: Sequence[int], noted: Sequence[int], rows: int
) -> dict[str, Any]:
    if skipped:
        return {"explanation": "SKIPPED_ROWS", "lines": list(skipped[:_MOST_LINES])}
    if difference <= rows:
        return {"explanation": "ROUNDING", "lines": list(noted[:_MOST_LINES])}
    return {"explanation": "NOTED_ROWS" if noted else "OTHER", "lines": list(noted[:_MOST_LINES])}
