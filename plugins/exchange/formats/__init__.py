"""The file formats that can be imported, one module each, and which of them a file has.

The modules are plain Python without a database. `file.items("expenses.item")` reads JSON one value
after the other, `file.records()` CSV.
"""

from importlib import import_module
from pkgutil import iter_modules

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats.reading import RowError, TripDescription
from plugins.exchange.source import SourceFile

for _found in iter_modules(__path__):
    import_module(f"{__name__}.{_found.name}")

#: By name, in the order in which they are tried: the labels of Splitwise's CSV are in any language.
FORMATS: dict[str, type[TripDescription]] = {
    known.__module__.rpartition(".")[2]: known
    for known in sorted(
        TripDescription.__subclasses__(),
        key=lambda known: known.__module__.endswith("splitwise_csv"),
    )
}
#: The other programs whose files can be imported.
PROGRAMS = sorted(
    {known.PROGRAM for known in FORMATS.values()} - {"Trip Companion"}, key=str.casefold
)


def describe(file: SourceFile) -> TripDescription:
    """The trip in `file`. Raises `UnreadableFile`, also if no format recognises it."""
    for head in file.heads():
        for name, known in FORMATS.items():
            if known.recognises(head):
                if file.group and not known.HAS_GROUPS:
                    raise UnreadableFile("one_group")
                try:
                    described = known(file)
                except RowError as error:
                    raise error.of_file() from error
                described.format = described.format or name
                described.notes = (*file.notes, *described.notes)
                return described
    raise UnreadableFile("unknown_format")
