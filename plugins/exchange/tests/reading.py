"""Reads a file in a test, and what follows from its entries."""

import io
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from plugins.exchange.description import (
    DescribedExpense,
    DescribedSettlement,
    SkippedRow,
    UnreadableFile,
)
from plugins.exchange.formats import describe
from plugins.exchange.formats.reading import TripDescription
from plugins.exchange.models import Import
from plugins.exchange.planning import Choices, plan_import
from plugins.exchange.source import SourceFile
from plugins.exchange.tests.samples import SPLITPRO_CSV
from users.models import User


def read(content: str | bytes, name: str = "", **choices) -> TripDescription:
    data = content.encode() if isinstance(content, str) else content
    return describe(SourceFile(io.BytesIO(data), name, **choices))


def planned(user: User, content: str = SPLITPRO_CSV) -> Import:
    """The plan of importing a file into a new trip."""
    return plan_import(user, io.BytesIO(content.encode()), Choices(as_new_trip=True))


def entries(trip: TripDescription) -> list:
    return [entry for entry in trip.entries if not isinstance(entry, SkippedRow)]


def skipped(trip: TripDescription) -> dict[int, str]:
    """The reasons of skipped rows, by line."""
    rows = [entry for entry in trip.entries if isinstance(entry, SkippedRow)]
    return {row.line: row.reason.code for row in rows}


def noted(trip: TripDescription) -> dict[int, list[str]]:
    """The notes of the rows that have some, by line."""
    return {e.line: [note.code for note in e.notes] for e in entries(trip) if e.notes}


def balances(trip: TripDescription) -> dict[tuple[str, str], int]:
    """What each person is owed in each currency by exact parts, in minor units; zeros left out."""
    sums: Counter[tuple[str, str]] = Counter()
    for entry in entries(trip):
        if isinstance(entry, DescribedSettlement):
            sums[entry.sender, entry.currency] += entry.amount_minor
            sums[entry.receiver, entry.currency] -= entry.amount_minor
            continue
        assert isinstance(entry, DescribedExpense)
        parts = entry.parts or exact(entry)
        assert sum(minor for _person, minor in entry.payers) == entry.amount_minor
        assert sum(minor for _person, minor in parts) == entry.amount_minor
        for person, minor in entry.payers:
            sums[person, entry.currency] += minor
        for person, minor in parts:
            sums[person, entry.currency] -= minor
    return {key: minor for key, minor in sums.items() if minor}


def exact(entry: DescribedExpense) -> list[tuple[str, int]]:
    """The parts of an expense that divides without a remainder."""
    weights = {person: value or 1 for person, value in entry.entered}
    total = sum(weights.values())
    assert all(entry.amount_minor * weight % total == 0 for weight in weights.values())
    return [(person, entry.amount_minor * w // total) for person, w in weights.items()]


def claimed(trip: TripDescription) -> dict[tuple[str, str], int]:
    return {key: minor for key, minor in trip.claimed.items() if minor}


def codes(trip: TripDescription) -> list[str]:
    """The notes of the whole file."""
    return [note.code for note in trip.notes]


def kinds(trip: TripDescription) -> list[str]:
    """How each expense is divided; "payment" for a payment."""
    return [
        "payment" if isinstance(entry, DescribedSettlement) else entry.split_type
        for entry in entries(trip)
    ]


#: What a test may say of a trip that was read; see `check`.
FACTS: dict[str, Callable[[TripDescription], Any]] = {
    # By person alone, where it is in the currency of the trip.
    "owed": lambda trip: {
        person if code == trip.currency else (person, code): minor
        for (person, code), minor in balances(trip).items()
    },
    "agrees": lambda trip: bool(claimed(trip)) and claimed(trip) == balances(trip),
    "noted": noted,
    "skipped": skipped,
    "codes": codes,
    "kinds": kinds,
    "people": lambda trip: [person.name for person in trip.people],
    "titles": lambda trip: [entry.title for entry in entries(trip)],
    "categories": lambda trip: [entry.fields["category"] for entry in entries(trip)],
    "days": lambda trip: [str(entry.date) for entry in entries(trip)],
    "details": lambda trip: [entry.fields["notes"] for entry in entries(trip)],
}


def check(content: str | bytes, **expected: Any) -> None:
    """Read a file and compare these `FACTS`; everything else is what `read` takes.

    `refused` is the code of the error, if it cannot be read.
    """
    choices = {name: expected.pop(name) for name in expected.keys() - FACTS.keys() - {"refused"}}
    if code := expected.pop("refused", None):
        assert refused(content, **choices) == code
        return
    trip = read(content, **choices)
    assert {name: FACTS[name](trip) for name in expected} == expected


def refused(content: str | bytes, **choices: Any) -> str:
    """The code of the error for a file that cannot be read."""
    with pytest.raises(UnreadableFile) as caught:
        list(read(content, **choices).entries)
    return caught.value.code


def changed(sample: str, *path: Any, **fields: Any) -> str:
    """The sample of JSON with other fields in the object at this path; `...` removes a field."""
    content = json.loads(sample)
    within = content
    for name in path:
        within = within[name]
    within |= {name: value for name, value in fields.items() if value is not ...}
    for name in fields:
        if fields[name] is ...:
            within.pop(name, None)
    return json.dumps(content)
