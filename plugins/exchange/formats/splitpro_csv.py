"""SplitPro, "Export" on a friend's page: the expenses between the caller and one friend."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note, Person
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import cells_of
from plugins.exchange.formats.dates import Dates
from plugins.exchange.formats.entries import divided, expense, payments
from plugins.exchange.formats.numbers import Numbers
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import SourceFile, fitted
from tripcompanion.currency.amounts import EXPONENTS

_CALLER = "You"


def _first(pieces: list[str], mark: str) -> str:
    """Take the first cell off a row that was cut at each mark, also inside of quotes."""
    cell = pieces.pop(0) if pieces else ""
    while pieces and cell.startswith('"') and not cell[1:].endswith('"'):
        cell += mark + pieces.pop(0)
    return reading.unquoted(cell)


def _last(pieces: list[str], mark: str) -> str:
    cell = pieces.pop() if pieces else ""
    while pieces and cell.endswith('"') and not cell.startswith('"'):
        cell = pieces.pop() + mark + cell
    return reading.unquoted(cell)


class Friendship(TripDescription):
    PROGRAM = "SplitPro"
    NAMES = frozenset({"Paid By", "Name", "Amount", "Split Type", "Currency", "You Lent"})
    TITLE = "Name"

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        rows = [row for _line, row in self.rows()]
        # The name of a row of totals is no friend's.
        names = Counter(row.get("Paid By", "").strip() for row in rows if row.get("Currency"))
        names[_CALLER] = names[""] = 0
        [(friend, count)] = names.most_common(1)
        self.friend = friend if count else file.name.rpartition(".")[0].strip() or "Friend"
        self.people = (Person(_CALLER, _CALLER, is_caller=True), Person(self.friend, self.friend))
        amounts = cells_of(self.rows(), "Amount", "You Lent", "You Owe", "Settlement")
        self.numbers = Numbers(amounts, is_plain=True)
        days = cells_of(self.rows(), "Expense Date")
        self.dates = Dates(days, self.numbers.mark, file.delimiter)
        codes = Counter(row.get("Currency", "").strip() for row in rows)
        self.currency = file.trip_currency(*(code for code, _count in codes.most_common()))

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows by columns. Quotes in a name are not doubled, so it is what the others leave.

        A name may have several lines.
        """
        file = self.file
        header, mark = fitted([*file.head.header], 0), file.delimiter
        before, code_at = header.index("Name"), header.index("Currency") - len(header)
        #: The cells of a row before its last one, and the lines of that so far.
        begun: list[str] = []
        lines: list[str] = []
        for line, row in file.rows(quoting=csv.QUOTE_NONE):
            if line <= file.header_line:
                continue
            lines.append(row[0])
            if row[1:]:
                begun += ["\n".join(lines), *row[1:-1]]
                lines = [row[-1]]
            if len(begun) + 1 >= len(header):
                pieces, begun, lines = [*begun, *lines], [], []
                # A spreadsheet may have added blank cells, which are not the last of the columns.
                while len(pieces) > len(header) and not (pieces[-1] or known_code(pieces[code_at])):
                    pieces.pop()
                first = [_first(pieces, mark) for _name in header[:before]]
                last = [_last(pieces, mark) for _name in header[before + 1 :]]
                cells = [*first, reading.unquoted(mark.join(pieces)), *reversed(last)]
                yield line, dict(zip(header, cells, strict=True))
        if lines:
            yield line, dict(zip(header, [*begun, "\n".join(lines)], strict=False))

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        row = Record(row)
        currency, kind = row.currency("Currency"), row.text("Split Type")
        payer, title = row.text("Paid By"), row.text("Name", "")
        if payer not in {_CALLER, self.friend}:
            raise RowError("unknown_person")
        other = self.friend if payer == _CALLER else _CALLER
        if kind == "CURRENCY_CONVERSION":
            raise RowError("half_a_conversion")
        fields: dict[str, Any] = {
            "date": self.dates(row.text("Expense Date")),
            "currency": currency,
        }
        if kind == "SETTLEMENT":
            minor = reading.to_minor(self.numbers(row.text("Settlement")), currency)
            return payments(line, payer, {other: minor}, title, **fields)
        amount = reading.to_minor(self.numbers(row.text("Amount")), currency)
        cell = row.text("You Lent" if payer == _CALLER else "You Owe")
        share, notes = self._share(cell, currency)
        if share > amount:
            raise RowError("does_not_add_up")
        is_half = abs(amount - 2 * share) <= 1
        if kind == "EQUAL" and not is_half:
            notes += (Note("more_people"),)
        label = row.text("Category", "")
        parts = {payer: amount - share, other: share}
        division = divided(parts, is_equal=kind == "EQUAL" and is_half)
        texts = (title or label, label)
        return [expense(line, {payer: amount}, division, *texts, notes=notes, **fields)]

    def _share(self, cell: str, currency: str) -> tuple[int, tuple[Note, ...]]:
        """A share in minor units.

        Those of few minor units are written ten times too large, with one decimal too few.
        """
        value, digits = self.numbers(cell), EXPONENTS.get(currency, 2)
        _whole, mark, decimals = cell.strip().rpartition(self.numbers.mark)
        if digits > 1 and mark and len(decimals) == digits - 1:
            minor = int(value.scaleb(digits - 1))
            return minor, (Note("small_share", {"cell": cell, "minor": str(Decimal(minor))}),)
        return reading.to_minor(value, currency), ()
