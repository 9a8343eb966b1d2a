"""Settle Up, CSV: lists of payers and of people paid for, with the amount of each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tripcompanion.exchange.description import (
    DescribedExpense,
    DescribedSettlement,
    Entry,
    Note,
    TripDescription,
)
from tripcompanion.exchange.formats.reading import (
    Numbers,
    Record,
    RowError,
    category,
    clean,
    currency_of,
    day,
    divided,
    each,
    expense,
    known_currency,
    people_named,
    to_minor,
)
from tripcompanion.exchange.source import Head, SourceFile

_SEPARATOR = ";"


def recognises(head: Head) -> bool:
    return {"Who paid", "For whom", "Split amounts"} <= set(head.header)


def read(file: SourceFile) -> TripDescription:
    table = _Table(file)
    return TripDescription(
        "settle_up",
        "",
        currency_of(file, *table.currencies),
        people_named(table.names),
        lambda: each(table.rows(), table.entries, "Purpose"),
    )


def listed(text: str) -> list[str]:
    return [clean(part) for part in text.split(_SEPARATOR)] if text else []


class _Table:
    def __init__(self, file: SourceFile) -> None:
        self.file = file
        names: dict[str, None] = {}
        main: Counter[str] = Counter()
        used: Counter[str] = Counter()
        for _line, row in self.rows():
            names |= dict.fromkeys(listed(row.get("Who paid", "")))
            names |= dict.fromkeys(listed(row.get("For whom", "")))
            used[row.get("Currency", "")] += 1
            # The group's currency has no name; its own expenses have the rate 1.
            if row.get("Exchange rate", "").strip() in {"1", "1.0", "1,0"}:
                main[row.get("Currency", "")] += 1
        self.names = [name for name in names if name]
        self.currencies = [code for code, _count in main.most_common() + used.most_common()]
        columns = ("Amount", "Split amounts")
        self.numbers = Numbers(
            (
                (line, cell)
                for line, row in self.rows()
                for column in columns
                for cell in listed(row.get(column, ""))
            ),
            is_plain=True,
        )

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        for line, row in self.file.records():
            yield line, dict(zip(self.file.head.header, row, strict=False))

    def _amounts(self, row: Record, people: str, amounts: str, currency: str) -> dict[str, int]:
        names, cells = listed(row.text(people)), listed(row.text(amounts))
        if len(names) != len(cells) or not names:
            raise RowError("unequal_lists")
        if len(set(names)) < len(names):
            raise RowError("named_twice")
        minor = [to_minor(self.numbers(cell), currency) for cell in cells]
        return dict(zip(names, minor, strict=True))

    def entries(self, line: int, value: dict[str, str]) -> Iterator[Entry]:
        row = Record(value)
        currency = known_currency(row.text("Currency"))
        paid = self._amounts(row, "Who paid", "Amount", currency)
        shares = self._amounts(row, "For whom", "Split amounts", currency)
        amount, kind = sum(paid.values()), row.text("Type", "expense")
        notes: tuple[Note, ...] = ()
        if drift := amount - sum(shares.values()):
            if abs(drift) > len(shares):
                raise RowError("does_not_add_up")
            largest = max(shares, key=lambda name: shares[name])
            shares[largest] += drift
            notes = (Note("rounded_shares"),)
        label, title = row.text("Category", ""), row.text("Purpose", "")
        fields: dict[str, Any] = {"currency": currency, **_when(row)}
        if kind == "transfer":
            yield from self._transfers(line, paid, shares, title, notes, fields)
            return
        if kind != "expense":
            raise RowError("unknown_kind", text=kind[:30])
        fields |= {"description": title or label or "Settle Up", "category": category(label)}
        fields["notes_text"] = label
        if "Receipt" in row:
            fields["receipt_url"] = row.text("Receipt")
        if amount < 0 and len(paid) > 1:
            raise RowError("negative_part")
        payer = next(iter(paid))
        found = expense(line, payer, amount, shares, notes=notes, **fields)
        yield found if len(paid) == 1 else replace(found, payers=tuple(paid.items()))

    def _transfers(
        self,
        line: int,
        paid: dict[str, int],
        shares: dict[str, int],
        title: str,
        notes: tuple[Note, ...],
        fields: dict[str, Any],
    ) -> Iterator[Entry]:
        """A payment for each receiver; of several senders, an expense of the receivers."""
        if len(paid) > 1:
            yield DescribedExpense(
                line=line,
                amount_minor=sum(paid.values()),
                payers=tuple(paid.items()),
                notes=(*notes, Note("payment_of_several")),
                description=title or "Settle Up",
                **divided(shares),
                **fields,
            )
            return
        for receiver, minor in shares.items():
            yield DescribedSettlement(
                line=line,
                amount_minor=minor,
                sender=next(iter(paid)),
                receiver=receiver,
                note=title,
                notes=notes,
                **fields,
            )


def _when(row: Record) -> dict[str, Any]:
    """The date that the row shows; its moment, if the zone is known."""
    text = row.text("Date & time")
    fields: dict[str, Any] = {"date": day(text)}
    try:
        zone = ZoneInfo(row.text("Timezone", ""))
        at = datetime.fromisoformat(text).replace(tzinfo=zone)
        fields["created_at"] = at.astimezone(UTC)
    except (ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        return fields
    return fields
