"""SplitPro, the file of an account: who owes whom, without expenses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import chain
from typing import Any

from plugins.exchange.description import Entry, Note, Person
from plugins.exchange.formats import reading
from plugins.exchange.formats.entries import payments
from plugins.exchange.formats.reading import Record, RowError, TripDescription
from plugins.exchange.source import Head, SourceFile

#: The "group" of what is owed outside of groups.
_OUTSIDE = "0"
#: An amount, in minor units.
_WHOLE = re.compile(r"-?[0-9]{1,15}")


class Account(TripDescription):
    """Friends and groups of the one who saved the file."""

    PROGRAM = "SplitPro"
    HAS_GROUPS = True
    notes = (Note("balances_only"),)

    @classmethod
    def recognises(cls, head: Head) -> bool:
        paths = head.paths
        return "groups.item.groupUsers" in paths or (
            {"friends", "groups"} <= paths
            and any(path.startswith("friends.") and path.endswith(".balances") for path in paths)
            and "friends.item" not in paths
        )

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file)
        self.friends = {
            str(key): reading.any_record(value)
            for key, value in reading.any_record(file.first("friends")).values.items()
        }
        self.outside = Record({"id": _OUTSIDE, "name": ""})
        self.groups = [reading.any_record(value) for value in file.items("groups.item")]
        users = Counter(key for group in self.groups for key in self.members(group))
        strangers = [key for key, _count in users.most_common() if key not in self.friends]
        #: The only person who is in every group without being a friend.
        self.caller = strangers[0] if strangers else "me"
        group = self._chosen(file.group)
        self.name = str(group.values.get("name") or "")
        self._balances = list(self.balances(group))
        pairs = ((row["userId"], row["friendId"]) for row in self._balances)
        known = {*chain(*pairs), *self.members(group)} - {""}
        self.people = tuple(map(self._person, sorted(known, key=lambda key: (len(key), key))))
        codes = [str(row["currency"]) for row in self._balances]
        self.currency = file.trip_currency(str(group.values.get("defaultCurrency") or ""), *codes)

    def rows(self) -> Iterator[tuple[int, Any]]:
        return enumerate(self._balances, start=1)

    def members(self, group: Record) -> list[str]:
        rows = reading.any_records(group.values.get("groupUsers"))
        found = [row.values.get("userId") for row in rows]
        return [str(key) for key in found if key is not None]

    def _chosen(self, name: str) -> Record:
        """The group of this id or name, or the only one."""
        choices = [*self.groups]
        if self.friends and (not self.groups or name == _OUTSIDE):
            choices.append(self.outside)
        names = {str(g.values.get("id")): str(g.values.get("name")) for g in choices}
        chosen = reading.chosen_group(names, name)
        return next(group for group in choices if str(group.values.get("id")) == chosen)

    def balances(self, group: Record) -> Iterator[dict[str, Any]]:
        """What friends owe users. The file has each pair twice, with opposite signs; this, once."""
        if group is self.outside:
            yield from self._outside()
            return
        found: dict[tuple[str, str, str], dict[str, Any]] = {}
        for row in reading.any_records(group.values.get("groupBalances")):
            values = row.values
            pair = [str(values.get(name) or "") for name in ("userId", "friendId")]
            code, amount = str(values.get("currency") or ""), str(values.get("amount", ""))
            if (len(pair[0]), pair[0]) > (len(pair[1]), pair[1]):
                pair.reverse()
                amount = amount[1:] if amount.startswith("-") else f"-{amount}"
            named = {"userId": pair[0], "friendId": pair[1], "currency": code, "amount": amount}
            before = found.get((pair[0], pair[1], code))
            if before is None or not _WHOLE.fullmatch(before["amount"]):
                found[pair[0], pair[1], code] = named | {"updatedAt": values.get("updatedAt")}
        yield from found.values()

    def _outside(self) -> Iterator[dict[str, Any]]:
        """What friends owe in total, less what they owe in groups."""
        owed: Counter[tuple[str, str]] = Counter()
        unread: dict[tuple[str, str], str] = {}
        for row in (row for group in self.groups for row in self.balances(group)):
            pair = [row["userId"], row["friendId"]]
            if self.caller in pair:
                sign = 1 if pair[0] == self.caller else -1
                place = (pair[sign > 0], row["currency"])
                if _WHOLE.fullmatch(row["amount"]):
                    owed[place] += sign * int(row["amount"])
                else:
                    unread[place] = row["amount"]
        for key, friend in self.friends.items():
            for balance in reading.any_records(friend.values.get("balances")):
                code, amount = str(balance.values.get("currency")), balance.values.get("amount")
                amount = unread.get((key, code), str(amount))
                if _WHOLE.fullmatch(amount):
                    amount = str(int(amount) - owed[key, code])
                named = {"userId": self.caller, "friendId": key, "currency": code}
                yield {**named, "amount": amount, "updatedAt": ""}

    def _person(self, key: str) -> Person:
        row = self.friends.get(key)
        if row is None:
            return Person(key, f"#{key}", is_caller=key == self.caller)
        return Person(key, row.text("name", "") or f"#{key}", row.text("email", "") or None)

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        """An opening balance: a payment that makes the balances of two people what they were."""
        currency = reading.known_currency(row["currency"])
        user, friend, day = row["userId"], row["friendId"], row["updatedAt"]
        if not user or not friend:
            raise RowError("missing_field", name="userId" if not user else "friendId")
        if not _WHOLE.fullmatch(row["amount"]):
            raise RowError("bad_number", text=row["amount"][:30])
        minor = int(row["amount"])
        if not minor:
            return []
        sender, receiver = (user, friend) if minor > 0 else (friend, user)
        return payments(
            line,
            sender,
            {receiver: abs(minor)},
            "SplitPro: opening balance",
            key=f"{user}-{friend}-{currency}",
            date=reading.day(str(day)) if day else date.today(),  # noqa: DTZ011 -- it has no date
            currency=currency,
        )
