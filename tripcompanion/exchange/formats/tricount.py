"""Tricount, the registry of a group as its service answers it."""

from collections.abc import Iterable
from typing import Any

from tripcompanion.exchange.description import Entry, Note, Person, SkippedRow, TripDescription
from tripcompanion.exchange.formats import reading
from tripcompanion.exchange.formats.entries import expense, payments
from tripcompanion.exchange.formats.reading import Record, RowError
from tripcompanion.exchange.source import Head, SourceFile


def recognises(head: Head) -> bool:
    return any(path.endswith("all_registry_entry") for path in head.paths)


def read(file: SourceFile) -> TripDescription:
    where = min(path for path in file.head.paths if path.endswith("all_registry_entry"))
    start = where.removesuffix("all_registry_entry")
    registry = _Registry(file, start)
    return TripDescription(
        "tricount",
        registry.currency,
        tuple(registry.people.values()),
        lambda: reading.each(enumerate(file.items(f"{where}.item"), start=1), registry.entries, ""),
        name=reading.clean(str(file.first(f"{start}title") or "")),
        description=reading.clean(str(file.first(f"{start}description") or "")),
    )


def unwrapped(value: Any) -> Record:
    """The object in an object with one name, as every element of a list is wrapped."""
    inner = Record(value).values
    only = next(iter(inner.values()), None) if len(inner) == 1 else None
    return Record(only if isinstance(only, dict) else inner)


class _Registry:
    def __init__(self, file: SourceFile, start: str) -> None:
        self.currency = file.trip_currency(str(file.first(f"{start}currency") or ""))
        self.people: dict[str, Person] = {}
        for value in file.items(f"{start}memberships.item"):
            row = unwrapped(value if isinstance(value, dict) else {})
            if "uuid" in row:
                key = row.text("uuid")
                name = str(
                    reading.any_record(row.values.get("alias")).values.get("display_name") or "?"
                )
                self.people[key] = Person(key, reading.clean(name))

    def _person(self, value: Any) -> str:
        key = unwrapped(value).text("uuid")
        if key not in self.people:
            raise RowError("unknown_person")
        return key

    def _minor(self, row: Record) -> int:
        """An amount in the registry's currency: which of the two has it differs between files."""
        for name in ("amount", "amount_local"):
            if name in row:
                found = row.record(name)
                if found.text("currency") == self.currency:
                    return found.minor("value", self.currency)
        raise RowError("unknown_currency", currency="?")

    def entries(self, line: int, value: Any) -> Iterable[Entry]:
        row = unwrapped(value)
        title = row.text("description", "")
        if row.text("status", "ACTIVE") != "ACTIVE":
            return [SkippedRow(line, Note("deleted_in_source"), title)]
        kind = row.kind("type_transaction", {"NORMAL", "INCOME", "BALANCE"}, "NORMAL")
        payer = self._person(row.values.get("membership_owned"))
        amount, shares = abs(self._minor(row)), self._shares(row)
        if sum(shares.values()) != amount:
            raise RowError("does_not_add_up")
        fields: dict[str, Any] = {
            "date": row.day("date"),
            "currency": self.currency,
            "key": row.text("uuid", "") or row.text("id"),
        }
        if kind == "BALANCE" and not shares.get(payer):
            return payments(line, payer, shares, title, **fields)
        label = row.text("category_custom", "") or row.text("category", "")
        # Whoever got an income is its "payer".
        sign = -1 if kind == "INCOME" else 1
        found = expense(
            line,
            {payer: sign * amount},
            {person: sign * minor for person, minor in shares.items()},
            description=title or label or "Tricount",
            notes_text=label,
            label=label,
            notes=self._original(row),
            **fields,
        )
        return [found]

    def _shares(self, row: Record) -> dict[str, int]:
        """Everybody's part. Those of expenses are negative there."""
        shares: dict[str, int] = {}
        for part in row.records("allocations"):
            person = self._person(part.values.get("membership"))
            shares[person] = shares.get(person, 0) + abs(self._minor(part))
        return shares

    def _original(self, row: Record) -> tuple[Note, ...]:
        """A note of the amount in another currency, if there is one."""
        for name in ("amount", "amount_local"):
            found = row.record(name) if name in row else Record({"currency": self.currency})
            if (code := found.text("currency")) != self.currency:
                amount = (
                    f"{abs(found.number('value')).normalize():f} {reading.known_currency(code)}"
                )
                return (Note("original_amount", {"amount": amount}),)
        return ()
