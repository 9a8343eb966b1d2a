"""Settle Up, CSV: lists of payers and of people paid for, with the amount of each."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from plugins.exchange.description import Entry, Note, TripDescription
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import cells_of
from plugins.exchange.formats.dates import Dates
from plugins.exchange.formats.entries import completed, divided, expense, payments
from plugins.exchange.formats.numbers import Numbers, is_one
from plugins.exchange.formats.reading import Record, RowError
from plugins.exchange.source import Head, SourceFile
from tripcompanion.currency.amounts import to_major

PROGRAM = "Settle Up"

_SEPARATOR = ";"


def recognises(head: Head) -> bool:
    return {"Who paid", "For whom", "Split amounts"} <= set(head.header)


def read(file: SourceFile) -> TripDescription:
    table = _Table(file)
    return TripDescription(
        file.trip_currency(*table.currencies),
        reading.people_named(table.names),
        lambda: reading.each(file.named_records(), table.entries, "Purpose"),
    )


def listed(text: str) -> list[str]:
    return [reading.clean(part) for part in text.split(_SEPARATOR)] if text else []


class _Table:
    def __init__(self, file: SourceFile) -> None:
        names: dict[str, None] = {}
        main: Counter[str] = Counter()
        used: Counter[str] = Counter()
        for _line, row in file.named_records():
            # A row that names only one side is a total.
            if row.get("Who paid") and row.get("For whom"):
                names |= dict.fromkeys(listed(row["Who paid"]) + listed(row["For whom"]))
            used[row.get("Currency", "")] += 1
            # The group's currency has no name; its own expenses have the rate 1.
            if is_one(row.get("Exchange rate", "")):
                main[row.get("Currency", "")] += 1
        self.names = [name for name in names if name]
        self.currencies = [code for code, _count in main.most_common() + used.most_common()]
        self.main = main.most_common(1)[0][0] if main else ""
        lists = cells_of(file.named_records(), "Amount", "Split amounts", "Converted amount")
        amounts = ((line, cell) for line, cells in lists for cell in listed(cells))
        self.numbers = Numbers(amounts, is_plain=True)
        days = cells_of(file.named_records(), "Date & time")
        self.dates = Dates(days, self.numbers.mark, file.delimiter)

    def _amounts(self, row: Record, people: str, amounts: str, currency: str) -> dict[str, Decimal]:
        names, cells = listed(row.text(people)), listed(row.text(amounts))
        if len(names) != len(cells) or not names:
            raise RowError("unequal_lists")
        if len(set(names)) < len(names):
            raise RowError("named_twice")
        minor = [reading.exact(self.numbers(cell), currency) for cell in cells]
        return dict(zip(names, minor, strict=True))

    def entries(self, line: int, value: dict[str, str]) -> Iterable[Entry]:
        row = Record(value)
        currency = row.currency("Currency")
        sums = self._amounts(row, "Who paid", "Amount", currency)
        parts = self._amounts(row, "For whom", "Split amounts", currency)
        kind = row.kind("Type", {"expense", "transfer"}, "expense")
        amount, notes = reading.rounded(to_major(1, currency) * sum(sums.values()), currency)
        paid, _notes = completed(amount, sums, seed=line)
        shares, drift = completed(amount, parts, seed=line)
        notes += drift
        label, title = row.text("Category", ""), row.text("Purpose", "")
        fields: dict[str, Any] = {"date": self.dates(row.text("Date & time")), "currency": currency}
        if self.main not in {"", currency} and amount and "Converted amount" in row:
            whole = to_major(amount, currency)
            fields["rate"] = abs(self.numbers(row.text("Converted amount")) / whole)
        if kind == "transfer" and len(paid) == 1:
            if not amount:
                raise RowError("no_amount")
            [payer] = paid
            return payments(line, payer, shares, title, notes=notes, **fields)
        if kind == "transfer":
            notes = (*notes, Note("payment_of_several"))
        fields |= {"more": {"receipt_url": row.text("Receipt", "")}, "notes": notes}
        texts = (title or label or "Settle Up", label)
        return [expense(line, paid, divided(shares), *texts, **fields)]
