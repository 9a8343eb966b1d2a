"""Splitwise, "Export as spreadsheet": what each person paid minus what they owe, in columns."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note
from plugins.exchange.formats import reading
from plugins.exchange.formats.columns import columns_of_people, still_called
from plugins.exchange.formats.dates import Dates, is_date
from plugins.exchange.formats.entries import (
    apportioned,
    completed,
    divided,
    expense,
    payments,
    scaled,
)
from plugins.exchange.formats.numbers import Cell, Numbers, is_some
from plugins.exchange.formats.reading import RowError, TripDescription
from plugins.exchange.source import Head, SourceFile

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
#: How the description of a row of totals begins.
_TOTAL = re.compile(
    r"(total|gesamt|summe|saldo|solde|bilancio|totaal|całkowite|合計|ยอด)", re.IGNORECASE
)
_FILE_NAME = re.compile(r"(?P<group>.*?)_\d{4}-\d{2}-\d{2}_export(?:\s*\(\d+\))?\.csv")


def _has_values(row: Sequence[str]) -> bool:
    """Whether it is a row of entries or totals, and not of labels."""
    labels = row[:_LABELS]
    return sum(map(bool, labels)) < 3 or any(is_date(cell) or is_some(cell) for cell in labels)


class Spreadsheet(TripDescription):
    """The rows of a file; `columns` has the keys of people by the places of their columns."""

    PROGRAM = "Splitwise"
    TITLE = "description"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Labels are in the language of the account, so only the rows below them tell."""
        if len(head.header) <= _LABELS or _has_values(head.header):
            return False
        if [label.casefold() for label in head.header[:_LABELS]] == _ENGLISH:
            return True
        # Totals may stand above the entries, and a note above the header.
        below = (row for row in head.rows if len(row) >= _LABELS)
        first = next((row for row in below if is_date(row[0]) or not _has_values(row)), None)
        return first is not None and is_date(first[0]) and known_code(first[4]) is not None

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        names = columns_of_people(file, _LABELS)
        self.people = reading.people_named(still_called([*names.values()]))
        self.notes = reading.name_notes([*names.values()])
        self.columns = dict(zip(names, (person.key for person in self.people), strict=True))
        if match := _FILE_NAME.fullmatch(file.name):
            self.name = match["group"].replace("-", " ").strip()
        self.numbers = Numbers(
            Cell(line, row[at], row[4], row[3])
            for line, row in file.records()
            for at in (3, *self.columns)
            if row[at]
        )
        days = ((line, row[0]) for line, row in file.records())
        self.dates = Dates(days, self.numbers.mark, file.delimiter)
        used = Counter(row[4] for _line, row in file.records() if not self._is_total(row))
        self.currency = file.trip_currency(*(code for code, _count in used.most_common()))
        self.claimed = dict(self._claimed())

    def _is_total(self, row: list[str]) -> bool:
        """Whether it has the sums of people, wherever it stands. It alone has no category."""
        if row[2].strip():
            return False
        return not is_some(row[3]) or bool(_TOTAL.match(row[1].strip()))

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in self.file.records():
            if not self._is_total(row):
                yield line, {**dict(zip(_ENGLISH, row, strict=False)), "cells": row}

    def _claimed(self) -> Iterator[tuple[tuple[str, str], int]]:
        """The total of each person in a currency, which is the file's own if it is not named."""
        for _line, row in self.file.records():
            currency = known_code(row[4]) if row[4].strip() else self.currency
            if currency is not None and self._is_total(row):
                for at, person in self.columns.items():
                    if row[at].strip():
                        with suppress(RowError):
                            minor = reading.to_minor(self.numbers(row[at]), currency)
                            yield (person, currency), minor

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        cells = row["cells"]
        if len(cells) > len(self.file.head.header):
            columns, expected = len(cells) - _LABELS, len(self.columns)
            raise RowError("other_columns", columns=columns, expected=expected)
        currency = reading.known_currency(row["currency"])
        cost, notes = reading.rounded(self.numbers(row["cost"]), currency)
        values = {w: self.numbers(cells[at]) for at, w in self.columns.items() if cells[at].strip()}
        nets = {who: reading.exact(value, currency) for who, value in values.items() if value}
        fields: dict[str, Any] = {"date": self.dates(row["date"]), "currency": currency}
        title = reading.clean(row["description"]) or reading.clean(row["category"])
        plus = [person for person, minor in nets.items() if minor > 0]
        minus = [person for person, minor in nets.items() if minor < 0]
        is_payment = row["category"].strip().casefold() in _PAYMENT
        if is_payment and len(plus) == len(minus) == 1:
            minor = reading.to_minor(values[plus[0]], currency)
            return payments(line, plus[0], {minus[0]: minor}, title, notes=notes, **fields)
        fields |= {"title": title, "label": reading.clean(row["category"])}
        notes += (Note("payment_of_several"),) if is_payment else ()
        if cost < 0 and len(minus) > 1:
            cost, notes = -cost, (*notes, Note("turned_around"))
        return [_expense(line, cost, nets, notes, fields)]


def _expense(
    line: int, cost: int, nets: dict[str, Decimal], notes: tuple[Note, ...], fields: dict[str, Any]
) -> Entry:
    """The expense of a row. Those who have more than they owe paid it, or got a refund."""
    if not cost:
        raise RowError("no_amount")
    sign = 1 if cost > 0 else -1
    plus = {person: sign * minor for person, minor in nets.items() if sign * minor > 0}
    owed = {person: -sign * minor for person, minor in nets.items() if sign * minor < 0}
    if not plus:
        raise RowError("payer_unknown")
    drift, unit = sum(nets.values(), Decimal(0)), reading.smallest(fields["currency"], _DECIMALS)
    parts, scale = scaled(owed.values())
    rest = sign * cost - Fraction(sum(parts), scale)
    if abs(drift) > len(nets) * unit or rest < 0:
        raise RowError("does_not_add_up")
    own = rest / len(plus)
    shares = {who: owed.get(who, own) for who in nets}
    # The same wherever the row stands in a newer file.
    whole, _notes = completed(sign * cost, shares, seed=abs(cost))
    if drift or any(minor % 1 for minor in nets.values()):
        notes = (*notes, Note("rounded_shares"))
    paid = dict.fromkeys(plus, sign * cost)
    if len(plus) > 1:
        notes = (*notes, Note("payers_unknown"))
        lent = sum(minor for person, minor in whole.items() if person not in plus)
        gained = apportioned(lent, plus, lent)
        paid = {person: gained[person] + whole[person] for person in plus}
    paid, whole = ({who: sign * part for who, part in side.items()} for side in (paid, whole))
    return expense(line, paid, divided(whole, unrounded=shares), notes=notes, **fields)
