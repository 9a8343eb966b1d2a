"""Our own export, as the entries that a trip with other entries gets from it.

A new trip is made of the whole file instead, with its history; see `exchange.restoring`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import starmap
from typing import Any

from django.conf import settings
from django.db.models import CharField, JSONField, TextField

from plugins.exchange.columns import MODELS, carried
from plugins.exchange.description import (
    DescribedComment,
    DescribedExpense,
    DescribedSettlement,
    Entry,
    Note,
    Person,
    UnreadableFile,
)
from plugins.exchange.formats.reading import Record, RowError, TripDescription, each, to_minor
from plugins.exchange.source import Head, SourceFile
from splits.models.rate import ECB
from splits.money import Places, own_parts, parse_places
from tripcompanion.plugin import plugins

FORMAT, VERSION = "trip-companion", 1
#: How many people a file may have for each member that `QUOTA_MEMBERS` allows.
PEOPLE_FOR_EACH = 10
#: The tables of plugins of which only a copy of the whole trip has the rows.
_OF_A_COPY = {
    table.name for app in plugins() for table in app.trip_tables() if table.is_restored
} - {"comments"}
#: What was entered for a part, by the split type, with its decimals; EQUAL and ITEMIZED have none.
_ENTERED = {
    "MANUAL": "entered",
    "ADJUSTMENT": "entered",
    "PERCENTAGE": "percentage",
    "SHARES": "weight",
    "ITEMIZED": "",
}


class _Row(Record):
    """A row of our own file, whose texts stay as they were entered."""

    def text(self, name: str, default: str | None = None) -> str:
        value = self.values.get(name)
        return value.strip() if isinstance(value, str) else super().text(name, default)


class OwnFormat(TripDescription):
    PROGRAM = "Trip Companion"
    format = FORMAT
    is_own = True

    @classmethod
    def recognises(cls, head: Head) -> bool:
        return head.texts.get("format") == FORMAT

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        if file.head.texts.get("version") != VERSION:
            raise UnreadableFile("unknown_version")
        trip = _Row(file.first("trip"))
        self.currency = trip.currency("currency")
        people = list(starmap(_person, enumerate(file.items("people.item"), start=1)))
        named = {row.text("userId"): row for row in map(_Row, file.items("members.item"))}
        self.people = tuple(person for person in people if person.key in named)
        self.claimed = {
            (k, self.currency): _balance(row, self.currency) for k, row in named.items()
        }
        filled = file.filled({"attachments", *_OF_A_COPY})
        if "attachments" in filled:
            self.notes += (Note("files_left_out"),)
        if filled & _OF_A_COPY:
            self.notes_on_rest = (Note("rest_in_copy"),)
        self.name, self.description = trip.text("title"), trip.text("description")
        self.destination = trip.text("destination")
        self.start_date, self.end_date = trip.day("startDate"), trip.day("endDate")
        self.origin = (trip.text("id", ""), trip.text("createdAt", ""))
        self.claimed_guests = trip.text("claimedGuests", "")

    @property
    def entries(self) -> Iterator[Entry]:
        tables = [_by_expense(self.file, table) for table in ("payers", "splits", "comments")]

        def expense(line: int, value: Any) -> Iterable[Entry]:
            row = _Row(value)
            return [self._expense(line, row, *(rows[row.text("id")] for rows in tables))]

        def settlement(line: int, value: Any) -> Iterable[Entry]:
            return [_settlement(line, _Row(value), self.currency)]

        yield from each(enumerate(self.file.items("expenses.item"), 1), expense, "description")
        yield from each(enumerate(self.file.items("settlements.item"), 1), settlement, "note")

    def _expense(
        self, line: int, row: _Row, payers: list[_Row], splits: list[_Row], comments: list[_Row]
    ) -> DescribedExpense:
        own, amount_minor = row.currency("currency"), row.minor("amount", self.currency)
        shares, paid = (
            {int(part.number(name)): part.minor("amount", self.currency) for part in some}
            for name, some in (("participantId", splits), ("userId", payers))
        )
        sign = -1 if amount_minor < 0 else 1
        if sum(paid.values()) != amount_minor or sign * (amount_minor - sum(shares.values())) < 0:
            raise RowError("does_not_add_up")
        if min((sign * minor for minor in (*paid.values(), *shares.values())), default=0) < 0:
            raise RowError("negative_part")
        try:
            places = few_places(self.claimed_guests, row.text("mergedGuests", ""))
        except ValueError as error:
            raise RowError("bad_value", name="mergedGuests") from error
        parts = own_parts(shares, paid, int(row.number("number")), places)
        split_type = row.text("splitType")
        entered: dict[int, int | None] = {key: None for key, part in parts.items() if part}
        if row.flag("divided") and split_type in _ENTERED:
            entered = {int(s.number("participantId")): _entered(s, split_type, own) for s in splits}
        else:
            split_type = "EQUAL"
        return DescribedExpense(
            line=line,
            date=row.day("expenseDate"),
            **_common("expense", row, row.minor("entered", own), own, self.currency),
            payers=tuple((p.text("userId"), p.minor("entered", own)) for p in payers),
            paid=tuple(paid.values()),
            split_type=split_type,
            entered=tuple((str(key), value) for key, value in entered.items()),
            parts=tuple((str(key), part) for key, part in parts.items() if key in entered),
            items=row.values.get("items") if split_type == "ITEMIZED" else None,
            comments=tuple(map(_comment, comments)),
        )


@lru_cache(maxsize=8)
def few_places(claimed: str, merged: str) -> Places:
    """`parse_places` of a file. Raises ValueError for more than a trip can have."""
    if claimed.count(":") + merged.count(":") > 2 * PEOPLE_FOR_EACH * settings.QUOTA_MEMBERS:
        raise ValueError("There are too many pairs.")
    return parse_places(claimed, merged)


def _person(line: int, value: Any) -> Person:
    row = _Row(value)
    if type(row.values.get("id")) is not int:
        raise UnreadableFile("bad_value", line, name="id")
    return Person(row.text("id"), row.text("name"), row.text("email", "") or None)


def _balance(row: _Row, currency: str) -> int:
    names = ("paid", "share", "sent", "received")
    paid, share, sent, received = (row.minor(name, currency) for name in names)
    return paid - share + sent - received


def _by_expense(file: SourceFile, table: str) -> dict[str, list[_Row]]:
    """The rows of a table by the ids of their expenses; `UnreadableFile` for one without."""
    rows: dict[str, list[_Row]] = defaultdict(list)
    for line, value in enumerate(file.items(f"{table}.item"), start=1):
        try:
            row = _Row(value)
            rows[row.text("expenseId")].append(row)
        except RowError as error:
            raise error.of_file(line) from error
    return rows


def _entered(split: _Row, split_type: str, currency: str) -> int | None:
    name = _ENTERED[split_type]
    if not name or (split_type == "ADJUSTMENT" and name not in split):
        return None
    value = split.number(name)
    return to_minor(value, currency) if name == "entered" else int(value * Decimal(10_000))


def _common(kind: str, row: _Row, entered_minor: int, own: str, currency: str) -> dict[str, Any]:
    """What every entry has: its amount as entered in `own`, and the rate to the trip's currency."""
    common: dict[str, Any] = {
        "key": f"{kind} {row.text('id')}",
        "made_at": row.text("createdAt", ""),
        "fields": {c.name: _value(row, name, c) for name, c in carried(MODELS[kind]).items()},
        "amount_minor": entered_minor,
        "currency": own,
    }
    if own == currency:
        return common
    return common | {
        "rate": row.number("exchangeRate"),
        "rate_source": ECB if row.text("rateSource", "") == ECB else "",
        "rate_day": row.day("rateDay") if "rateDay" in row else None,
        "converted_minor": row.minor("amount", currency),
    }


def _value(row: _Row, name: str, column: Any) -> Any:
    """The value of a column that is carried as it is; files of older releases may lack it."""
    if name not in row.values and column.has_default():
        return column.get_default()
    if isinstance(column, JSONField):
        return list(map(str, row.list(name)))
    if isinstance(column, CharField | TextField):
        text = row.text(name, "" if column.blank else None)
        return text or (None if column.null else "")
    return row.values.get(name)


def _comment(row: _Row) -> DescribedComment:
    return DescribedComment(row.text("text", ""), row.text("createdById"))


def _settlement(line: int, row: _Row, currency: str) -> DescribedSettlement:
    # Until 1.0.0, a payment had no currency of its own.
    is_foreign = bool(row.text("foreignCurrency", ""))
    own = row.currency("foreignCurrency") if is_foreign else currency
    entered_minor = row.minor("foreign" if is_foreign else "amount", own)
    return DescribedSettlement(
        line=line,
        date=row.day("settledOn"),
        **_common("settlement", row, entered_minor, own, currency),
        sender=row.text("senderId"),
        receiver=row.text("receiverId"),
    )
