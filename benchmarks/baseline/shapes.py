"""Converts rows to the JSON that the API returns."""

# ruff: noqa: S608 -- statements are put together from constants of this package only

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import orjson

#: Minor units per major unit. A float holds every valid amount to the last digit.
UNITS = {"EUR": 100}

SUMMARY = "u.id, u.name, u.email, u.profile_picture, u.is_guest"
#: What an expense need not have: the column, and the value in a new one without it.
OPTIONAL = {
    "clientId": ("e.client_id", None),
    "items": ("e.stored_items", None),
    "receiptUrl": ("e.receipt_url", None),
    "notes": ("e.notes", ""),
    "tags": ("e.tags", "[]"),
    "activityId": (
        "(SELECT l.activity_id FROM itinerary_activityexpense l JOIN itinerary_activity a "
        "ON a.id = l.activity_id AND a.deleted_at IS NULL WHERE l.expense_id = e.id)",
        None,
    ),
}
EXPENSE = (
    "e.id, e.trip_id, e.description, e.entered_minor, e.currency, e.amount_minor, t.currency, "
    "e.exchange_rate, e.rate_source, e.rate_day, e.expense_date, e.category, e.split_type, "
    + ", ".join(column for column, _value in OPTIONAL.values())
    + ", e.created_at, e.updated_at"
)
#: With a join, PostgreSQL would read all debts. The alias gives SQLite the type of the maximum.
SPLIT = (
    "s.id, s.expense_id, s.amount_minor, s.percentage_e4, s.created_at, "
    "CAST((SELECT SUM(d.open_minor) FROM splits_debt d WHERE d.split_id = s.id) AS bigint), "
    '(SELECT MAX(d.covered_at) FROM splits_debt d WHERE d.split_id = s.id) AS "at [datetime]", '
    f"{SUMMARY}"
)
ACTIVITY = (
    "a.id, a.trip_id, a.client_id, a.title, a.type, a.date, a.start_time, a.duration_minutes, "
    'a.location, a.url, a.notes, a.category, a.completed, a."order", a.created_at, a.updated_at, '
    f"{SUMMARY}"
)
TRIP = (
    "t.id, t.title, t.destination, t.description, t.image_url, t.start_date, t.end_date, "
    "t.budget_minor, t.currency, t.code, t.join_role, m.role, t.created_at, t.updated_at"
)
USER = (
    "id, name, email, role, profile_picture, currency, may_be_added, notice_mode, notice_events, "
    "created_at, updated_at"
)


def summary(row: Iterable[Any]) -> dict[str, Any]:
    names = ("id", "name", "email", "profilePicture", "guest")
    shown = dict(zip(names, row, strict=True))
    # SQLite has no booleans.
    return {**shown, "guest": bool(shown["guest"])}


def statistics(rows: Iterable[tuple[Any, ...]], by: str) -> dict[str, Any]:
    """`rows` are a name, key, sum, the part and count; no trip here has a budget."""
    groups, so_far, units = [], 0, UNITS["EUR"]
    for label, *sums in rows:
        so_far += sums[1]
        cumulative = so_far / units if by in {"day", "month"} else None
        groups.append({**_group(by, label, *sums), "planned": None, "cumulative": cumulative})
    return {"currency": "EUR", "total": so_far / units, "budget": None, "groups": groups}


def personal(rows: list[tuple[Any, ...]], year: int) -> dict[str, Any]:
    """`rows` are title, trip, sum, the part, count and month, of one trip and category."""
    title, trip_id = rows[0][:2]
    sums = [sum(row[at] for row in rows) for at in (2, 3, 4)]
    whole = _group("trip", title, str(trip_id), *sums)
    groups = {
        "trips": [whole],
        "categories": [_group("category", "", "OTHER", *sums)],
        "months": [_group("month", "", row[5], *row[2:5]) for row in rows],
    }
    sums_of_all = {name: whole[name] for name in ("paid", "share", "count")}
    return {"year": year, "currencies": [{"currency": "EUR", **sums_of_all, **groups}]}


def _group(by: str, label: str, key: str, paid: int, share: int, count: int) -> dict[str, Any]:
    units = UNITS["EUR"]
    if by == "category":
        label = "Other"
    elif by == "month":
        label = f"{date.fromisoformat(key + '-01'):%B %Y}"
    sums = {"paid": paid / units, "share": share / units, "count": count}
    return {"key": key, "label": label, **sums}


def user(row: Iterable[Any]) -> dict[str, Any]:
    *values, may_be_added, mode, events, created_at, updated_at = row
    names = ("id", "name", "email", "role", "profilePicture", "currency")
    return {
        **dict(zip(names, values, strict=True)),
        # SQLite has no booleans.
        "mayBeAdded": bool(may_be_added),
        "notices": {"email": mode, "events": events.split()},
        "createdAt": created_at,
        "updatedAt": updated_at,
    }


