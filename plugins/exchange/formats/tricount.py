"""Tricount, the registry of a group as its service answers it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note, Person, SkippedRow, TripDescription
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import completed, divided, expense, payments
from plugins.exchange.formats.reading import Record, RowError
from plugins.exchange.source import Head, SourceFile
from tripcompanion.currency.amounts import to_major

PROGRAM = "Tricount"

_ENTRIES = "all_registry_entry"


def recognises(head: Head) -> bool:
    return any(path.endswith(_ENTRIES) for path in head.paths)


def read(file: SourceFile) -> TripDescription:
    where = min(path for path in file.head.paths if path.endswith(_ENTRIES))
    registry = _chosen(file, where.removesuffix(_ENTRIES).rstrip("."))
    # Of a long list, the service answers a page.
    has_more = any(path.endswith("Pagination.older_url") for path in file.head.texts)
    return TripDescription(
        registry.currency,
        tuple(registry.people.values()),
        lambda: reading.each(enumerate(registry.items(_ENTRIES), start=1), registry.entries, ""),
        notes=(Note("more_pages"),) if has_more else (),
        name=registry.texts.text("title", ""),
        description=registry.texts.text("description", ""),
    )


def _chosen(file: SourceFile, path: str) -> "_Registry":
    """The group to import: one answer may have all of an account."""
    names = ("id", "uuid", "title", "description", "currency")
    found = [Record(values) for values in file.objects(path, names)]
    keys = [row.text("uuid", "") or row.text("id", str(at)) for at, row in enumerate(found, 1)]
    titles = {key: row.text("title", "") for key, row in zip(keys, found, strict=True)}
    at = keys.index(reading.chosen_group(titles, file.group))
    return _Registry(file, path, at + 1, found[at])


def unwrapped(value: Any) -> Record:
    """The object in an object with one name, as every element of a list is wrapped."""
    inner = Record(value).values
    only = next(iter(inner.values()), None) if len(inner) == 1 else None
    return Record(only if isinstance(only, dict) else inner)


class _Registry:
    """A group of the file, whose objects are at `path`: the one with this number, and its texts."""

    def __init__(self, file: SourceFile, path: str, number: int, texts: Record) -> None:
        self.file, self.path, self.number, self.texts = file, path, number, texts
        self.currency = file.trip_currency(texts.text("currency", ""))
        self.people: dict[str, Person] = {}
        for value in self.items("memberships"):
            self._add(value)
        # Members who were deleted are in their entries only.
        for value in self.items(_ENTRIES):
            with suppress(RowError):
                row = unwrapped(value)
                self._add(row.values.get("membership_owned"))
                for part in row.records("allocations"):
                    self._add(part.values.get("membership"))

    def items(self, name: str) -> Iterator[Any]:
        path = f"{self.path}.{name}.item".lstrip(".")
        return self.file.items(path, (self.path, self.number))

    def _add(self, value: Any) -> None:
        """Keep a person who has a name; of a member, the first one counts."""
        row = unwrapped(value if isinstance(value, dict) else {})
        if "uuid" in row and (
            name := reading.any_record(row.values.get("alias")).text("display_name", "")
        ):
            self.people.setdefault(row.text("uuid"), Person(row.text("uuid"), name))

    def _person(self, value: Any) -> str:
        key = unwrapped(value).text("uuid")
        if key not in self.people:
            raise RowError("unknown_person")
        return key

    def _exact(self, row: Record) -> Decimal:
        """An amount in the registry's currency: which of the two has it differs between files."""
        for name in ("amount", "amount_local"):
            if name in row:
                found = row.record(name)
                if known_code(found.text("currency")) == self.currency:
                    return abs(found.exact("value", self.currency))
        raise RowError("unknown_currency", currency="?")

    def entries(self, line: int, value: Any) -> Iterable[Entry]:
        row = unwrapped(value)
        title = row.text("description", "")
        if row.text("status", "ACTIVE") != "ACTIVE":
            return [SkippedRow(line, Note("deleted_in_source"), title)]
        kind = row.kind("type_transaction", {"NORMAL", "INCOME", "BALANCE"}, "NORMAL")
        payer = self._person(row.values.get("membership_owned"))
        amount, notes = reading.rounded(
            self._exact(row) * to_major(1, self.currency), self.currency
        )
        # Of an amount that was converted, the parts are rounded each.
        shares, drift = completed(amount, self._shares(row), payer, seed=line)
        notes += drift
        fields: dict[str, Any] = {
            "date": row.day("date"),
            "currency": self.currency,
            "key": row.text("uuid", "") or row.text("id"),
        }
        if kind == "BALANCE" and not shares.get(payer):
            return payments(line, payer, shares, title, notes=notes, **fields)
        label = row.text("category_custom", "") or row.text("category", "")
        # Whoever got an income is its "payer".
        sign = -1 if kind == "INCOME" else 1
        division = divided({person: sign * minor for person, minor in shares.items()})
        fields["notes"] = notes + self._original(row)
        title = title or label or "Tricount"
        return [expense(line, {payer: sign * amount}, division, title, label, **fields)]

    def _shares(self, row: Record) -> dict[str, Decimal]:
        """Everybody's part. Those of expenses are negative there."""
        shares: dict[str, Decimal] = {}
        for part in row.records("allocations"):
            person = self._person(part.values.get("membership"))
            shares[person] = shares.get(person, Decimal(0)) + self._exact(part)
        return shares

    def _original(self, row: Record) -> tuple[Note, ...]:
        """A note of the amount in another currency, if there is one."""
        for name in ("amount", "amount_local"):
            found = row.record(name) if name in row else Record({"currency": self.currency})
            if (code := reading.known_currency(found.text("currency"))) != self.currency:
                amount = f"{abs(found.number('value')).normalize():f} {code}"
                return (Note("original_amount", {"amount": amount}),)
        return ()
