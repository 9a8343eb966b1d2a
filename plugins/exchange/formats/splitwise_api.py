"""Splitwise, answers of its API, saved one by one or merged: expenses, groups, friends, user."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any

from plugins.dates import require_no_week
from plugins.exchange.description import DescribedComment, Entry, Note, Person, SkippedRow
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import completed, divided, expense, payments
from plugins.exchange.formats.reading import Record, RowError, TripDescription, each
from plugins.exchange.source import Head, SourceFile

#: The user who writes comments of the system.
_SYSTEM = "0"
#: How many expenses a page has, unless somebody asks for more.
_PAGE_ROWS = 20


class Answers(TripDescription):
    PROGRAM = "Splitwise"
    HAS_GROUPS = True

    @classmethod
    def recognises(cls, head: Head) -> bool:
        found = {path.removeprefix("item.") for path in head.paths}
        return "expenses.item.users.item.paid_share" in found or (
            not found & {"groups.item.groupUsers", "participants", "personal_accounts"}
            and bool(found & {"group.members", "groups.item.members", "expenses.item.repayments"})
        )

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        self.group, self.name, members, self.debts = _chosen_group(file)
        people: dict[str, Person] = {}
        #: When each expense changed last: pages of a list that moved repeat some.
        self.newest: dict[str, str] = {}
        used: Counter[str] = Counter()
        self.count = 0
        for _at, value in _expenses(file):
            self.count += 1
            try:
                row = Record(value)
                if _group_of(row) != self.group:
                    continue
                key, changed = row.text("id"), row.text("updated_at", "")
                self.newest[key] = max(changed, self.newest.get(key, ""))
                used[row.text("currency_code", "")] += 1
                for user in row.records("users"):
                    _add(people, user.record("user") if "user" in user else user)
            except RowError:
                # Such a row is skipped with its reason below.
                continue
        for person in members:
            _add(people, person)
        _complete(people, file)
        self.people = tuple(people.values())
        self.claimed = dict(_claimed(members))
        currencies = [code for code, _count in used.most_common()]
        claimed_in = (currency for _person, currency in self.claimed)
        self.currency = file.trip_currency(*currencies, *claimed_in)
        if not members:
            self.notes += (Note("no_balances_claimed"),)
        if self.count == _PAGE_ROWS:
            self.notes += (Note("perhaps_one_page", {"count": _PAGE_ROWS}),)
        if self.debts and not self.count:
            self.notes += (Note("balances_only"),)

    @property
    def entries(self) -> Iterator[Entry]:
        if not self.count:
            return each(enumerate(self.debts, 1), _opening, "")
        seen: set[str] = set()

        def entries(line: int, value: Any) -> Iterable[Entry]:
            row = Record(value)
            if _group_of(row) != self.group:
                return []
            key = row.text("id")
            if key in seen or row.text("updated_at", "") != self.newest.get(key):
                return [SkippedRow(line, Note("repeated"), row.text("description", ""))]
            seen.add(key)
            return _entries_of(self.file, line, key, row)

        return each(_expenses(self.file), entries, "description")


def _numbered(file: SourceFile, *paths: str) -> Iterator[tuple[int, Any]]:
    """The values at these paths, which are in one object, or in an array of objects."""
    for path in paths:
        for start in ("", "item."):
            if start + path.removesuffix(".item") in file.head.paths:
                yield from enumerate(file.items(start + path), start=1)


def _expenses(file: SourceFile) -> Iterator[tuple[int, Any]]:
    return _numbered(file, "expenses.item", "expense")


def _records(file: SourceFile, *paths: str) -> list[Record]:
    return [reading.any_record(value) for _at, value in _numbered(file, *paths)]


def _chosen_group(file: SourceFile) -> tuple[str, str, list[Record], Sequence[Any]]:
    """The id and the name of the group to import, its members, and its debts.

    Expenses outside of groups have the id "0". Raises `UnreadableFile` if several are to choose.
    """
    found = _records(file, "groups.item", "group")
    groups = {str(row.values.get("id") or 0): row for row in found}
    names = {key: str(row.values.get("name") or "") for key, row in groups.items()}
    used = dict.fromkeys(_group_of(reading.any_record(value)) for _at, value in _expenses(file))
    keys = [*dict.fromkeys([*used, *names])] if file.group or len(used) > 1 else [*used]
    keys = keys or [key for key in names if key != "0"] or [*names]
    chosen = reading.chosen_group({key: names.get(key, "") for key in keys}, file.group)
    row = groups.get(chosen, Record({}))
    name = names.get(chosen, "") if chosen != "0" else ""
    return chosen, name, reading.any_records(row.values.get("members")), row.list("original_debts")


def _group_of(row: Record) -> str:
    return str(row.values.get("group_id") or 0)


def _complete(people: dict[str, Person], file: SourceFile) -> None:
    """Add what friends and the account say of these people."""
    for path in ("friends.item", "user"):
        for row in _records(file, path):
            if (key := str(row.values.get("id"))) in people:
                _add(people, row)
                people[key] = replace(people[key], is_caller=path == "user")


def _add(people: dict[str, Person], row: Record) -> None:
    """Keep what is known of a person: only members of groups and friends have an address."""
    key = row.text("id")
    if key == _SYSTEM:
        return
    names = (row.text("first_name", ""), row.text("last_name", ""))
    known = people.get(key)
    # Somebody who never registered has an address that nobody has confirmed.
    is_registered = row.text("registration_status", "") == "confirmed"
    email = row.text("email", "") if is_registered else ""
    people[key] = Person(
        key,
        " ".join(filter(None, names)) or (known.name if known else f"#{key}"),
        email or (known.email if known else None),
    )


def _claimed(members: list[Record]) -> Iterator[tuple[tuple[str, str], int]]:
    for member in members:
        for balance in reading.any_records(member.values.get("balance")):
            with suppress(RowError):
                currency = balance.currency("currency_code")
                yield (member.text("id"), currency), balance.minor("amount", currency)


def _entries_of(file: SourceFile, line: int, key: str, row: Record) -> Iterable[Entry]:
    title = row.text("description", "")
    if "deleted_at" in row:
        return [SkippedRow(line, Note("deleted_in_source"), title)]
    currency = row.currency("currency_code")
    amount, notes = reading.rounded(row.number("cost"), currency)
    if not amount:
        raise RowError("no_amount")
    sides = [_shares(row, name, currency) for name in ("paid_share", "owed_share")]
    day = _day_of(row.text("date"), file.zone)
    fields: dict[str, Any] = {"date": day, "currency": currency, "key": key}
    if row.flag("payment") and [len(side) for side in sides] == [1, 1]:
        (sender,), (receiver,) = sides
        return payments(line, sender, {receiver: amount}, title, notes=notes, **fields)
    (paid, _notes), (owed, drift) = (completed(amount, side, seed=line) for side in sides)
    notes += drift
    label = row.record("category").text("name", "") if "category" in row else ""
    if row.flag("payment"):
        notes += (Note("payment_of_several"),)
    is_equal = None if row.text("creation_method", "") == "equal" else False
    if row.text("repeat_interval", "never") not in {"never", ""}:
        notes += (Note("repeats"),)
    texts = (title or label, label, row.text("details", ""))
    fields |= {"notes": notes, "comments": tuple(_comments(row))}
    division = divided(owed, is_equal=is_equal, unrounded=sides[1])
    return [expense(line, paid, division, *texts, **fields)]


def _day_of(text: str, zone: tzinfo) -> date:
    """The day of an instant in `zone`, in which it is without an offset."""
    try:
        found = datetime.fromisoformat(require_no_week(text).strip().replace(" UTC", "Z"))
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(zone).date()
    except (ValueError, OverflowError) as error:
        raise RowError("bad_date", text=text[:30]) from error


def _opening(line: int, value: Any) -> Iterable[Entry]:
    """A debt between two people, which a payment of the one who is owed makes."""
    row = Record(value)
    currency, sender = row.currency("currency_code"), row.text("to")
    minor, key = row.minor("amount", currency), f"{row.text('from')}-{sender}-{currency}"
    shares, today = {row.text("from"): minor}, date.today()  # noqa: DTZ011 -- it has no date
    return payments(line, sender, shares, "Opening balance", key=key, date=today, currency=currency)


def _shares(row: Record, name: str, currency: str) -> dict[str, Decimal]:
    """What each person paid or owes; people without a share are left out."""
    users = row.records("users")
    shares = {user.text("user_id"): user.exact(name, currency) for user in users}
    return {person: minor for person, minor in shares.items() if minor}


def _comments(row: Record) -> Iterator[DescribedComment]:
    for comment in row.records("comments"):
        author = str(reading.any_record(comment.values.get("user")).values.get("id") or 0)
        if author != _SYSTEM and "deleted_at" not in comment and "content" in comment:
            yield DescribedComment(comment.text("content"), author)
