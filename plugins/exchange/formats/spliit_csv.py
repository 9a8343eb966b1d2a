"""Spliit, "Export to CSV": each person's part, positive for the payer."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import cells_of, columns_of_people
from plugins.exchange.formats.dates import Dates
from plugins.exchange.formats.entries import completed, in_original, payment_or_expense
from plugins.exchange.formats.numbers import Cell, Numbers, plain_number
from plugins.exchange.formats.reading import RowError, TripDescription
from plugins.exchange.formats.spliit_json import decimals
from plugins.exchange.source import SourceFile

_COLUMNS = [
    *("Date", "Description", "Category", "Currency", "Cost", "Original cost"),
    *("Original currency", "Conversion rate", "Is Reimbursement", "Split mode"),
]


class Table(TripDescription):
    """The rows of a file, whose columns from `start` on are people."""

    PROGRAM = "Spliit"
    NAMES = frozenset({"Split mode", "Is Reimbursement", "Currency", "Cost"})
    TITLE = "Description"

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        header = file.head.header
        # Not by name, because somebody may be called like another column.
        self.start = start = header.index("Split mode") + 1
        self.columns = columns_of_people(file, start)
        names = [reading.unguarded(name) for name in self.columns.values()]
        self.notes = reading.name_notes(names) + reading.guard_notes(self.columns.values())
        self.people = reading.people_named(names)
        if len(self.people) > 2 and any("Yes" in row for _line, row in file.records()):
            self.notes += (Note("better_as_json"),)
        self.keys = [person.key for person in self.people]
        cost_at, code_at = map(header.index, ("Cost", "Currency"))
        self.numbers = Numbers(
            Cell(line, row[at], row[code_at], row[cost_at])
            for line, row in file.records()
            for at in (cost_at, *self.columns)
        )
        self.dates = Dates(cells_of(self.rows(), "Date"), self.numbers.mark, file.delimiter)
        codes = sorted({row[code_at].strip() for _line, row in file.records()})
        self.currency = file.trip_currency(*codes)
        self.unit = reading.smallest(self.currency, decimals(self.currency))

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in self.file.records():
            cells = [reading.unguarded(cell) for cell in row[: self.start]]
            named = dict(zip(self.file.head.header, cells, strict=False))
            yield line, {**dict.fromkeys(_COLUMNS, ""), **named, "cells": row}

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        found = row["cells"]
        if len(found) > len(self.file.head.header):
            columns, expected = len(found) - self.start, len(self.keys)
            raise RowError("other_columns", columns=columns, expected=expected)
        cost = reading.to_minor(self.numbers(row["Cost"]), self.currency)
        cells = {
            person: reading.exact(self.numbers(found[at]), self.currency)
            for at, person in zip(self.columns, self.keys, strict=True)
            if found[at].strip()
        }
        payer = self._payer(cost, cells)
        parts = {person: abs(minor) for person, minor in cells.items()}
        shares, notes = completed(abs(cost), parts, payer, self.unit)
        label = reading.clean(row["Category"])
        is_payment = row["Is Reimbursement"] == "Yes" and cost > 0 and not shares.get(payer)
        found = payment_or_expense(
            line,
            {payer: cost},
            {person: minor if cost > 0 else -minor for person, minor in shares.items()},
            reading.clean(row["Description"]) or label,
            label,
            is_payment=is_payment,
            date=self.dates(row["Date"]),
            currency=self.currency,
            notes=notes,
        )
        return self._in_original(row, found)

    def _payer(self, cost: int, cells: dict[str, Decimal]) -> str:
        """The person whose cell has the sign of the cost; else, of two people, the one without."""
        found = [person for person, minor in cells.items() if minor * cost > 0]
        if len(found) == 1:
            return found[0]
        others = [person for person in self.keys if not cells.get(person)]
        if not found and len(self.keys) == 2 and len(others) == 1:
            return others[0]
        raise RowError("payer_unknown")

    def _in_original(self, row: dict[str, Any], found: list[Entry]) -> list[Entry]:
        code, rate = known_code(row["Original currency"]), row["Conversion rate"].strip()
        if code is None or code == self.currency or not row["Original cost"].strip():
            return found
        amount = self.numbers(row["Original cost"])
        return in_original(found, code, amount, plain_number(rate) if rate else None)
