"""Dates in the cells of CSV, as exporters write them and spreadsheets of any place show them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from itertools import pairwise

from babel import Locale

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats.reading import RowError

_WEEKDAY = r"\s*(?:[^\W\d_]+\.?,?\s+)?"
_YEAR = r"(\d{4}|\d\d)(?!\d)"
#: 2026-05-13, 2026/5/13, 2026. 5. 13., 20260513, 2026年5月13日.
_YEAR_FIRST = re.compile(
    _WEEKDAY + r"(\d{4})(?=\d{4}(?!\d)|[-/.年])[-/.年]?\s*(\d\d?)[-/.月]?\s*(\d\d?)(?!\d)"
)
#: 13.05.2026, 5/13/26, 13. 5. 2026.
_YEAR_LAST = re.compile(_WEEKDAY + r"(\d\d?)([-/.])\s*(\d\d?)\2\s*" + _YEAR)
#: 13 May 2026, 13-May-26, 13. Mai 2026, 13 de mayo de 2026.
_DAY_NAMED = re.compile(
    _WEEKDAY + r"(\d\d?)(?:st|nd|rd|th|er|º)?[.\s-]*(?:de\s+)?([^\W\d_]{3,})[.,]?[\s-]*(?:de\s+)?"
    + _YEAR
)  # fmt: skip
#: May 13, 2026.
_MONTH_NAMED = re.compile(r"\s*([^\W\d_]{3,})\.?\s+(\d\d?)(?:st|nd|rd|th)?,?\s+" + _YEAR)
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "pl", "cs", "tr", "ru")
#: Years of two digits up to this one are of our century.
_LAST_OF_CENTURY = 69
#: A date and a time are shorter.
_MAX_CHARS = 80


class Dates:
    """The dates of a file, of which all tell together whether the day or the month comes first.

    `02/03/2026` alone may mean two things. Raises `UnreadableFile` if nothing decides, or if the
    file has both. Beside decimal commas, or semicolons as their delimiters, the day comes first.
    """

    def __init__(
        self, cells: Iterable[tuple[int, str]], mark: str = ".", delimiter: str = ","
    ) -> None:
        found = [(line, match) for line, text in cells if (match := _YEAR_LAST.match(_tidy(text)))]
        orders = {
            day_first: next((line for line, match in found if int(match[at]) > 12), None)
            for day_first, at in ((True, 1), (False, 3))
        }
        if None not in orders.values():
            raise UnreadableFile("two_date_orders", max(filter(None, orders.values())))
        self.day_first = orders[False] is None
        unclear = [line for line, match in found if match[1] != match[3] and match[2] != "."]
        if unclear and orders[True] is orders[False] and mark == "." and delimiter != ";":
            sorted_by = [order for order in (True, False) if _is_sorted(_days(found, order))]
            if len(sorted_by) != 1:
                raise UnreadableFile("unclear_date_order", unclear[0])
            self.day_first = sorted_by[0]

    def __call__(self, cell: str) -> date:
        found = _read(_tidy(cell), day_first=self.day_first)
        if found is None:
            raise RowError("bad_date", text=cell.strip()[:30])
        return found


def is_date(cell: str) -> bool:
    """Whether it is a date in any order."""
    text = _tidy(cell)
    return any(_read(text, day_first=day_first) for day_first in (True, False))


def _tidy(cell: str) -> str:
    return unicodedata.normalize("NFKC", cell[:_MAX_CHARS]).strip("\ufeff\u200e\u200f ")


def _read(text: str, *, day_first: bool) -> date | None:
    try:
        if found := _YEAR_FIRST.match(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
        if found := _YEAR_LAST.match(text):
            return _date_of(found, day_first=day_first)
        if found := _DAY_NAMED.match(text):
            return date(_year(found[3]), _months()[found[2].casefold()], int(found[1]))
        if found := _MONTH_NAMED.match(text):
            return date(_year(found[3]), _months()[found[1].casefold()], int(found[2]))
    except (KeyError, ValueError):
        return None
    return None


def _date_of(found: re.Match[str], *, day_first: bool) -> date:
    day, month = (found[1], found[3]) if day_first else (found[3], found[1])
    return date(_year(found[4]), int(month), int(day))


def _year(text: str) -> int:
    short = 2000 if int(text) <= _LAST_OF_CENTURY else 1900
    return int(text) if len(text) == 4 else short + int(text)


def _days(found: Iterable[tuple[int, re.Match[str]]], day_first: bool) -> Iterator[date]:
    for _line, match in found:
        try:
            yield _date_of(match, day_first=day_first)
        except ValueError:
            continue


def _is_sorted(days: Iterable[date]) -> bool:
    """Whether all days come one after the other, as exporters write them, or all backwards."""
    steps = {(after > before) - (after < before) for before, after in pairwise(days)} - {0}
    return len(steps) == 1


@cache
def _months() -> dict[str, int]:
    """The months by their names, without names that mean different months in two languages."""
    found: dict[str, set[int]] = {}
    for language in _LANGUAGES:
        months = Locale(language).months
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    found.setdefault(name.rstrip(".").casefold(), set()).add(number)
    return {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1}
