"""A file in our own format, read as a whole: a transaction must not wait for its parts."""

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from plugins.exchange.description import UnreadableFile
from plugins.exchange.source import SourceFile
from plugins.exchange.tables import TABLES, TRIP
from tripcompanion.api.rendering import ExactJSONRenderer

_CHUNK_ROWS = 500


class OwnFile:
    """The rows of the file by tables, as compact JSON."""

    def __init__(self, file: SourceFile) -> None:
        self._first = {name: file.first(name) for name in ("format", "version", TRIP.name)}
        self._chunks = {
            path: list(_chunks(file, path))
            for path in ("people.item", *(f"{table.name}.item" for table in TABLES))
        }

    def first(self, name: str) -> Any:
        return self._first[name]

    def items(self, path: str) -> Iterator[Any]:
        """The rows of a table, such as `expenses.item`."""
        for chunk in self._chunks[path]:
            yield from json.loads(chunk, parse_float=Decimal)


def _chunks(file: SourceFile, path: str) -> Iterator[bytes]:
    rows, render = file.items(path), ExactJSONRenderer().render
    while some := list(islice(rows, _CHUNK_ROWS)):
        try:
            yield render(some)
        except TypeError as error:
            # No number of a trip has more than 64 bits.
            raise UnreadableFile("contradiction") from error
