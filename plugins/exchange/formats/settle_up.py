"""Settle Up, CSV: lists of payers and of people paid for, with the amount of each."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from plugins.exchange.description import Entry, Note
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import cells_of
from plugins.exchange.formats.dates import Dates
from plugins.exchange.formats.entries import completed, payment_or_expense
from plugins.exchange.formats.numbers import Numbers, is_one
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import SourceFile
from tripcompanion.currency.amounts import to_major

_SEPARATOR = ";"


def listed(text: str) -> list[str]:
    return [reading.clean(part) for part in text.split(_SEPARATOR)] if text else []


class Transactions(TripDescription):
    PROGRAM = "Settle Up"
    NAMES = frozenset({"Who paid", "For whom", "Split amounts"})
    TITLE = "Purpose"

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        names: dict[str, None] = {}
        main: Counter[str] = Counter()
        used: Counter[str] = Counter()
        for _line, row in self.rows():
            # A row that names only one side is a total.
            if row.get("Who paid") and row.get("For whom"):
                names |= dict.fromkeys(listed(row["Who paid"]) + listed(row["For whom"]))
            used[row.get("Currency", "")] += 1
            # The group's currency has no name; its own expenses have the rate 1.
            if is_one(row.get("Exchange rate", "")):
                main[row.get("Currency", "")] += 1
        self.people = reading.people_named(filter(None, names))
        self.main = main.most_common(1)[0][0] if main else ""
        lists = cells_of(self.rows(), "Amount", "Split amounts", "Converted amount")
        amounts = ((line, cell) for line, cells in lists for cell in listed(cells))
        self.numbers = Numbers(amounts, is_plain=True)
        days = cells_of(self.rows(), "Date & time")
        self.dates = Dates(days, self.numbers.mark, file.delimiter)
        codes = main.most_common() + used.most_common()
        self.currency = file.trip_currency(*(code for code, _count in codes))

    def _amounts(self, row: Record, people: str, amounts: str, currency: str) -> dict[str, Decimal]:
        names, cells = listed(row.text(people)), listed(row.text(amounts))
        if len(names) != len(cells) or not names:
            raise RowError("unequal_lists")
        if len(set(names)) < len(names):
            raise RowError("named_twice")
        minor = [reading.exact(self.numbers(cell), currency) for cell in cells]
        return dict(zip(names, minor, strict=True))

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        row = Record(row)
        currency = row.currency("Currency")
        sums = self._amounts(row, "Who paid", "Amount", currency)
        parts = self._amounts(row, "For whom", "Split amounts", currency)
        is_payment = row.kind("Type", {"expense", "transfer"}, "expense") == "transfer"
        amount, notes = reading.rounded(to_major(1, currency) * sum(sums.values()), currency)
        paid, _notes = completed(amount, sums, seed=line)
        shares, drift = completed(amount, parts, seed=line)
        notes += drift
        if is_payment and len(paid) > 1:
            notes += (Note("payment_of_several"),)
        rate, label = None, row.text("Category", "")
        if self.main not in {"", currency} and amount and "Converted amount" in row:
            rate = abs(self.numbers(row.text("Converted amount")) / to_major(amount, currency))
        return payment_or_expense(
            line,
            paid,
            shares,
            row.text("Purpose", ""),
            label,
            is_payment=is_payment and len(paid) == 1,
            instead=label or "Settle Up",
            more={"receipt_url": row.text("Receipt", "")},
            date=self.dates(row.text("Date & time")),
            currency=currency,
            rate=rate,
            notes=notes,
        )
