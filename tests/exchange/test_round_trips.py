"""What a small writer of a format writes is read again as it was, whatever it is."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.exchange.reading import balances, claimed, read, skipped
from tripcompanion.currency.amounts import to_major
from tripcompanion.exchange.formats.reading import Numbers

PEOPLE = ("Ana", "Ben, Jr", 'Cleo "C"', "Dan")
TEXTS = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"]) | st.sampled_from('",;\n'), max_size=20
)
CURRENCIES = st.sampled_from(["EUR", "JPY", "USD"])


@st.composite
def expenses(draw: Any, payers: int = 1) -> dict[str, Any]:
    """An expense with amounts that people paid, and exact parts that add up to the same."""
    paid = draw(
        st.dictionaries(st.sampled_from(PEOPLE), st.integers(1, 10**7), min_size=1, max_size=payers)
    )
    whole = sum(paid.values())
    weights = draw(
        st.dictionaries(st.sampled_from(PEOPLE), st.integers(0, 100), min_size=1).filter(
            lambda found: any(found.values())
        )
    )
    total, left, parts = sum(weights.values()), whole, {}
    for person, weight in weights.items():
        parts[person] = whole * weight // total
        left -= parts[person]
    parts[max(weights, key=weights.__getitem__)] += left
    return {"paid": paid, "parts": parts, "text": draw(TEXTS), "currency": draw(CURRENCIES)}


def nets(expense: dict[str, Any]) -> dict[str, int]:
    return {
        person: expense["paid"].get(person, 0) - expense["parts"].get(person, 0)
        for person in PEOPLE
    }


def sums_of(rows: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    sums: dict[tuple[str, str], int] = {}
    for row in rows:
        for person, minor in nets(row).items():
            key = (person, row["currency"])
            sums[key] = sums.get(key, 0) + minor
    return {key: minor for key, minor in sums.items() if minor}


def splitwise(rows: list[dict[str, Any]]) -> str:
    """A writer of Splitwise's spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["Date", "Description", "Category", "Cost", "Currency", *PEOPLE])
    writer.writerow([])
    for row in rows:
        amounts = [sum(row["paid"].values()), *nets(row).values()]
        cost, *cells = [f"{to_major(minor, row['currency']):.2f}" for minor in amounts]
        writer.writerow(["2026-05-01", row["text"], "Dining out", cost, row["currency"], *cells])
    writer.writerow([])
    for currency in {row["currency"]: None for row in rows}:
        sums = sums_of([row for row in rows if row["currency"] == currency])
        cells = [f"{to_major(sums.get((p, currency), 0), currency):.2f}" for p in PEOPLE]
        writer.writerow(["2026-05-02", "Total balance", " ", " ", currency, *cells])
    return out.getvalue()


@given(st.lists(expenses(payers=3), min_size=1, max_size=8))
def test_every_balance_of_splitwise_is_right(rows: list[dict[str, Any]]) -> None:
    trip = read(splitwise(rows))
    assert trip.format == "splitwise_csv"
    # Who paid exactly their own part paid somebody's part of which the file says nothing.
    silent = [row for row in rows if not any(nets(row).values())]
    assert list(skipped(trip).values()) == ["payer_unknown"] * len(silent)
    assert balances(trip) == claimed(trip) == sums_of(rows)


@given(st.lists(expenses(payers=4), min_size=1, max_size=8))
def test_everything_in_settle_up_is_exact(rows: list[dict[str, Any]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = "Who paid,Amount,Currency,For whom,Split amounts,Purpose,Category,Date & time,Type"
    writer.writerow(names.split(","))
    for row in rows:
        currency = row["currency"]
        columns = [
            text
            for shares in (row["paid"], row["parts"])
            for text in (
                ";".join(shares),
                ";".join(str(to_major(minor, currency)) for minor in shares.values()),
            )
        ]
        first, second, third, fourth = columns
        moment = "2026-05-01 10:00:00"
        kind = [row["text"], "", moment, "expense"]
        writer.writerow([first, second, currency, third, fourth, *kind])
    trip = read(out.getvalue().encode("utf-16"))
    assert not skipped(trip)
    assert balances(trip) == sums_of(rows)


@given(
    st.lists(expenses(), min_size=1, max_size=8),
    st.sampled_from(["BY_AMOUNT", "BY_SHARES", "EVENLY"]),
    st.booleans(),
)
def test_everything_in_spliit_adds_up(
    rows: list[dict[str, Any]], mode: str, is_income: bool
) -> None:
    people = [{"id": f"p{at}", "name": name} for at, name in enumerate(PEOPLE)]
    ids = {row["name"]: row["id"] for row in people}
    sign = -1 if is_income else 1
    bills = [
        {
            "id": f"e{at}",
            "expenseDate": "2026-05-01T00:00:00.000Z",
            "title": row["text"],
            "amount": sign * sum(row["paid"].values()),
            "paidById": ids[next(iter(row["paid"]))],
            "paidFor": [
                {"participantId": ids[person], "shares": minor}
                for person, minor in row["parts"].items()
            ],
            "splitMode": mode,
            "isReimbursement": False,
        }
        for at, row in enumerate(rows)
    ]
    group = {"name": "x", "currencyCode": "EUR", "participants": people, "expenses": bills}
    trip = read(json.dumps(group))
    assert not skipped(trip)
    if mode == "BY_AMOUNT":
        euros = [row | {"currency": "EUR"} for row in rows]
        expected = {(ids[p], c): sign * minor for (p, c), minor in sums_of(euros).items()}
        assert balances(trip) == expected
    else:
        assert sum(balances(trip).values()) == 0


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2), st.sampled_from(",."))
def test_numbers_are_read_in_every_way_of_writing(value: Decimal, mark: str) -> None:
    thousands = "." if mark == "," else ","
    text = f"{value:,.2f}".replace(",", "#").replace(".", mark).replace("#", thousands)
    spaced = f"{value:,.2f}".replace(",", "\u202f").replace(".", mark).replace("-", "\u2212")
    numbers = Numbers([(1, text), (2, spaced)])
    assert numbers(text) == numbers(spaced) == value
