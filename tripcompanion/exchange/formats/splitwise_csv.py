"""Splitwise, "Export as spreadsheet": what each person paid minus what they owe, in columns."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from tripcompanion.currency.amounts import EXPONENTS
from tripcompanion.exchange.description import Entry, Note, TripDescription
from tripcompanion.exchange.formats import reading
from tripcompanion.exchange.formats.entries import apportioned, expense, payments
from tripcompanion.exchange.formats.reading import Numbers, RowError
from tripcompanion.exchange.source import Head, SourceFile

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LABELS = 5
#: Of every amount, also in currencies that have more.
_DECIMALS = 2
_ENGLISH = ["date", "description", "category", "cost", "currency"]
#: The category of payments, in the languages in which it was seen.
_PAYMENT = frozenset(
    {
        *("payment", "pago", "zahlung", "paiement", "pagamento", "betaling", "płatność"),
        *("betalning", "pembayaran", "ödeme", "支払い", "การชำระเงิน", "оплата", "платёж"),
    }
)
_FILE_NAME = re.compile(r"(?P<group>.*?)_\d{4}-\d{2}-\d{2}_export(?:\s*\(\d+\))?\.csv")


def recognises(head: Head) -> bool:
    """Labels are in the language of the account, so only the first row below them tells."""
    if head.kind != "csv" or len(head.header) <= _LABELS:
        return False
    if [label.casefold() for label in head.header[:_LABELS]] == _ENGLISH:
        return True
    first = head.first
    return (
        len(first) > _LABELS
        and bool(_DATE.match(first[0].strip()))
        and first[4].strip() in EXPONENTS
    )


def read(file: SourceFile) -> TripDescription:
    header = file.head.header
    people = reading.people_named(reading.clean(name) or "?" for name in header[_LABELS:])
    keys = [person.key for person in people]
    cells = ((line, cell) for line, row in file.records() for cell in (row[3:4] + row[_LABELS:]))
    numbers = Numbers((line, cell) for line, cell in cells if cell.strip())
    used: Counter[str] = Counter(row[4].strip() for _line, row in file.records() if _has_cost(row))
    currency = file.trip_currency(*(code for code, _count in used.most_common()))
    table = _Table(keys, numbers)
    match = _FILE_NAME.fullmatch(file.name)
    return TripDescription(
        "splitwise_csv",
        currency,
        people,
        lambda: reading.each(table.rows(file), table.entries, "description"),
        dict(table.claimed(file)),
        reading.name_notes(header[_LABELS:]),
        match["group"].replace("-", " ").strip() if match else "",
    )


def _has_cost(row: list[str]) -> bool:
    return len(row) > _LABELS and bool(row[3].strip())


class _Table:
    """The rows of a file, whose columns after the first five are `people`."""

    def __init__(self, people: list[str], numbers: Numbers) -> None:
        self.people, self.numbers = people, numbers

    def rows(self, file: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in file.records():
            if _has_cost(row) or len(row) <= _LABELS:
                cells = dict(zip(_ENGLISH, [*row, *[""] * _LABELS], strict=False))
                yield line, {**cells, "nets": row[_LABELS:]}

    def claimed(self, file: SourceFile) -> Iterator[tuple[tuple[str, str], int]]:
        """The rows without a cost: the total of each person in a currency."""
        for _line, row in file.records():
            if len(row) > _LABELS and not _has_cost(row) and row[4].strip() in EXPONENTS:
                currency = row[4].strip()
                for person, cell in zip(self.people, row[_LABELS:], strict=False):
                    if cell.strip():
                        yield (person, currency), reading.to_minor(self.numbers(cell), currency)

    def entries(self, line: int, row: dict[str, Any]) -> Iterable[Entry]:
        currency = reading.known_currency(row["currency"].strip())
        if len(row["nets"]) != len(self.people):
            raise RowError("other_columns", columns=len(row["nets"]), expected=len(self.people))
        cost = reading.to_minor(self.numbers(row["cost"]), currency)
        values = [self.numbers(cell) if cell.strip() else Decimal(0) for cell in row["nets"]]
        nets = {
            person: reading.to_minor(value, currency)
            for person, value in zip(self.people, values, strict=True)
            if value
        }
        fields: dict[str, Any] = {"date": reading.day(row["date"]), "currency": currency}
        title = reading.clean(row["description"]) or reading.clean(row["category"])
        plus = [person for person, minor in nets.items() if minor > 0]
        minus = [person for person, minor in nets.items() if minor < 0]
        is_payment = row["category"].strip().casefold() in _PAYMENT
        if is_payment and len(plus) == len(minus) == 1:
            return payments(line, plus[0], {minus[0]: nets[plus[0]]}, title, **fields)
        fields["description"] = title
        fields["label"] = row["category"]
        fields["notes_text"] = reading.clean(row["category"])
        notes = (Note("payment_of_several"),) if is_payment else ()
        return [_expense(line, cost, nets, plus, notes, fields)]


def _expense(
    line: int,
    cost: int,
    nets: dict[str, int],
    plus: list[str],
    notes: tuple[Note, ...],
    fields: dict[str, Any],
) -> Entry:
    """The expense of a row in which those in `plus` paid more than they owe."""
    if not cost:
        raise RowError("no_amount")
    if cost < 0:
        cost, notes = -cost, (*notes, Note("turned_around"))
    if not plus:
        raise RowError("payer_unknown")
    if drift := sum(nets.values()):
        if abs(drift) > len(nets) * reading.smallest(fields["currency"], _DECIMALS):
            raise RowError("does_not_add_up")
        notes = (*notes, Note("rounded_shares"))
        nets = {**nets, plus[0]: nets[plus[0]] - drift}
        if nets[plus[0]] <= 0:
            raise RowError("does_not_add_up")
    owed = {person: -minor for person, minor in nets.items() if minor < 0}
    rest = cost - sum(owed.values())
    if rest < 0:
        raise RowError("does_not_add_up")
    own = {plus[0]: rest}
    if len(plus) > 1:
        notes = (*notes, Note("payers_unknown"))
        own = apportioned(rest, dict.fromkeys(plus, 1), line)
    paid = {person: nets[person] + part for person, part in own.items()}
    shares = {person: own.get(person, owed.get(person, 0)) for person in nets}
    return expense(line, paid, shares, notes=notes, **fields)
