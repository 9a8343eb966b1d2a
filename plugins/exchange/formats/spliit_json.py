"""Spliit, "Export to JSON": a group with amounts in minor units, and how each was divided."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import divided, in_original, payment_or_expense
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import Head, SourceFile
from splits.money import apportion

#: Currencies that have no decimals in Spliit; ISO 4217 gives some of them two.
_WHOLE = frozenset({"JPY", "KRW", "VND", "ISK", "HUF", "IDR", "COP"})
#: Weights are in hundredths, so are percentages; ours are in ten-thousandths.
_SPLITS = {"BY_SHARES": "SHARES", "BY_PERCENTAGE": "PERCENTAGE"}
_DELETED = "DELETE_EXPENSE"
_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def decimals(currency: str) -> int:
    """The decimals that Spliit gives to a currency."""
    return 0 if currency in _WHOLE else 2


class Group(TripDescription):
    PROGRAM = "Spliit"
    ROWS = "expenses.item"
    TITLE = "title"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        return {"participants", "expenses"} <= head.paths and (
            "expenses.item.paidFor" in head.paths
            or "currencyCode" in head.paths
            or "expenses.item" not in head.paths
        )

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        texts = {name: str(value or "") for name, value in file.head.texts.items()}
        code, symbol = texts.get("currencyCode", ""), texts.get("currency", "").strip()
        self.currency, self.digits = file.trip_currency(code, symbol), decimals(code)
        self.people = reading.people_with_ids(file, "participants.item")
        self.keys = {person.key for person in self.people}
        self.notes = _deleted(file)
        self.name = reading.clean(texts.get("name", ""))
        self.description = reading.clean(texts.get("information", ""))

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        row = Record(row)
        amount = reading.to_minor(row.number("amount").scaleb(-self.digits), self.currency)
        payer, key, title = row.text("paidById"), row.text("id", ""), row.text("title", "")
        mode = row.text("splitMode", "EVENLY")
        weights = _weights(row, mode)
        if not {payer, *weights} <= self.keys:
            raise RowError("unknown_person")
        notes = _proportions(row.number("amount"), mode, weights)
        shares = _shares(amount, weights, key, reading.smallest(self.currency, self.digits))
        if notes:
            mode = "BY_SHARES"
        is_payment = row.flag("isReimbursement") and amount > 0 and payer not in shares
        label = row.record("category") if "category" in row else Record({})
        names = (label.text("name", ""), label.text("grouping", ""))
        if not is_payment and row.text("recurrenceRule", "NONE") not in {"NONE", ""}:
            notes += (Note("repeats"),)
        split = None
        if mode in _SPLITS:
            split = _SPLITS[mode], {person: 100 * weight for person, weight in weights.items()}
        found = payment_or_expense(
            line,
            {payer: amount},
            shares,
            title,
            " ".join(names),
            row.text("notes", ""),
            is_payment=is_payment,
            instead=names[0],
            division=divided(shares, is_equal=mode == "EVENLY", split=split),
            date=row.day("expenseDate"),
            currency=self.currency,
            key=key or None,
            notes=notes,
        )
        return self._in_original(row, found)

    def _in_original(self, row: Record, found: list[Entry]) -> list[Entry]:
        """Files of instances that were not migrated have the original amount in major units."""
        code = known_code(row.text("originalCurrency", ""))
        if "originalAmount" not in row or code is None or code == self.currency:
            return found
        original = row.number("originalAmount")
        rate = row.number("conversionRate") if "conversionRate" in row else None
        theirs = decimals(code)
        group, as_minor = row.number("amount").scaleb(-self.digits), original.scaleb(-theirs)
        if theirs and rate and abs(group - original * rate) < abs(group - as_minor * rate):
            as_minor = original
        return in_original(found, code, as_minor, rate)


def _deleted(file: SourceFile) -> tuple[Note, ...]:
    """A note with the titles of deleted expenses, of which the file has nothing else."""
    rows = [reading.any_record(value).values for value in file.items("activities.item")]
    titles = [str(row.get("data") or "?") for row in rows if row.get("activityType") == _DELETED]
    text = ", ".join(titles)[:500]
    return (Note("deleted_elsewhere", {"count": len(titles), "titles": text}),) if titles else ()


def _weights(row: Record, mode: str) -> dict[str, int]:
    """What was entered for each person, who is named in one of two ways; 1 if nothing was."""
    weights = {}
    for share in row.records("paidFor"):
        person = share.record("participant").text("id") if "participant" in share else ""
        weight = 1 if mode == "EVENLY" else int(share.number("shares"))
        weights[person or share.text("participantId")] = weight
    return weights


def _proportions(amount: Decimal, mode: str, weights: Mapping[str, int]) -> tuple[Note, ...]:
    """A note if Spliit divides in proportion to weights that should add up. Raises `RowError`."""
    total = sum(weights.values())
    if not weights or min(weights.values()) < 0 or not total:
        raise RowError("nobody_takes_part")
    if mode not in {"EVENLY", "BY_SHARES", "BY_PERCENTAGE", "BY_AMOUNT"}:
        raise RowError("unknown_split", text=mode[:30])
    whole = {"BY_AMOUNT": abs(amount), "BY_PERCENTAGE": 10_000}.get(mode, total)
    return (Note("shares_do_not_add_up"),) if total != whole else ()


def _shares(amount: int, weights: Mapping[str, int], key: str, unit: int) -> dict[str, int]:
    """The parts as Spliit shows them, which are multiples of `unit`; odd ones rotate by the id."""
    people = sorted(weights)
    seed = _fnv(key) if key else 0
    parts = apportion(abs(amount) // unit, [weights[person] for person in people], seed)
    sign = -unit if amount < 0 else unit
    found = dict(zip(people, parts, strict=True))
    return {person: sign * found[person] for person in weights}


def _fnv(text: str) -> int:
    """FNV-1a with 32 bits."""
    hashed = _FNV_OFFSET
    for letter in text:
        hashed = (hashed ^ ord(letter)) * _FNV_PRIME & 0xFFFFFFFF
    return hashed
