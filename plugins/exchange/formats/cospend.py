"""Cospend, the CSV file of a project: sections of members, bills, categories and currencies."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import unquote_plus

from plugins.exchange.description import Entry, Note, Person, SkippedRow, UnreadableFile
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import cells_of
from plugins.exchange.formats.dates import Dates
from plugins.exchange.formats.entries import bill, names_in
from plugins.exchange.formats.numbers import Numbers, is_one, plain_number
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import Head, SourceFile, fitted

#: The names of columns that begin a section, by its name.
_SECTIONS = {
    "members": {"name", "weight"},
    "bills": {"what", "amount", "owers"},
    "categories": {"categoryname", "categoryid"},
    "payment modes": {"paymentmodename", "paymentmodeid"},
    "currencies": {"currencyname", "exchange_rate"},
}
_REIMBURSEMENT = "-11"
#: Categories of older databases; later ones are in the file.
_CATEGORIES = {
    "-1": "Grocery", "-2": "Bar/Party", "-3": "Rent", "-4": "Bill", "-5": "Excursion/Culture",
    "-6": "Health", "-10": "Shopping", "-12": "Restaurant", "-13": "Accommodation",
    "-14": "Transport", "-15": "Sport",
}  # fmt: skip


class Project(TripDescription):
    PROGRAM = "Cospend"
    TITLE = "what"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        names = {name.casefold() for name in head.header}
        return {"name", "weight", "active"} <= names or (
            # Older files lack the time. The bills of ihatemoney have no categories.
            _SECTIONS["bills"] <= names
            and bool(names & {"timestamp", "payer_active", "categoryid"})
        )

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        self.weights: dict[str, Decimal] = {}
        #: Whose weight is 0, which counts as 1 in every balance there.
        self.weightless: set[str] = set()
        self.numbers = Numbers(cells_of(self.rows(), "amount"), is_plain=True)
        # Where the file has the moment, the date counts for nothing.
        dated = ((line, row) for line, row in self.rows() if not row.get("timestamp"))
        self.dates = Dates(cells_of(dated, "date"), self.numbers.mark, file.delimiter)
        for _line, row in self.section("members"):
            self._add(row, "name", "weight")
        for _line, row in self.rows():
            self._add(row, "payer_name", "payer_weight")
        #: How many bills for one person have a title and a date.
        self.alone: Counter[tuple[str, str]] = Counter()
        for _line, row in self.rows():
            owers, _notes = names_in(reading.clean(row.get("owers", "")), self.weights)
            self.alone[row.get("what", ""), row.get("date", "")] += len(owers) == 1
            for name in owers:
                self.weights.setdefault(name, Decimal(1))
        self.people = tuple(Person(name, name) for name in self.weights)
        rows = list(self.section("currencies"))
        if len(rows) > 1:
            self.notes = (Note("rates_of_today"),)
        rates = [(row.get("currencyname", ""), row.get("exchange_rate", "")) for _line, row in rows]
        main = [name for name, rate in rates if is_one(rate)]
        self.currency = file.trip_currency(*main)
        self.categories = _CATEGORIES | {
            row.get("categoryid", ""): row.get("categoryname", "")
            for _line, row in self.section("categories")
        }

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        return self.section("bills")

    def section(self, section: str) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows of a section. A header is known by the names in it, in any order.

        Quotes in names are not doubled in the sections besides the bills, so they are read as any
        other letter. A name may have too many cells then: the last columns are the known ones.
        """
        quoting = csv.QUOTE_MINIMAL if section == "bills" else csv.QUOTE_NONE
        header: list[str] = []
        current = ""
        for line, row in self.file.rows(quoting=quoting):
            names = [cell.strip(' "').casefold() for cell in fitted(row, 0)]
            begun = next((s for s, needed in _SECTIONS.items() if needed <= set(names)), None)
            if begun:
                header, current = names, begun
            elif current == section:
                row = fitted(row, len(header))
                if section != "bills":
                    extra = max(len(row) - len(header), 0) + 1
                    row = [reading.unquoted(cell) for cell in (",".join(row[:extra]), *row[extra:])]
                yield line, dict(zip(header, row, strict=False))

    def _add(self, row: dict[str, str], name: str, weight: str) -> None:
        key = reading.clean(row.get(name, ""))
        if not key:
            return
        try:
            found = plain_number(row.get(weight) or "1")
        except (RowError, UnreadableFile):
            found = Decimal(1)
        if not found:
            self.weightless.add(key)
        self.weights.setdefault(key, found or Decimal(1))

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        value, row = row, Record(row)
        title = row.text("what", "")
        if row.text("deleted", "0") == "1":
            return [SkippedRow(line, Note("deleted_in_source"), title)]
        owers, notes = names_in(row.text("owers"), self.weights)
        if len(owers) == 1 and self.alone[value.get("what", ""), value.get("date", "")] > 1:
            notes += (Note("perhaps_one_expense"),)
        if names := ", ".join(name for name in owers if name in self.weightless):
            notes += (Note("weight_zero", {"names": names[:200]}),)
        label = self.categories.get(row.text("categoryid", "0"), "") or row.text("categoryname", "")
        comment = unquote_plus(row.text("comment", ""))
        if row.text("repeat", "n") not in {"n", ""}:
            notes += (Note("repeats"),)
        return bill(
            line,
            row.text("payer_name"),
            self.numbers(row.text("amount")),
            owers,
            self.weights,
            title or label,
            label,
            "\n".join(filter(None, [comment, label])),
            is_payment=row.text("categoryid", "0") == _REIMBURSEMENT,
            notes=notes,
            currency=self.currency,
            date=self._day(row),
            instant=row.text("timestamp", ""),
        )

    def _day(self, row: Record) -> date:
        """The date in the caller's zone, where the file has the moment: its own date is in UTC."""
        if "timestamp" not in row:
            return self.dates(row.text("date"))
        seconds = int(reading.number(row.text("timestamp")))
        try:
            return datetime.fromtimestamp(seconds, self.file.zone).date()
        except (OSError, OverflowError, ValueError) as error:
            raise RowError("bad_date", text=str(seconds)[:30]) from error
