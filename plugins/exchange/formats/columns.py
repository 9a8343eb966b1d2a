"""The columns of CSV that are people."""

import re
from collections.abc import Iterable, Iterator, Mapping

from plugins.exchange.formats.numbers import is_some
from plugins.exchange.formats.reading import clean
from plugins.exchange.source import SourceFile

#: What services write behind the name of somebody who left.
_LEFT = re.compile(
    r"(?<!\s)\s*\((removed|deleted|eliminad[oa]|entfernt|gelöscht|supprimée?|rimoss[oa]|verwijderd"
    r"|removid[oa]|usunięt[ya]|borttagen|fjernet|slettet|dihapus|削除済み|已删除|удал[её]н[ао]?)\)",
    re.IGNORECASE,
)


def cells_of(
    rows: Iterable[tuple[int, Mapping[str, str]]], *names: str
) -> Iterator[tuple[int, str]]:
    """The cells of the columns with these names, with their lines."""
    return ((line, row.get(name) or "") for line, row in rows for name in names)


def columns_of_people(file: SourceFile, start: int) -> dict[int, str]:
    """The names of people in the header from column `start` on, by their columns.

    A column without a heading is of somebody only if it has amounts.
    """
    names = dict(enumerate(map(clean, file.head.header)))
    blank = {at for at, name in names.items() if at >= start and not name}
    used = {at for _line, row in file.records() for at in blank if is_some(row[at])}
    return {
        at: name or f"#{at - start + 1}"
        for at, name in names.items()
        if at >= start and at not in blank - used
    }


def still_called(names: list[str]) -> list[str]:
    """The names as they were before somebody left, unless another one has that name, too."""
    before = [_LEFT.sub("", name) or name for name in names]
    pairs = zip(names, before, strict=True)
    return [short if before.count(short) == 1 else name for name, short in pairs]
