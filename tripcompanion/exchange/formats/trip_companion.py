"""Our own export, as the entries that a trip with other entries gets from it.

A new trip is made of the whole file instead, with its history; see `exchange.restoring`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from splits.money import own_parts
from tripcompanion.exchange.description import (
    ClaimedBalance,
    DescribedComment,
    DescribedExpense,
    DescribedSettlement,
    Entry,
    Note,
    Person,
    TripDescription,
    UnreadableFile,
)
from tripcompanion.exchange.formats.reading import (
    Record,
    RowError,
    day,
    each,
    known_currency,
    to_minor,
)
from tripcompanion.exchange.source import Head, SourceFile

FORMAT, VERSION = "trip-companion", 1
#: What was entered for a part, by the split type, with its decimals; EQUAL and ITEMIZED have none.
_ENTERED = {
    "MANUAL": "entered",
    "ADJUSTMENT": "entered",
    "PERCENTAGE": "percentage",
    "SHARES": "weight",
    "ITEMIZED": "",
}


def recognises(head: Head) -> bool:
    return head.kind == "json" and head.texts.get("format") == FORMAT


def read(file: SourceFile) -> TripDescription:
    if file.head.texts.get("version") != VERSION:
        raise UnreadableFile("unknown_version")
    trip = Record(file.first("trip"))
    currency = known_currency(trip.text("currency"))
    people = tuple(
        Person(row.text("id"), row.text("name"), row.text("email", "") or None)
        for row in map(Record, file.items("people.item"))
    )
    named = {row.text("userId"): row for row in map(Record, file.items("members.item"))}
    claimed = [ClaimedBalance(key, currency, _balance(row, currency)) for key, row in named.items()]
    if file.first("attachments.item") is not None:
        file.notes.append(Note("files_left_out"))
    if file.first("recurring.item") is not None:
        file.notes.append(Note("recurring_in_new_trip"))
    return TripDescription(
        format=FORMAT,
        name=trip.text("title"),
        currency=currency,
        people=tuple(person for person in people if person.key in named),
        read_entries=lambda: _entries(file, currency),
        claimed=tuple(claimed),
        description=trip.text("description"),
        destination=trip.text("destination"),
        start_date=day(trip.text("startDate")),
        end_date=day(trip.text("endDate")),
        is_own=True,
    )


def _balance(row: Record, currency: str) -> int:
    paid, share, sent, received = (
        to_minor(row.number(name), currency) for name in ("paid", "share", "sent", "received")
    )
    return paid - share + sent - received


@dataclass(frozen=True)
class _Parts:
    """The rows of payers, splits and comments by the ids of their expenses."""

    payers: Mapping[str, list[Record]]
    splits: Mapping[str, list[Record]]
    comments: Mapping[str, list[Record]]

    @classmethod
    def of(cls, file: SourceFile) -> "_Parts":
        """Read the three tables. Raises `UnreadableFile` for a row that belongs to no expense."""
        tables = []
        for table in ("payers", "splits", "comments"):
            rows: dict[str, list[Record]] = defaultdict(list)
            for line, value in enumerate(file.items(f"{table}.item"), start=1):
                try:
                    row = Record(value)
                    rows[row.text("expenseId")].append(row)
                except RowError as error:
                    raise error.of_file(line) from error
            tables.append(rows)
        return cls(*tables)


def _entries(file: SourceFile, currency: str) -> Iterator[Entry]:
    parts = _Parts.of(file)

    def expense(line: int, row: Any) -> Iterator[Entry]:
        yield _expense(line, Record(row), parts, currency)

    def settlement(line: int, row: Any) -> Iterator[Entry]:
        yield _settlement(line, Record(row), currency)

    yield from each(enumerate(file.items("expenses.item"), 1), expense, "description")
    yield from each(enumerate(file.items("settlements.item"), 1), settlement, "note")


def _expense(line: int, row: Record, rows: _Parts, currency: str) -> DescribedExpense:
    expense_id, own = row.text("id"), known_currency(row.text("currency"))
    is_foreign = own != currency
    payers, splits = rows.payers[expense_id], rows.splits[expense_id]
    amount_minor = to_minor(row.number("amount"), currency)
    shares, paid = (
        {int(part.number(name)): to_minor(part.number("amount"), currency) for part in some}
        for name, some in (("participantId", splits), ("userId", payers))
    )
    sign = -1 if amount_minor < 0 else 1
    if sum(paid.values()) != amount_minor or sign * (amount_minor - sum(shares.values())) < 0:
        raise RowError("does_not_add_up")
    if min((sign * minor for minor in (*paid.values(), *shares.values())), default=0) < 0:
        raise RowError("negative_part")
    parts = own_parts(shares, paid, int(row.number("number")))
    split_type = row.text("splitType")
    entered: dict[int, int | None] = {key: None for key, part in parts.items() if part}
    if row.flag("divided") and split_type in _ENTERED:
        entered = {int(s.number("participantId")): _entered(s, split_type, own) for s in splits}
    else:
        split_type = "EQUAL"
    return DescribedExpense(
        line=line,
        key=f"expense {expense_id}",
        date=day(row.text("expenseDate")),
        amount_minor=to_minor(row.number("entered"), own),
        currency=own,
        rate=row.number("exchangeRate") if is_foreign else None,
        converted_minor=amount_minor if is_foreign else None,
        description=row.text("description"),
        notes_text=row.text("notes", ""),
        category=row.text("category"),
        receipt_url=row.text("receiptUrl", ""),
        tags=tuple(map(str, row.list("tags"))),
        payers=tuple((p.text("userId"), to_minor(p.number("entered"), own)) for p in payers),
        split_type=split_type,
        entered=tuple((str(key), value) for key, value in entered.items()),
        parts=tuple((str(key), part) for key, part in parts.items() if key in entered),
        items=row.values.get("items") if split_type == "ITEMIZED" else None,
        comments=tuple(map(_comment, rows.comments[expense_id])),
    )


def _entered(split: Record, split_type: str, currency: str) -> int | None:
    name = _ENTERED[split_type]
    if not name or (split_type == "ADJUSTMENT" and name not in split):
        return None
    value = split.number(name)
    return to_minor(value, currency) if name == "entered" else int(value * Decimal(10_000))


def _comment(row: Record) -> DescribedComment:
    return DescribedComment(row.text("text", ""), row.text("createdById"))


def _settlement(line: int, row: Record, currency: str) -> DescribedSettlement:
    return DescribedSettlement(
        line=line,
        key=f"settlement {row.text('id')}",
        date=day(row.text("settledOn")),
        amount_minor=to_minor(row.number("amount"), currency),
        currency=currency,
        sender=row.text("senderId"),
        receiver=row.text("receiverId"),
        note=row.text("note", ""),
    )
