"""Spliit, "Export to CSV": each person's part, positive for the payer."""

from collections.abc import Iterable, Iterator
from typing import Any

from tripcompanion.currency.amounts import EXPONENTS
from tripcompanion.exchange.description import Entry, Note, TripDescription
from tripcompanion.exchange.formats import reading
from tripcompanion.exchange.formats.entries import completed, expense, in_original, payments
from tripcompanion.exchange.formats.reading import Numbers, RowError
from tripcompanion.exchange.formats.spliit_json import SYMBOLS, decimals
from tripcompanion.exchange.source import Head, SourceFile

_COLUMNS = [
    *("Date", "Description", "Category", "Currency", "Cost", "Original cost"),
    *("Original currency", "Conversion rate", "Is Reimbursement", "Split mode"),
]


def recognises(head: Head) -> bool:
    return {"Split mode", "Is Reimbursement", "Currency", "Cost"} <= set(head.header)


def read(file: SourceFile) -> TripDescription:
    table = _Table(file)
    has_payments = any("Yes" in row for _line, row in file.records())
    better = (Note("better_as_json"),) if has_payments and len(table.people) > 2 else ()
    return TripDescription(
        "spliit_csv",
        table.currency,
        table.people,
        lambda: reading.each(table.rows(), table.entries, "Description"),
        notes=table.notes + better,
    )


class _Table:
    """The rows of a file, whose columns from `start` on are people."""

    def __init__(self, file: SourceFile) -> None:
        self.file, header = file, file.head.header
        # Not by name, because somebody may be called like another column.
        self.start = start = header.index("Split mode") + 1
        names = [reading.clean(reading.unguarded(name)) for name in header[start:]]
        self.notes = reading.name_notes(names) + reading.guard_notes(header[start:])
        self.people = reading.people_named(name or "?" for name in names)
        self.keys = [person.key for person in self.people]
        cells = [header.index("Cost"), *range(start, len(header))]
        self.numbers = Numbers(
            (line, row[at]) for line, row in file.records() for at in cells if at < len(row)
        )
        code_at = header.index("Currency")
        codes = {row[code_at].strip() for _line, row in file.records() if len(row) > code_at}
        guesses = (SYMBOLS[code] for code in sorted(codes) if code in SYMBOLS)
        self.currency = file.trip_currency(*sorted(codes), guess=next(guesses, ""))
        self.unit = reading.smallest(self.currency, decimals(self.currency))

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in self.file.records():
            cells = [reading.unguarded(cell) for cell in row[: self.start]]
            named = dict(zip(self.file.head.header, cells, strict=False))
            yield line, {**dict.fromkeys(_COLUMNS, ""), **named, "parts": row[self.start :]}

    def entries(self, line: int, row: dict[str, Any]) -> Iterable[Entry]:
        if len(row["parts"]) != len(self.keys):
            raise RowError("other_columns", columns=len(row["parts"]), expected=len(self.keys))
        cost = reading.to_minor(self.numbers(row["Cost"]), self.currency)
        cells = {
            person: reading.to_minor(self.numbers(cell), self.currency)
            for person, cell in zip(self.keys, row["parts"], strict=True)
            if cell.strip()
        }
        payer = self._payer(cost, cells)
        parts = {person: abs(minor) for person, minor in cells.items()}
        shares, notes = completed(abs(cost), parts, payer, self.unit)
        fields: dict[str, Any] = {"date": reading.day(row["Date"]), "currency": self.currency}
        title = reading.clean(row["Description"]) or reading.clean(row["Category"])
        if row["Is Reimbursement"] == "Yes" and cost > 0 and not shares.get(payer):
            return payments(line, payer, shares, title, notes=notes, **fields)
        signed = {person: minor if cost > 0 else -minor for person, minor in shares.items()}
        fields |= {"description": title, "notes_text": reading.clean(row["Category"])}
        fields |= {"label": row["Category"], "notes": notes}
        found = expense(line, {payer: cost}, signed, **fields)
        return [self._in_original(row, found) if cost > 0 else found]

    def _payer(self, cost: int, cells: dict[str, int]) -> str:
        """The person whose cell has the sign of the cost; else, of two people, the one without."""
        found = [person for person, minor in cells.items() if minor * cost > 0]
        if len(found) == 1:
            return found[0]
        others = [person for person in self.keys if not cells.get(person)]
        if not found and len(self.keys) == 2 and len(others) == 1:
            return others[0]
        raise RowError("payer_unknown")

    def _in_original(self, row: dict[str, Any], found: Any) -> Any:
        code = row["Original currency"].strip()
        if code not in EXPONENTS or code == self.currency or not row["Original cost"].strip():
            return found
        minor = reading.to_minor(self.numbers(row["Original cost"]), code)
        if minor <= 0:
            return found
        rate = row["Conversion rate"].strip().replace(",", ".")
        return in_original(found, code, minor, reading.number(rate) if rate else None)
