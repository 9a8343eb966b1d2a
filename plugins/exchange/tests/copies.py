"""Compares a trip with the one that was made of its file."""

import io
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.exchange.own_file import OwnFile
from plugins.exchange.restoring import trip_from
from plugins.exchange.source import SourceFile
from plugins.exchange.tables import TABLES
from plugins.exchange.tests.reading import changed
from plugins.recurring.body import with_people
from tests.cast import Api
from tests.splits.ledger import exact
from trips.models import Trip
from users.models import User

#: What is not the same: ids, and what depends on who has an account.
_OWN = {"id", "claimedGuests", "mergedGuests", "role", "via", "email", "guest", "exportedAt"}
_TABLES = {table.name for table in TABLES} | {"people"}
_REFERENCES = {
    "userId": "people", "participantId": "people", "debtorId": "people", "creditorId": "people",
    "senderId": "people", "receiverId": "people", "createdById": "people", "byId": "people",
    "expenseId": "expenses", "splitId": "splits", "settlementId": "settlements",
    "closedById": "settlements", "closingId": "settlements", "debtId": "debts",
    "personId": "people", "recurrenceId": "recurring",
}  # fmt: skip


def file_of(api: Api, trip: Trip, reader: User) -> bytes:
    response = api(reader).get(f"/api/trips/{trip.pk}/export")
    assert response.status_code == 200
    return response.content


def copied(content: bytes, by: User) -> Trip:
    return trip_from(OwnFile(SourceFile(io.BytesIO(content))), by).trip


def forged(content: bytes, table: str, place: int, **fields: Any) -> bytes:
    """The file with other `fields` in one row of a table; `...` takes one away."""
    path = (table,) if table == "trip" else (table, place)
    return changed(content.decode(), *path, **fields).encode()


def contents(content: bytes) -> dict[str, Any]:
    """The file with places instead of ids."""
    held = json.loads(content, parse_float=Decimal)
    people = sorted(held["people"], key=lambda person: person["name"])
    places = {
        name: {row["id"]: place for place, row in enumerate(rows)}
        for name, rows in {**held, "people": people}.items()
        if name in _TABLES and rows and "id" in rows[0]
    }
    history = [
        {name: row[name] for name in ("number", "at", "event")}
        | {"changes": sorted(row["changes"])}
        for row in held["history"]
    ]
    # Administrators who acted in the trip are former members of the copy.
    members = [row for row in held["members"] if row["leftAt"] is None or row["share"]]
    tables = {table.name: held[table.name] for table in TABLES}
    tables |= {"history": history, "members": members}
    shown = {name: [_placed(row, places) for row in rows] for name, rows in tables.items()}
    shown["members"].sort(key=lambda row: row["userId"])
    return {**shown, "trip": _placed(held["trip"], {}), "people": [p["name"] for p in people]}


def _placed(row: Mapping[str, Any], places: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    if row.get("items"):
        row = {**row, "items": _without_ids(row["items"])}
    if "rule" in row:
        row = {**row, "expense": with_people(row["expense"], places["people"])}
    return {
        name: places.get(_REFERENCES[name], {}).get(value) if name in _REFERENCES else value
        for name, value in row.items()
        if name not in _OWN
    }


def answers(api: Api, trip: Trip, reader: User) -> Any:
    """What the API says about the money of a trip, with names instead of ids."""
    client = api(reader)

    def named(path: str) -> Any:
        return _without_ids(exact(client.get(f"/api/trips/{trip.pk}/{path}")))

    expenses = named("expenses?pageSize=100&ordering=createdAt")["items"]
    money = named("settlements?pageSize=100")["items"]
    by_name = [named(path) for path in ("balances", "settle-up")]
    return [expenses, money, *(sorted(rows, key=str) for rows in by_name)]


def _without_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_ids(row) for row in value]
    if isinstance(value, dict) and "profilePicture" in value:
        return value["name"]
    if isinstance(value, dict):
        ids = {"id", "tripId", "expenseId"}
        if "shares" in value:
            value = {**value, "shares": list(value["shares"].values())}
        if "participantUserIds" in value:
            amounts = sorted((value["splitAmounts"] or {}).values())
            count = len(value["participantUserIds"] or ())
            value = {**value, "participantUserIds": count, "splitAmounts": amounts}
        return {name: _without_ids(part) for name, part in value.items() if name not in ids}
    return value
