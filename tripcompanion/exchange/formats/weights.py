"""Expenses divided by the weight that a person has in the whole file: ihatemoney and Cospend."""

from collections.abc import Container, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tripcompanion.exchange.description import DescribedExpense, Entry, Note
from tripcompanion.exchange.formats.entries import apportioned, by_weight, payments, whole_weights
from tripcompanion.exchange.formats.reading import RowError, rounded

#: A bill of somebody for themselves that only declares a member, in old files of Cospend.
_NO_BILL = "deleteMeIfYouWant"
#: How many commas a name in a list may have.
_MAX_COMMAS = 5


def names_in(text: str, known: Container[str]) -> tuple[list[str], tuple[Note, ...]]:
    """The names in a list with commas between them, of which names may have a few commas, too.

    At each place, the longest known name is taken; an unknown name ends at the next comma.
    """
    parts, names, at = text.split(","), [], 0
    is_unclear = False
    while at < len(parts):
        # Every known name would be too many to try at each place.
        runs = (parts[at : at + length] for length in range(_MAX_COMMAS + 1, 1, -1))
        name = next((name for run in runs if (name := ",".join(run).strip()) in known), "")
        is_unclear |= "," in name
        name = name or parts[at].strip()
        at += 1 + name.count(",")
        if name:
            names.append(name)
    return names, (Note("names_with_commas"),) if is_unclear else ()


def entries(
    line: int,
    payer: str,
    amount: Decimal,
    owers: list[str],
    weights: Mapping[str, Decimal],
    *,
    is_payment: bool,
    description: str,
    notes: tuple[Note, ...],
    category: str,
    notes_text: str = "",
    **fields: Any,
) -> Iterable[Entry]:
    """The entries of a bill. An ower whose weight is not in `weights` has 1, with a note."""
    if description == _NO_BILL and owers == [payer]:
        return []
    minor, changed = rounded(amount, fields["currency"])
    notes += changed
    if not minor:
        raise RowError("no_amount")
    unknown = [name for name in owers if name not in weights]
    if unknown and len(owers) > 1:
        notes += (Note("weight_unknown", {"names": ", ".join(unknown)[:200]}),)
    shares = {name: Fraction(weights.get(name, 1)) for name in owers}
    if is_payment and minor > 0 and payer not in shares:
        parts = apportioned(minor, whole_weights(shares), line)
        return payments(line, payer, parts, description, notes=notes, **fields)
    found = DescribedExpense(
        line=line,
        amount_minor=minor,
        payers=((payer, minor),),
        description=description,
        notes_text=notes_text,
        category=category,
        notes=notes,
        **by_weight(minor, shares, line),
        **fields,
    )
    return [found]
