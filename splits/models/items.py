"""The items of an expense: what was bought and who shares it, with tax, tip and discount."""

import json
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from math import lcm
from typing import Any, NamedTuple

from tripcompanion.currency.amounts import to_major, to_minor
from trips.models.default_division import MAX_DECIMALS
from trips.models.journal import as_text

#: Percentages and weights are stored as whole ten-thousandths.
SCALE = 10**MAX_DECIMALS
#: What is added to the sum of the items, or taken off it.
EXTRAS = {"tax": 1, "tip": 1, "discount": -1}


def key_of(user_id: int) -> str:
    """What only the person is in the stored JSON: quotes in texts are escaped."""
    return f'"{user_id}":'


class Item(NamedTuple):
    """Something that was bought; `shares` are weights in ten-thousandths by user id."""

    name: str
    amount_minor: int
    shares: Mapping[int, int]


class Items(NamedTuple):
    """The items of an expense in minor units of its currency; `extras` by the names in `EXTRAS`."""

    lines: tuple[Item, ...]
    extras: Mapping[str, int]

    @classmethod
    def of(cls, stored: str | None, currency: str) -> "Items | None":
        """The items in the stored text; see `text`."""
        return None if stored is None else cls.read(load_items(stored), currency)

    @classmethod
    def read(cls, shown: Mapping[str, Any], currency: str) -> "Items":
        """The items as the API shows them."""
        lines = [
            Item(
                item["name"],
                to_minor(item["amount"], currency),
                {int(pk): int(weight * SCALE) for pk, weight in item["shares"].items()},
            )
            for item in shown["items"]
        ]
        extras = {n: to_minor(shown[n], currency) for n in EXTRAS if shown.get(n) is not None}
        return cls(tuple(lines), extras)

    def text(self, currency: str) -> str:
        """The items as JSON, as the API shows them; this is stored."""
        items = [
            {
                "name": item.name,
                "amount": to_major(item.amount_minor, currency),
                "shares": {str(pk): _weight(e4) for pk, e4 in item.shares.items()},
            }
            for item in self.lines
        ]
        extras = {name: to_major(minor, currency) for name, minor in self.extras.items()}
        return as_text({"items": items, **extras})

    @property
    def people(self) -> tuple[int, ...]:
        """Those who share an item, in the order in which they are named."""
        return tuple(dict.fromkeys(pk for item in self.lines for pk in item.shares))

    @property
    def total_minor(self) -> int:
        """What the items and the extras add up to."""
        extras = (EXTRAS[name] * minor for name, minor in self.extras.items())
        return sum(item.amount_minor for item in self.lines) + sum(extras)

    def renamed(self, user_ids: Mapping[int, Any]) -> "Items":
        """The items, with each user id replaced by the one in `user_ids`."""
        lines = (
            line._replace(shares={user_ids[pk]: weight for pk, weight in line.shares.items()})
            for line in self.lines
        )
        return self._replace(lines=tuple(lines))

    def negative(self, sign: int) -> list[str]:
        """The paths of the fields whose amounts do not have the `sign` of the expense."""
        amounts = {f"items.{at}.amount": item.amount_minor for at, item in enumerate(self.lines)}
        return [path for path, minor in {**amounts, **self.extras}.items() if minor * sign < 0]

    def weights(self) -> dict[int, int]:
        """What each person had of the items, as whole numbers in a unit that makes them exact.

        Tax, tip and discount are divided in proportion to it, and so is the whole amount, which is
        rounded once.
        """
        wholes = [sum(item.shares.values()) for item in self.lines]
        unit = lcm(*wholes)
        had: Counter[int] = Counter()
        for item, whole in zip(self.lines, wholes, strict=True):
            for pk, weight in item.shares.items():
                had[pk] += item.amount_minor * weight * (unit // whole)
        return dict(had)


def load_items(stored: str) -> dict[str, Any]:
    """The stored text as the API shows it, with exact numbers."""
    return json.loads(stored, parse_float=Decimal, parse_int=Decimal)


def _weight(weight_e4: int) -> Decimal:
    return (Decimal(weight_e4) / SCALE).normalize()
