"""Abrechnung, JSON of version 1: transactions between accounts, some of which are events."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from plugins.exchange.description import Entry, Note, UnreadableFile
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import by_weight, divided, payment_or_expense
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import Head, SourceFile

Shares = Mapping[str, Fraction]
#: An amount in minor units, what each person paid and owes of it, and notes.
_Sides = tuple[int, dict[str, int], dict[str, int], tuple[Note, ...]]
_KINDS = {"purchase", "transfer", "mimo"}
#: How far from 1 percentages may add up.
_PERCENT_DRIFT = Fraction(1, 10_000)
#: The longest chain of events that pass on to each other.
_MAX_CHAIN = 20
_MAX_EVENTS = 1000
#: How often a part of somebody may be passed on, and what such a part may be divided by.
_MAX_STEPS, _MAX_DENOMINATOR = 1_000_000, 10**100


class Books(TripDescription):
    """The accounts of a file: people, and events, which pass on what they owe and are owed."""

    PROGRAM = "Abrechnung"
    ROWS = "transactions.item"
    TITLE = "name"
    notes = (Note("deleted_come_back"),)

    @classmethod
    def recognises(cls, head: Head) -> bool:
        return head.texts.get("version") == 1 and "personal_accounts" in head.paths

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        self.people = reading.people_with_ids(file, "personal_accounts.item")
        self.keys = {person.key for person in self.people}
        texts = {name: str(text or "") for name, text in file.head.texts.items()}
        self.name = reading.clean(texts.get("metadata.name", ""))
        self.description = reading.clean(texts.get("metadata.description", ""))
        self.events: dict[str, dict[str, Fraction]] = {}
        self.names: dict[str, str] = {}
        for value in file.items("events.item"):
            try:
                row = Record(value)
                key = row.text("id")
                self.events[key] = weights(row, "clearing_shares")
                self.names[key] = row.text("name", "")
            except RowError as error:
                raise error.of_file() from error
            if len(self.events) > _MAX_EVENTS:
                raise UnreadableFile("too_many_events", limit=_MAX_EVENTS)
        self.steps = 0
        #: Who bears a share of 1 of an event, with their parts.
        self.passed_on: dict[str, Shares] = {}
        self.currency = file.trip_currency(texts.get("metadata.currency_identifier", ""))

    def of_people(self, shares: Shares, chain: tuple[str, ...] = ()) -> dict[str, Fraction]:
        """The shares of people, after all events have passed on theirs."""
        found: dict[str, Fraction] = defaultdict(Fraction)
        for key, share in shares.items():
            if key in self.keys:
                found[key] += share
                continue
            # Once only, as events that pass on to each other can be reached in many ways.
            if key not in self.passed_on:
                if key in chain or len(chain) > _MAX_CHAIN:
                    raise UnreadableFile("circular_events", name=self.names.get(key, key))
                if key not in self.events:
                    raise RowError("unknown_person")
                self.passed_on[key] = self.of_people(portions(self.events[key]), (*chain, key))
            self.steps += len(self.passed_on[key])
            for person, part in self.passed_on[key].items():
                found[person] += share * part
                is_long = found[person].denominator > _MAX_DENOMINATOR
                if is_long or self.steps > _MAX_STEPS:
                    raise UnreadableFile("entangled_events", name=self.names[key])
        return found

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        row = Record(row)
        is_transfer = row.kind("type", _KINDS) == "transfer"
        currency = row.currency("currency_identifier")
        amount, notes = reading.rounded(row.number("value"), currency)
        if not amount:
            raise RowError("no_amount")
        rate = row.number("currency_conversion_rate")
        debitors = weights(row, "debitor_shares")
        sides = self._sides(row, debitors, amount, is_transfer=is_transfer)
        amount, payers, parts, own_notes = sides
        is_payment = is_transfer and len(payers) == len(parts) == 1
        tags = [str(tag) for tag in row.list("tags")]
        named = [self.names[k] for k in debitors if k in self.names]
        if not is_payment and row.list("files"):
            own_notes += (Note("files_left_out"),)
        title = row.text("name", "")
        return payment_or_expense(
            line,
            payers,
            parts,
            title,
            " ".join([title, *tags]),
            row.text("description", ""),
            is_payment=is_payment,
            division=self._division(line, row, debitors, amount, parts),
            more={"tags": (*tags, *named)},
            date=row.day("billed_at"),
            currency=currency,
            key=row.text("id"),
            rate=rate if rate > 0 and rate != 1 else None,
            notes=notes + own_notes,
        )

    def _sides(self, row: Record, debitors: Shares, amount: int, *, is_transfer: bool) -> _Sides:
        """What each person paid and owes of `amount` minor units.

        What cannot be recorded with a negative amount is turned around, and so is the amount.
        """
        creditors = portions(weights(row, "creditor_shares"))
        paid = self.of_people({key: amount * part for key, part in creditors.items()})
        owed, notes = self._owed(row, debitors, amount)
        if amount < 0 and (is_transfer or len(paid) > 1):
            amount, notes = -amount, (*notes, Note("turned_around"))
            paid, owed = ({k: -v for k, v in side.items()} for side in (owed, paid))
        return amount, whole(paid, amount), whole(owed, amount), notes

    def _owed(
        self, row: Record, debitors: Shares, amount: int
    ) -> tuple[dict[str, Fraction], tuple[Note, ...]]:
        """The part of each person of `amount` minor units, not rounded."""
        value = Fraction(row.number("value"))
        unit = Fraction(amount) / value if value else Fraction(0)
        mode = row.text("split_mode", "shares")
        owed: dict[str, Fraction] = defaultdict(Fraction)
        rest = beside = value
        for price, common, users in map(_item, row.records("positions")):
            for key, part in users.items():
                owed[key] += price * part
            rest -= price * (1 - common)
            beside -= price
            if rest.denominator > _MAX_DENOMINATOR:
                raise RowError("entangled_items")
        notes: tuple[Note, ...] = (Note("items_exceed"),) if beside * value < 0 else ()
        if mode == "percent" and abs(sum(debitors.values(), Fraction(-1))) > _PERCENT_DRIFT:
            raise RowError("does_not_add_up")
        if mode == "absolute" and not row.list("positions"):
            owed |= debitors
            if row.number("currency_conversion_rate") != 1:
                notes += (Note("rate_not_applied"),)
        elif mode in {"shares", "percent", "absolute"}:
            if rest:
                for key, part in portions(debitors).items():
                    owed[key] += rest * part
        else:
            raise RowError("unknown_split", text=mode[:30])
        return self.of_people({key: part * unit for key, part in owed.items()}), notes

    def _division(
        self, line: int, row: Record, debitors: Shares, amount: int, parts: dict[str, int]
    ) -> dict[str, Any]:
        """By weights, where nothing but weights of people decides; else by the exact parts."""
        shares = {k: w for k, w in debitors.items() if w}
        is_plain = row.text("split_mode", "shares") == "shares" and not row.list("positions")
        if amount < 0 or not is_plain or not shares.keys() <= self.keys:
            return divided(parts)
        return by_weight(amount, shares, line)


def _item(item: Record) -> tuple[Fraction, Fraction, dict[str, Fraction]]:
    """The price of an item, the part that is common to all, and those of its users."""
    users, common = weights(item, "usages"), Fraction(item.number("communist_shares"))
    total = sum(users.values(), common)
    if not total:
        raise RowError("item_of_nobody", name=item.text("name", "")[:50])
    parts = {key: usage / total for key, usage in users.items()}
    return Fraction(item.number("price")), common / total, parts


def weights(row: Record, name: str) -> dict[str, Fraction]:
    """The weights of accounts by their ids."""
    found = Record(row.values.get(name) or {})
    shares = {str(key): Fraction(found.number(key)) for key in found.values}
    if any(share < 0 for share in shares.values()):
        raise RowError("negative_part")
    return shares


def portions(shares: Shares) -> dict[str, Fraction]:
    """The shares as fractions that add up to 1."""
    total = sum(shares.values())
    if not total:
        raise RowError("nobody_takes_part")
    return {key: share / total for key, share in shares.items() if share}


def whole(parts: Shares, total: int) -> dict[str, int]:
    """`parts` in whole minor units that add up to `total`: the largest remainders get the rest.

    Those of a negative total are negative.
    """
    if total < 0:
        found = whole({key: -part for key, part in parts.items()}, -total)
        return {key: -part for key, part in found.items()}
    if any(part < 0 for part in parts.values()):
        raise RowError("negative_part")
    found = {key: int(part) for key, part in parts.items()}
    left = total - sum(found.values())
    if not parts or not 0 <= left <= len(parts):
        raise RowError("does_not_add_up")
    for key in sorted(parts, key=lambda k: (-(parts[k] - found[k]), k))[:left]:
        found[key] += 1
    return {key: part for key, part in found.items() if part}
