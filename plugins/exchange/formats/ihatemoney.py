"""ihatemoney, the bills of a project as JSON or CSV, of versions 6 and 7."""

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from plugins.exchange.description import Entry, Note, UnreadableFile
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import cells_of
from plugins.exchange.formats.dates import Dates
from plugins.exchange.formats.entries import bill, names_in
from plugins.exchange.formats.numbers import Numbers
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import MAX_PARTS, Head, SourceFile
from tripcompanion.currency.amounts import ENDED, EXPONENTS

_COLUMNS = {"what", "amount", "date", "payer_name", "payer_weight", "owers"}
#: ISO 4217's code for "no currency", which bills have in a project without one.
_NO_CURRENCY = "XXX"


class Bills(TripDescription):
    PROGRAM = "ihatemoney"
    TITLE = "what"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        if head.header:
            names = {name.casefold() for name in head.header}
            return _COLUMNS <= names <= {*_COLUMNS, "bill_type", "currency", ""}
        bills, plan = {"item.what", "item.owers"}, {"item.ower", "item.receiver"}
        return bills <= head.paths or plan <= head.paths

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        if "item.ower" in file.head.paths:
            raise UnreadableFile("is_settlement_plan")
        self.name = file.name.rpartition("-bills.")[0]
        self.weights: dict[str, Decimal] = {}
        #: The names as they stand in the file, in the order in which they occur; first of payers.
        names: dict[str, None] = {}
        codes: Counter[str] = Counter()
        # JSON has numbers and dates.
        rows: Any = list if file.is_json else self.rows
        self.numbers = Numbers(cells_of(rows(), "amount"), is_plain=file.delimiter == ",")
        self.dates = Dates(cells_of(rows(), "date"), self.numbers.mark, file.delimiter)
        for line, row in self.rows():
            try:
                record = Record(row)
                written, weight = record.text("payer_name"), self._number(record, "payer_weight")
                names[written] = None
                name = reading.unguarded(written)
                if self.weights.setdefault(name, weight) != weight:
                    raise UnreadableFile("two_weights", line, name=name[:50])
                codes[row.get("currency", _NO_CURRENCY)] += 1
            except (RowError, TypeError):
                # It is skipped with its reason below.
                continue
        #: In a list of names, only the first may have an apostrophe; see `unguarded`.
        self.payers = {*names, *self.weights}
        for line, row in self.rows():
            names |= dict.fromkeys(self._owers(row)[0])
            if len(names) > MAX_PARTS:
                raise UnreadableFile("too_many_parts", line, limit=MAX_PARTS)
        self.people = reading.people_named(dict.fromkeys(map(reading.unguarded, names)))
        self.notes = reading.guard_notes(names)
        del codes[_NO_CURRENCY], codes[""]
        #: The codes that mean the group's own currency; an unknown one does if it is the only one.
        self.own_codes = {_NO_CURRENCY, *(codes if len(codes) == 1 else ())} - (
            EXPONENTS.keys() | ENDED
        )
        self.currency = file.trip_currency(*(str(code) for code, _count in codes.most_common()))

    def rows(self) -> Iterator[tuple[int, Any]]:
        if self.file.is_json:
            yield from enumerate(self.file.items("item"), start=1)
            return
        header = [name.casefold() for name in self.file.head.header]
        for line, row in self.file.records():
            yield line, dict(zip(header, row, strict=False))

    def _number(self, row: Record, name: str) -> Decimal:
        return row.number(name) if self.file.is_json else self.numbers(row.text(name))

    def _owers(self, row: Any) -> tuple[list[str], tuple[Note, ...]]:
        """The names as they stand in the file."""
        found = row.get("owers") if isinstance(row, dict) else None
        if isinstance(found, list):
            return [reading.clean(name) for name in found if isinstance(name, str)], ()
        return names_in(reading.clean(found), self.payers) if isinstance(found, str) else ([], ())

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        owers, notes = self._owers(row)
        row = Record(row)
        kind = row.kind("bill_type", {"Expense", "Reimbursement"}, "Expense")
        code = row.text("currency", "") or _NO_CURRENCY
        code = self.currency if code in self.own_codes else reading.known_currency(code)
        return bill(
            line,
            reading.unguarded(row.text("payer_name")),
            self._number(row, "amount"),
            [reading.unguarded(name) for name in owers],
            self.weights,
            reading.unguarded(row.text("what", "")),
            is_payment=kind == "Reimbursement",
            date=self.dates(row.text("date")),
            currency=code,
            notes=notes,
        )
