"""Random groups of people and their bills, for the writers of formats."""

import unicodedata
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

#: Names with what files are written with: marks, guards, words of headers, numbers, two scripts.
NAMES = (
    *("Ana", "Ben, Jr", 'Cleo "C"', "=Dan", "-Eva", "'Fay", "@Gil", "Max; Moritz", "A|B\\", "007"),
    *("Zoe\u0301", "李雷", "עדי", "\U0001f3d4 Hut", "name", "Cost", "Paid By", "1,5", "a.b"),
)
LETTERS = st.characters(
    exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff"
) | st.sampled_from(",;\"' ")
TITLES = st.text(LETTERS, max_size=20) | st.sampled_from(
    (
        *("Hut", '"Hut', 'Hut"', '"Hut" at 12"', '"a", b', 'a, "b"', '",', ',"', 'a "b", c', ","),
        *("=1+1", "'=1", "-", "@x", "\\", 'C:\\"x"', "a;b", "1,50", "2026-05-01", "EUR", "x" * 300),
    )
)
_AMOUNTS = st.integers(1, 10**7) | st.integers(1, 12) | st.just(10**8)
#: By how many units of ours the amounts of a currency differ at least, where that is not 1.
Steps = dict[str, int]


def known_as(name: str) -> str:
    """The name as every reader shows it: trimmed, in one normal form."""
    return unicodedata.normalize("NFC", name).strip()


def names_of_people(letters: Any = LETTERS) -> Any:
    some = st.sampled_from(NAMES) | st.text(letters, min_size=1, max_size=8)
    return some.filter(known_as)


@dataclass(frozen=True)
class Bill:
    """What people paid, in minor units, and the weights by which it is divided.

    The weights of PERCENT add up to 10,000, those of AMOUNT to the amount. An income is negative.
    `original` is what was entered: a currency, its minor units, and the rate to the amount.
    """

    title: str
    day: date
    currency: str
    paid: dict[str, int]
    weights: dict[str, int]
    mode: str = "EVENLY"
    kind: str = "expense"
    original: tuple[str, int, Decimal] | None = None
    step: int = 1

    @property
    def amount(self) -> int:
        return sum(self.paid.values())

    @property
    def payer(self) -> str:
        return next(iter(self.paid))

    @property
    def exact(self) -> dict[str, Fraction]:
        """Everybody's part, not rounded."""
        total = sum(self.weights.values())
        return {name: Fraction(self.amount * w, total) for name, w in self.weights.items()}

    @property
    def cents(self) -> dict[str, int]:
        """Everybody's part as a source stores it that gives what is left to the first ones."""
        return shared(self.amount, self.weights, self.step)

    def moved(self, parts: Any) -> dict[str, Any]:
        """What the bill changes in everybody's balance, by their parts of it."""
        names = {*self.paid, *parts}
        return {name: self.paid.get(name, 0) - parts.get(name, 0) for name in names}


def shared(amount: int, weights: dict[str, int], step: int = 1) -> dict[str, int]:
    total, sign = sum(weights.values()), -1 if amount < 0 else 1
    parts = {
        name: sign * (abs(amount) * abs(weight) // (abs(total) * step)) * step
        for name, weight in weights.items()
    }
    left = abs(amount - sum(parts.values())) // step
    for name in list(parts)[:left]:
        parts[name] += sign * step
    return parts


@dataclass(frozen=True)
class Group:
    people: tuple[str, ...]
    bills: tuple[Bill, ...]
    currency: str
    #: Of the formats in which people have weights.
    weights: dict[str, Decimal] = field(default_factory=dict)

    @property
    def ids(self) -> dict[str, str]:
        return {name: str(at) for at, name in enumerate(self.people, start=1)}

    @property
    def balances(self) -> dict[tuple[str, str], int]:
        """What the bills lead to, by name and currency, in whole units."""
        sums: dict[tuple[str, str], int] = {}
        for bill in self.bills:
            if bill.kind != "deleted":
                for name, minor in bill.moved(bill.cents).items():
                    sums[name, bill.currency] = sums.get((name, bill.currency), 0) + minor
        return {key: minor for key, minor in sums.items() if minor}


@st.composite
def bills(
    draw: Any,
    people: Any,
    *,
    sharers: Any = (),
    currencies: Any = ("EUR",),
    payers: int = 1,
    modes: Any = ("EVENLY", "SHARES", "PERCENT", "AMOUNT"),
    kinds: Any = ("expense", "income", "payment", "deleted"),
    steps: Steps | None = None,
    has_originals: bool = False,
) -> Bill:
    currency, kind = draw(st.sampled_from(currencies)), draw(st.sampled_from(kinds))
    step = (steps or {}).get(currency, 1)
    most = payers if kind == "expense" else 1
    payers_here = draw(st.lists(st.sampled_from(people), min_size=1, max_size=most, unique=True))
    sign = -step if kind == "income" else step
    paid = {name: sign * draw(_AMOUNTS) for name in payers_here}
    amount = sum(paid.values())
    others = [name for name in sharers or people if kind != "payment" or name not in paid]
    size = 1 if kind == "payment" else len(others)
    taking = draw(st.lists(st.sampled_from(others), min_size=1, max_size=size, unique=True))
    mode = draw(st.sampled_from(modes))
    weights = {name: 1 if mode == "EVENLY" else draw(st.integers(1, 1000)) for name in taking}
    if mode in {"PERCENT", "AMOUNT"}:
        whole, unit = (10_000, 1) if mode == "PERCENT" else (amount, step)
        weights = {name: part for name, part in shared(whole, weights, unit).items() if part}
    original = None
    if has_originals and kind == "expense" and draw(st.booleans()):
        rate = Decimal(draw(st.integers(1, 10**6))).scaleb(-4)
        minor = max(1, round(Fraction(amount) / Fraction(rate)))
        original = ("CHF", minor, rate)
    day = draw(st.dates(date(1990, 1, 1), date(2026, 5, 1)))
    return Bill(draw(TITLES), day, currency, paid, weights, mode, kind, original, step)


@st.composite
def groups(
    draw: Any,
    *,
    people: int = 5,
    names: Any = None,
    currencies: Any = ("EUR", "JPY", "USD"),
    is_of_one_currency: bool = False,
    **kinds: Any,
) -> Group:
    """Groups of two people and more; `kinds` are what `bills` takes."""
    some = st.lists(
        names_of_people() if names is None else names,
        min_size=2,
        max_size=people,
        unique_by=lambda name: known_as(name).casefold(),
    )
    found = tuple(draw(some))
    currency = draw(st.sampled_from(currencies))
    weight = st.integers(1, 40).map(lambda tenths: Decimal(tenths) / 10) | st.just(
        Decimal("0.333333")
    )
    weights = {name: draw(weight) for name in found}
    used = (currency,) if is_of_one_currency else currencies
    of_group = bills(found, currencies=used, **kinds)
    rows = draw(st.lists(of_group, min_size=1, max_size=6))
    return Group(found, tuple(rows), currency, weights)
