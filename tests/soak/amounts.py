"""Whether an entry has the amount, the items and the tags that its request meant.

An amount was meant in the currency of that moment. Currencies of a trip have 0, 2 or 3 decimals
here, and an amount that is sent without a currency gives another whole number of minor units in
each. So a number that fits the trip's currency under the lock was read in that currency.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.soak.journal import Act, Request
from tests.soak.log import Entry
from tests.soak.state import TripState
from tripcompanion.currency.amounts import convert, to_major, to_minor

#: What an expense takes along to another trip.
_TAKEN_ALONG = ("amount_minor", "entered_minor", "currency", "exchange_rate", "tags")


def wrong_amounts(entry: Entry, request: Request, state: TripState, source: Any) -> Iterator[str]:
    """What is wrong with the amounts of an entry that `request` wrote; `state` is before it.

    `source` is the row of the expense that the request copied or moved, if it did, as it was.
    """
    match request.act:
        case Act.CHANGE_TRIP | Act.START_TRIP if entry.table == "trips_trip":
            yield from _wrong_budget(entry, request.body, state)
        case Act.RECORD_SETTLEMENT | Act.ADD_SPLIT if entry.row in request.created:
            yield from _differs(entry, "amount_minor", request.body["amount"], state.currency)
        case Act.RECORD_EXPENSE | Act.CHANGE_EXPENSE if entry.table == "splits_expense":
            yield from _wrong_expense(entry, request.body, state)
        case Act.COPY_EXPENSE | Act.MOVE_EXPENSE if entry.table == "splits_expense" and entry.new:
            for name in _TAKEN_ALONG:
                if source is not None and entry.new[name] != source[name]:
                    yield f"{name} is {entry.new[name]}; it was {source[name]}"
            yield from _wrong_in_book(entry.new, state)


def _wrong_expense(entry: Entry, body: Any, state: TripState) -> Iterator[str]:
    row = entry.new
    # A PATCH leaves the expense in the currency that it has; a whole one is in the trip's.
    is_whole = entry.old is None or "description" in body
    meant = body.get("currency", state.currency if is_whole else entry.old["currency"])
    if row["currency"] != meant:
        yield f"the expense is in {row['currency']}, and {meant} was meant"
    if "amount" in body:
        yield from _differs(entry, "entered_minor", body["amount"], meant)
    # SQLite logs JSON as text.
    tags = json.loads(row["tags"]) if isinstance(row["tags"], str) else row["tags"]
    if "tags" in body and tags != body["tags"]:
        yield f"the tags are {tags}; {body['tags']} were meant"
    if body.get("splitType", row.get("split_type")) != row.get("split_type"):
        yield f"the split type is {row['split_type']}; {body['splitType']} was meant"
    if "items" in body:
        stored = json.loads(row["stored_items"], parse_float=Decimal)["items"]
        minor = [(item, to_minor(Decimal(item["amount"]), meant)) for item in body["items"]]
        sent = [{**item, "amount": to_major(amount, meant)} for item, amount in minor]
        if stored != sent:
            yield f"the items are {stored}; {sent} were meant"
    yield from _wrong_in_book(row, state)


def _wrong_in_book(row: Any, state: TripState) -> Iterator[str]:
    """What is wrong with an expense's amount in the currency of its trip."""
    entered_minor, rate = row["entered_minor"], row["exchange_rate"]
    if row["currency"] == state.currency:
        in_book_minor = entered_minor
    elif rate is None:
        yield f"there is no rate from {row['currency']} to {state.currency}"
        return
    else:
        rate = Decimal(str(rate))
        in_book_minor = convert(entered_minor, row["currency"], state.currency, rate)
    # SQLite keeps the rate as a float, which can be off by one minor unit of a large amount.
    if abs(row["amount_minor"] - in_book_minor) > (rate is not None):
        yield f"amount_minor is {row['amount_minor']}; what was entered is {in_book_minor}"


def _wrong_budget(entry: Entry, body: Any, state: TripState) -> Iterator[str]:
    row = entry.new
    before = entry.old or {"currency": row["currency"], "budget_minor": None}
    if "currency" in body and row["currency"] != body["currency"]:
        yield f"the trip is in {row['currency']}, and {body['currency']} was asked for"
    if row["currency"] != before["currency"] and (state.expenses or state.settlements):
        yield f"the currency changed from {before['currency']} under recorded money"
    if "budget" in body:
        yield from _differs(entry, "budget_minor", body["budget"], row["currency"])
    elif before["budget_minor"] is not None:
        budget = to_major(before["budget_minor"], before["currency"])
        yield from _differs(entry, "budget_minor", budget, row["currency"])


def _differs(entry: Entry, name: str, amount: Any, currency: str) -> Iterator[str]:
    stored_minor, meant_minor = entry.new[name], to_minor(Decimal(str(amount)), currency)
    if stored_minor != meant_minor:
        yield f"{name} is {stored_minor}; {amount} {currency} is {meant_minor}"
