"""Entries made of what people paid, and of their shares."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import lcm
from types import MappingProxyType
from typing import Any

from plugins.exchange.description import DescribedExpense, DescribedSettlement, Entry, Note
from plugins.exchange.formats.reading import RowError, category, rounded, to_minor
from splits.models.division import SCALE
from splits.money import apportion

#: A bill of somebody for themselves that only declares a member, in old files of Cospend.
_NO_BILL = "deleteMeIfYouWant"
#: How many commas a name in a list may have.
_MAX_COMMAS = 5


def divided(
    shares: Mapping[str, int],
    *,
    is_equal: bool | None = None,
    split: tuple[str, Mapping[str, int]] | None = None,
    unrounded: Mapping[str, Fraction | Decimal] = MappingProxyType({}),
) -> dict[str, Any]:
    """The fields of an expense with these exact parts; people without a part do not take part.

    It is EQUAL if no two parts differ by more than one minor unit, unless `is_equal` says so.
    `split` are the split type and what was entered for each person, if the file has both. Our own
    rule divides it if all parts were the same, `unrounded`, and not whole. Raises `RowError`, also
    for an amount of zero.
    """
    parts = {person: minor for person, minor in shares.items() if minor}
    if not sum(parts.values()):
        raise RowError("no_amount")
    least, most = min(parts.values()), max(parts.values())
    if least < 0 < most:
        raise RowError("negative_part")
    values: Mapping[str, int | None] = parts
    split_type = "MANUAL"
    if split is not None:
        split_type, values = split
    elif is_equal or (is_equal is None and most - least <= 1):
        split_type, values = "EQUAL", dict.fromkeys(parts)
    same = {minor.as_integer_ratio() for minor in unrounded.values()}
    if len(same) == 1 and same.pop()[1] > 1:
        return {"split_type": "EQUAL", "entered": tuple((person, None) for person in parts)}
    entered = tuple((person, values[person]) for person in parts)
    return {"split_type": split_type, "entered": entered, "parts": tuple(parts.items())}


def by_weight(total: int, weights: Mapping[str, Fraction], seed: int) -> dict[str, Any]:
    """The fields of an expense that is divided by weights.

    It has exact parts if we cannot store the weights, because they have too many decimals.
    """
    taking = {person: weight for person, weight in weights.items() if weight}
    if not taking or min(taking.values()) < 0:
        raise RowError("nobody_takes_part")
    if len(set(taking.values())) == 1:
        return {"split_type": "EQUAL", "entered": tuple((person, None) for person in taking)}
    stored = {person: weight * SCALE for person, weight in taking.items()}
    if any(weight.denominator > 1 for weight in stored.values()):
        return divided(apportioned(total, taking, seed))
    return {"split_type": "SHARES", "entered": tuple((p, int(w)) for p, w in stored.items())}


def completed(
    total: int,
    shares: Mapping[str, Fraction | Decimal | int],
    payer: str = "",
    unit: int = 1,
    seed: int = 0,
) -> tuple[dict[str, int], tuple[Note, ...]]:
    """The shares, which may have more decimals, in whole minor units that add up; and a note.

    What they lack because each was rounded to `unit` goes to the payer, or to the largest share if
    the payer has none.
    """
    parts, scale = scaled(shares.values())
    exact = dict(zip(shares, parts, strict=True))
    drift = total * scale - sum(parts)
    if drift:
        to = payer if exact.get(payer) else max(exact, key=lambda who: abs(exact[who]), default="")
        if abs(drift) > len(exact) * unit * scale or (exact[to] + drift) * total < 0:
            raise RowError("does_not_add_up")
        exact[to] += drift
    if any(part * total < 0 for part in exact.values()):
        raise RowError("negative_part")
    is_whole = not any(part % scale for part in exact.values())
    if is_whole:
        whole = {person: part // scale for person, part in exact.items()}
    else:
        whole = apportioned(total, exact, seed)
    return whole, (Note("rounded_shares"),) if drift or not is_whole else ()


def scaled(values: Iterable[Fraction | Decimal | int]) -> tuple[list[int], int]:
    """The values times the least number that makes all of them whole, and that number."""
    # Fractions would take several times as long.
    ratios = [value.as_integer_ratio() for value in values]
    scale = lcm(*{denominator for _numerator, denominator in ratios})
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def apportioned(
    total: int, weights: Mapping[str, Fraction | Decimal | int], seed: int = 0
) -> dict[str, int]:
    """`total` minor units in proportion to weights; both may be negative."""
    whole, _scale = scaled(weights.values())
    if total < 0 and max(whole, default=0) <= 0:
        whole = [-weight for weight in whole]
    if not whole or min(whole) < 0 or not sum(whole):
        raise RowError("nobody_takes_part")
    sign = -1 if total < 0 else 1
    parts = apportion(abs(total), whole, seed)
    return {person: sign * part for person, part in zip(weights, parts, strict=True)}


def expense(
    line: int,
    paid: Mapping[str, int],
    division: Mapping[str, Any],
    title: str,
    label: str = "",
    details: str | None = None,
    *,
    more: Mapping[str, Any] = MappingProxyType({}),
    **row: Any,
) -> DescribedExpense:
    """An expense of what people paid, with a division of that, such as `divided`.

    `label` is what the source calls its category, which is in the notes without other `details`;
    `more` are further fields. A negative amount is a refund.
    """
    fields = {
        "description": title,
        "notes": label if details is None else details,
        "category": category(label),
    }
    sums: dict[str, Any] = {"amount_minor": sum(paid.values()), "payers": tuple(paid.items())}
    return DescribedExpense(line=line, fields={**fields, **more}, **sums, **division, **row)


def payment_or_expense(
    line: int,
    paid: Mapping[str, int],
    parts: Mapping[str, int],
    title: str,
    *texts: str,
    is_payment: bool,
    instead: str = "",
    division: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
    **row: Any,
) -> list[Entry]:
    """A payment to each who has a part of what one person paid, or an expense with these parts.

    `instead` is the title of an expense without one, and `division` its division, if that is more
    than the parts; `texts` and `more` are those of `expense`.
    """
    if is_payment:
        [payer] = paid
        return [*payments(line, payer, parts, title, **row)]
    division = division or divided(parts)
    return [expense(line, paid, division, title or instead, *texts, more=more, **row)]


def in_original(found: list[Any], code: str, amount: Decimal, rate: Decimal | None) -> list[Entry]:
    """The expense or the payments of one payer as entered, unless that makes no sense.

    `amount` is in major units of the currency with that code. The amount in the currency of the
    group rules.
    """
    minor, whole = to_minor(amount, code), {str(at): e.amount_minor for at, e in enumerate(found)}
    parts = apportioned(minor, whole) if minor * sum(whole.values()) > 0 else {}
    if not parts or not all(parts.values()):
        return found
    pairs = zip(found, parts.values(), strict=True)
    return [_as_entered(entry, code, part, rate) for entry, part in pairs]


def _as_entered(entry: Any, code: str, minor: int, rate: Decimal | None) -> Entry:
    changed: dict[str, Any] = {"currency": code, "amount_minor": minor, "rate": rate}
    if isinstance(entry, DescribedExpense):
        changed["payers"] = ((entry.payers[0][0], minor),)
    return replace(entry, converted_minor=entry.amount_minor, **changed)


def payments(
    line: int,
    sender: str,
    shares: Mapping[str, int],
    title: str,
    *,
    key: str | None = None,
    **fields: Any,
) -> Iterator[DescribedSettlement]:
    """A payment to each person who has a share. Of several, the key of each names the receiver."""
    receivers = {person: minor for person, minor in shares.items() if minor}
    if not receivers:
        raise RowError("no_amount")
    for receiver, minor in receivers.items():
        yield DescribedSettlement(
            line=line,
            amount_minor=minor,
            sender=sender,
            receiver=receiver,
            fields={"note": title},
            key=f"{key}/{receiver}" if key and len(receivers) > 1 else key,
            **fields,
        )


# -- Expenses divided by the weight that a person has in the whole file: ihatemoney and Cospend ----


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
        else:
            # The comma belongs to a name, or to nothing.
            is_unclear |= len(parts) > 1
    return names, (Note("names_with_commas"),) if is_unclear else ()


def bill(
    line: int,
    payer: str,
    amount: Decimal,
    owers: list[str],
    weights: Mapping[str, Decimal],
    title: str,
    *texts: str,
    is_payment: bool,
    notes: tuple[Note, ...],
    **row: Any,
) -> list[Entry]:
    """The entries of a bill. An ower whose weight is not in `weights` has 1, with a note."""
    if title == _NO_BILL and owers == [payer]:
        return []
    minor, changed = rounded(amount, row["currency"])
    notes += changed
    if not minor:
        raise RowError("no_amount")
    unknown = [name for name in owers if name not in weights]
    if unknown and len(owers) > 1:
        notes += (Note("weight_unknown", {"names": ", ".join(unknown)[:200]}),)
    shares = {name: Fraction(weights.get(name, 1)) for name in owers}
    row["notes"] = notes
    if is_payment and minor > 0 and payer not in shares:
        return [*payments(line, payer, apportioned(minor, shares, line), title, **row)]
    return [expense(line, {payer: minor}, by_weight(minor, shares, line), title, *texts, **row)]
