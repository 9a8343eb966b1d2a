"""Small writers of formats, and expenses to write."""

import csv
import io
import json
from typing import Any

from hypothesis import strategies as st

from tripcompanion.currency.amounts import to_major

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


def settle_up(rows: list[dict[str, Any]]) -> str:
    """A writer of Settle Up's file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = "Who paid,Amount,Currency,For whom,Split amounts,Purpose,Category,Date & time,Type"
    writer.writerow(names.split(","))
    for row in rows:
        currency = row["currency"]
        first, second, third, fourth = (
            text
            for shares in (row["paid"], row["parts"])
            for text in (
                ";".join(shares),
                ";".join(str(to_major(minor, currency)) for minor in shares.values()),
            )
        )
        kind = [row["text"], "", "2026-05-01 10:00:00", "expense"]
        writer.writerow([first, second, currency, third, fourth, *kind])
    return out.getvalue()


#: The ids of people in a file of Spliit.
IDS = {name: f"p{at}" for at, name in enumerate(PEOPLE)}


def spliit(rows: list[dict[str, Any]], mode: str = "BY_AMOUNT", sign: int = 1) -> str:
    """A writer of Spliit's JSON file; with a `sign` of -1, of incomes."""
    bills = [
        {
            "id": f"e{at}",
            "expenseDate": "2026-05-01T00:00:00.000Z",
            "title": row["text"],
            "amount": sign * sum(row["paid"].values()),
            "paidById": IDS[next(iter(row["paid"]))],
            "paidFor": [
                {"participantId": IDS[person], "shares": minor}
                for person, minor in row["parts"].items()
            ],
            "splitMode": mode,
            "isReimbursement": False,
        }
        for at, row in enumerate(rows)
    ]
    people = [{"id": key, "name": name} for name, key in IDS.items()]
    group = {"name": "x", "currencyCode": "EUR", "participants": people, "expenses": bills}
    return json.dumps(group)
