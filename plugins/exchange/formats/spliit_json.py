"""Spliit, "Export to JSON": a group with amounts in minor units, and how each was divided."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import DescribedExpense, Entry, Note, TripDescription
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import divided, expense, in_original, payments
from plugins.exchange.formats.reading import Record, RowError
from plugins.exchange.source import Head, SourceFile

PROGRAM = "Spliit"

#: Currencies that have no decimals in Spliit; ISO 4217 gives some of them two.
_WHOLE = frozenset({"JPY", "KRW", "VND", "ISK", "HUF", "IDR", "COP"})
#: Weights are in hundredths, so are percentages; ours are in ten-thousandths.
_SPLITS = {"BY_SHARES": "SHARES", "BY_PERCENTAGE": "PERCENTAGE"}
_DELETED = "DELETE_EXPENSE"
_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def decimals(currency: str) -> int:
    """The decimals that Spliit gives to a currency."""
    return 0 if currency in _WHOLE else 2


def recognises(head: Head) -> bool:
    return {"participants", "expenses"} <= head.paths and (
        "expenses.item.paidFor" in head.paths
        or "currencyCode" in head.paths
        or "expenses.item" not in head.paths
    )


def read(file: SourceFile) -> TripDescription:
    texts = file.head.texts
    code = str(texts.get("currencyCode") or "")
    symbol = str(texts.get("currency") or "").strip()
    currency = file.trip_currency(code, symbol)
    people = reading.people_with_ids(file, "participants.item")
    digits = decimals(code)
    entry = partial(_entry, currency, digits, {person.key for person in people})
    return TripDescription(
        currency,
        people,
        lambda: reading.each(enumerate(file.items("expenses.item"), start=1), entry, "title"),
        notes=_deleted(file),
        name=reading.clean(str(texts.get("name") or "")),
        description=reading.clean(str(texts.get("information") or "")),
    )


def _deleted(file: SourceFile) -> tuple[Note, ...]:
    """A note with the titles of deleted expenses, of which the file has nothing else."""
    rows = [reading.any_record(value).values for value in file.items("activities.item")]
    titles = [str(row.get("data") or "?") for row in rows if row.get("activityType") == _DELETED]
    text = ", ".join(titles)[:500]
    return (Note("deleted_elsewhere", {"count": len(titles), "titles": text}),) if titles else ()


def _entry(currency: str, digits: int, people: set[str], line: int, value: Any) -> Iterable[Entry]:
    row = Record(value)
    amount = reading.to_minor(row.number("amount").scaleb(-digits), currency)
    payer, key, title = row.text("paidById"), row.text("id", ""), row.text("title", "")
    mode = row.text("splitMode", "EVENLY")
    weights = _weights(row, mode)
    if not {payer, *weights} <= people:
        raise RowError("unknown_person")
    notes = _proportions(row.number("amount"), mode, weights)
    unit = reading.smallest(currency, digits)
    shares = _shares(amount, weights, key, unit)
    if notes:
        mode = "BY_SHARES"
    fields: dict[str, Any] = {
        "date": row.day("expenseDate"),
        "currency": currency,
        "key": key or None,
    }
    if row.flag("isReimbursement") and amount > 0 and payer not in shares:
        return payments(line, payer, shares, title, notes=notes, **fields)
    label = row.record("category") if "category" in row else Record({})
    names = (label.text("name", ""), label.text("grouping", ""))
    if row.text("recurrenceRule", "NONE") not in {"NONE", ""}:
        notes += (Note("repeats"),)
    split = None
    if mode in _SPLITS:
        split = _SPLITS[mode], {person: 100 * weight for person, weight in weights.items()}
    division = divided(shares, is_equal=mode == "EVENLY", split=split)
    texts = (title or names[0], " ".join(names), row.text("notes", ""))
    found = expense(line, {payer: amount}, division, *texts, notes=notes, **fields)
    return [_in_original(row, currency, digits, found) if amount > 0 else found]


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
    """The parts as Spliit shows them, which are multiples of `unit`.

    They are those of the largest remainder; ties rotate by the id.
    """
    total, whole = sum(weights.values()), abs(amount) // unit
    order = sorted(weights)
    turn = _fnv(key) % len(order) if key else 0
    order = order[turn:] + order[:turn]
    parts = {person: whole * weights[person] // total for person in order}
    left = whole - sum(parts.values())
    by_remainder = sorted(order, key=lambda person: -(whole * weights[person] % total))
    for person in by_remainder[:left]:
        parts[person] += 1
    sign = -unit if amount < 0 else unit
    return {person: sign * parts[person] for person in weights}


def _fnv(text: str) -> int:
    """FNV-1a with 32 bits."""
    hashed = _FNV_OFFSET
    for letter in text:
        hashed = (hashed ^ ord(letter)) * _FNV_PRIME & 0xFFFFFFFF
    return hashed


def _in_original(
    row: Record, currency: str, digits: int, found: DescribedExpense
) -> DescribedExpense:
    """The expense in the currency in which it was entered, if that is another one.

    The amount in the group's currency rules. Files of instances that were not migrated have the
    original amount in major units.
    """
    code = known_code(row.text("originalCurrency", ""))
    if "originalAmount" not in row or code is None or code == currency:
        return found
    original = row.number("originalAmount")
    rate = row.number("conversionRate") if "conversionRate" in row else None
    theirs = decimals(code)
    group, as_minor = row.number("amount").scaleb(-digits), original.scaleb(-theirs)
    if theirs and rate and abs(group - original * rate) < abs(group - as_minor * rate):
        as_minor = original
    minor = reading.to_minor(as_minor, code)
    if minor <= 0:
        return found
    return in_original(found, code, minor, rate)
