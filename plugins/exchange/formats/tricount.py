"""Tricount, the registry of a group as its service answers it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note, Person, SkippedRow
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import completed, in_original, payment_or_expense
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import Head, SourceFile
from tripcompanion.currency.amounts import to_major

_ENTRIES = "all_registry_entry"


def unwrapped(value: Any) -> Record:
    """The object in an object with one name, as every element of a list is wrapped."""
    inner = Record(value).values
    only = next(iter(inner.values()), None) if len(inner) == 1 else None
    return Record(only if isinstance(only, dict) else inner)


class Registry(TripDescription):
    """A group of the file, which is at `path` and has this number: one may have all groups."""

    PROGRAM = "Tricount"
    HAS_GROUPS = True

    @classmethod
    def recognises(cls, head: Head) -> bool:
        return any(path.endswith(_ENTRIES) for path in head.paths)

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        where = min(path for path in file.head.paths if path.endswith(_ENTRIES))
        self.path = where.removesuffix(_ENTRIES).rstrip(".")
        names = ("id", "uuid", "title", "description", "currency")
        found = [Record(values) for values in file.objects(self.path, names)]
        keys = [row.text("uuid", "") or row.text("id", str(at)) for at, row in enumerate(found, 1)]
        titles = {key: row.text("title", "") for key, row in zip(keys, found, strict=True)}
        at = keys.index(reading.chosen_group(titles, file.group))
        self.number, texts = at + 1, found[at]
        self.currency = file.trip_currency(texts.text("currency", ""))
        self.name, self.description = texts.text("title", ""), texts.text("description", "")
        # Of a long list, the service answers a page.
        if any(path.endswith("Pagination.older_url") for path in file.head.texts):
            self.notes = (Note("more_pages"),)
        self._names: dict[str, str] = {}
        for value in self._items("memberships"):
            self._add(value)
        # Members who were deleted are in their entries only.
        for value in self._items(_ENTRIES):
            with suppress(RowError):
                row = unwrapped(value)
                self._add(row.values.get("membership_owned"))
                for part in row.records("allocations"):
                    self._add(part.values.get("membership"))
        self.people = tuple(Person(*one) for one in self._names.items())

    def _items(self, name: str) -> Iterator[Any]:
        path = f"{self.path}.{name}.item".lstrip(".")
        return self.file.items(path, (self.path, self.number))

    def rows(self) -> Iterator[tuple[int, Any]]:
        return enumerate(self._items(_ENTRIES), start=1)

    def _add(self, value: Any) -> None:
        """Keep a person who has a name; of a member, the first one counts."""
        row = unwrapped(value if isinstance(value, dict) else {})
        if "uuid" in row and (
            name := reading.any_record(row.values.get("alias")).text("display_name", "")
        ):
            self._names.setdefault(row.text("uuid"), name)

    def _person(self, value: Any) -> str:
        key = unwrapped(value).text("uuid")
        if key not in self._names:
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

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        row = unwrapped(row)
        title = row.text("description", "")
        if row.text("status", "ACTIVE") != "ACTIVE":
            return [SkippedRow(line, Note("deleted_in_source"), title)]
        kind = row.kind("type_transaction", {"NORMAL", "INCOME", "BALANCE"}, "NORMAL")
        payer = self._person(row.values.get("membership_owned"))
        whole = self._exact(row) * to_major(1, self.currency)
        amount, notes = reading.rounded(whole, self.currency)
        # Of an amount that was converted, the parts are rounded each.
        shares, drift = completed(amount, self._shares(row), payer, seed=line)
        # Whoever got an income is its "payer".
        sign = -1 if kind == "INCOME" else 1
        is_payment = kind == "BALANCE" and not shares.get(payer)
        label = row.text("category_custom", "") or row.text("category", "")
        found = payment_or_expense(
            line,
            {payer: sign * amount},
            {person: sign * minor for person, minor in shares.items()},
            title,
            label,
            is_payment=is_payment,
            instead=label or "Tricount",
            date=row.day("date"),
            currency=self.currency,
            key=row.text("uuid", "") or row.text("id"),
            notes=notes + drift,
        )
        return self._in_original(row, found, sign)

    def _shares(self, row: Record) -> dict[str, Decimal]:
        """Everybody's part. Those of expenses are negative there."""
        shares: dict[str, Decimal] = {}
        for part in row.records("allocations"):
            person = self._person(part.values.get("membership"))
            shares[person] = shares.get(person, Decimal(0)) + self._exact(part)
        return shares

    def _in_original(self, row: Record, found: list[Entry], sign: int) -> list[Entry]:
        """As entered, if that was in another currency than the registry's."""
        for name in ("amount", "amount_local"):
            other = row.record(name) if name in row else Record({"currency": self.currency})
            if (code := reading.known_currency(other.text("currency"))) != self.currency:
                return in_original(found, code, sign * abs(other.number("value")), None)
        return found
