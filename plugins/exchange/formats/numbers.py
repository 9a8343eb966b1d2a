"""Numbers in the cells of CSV, as exporters write them and spreadsheets of any place show them."""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats.reading import RowError, number
from tripcompanion.currency import amounts

#: Most numbers, which need no tidying, and the longest text that is tidied.
_PLAIN = re.compile(r"[+-]?[0-9][0-9.,]*")
_MAX_CHARS = 80
#: Arabic marks, and what stands for a minus.
_MARKS = str.maketrans({"٫": ",", "٬": ".", **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")})
_APOSTROPHES = frozenset("'’`ʼ")
#: What people call their currency beside an amount, besides its code and its sign.
_NAMES = """
    bs dh din fr ft kc kn kr kč lei lv r rm rp rs s/ sfr tl zl zł грн ден дин лв р руб 元 円 圓 원
"""
_AROUND = re.compile(r"(?P<before>[^\d.,()+-]*)(?P<number>.*?)(?P<after>[^\d.,()+-]*)", re.DOTALL)


class Cell(NamedTuple):
    """A cell with a number: its line, and what helps to read it.

    `most` is the text of an amount that this one cannot exceed.
    """

    line: int
    text: str
    currency: str = ""
    most: str = ""


class Numbers:
    """The numbers of a file, whose decimal mark is found out from all of them.

    `1.234` alone may mean two things. Raises `UnreadableFile` if nothing decides, or if both marks
    are used. `is_plain` says that the exporter writes no thousands separators.
    """

    def __init__(self, cells: Iterable[tuple[int, str] | Cell], *, is_plain: bool = False) -> None:
        self.mark = ""
        unclear: int | None = None
        for cell in cells:
            line, text, currency, most = Cell(*cell)
            plain = _tidy(text)
            mark = _mark_of(plain)
            if mark == "?":
                mark = _likely_mark(plain, currency, _tidy(most), is_plain=is_plain)
            if mark == "?":
                unclear = unclear or line
            elif mark and self.mark and mark != self.mark:
                raise UnreadableFile("two_decimal_marks", line)
            else:
                self.mark = self.mark or mark
        if unclear and not self.mark:
            raise UnreadableFile("unclear_decimal_mark", unclear)
        self.mark = self.mark or "."

    def __call__(self, cell: str) -> Decimal:
        plain = _tidy(cell).replace("." if self.mark == "," else ",", "")
        try:
            return number(plain.replace(",", "."))
        except RowError as error:
            raise RowError("bad_number", text=cell.strip()[:30]) from error


def plain_number(cell: str) -> Decimal:
    """A number without thousands separators, with either decimal mark."""
    return Numbers([(0, cell)], is_plain=True)(cell)


def is_one(cell: str) -> bool:
    """Whether it is the rate of the main currency to itself."""
    try:
        return plain_number(cell) == 1
    except (RowError, UnreadableFile):
        return False


def is_some(cell: str) -> bool:
    """Whether it is a number other than zero."""
    plain = _tidy(cell)
    return bool(_PLAIN.fullmatch(plain) and plain.strip("+-0.,"))


def _tidy(cell: str) -> str:
    """Without spaces, apostrophes and a currency; a minus in front, also for one in parentheses."""
    if _PLAIN.fullmatch(cell) or len(cell) > _MAX_CHARS:
        return cell
    plain = "".join(map(_simple, cell)).translate(_MARKS)
    # "12,-" has no cents.
    plain = re.sub(r"(?<=\d)[.,]-+(?=\D*$)", "", plain)
    sign = ""
    # A minus may stand before a currency as well as behind it.
    for _turn in range(2):
        plain = _without_currency(plain)
        if _PLAIN.fullmatch(plain):
            break
        if plain.startswith("(") and plain.endswith(")"):
            sign, plain = f"{sign}-", plain[1:-1]
        elif plain.endswith("-") and len(plain) > 1:
            sign, plain = f"{sign}-", plain[:-1]
        elif plain.startswith("-") and not plain[1:2].isdecimal():
            sign, plain = f"{sign}-", plain[1:]
    # The form of accounts has a dash for nothing.
    return sign + plain if plain else "0" * len(sign)


@lru_cache(maxsize=1000)
def _simple(letter: str) -> str:
    """The letter in its plain form, or nothing for what is not to be seen."""
    kind = unicodedata.category(letter)
    if kind[0] in "ZC" or letter in _APOSTROPHES:
        return ""
    # Digits above the line would become others.
    return letter if kind == "No" else unicodedata.normalize("NFKC", letter)


def _without_currency(plain: str) -> str:
    found = _AROUND.fullmatch(plain)
    if found is None or not found["number"]:
        return "" if _is_currency(plain) else plain
    before, digits, after = found["before"], found["number"], found["after"]
    if before and _is_currency(before):
        # The point of an abbreviation, as in "Rs.500".
        before, digits = "", digits.removeprefix(".") if before[-1].isalpha() else digits
    if after and _is_currency(after):
        after = ""
    elif digits.endswith(".") and not after:
        inner = _AROUND.fullmatch(digits[:-1])
        if inner and inner["after"] and _is_currency(inner["after"]):
            digits = inner["before"] + inner["number"]
    return before + digits + after


@lru_cache(maxsize=1000)
def _is_currency(text: str) -> bool:
    letters = "".join(c for c in text if unicodedata.category(c) != "Sc").rstrip(".")
    if len(letters) < len(text.rstrip(".")):
        # As in "HK$".
        return len(letters) <= 3
    code = letters.upper()
    return (
        code in amounts.EXPONENTS or code in amounts.ENDED or letters.casefold() in _NAMES.split()
    )


def _mark_of(plain: str) -> str:
    """The decimal mark of a number; `?` if it may be one of thousands, empty if there is none."""
    points, commas = plain.count("."), plain.count(",")
    if points and commas:
        return max(".,", key=plain.rfind)
    if points + commas != 1:
        return "" if not points + commas else "," if points else "."
    last = "." if points else ","
    before, _mark, after = plain.partition(last)
    is_group = len(after) == 3 and after.isdecimal() and 0 < len(before.lstrip("+-")) <= 3
    return "?" if is_group and before.lstrip("+-") != "0" else last


def _likely_mark(plain: str, currency: str, most: str, *, is_plain: bool) -> str:
    """The decimal mark of a number whose only mark may be one of thousands; `?` if unclear."""
    mark, other = (".", ",") if "." in plain else (",", ".")
    if is_plain:
        return mark
    if amounts.EXPONENTS.get(currency.strip().upper()) == 0:
        return other
    as_thousands = plain.lstrip("+-").replace(mark, "")
    if most.lstrip("+-").isdecimal() and int(as_thousands) > int(most.lstrip("+-")):
        return mark
    return "?"
