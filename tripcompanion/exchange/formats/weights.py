"""Expenses divided by the weight that a person has in the whole file: ihatemoney and Cospend."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from tripcompanion.exchange.description import DescribedExpense, Entry, Note
from tripcompanion.exchange.formats.entries import apportioned, by_weight, payments
from tripcompanion.exchange.formats.reading import RowError, rounded

#: Weights are stored as ten-thousandths.
_SCALE = 10_000
#: A bill that only declares members, in old files of Cospend.
NO_BILL = "deleteMeIfYouWant"


def names_in(text: str, known: Iterable[str]) -> tuple[list[str], tuple[Note, ...]]:
    """The names in a list with commas between them, of which names may have commas, too.

    At each place, the longest known name is taken; an unknown name ends at the next comma.
    """
    names, rest = [], text.strip()
    longest_first = sorted(known, key=lambda name: -len(name))
    is_unclear = False
    while rest:
        found = next((n for n in longest_first if rest == n or rest.startswith(f"{n},")), None)
        is_unclear |= found is not None and "," in found
        name = found or rest.partition(",")[0].strip()
        if name:
            names.append(name)
        rest = rest[len(found) :] if found else rest.partition(",")[2]
        rest = rest.lstrip(", ")
    return names, (Note("names_with_commas"),) if is_unclear else ()


def entries(
    line: int,
    payer: str,
    amount: Decimal,
    owers: list[str],
    weights: Mapping[str, Decimal],
    *,
    is_payment: bool,
    currency: str,
    date: date,
    description: str,
    notes: tuple[Note, ...],
    instant: str = "",
    **fields: Any,
) -> Iterator[Entry]:
    """The entries of a bill. An ower whose weight is not in `weights` has 1, with a note."""
    minor, changed = rounded(amount, currency)
    notes += changed
    if not minor:
        raise RowError("no_amount")
    unknown = [name for name in owers if name not in weights]
    if unknown and len(owers) > 1:
        notes += (Note("weight_unknown", {"names": ", ".join(unknown)[:200]}),)
    scaled = {name: int(weights.get(name, Decimal(1)) * _SCALE) for name in owers}
    common: dict[str, Any] = {"date": date, "instant": instant, "currency": currency}
    common["notes"] = notes
    if is_payment and minor > 0 and payer not in scaled:
        parts = apportioned(minor, scaled, line)
        yield from payments(line, payer, parts, description, **common)
        return
    fields |= {**common, "description": description}
    paid = ((payer, minor),)
    yield DescribedExpense(
        line=line, amount_minor=minor, payers=paid, **by_weight(scaled), **fields
    )
