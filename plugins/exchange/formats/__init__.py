"""The file formats that can be imported, one module each, and which of them a file has.

The modules are plain Python without a database. `file.items("expenses.item")` reads JSON one value
after the other, `file.records()` CSV. `read_entries` of the description reads the file again each
time it is called, so that a large file is never in memory as a whole.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from plugins.exchange.description import TripDescription, UnreadableFile
from plugins.exchange.formats import (
    abrechnung,
    cospend,
    ihatemoney,
    settle_up,
    spliit_csv,
    spliit_json,
    splitpro_csv,
    splitpro_json,
    splitwise_api,
    splitwise_csv,
    tricount,
    trip_companion,
)
from plugins.exchange.formats.reading import RowError
from plugins.exchange.source import Head, SourceFile


class Format(Protocol):
    """A module for a format. Both functions raise `UnreadableFile` with the line."""

    def recognises(self, head: Head) -> bool:
        """Whether a file has this format, by its beginning."""

    def read(self, file: SourceFile) -> TripDescription:
        """What the file says."""


#: In the order in which they are tried: the labels of Splitwise's CSV are in any language.
FORMATS: Iterable[Format] = (
    *(trip_companion, abrechnung, spliit_json, ihatemoney, splitpro_json, splitwise_api, tricount),
    *(cospend, settle_up, splitpro_csv, spliit_csv, splitwise_csv),
)


def describe(file: SourceFile) -> TripDescription:
    """The trip in `file`. Raises `UnreadableFile`, also if no format recognises it."""
    for head in file.heads():
        for known in FORMATS:
            if known.recognises(head):
                try:
                    described = known.read(file)
                except RowError as error:
                    raise error.of_file() from error
                return replace(described, notes=(*file.notes, *described.notes))
    raise UnreadableFile("unknown_format")