def trip(row: tuple[Any, ...]) -> dict[str, Any]:
    """`row` has the columns TRIP."""
    return {
        "id": row[0],
        "title": row[1],
        "destination": row[2],
        "description": row[3],
        "imageUrl": row[4],
        "startDate": row[5],
        "endDate": row[6],
        "budget": None if row[7] is None else row[7] / UNITS[row[8]],
        "currency": row[8],
        "tripCode": row[9],
        "joinRole": row[10],
        # No trip here has these.
        "clientId": None,
        "defaultDivision": None,
        "categoryBudgets": None,
        "currentUserRole": row[11],
        "createdAt": row[12],
        "updatedAt": row[13],
    }


def expense(row: tuple[Any, ...], payers: list[Any], splits: list[Any]) -> dict[str, Any]:
    """`row` has the columns EXPENSE."""
    rate, optional = row[7], dict(zip(OPTIONAL, row[13:-2], strict=True))
    if isinstance(optional["tags"], str):
        # SQLite has no type for it.
        optional["tags"] = orjson.loads(optional["tags"])
    return {
        "id": row[0],
        "tripId": row[1],
        "description": row[2],
        "amount": row[3] / UNITS[row[4]],
        "currency": row[4],
        "tripAmount": row[5] / UNITS[row[6]],
        "tripCurrency": row[6],
        "exchangeRate": None if rate is None else float(rate),
        "exchangeRateSource": row[8],
        "exchangeRateDate": row[9],
        "rate": None
        if rate is None
        else {
            "value": float(rate),
            "date": row[9],
            "source": "ecb" if row[8] == "ECB" else "given",
        },
        "expenseDate": row[10],
        "category": row[11],
        "splitType": row[12],
        "participantUserIds": [split["participant"]["id"] for split in splits],
        # All expenses here are divided equally.
        "splitAmounts": None,
        "paidBy": payers[0]["user"],
        "payers": payers,
        **optional,
        # No expense here has items.
        **dict.fromkeys(("tax", "tip", "discount")),
        "splits": splits,
        "createdAt": row[-2],
        "updatedAt": row[-1],
    }


def splits(rows: Iterable[tuple[Any, ...]], units: int) -> list[dict[str, Any]]:
    """`rows` have the columns SPLIT."""
    result = []
    for row in rows:
        open_minor = row[5] or 0
        result.append(
            {
                "id": row[0],
                "expenseId": row[1],
                "participant": summary(row[7:12]),
                "amount": row[2] / units,
                "percentage": None if row[3] is None else row[3] / 10_000,
                "paid": not open_minor,
                "paidAmount": (row[2] - open_minor) / units,
                "paidAt": None if open_minor else row[6] or row[4],
            }
        )
    return result


def itinerary(
    trip_id: int,
    dates: tuple[date, date],
    units: int,
    rows: Iterable[tuple[Any, ...]],
    linked: dict[int, list[list[int]]],
    named: Iterable[tuple[Any, ...]],
) -> dict[str, Any]:
    """`rows` have the columns ACTIVITY, and each has a day of the trip; PostgreSQL only."""
    start, end = dates
    stored = {day: about for day, *about in named}
    days: dict[date, dict[str, Any]] = {}
    for number in range((end - start).days + 1):
        day = start + timedelta(number)
        day_id, title = stored.get(day, (None, None))
        days[day] = {
            "id": day_id,
            "date": day,
            "dayIndex": number,
            "title": title,
            "completed": False,
            "cost": 0,
            "activities": [],
        }
    done = count = 0
    for row in rows:
        day = days[row[5]]
        expenses = linked.get(row[0], ())
        day["activities"].append(
            {
                "id": row[0],
                "tripId": row[1],
                "clientId": row[2],
                "title": row[3],
                "type": row[4],
                "date": row[5],
                "dayIndex": day["dayIndex"],
                "startTime": row[6],
                "durationMinutes": row[7],
                "location": row[8],
                "url": row[9],
                "notes": row[10],
                "category": row[11],
                "completed": row[12],
                "order": row[13],
                "expenseIds": [expense_id for expense_id, _amount in expenses],
                "createdBy": summary(row[16:]),
                "createdAt": row[14],
                "updatedAt": row[15],
            }
        )
        day["cost"] += sum(amount for _expense_id, amount in expenses)
        count += 1
        done += row[12]
    for day in days.values():
        day["cost"] /= units
        day["completed"] = all(row["completed"] for row in day["activities"])
    return {
        "tripId": trip_id,
        "days": [*days.values()],
        "undated": [],
        "completedPercent": 100 * done // count,
    }
