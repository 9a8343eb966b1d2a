"""How a row of a file is known again when the same file, or a newer one, is imported."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import NamedTuple

from tripcompanion.exchange.description import (
    DescribedExpense,
    DescribedSettlement,
    Entry,
    SkippedRow,
    TripDescription,
)
from tripcompanion.exchange.source import as_json


class Identity(NamedTuple):
    """See `ImportedRow`."""

    key: str
    match: str
    digest: str


def identified(trip: TripDescription) -> Iterator[tuple[Entry, Identity | None]]:
    """The entries of a description with their identities; None for skipped rows.

    Rows without an id that are equal are different all the same: two coffees on one day are real.
    """
    names = {person.key: person.name for person in trip.people}
    seen: Counter[str] = Counter()
    for entry in trip.entries:
        if isinstance(entry, SkippedRow):
            yield entry, None
            continue
        digest = _digest(trip.format, *_content(entry, names))
        key = _digest(trip.format, "id", entry.key) if entry.key else ""
        if not key:
            seen[digest] += 1
            key = _digest(digest, seen[digest])
        title = entry.description if isinstance(entry, DescribedExpense) else entry.note
        yield entry, Identity(key, _digest(trip.format, _time(entry), title), digest)


def _content(
    entry: DescribedExpense | DescribedSettlement, names: Mapping[str, str]
) -> Iterable[object]:
    """What makes a row differ: when, what, how much, by whom and for whom."""
    common = (_time(entry), entry.amount_minor, entry.currency)
    if isinstance(entry, DescribedSettlement):
        people = [names.get(key, key) for key in (entry.sender, entry.receiver)]
        return (*common, entry.note, people)
    payers = [(names.get(key, key), minor) for key, minor in entry.payers]
    parts = sorted((names.get(key, key), value) for key, value in entry.parts or ())
    entered = sorted((names.get(key, key), value or 0) for key, value in entry.entered)
    return (*common, entry.description, sorted(payers), parts or entered)


def _time(entry: DescribedExpense | DescribedSettlement) -> str:
    """When it happened, in words that do not depend on the time zone of the import."""
    return entry.instant or str(entry.date)


def _digest(*values: object) -> str:
    return blake2b(as_json(values).encode(), digest_size=16).hexdigest()
