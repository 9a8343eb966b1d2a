"""The file formats that can be imported, one module each, and which of them a file has.

The modules are plain Python without a database. `file.items("expenses.item")` reads JSON one value
after the other, `file.records()` CSV. `read_entries` of the description reads the file again each
time it is called, so that a large file is never in memory as a whole.
"""

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from plugins.exchange.description import TripDescription, UnreadableFile
from plugins.exchange.formats.reading import RowError
from plugins.exchange.source import Head, SourceFile


class Format(Protocol):
    """A module for a format. Both functions raise `UnreadableFile` with the line."""

    __name__: str
    #: The name of the program that writes it.
    PROGRAM: str

    def recognises(self, head: Head) -> bool:
        """Whether a file has this format, by its beginning."""

    def read(self, file: SourceFile) -> TripDescription:
        """What the file says."""


_MODULES = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
#: In the order in which they are tried: the labels of Splitwise's CSV are in any language.
FORMATS: list[Format] = sorted(
    (module for module in _MODULES if hasattr(module, "recognises")),
    key=lambda known: known.__name__.endswith("splitwise_csv"),
)
#: The other programs whose files can be imported.
PROGRAMS = sorted({known.PROGRAM for known in FORMATS} - {"Trip Companion"}, key=str.casefold)


def describe(file: SourceFile) -> TripDescription:
    """The trip in `file`. Raises `UnreadableFile`, also if no format recognises it."""
    for head in file.heads():
        for known in FORMATS:
            if known.recognises(head):
                try:
                    described = known.read(file)
                except RowError as error:
                    raise error.of_file() from error
                name = known.__name__.rpartition(".")[2]
                notes = (*file.notes, *described.notes)
                return replace(described, format=described.format or name, notes=notes)
    raise UnreadableFile("unknown_format")
