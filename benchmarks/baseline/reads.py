"""The reads: the permission check is a join in the statement that reads the rows."""

# ruff: noqa: S608 -- statements are put together from constants of this package only

from collections import defaultdict
from datetime import date
from typing import Any

from splits.settling import fewest_transfers

from . import shapes
from .database import Postgres, Sqlite, marks

Database = Postgres | Sqlite
Answer = tuple[int, Any]

PAGE_ROWS = 50
#: What the benchmark asks the statistics of.
_LAST_DAY, _YEAR = date(2099, 12, 31), 2020
_KEYS = {
    "category": dict.fromkeys((Postgres, Sqlite), "e.category"),
    "day": {Postgres: "to_char(e.expense_date, 'YYYY-MM-DD')", Sqlite: "e.expense_date"},
    "month": {
        Postgres: "to_char(e.expense_date, 'YYYY-MM')",
        Sqlite: "substr(e.expense_date, 1, 7)",
    },
}
#: Its parameter is the caller's id.
_OF_MEMBER = "JOIN trips_member m ON m.trip_id = t.id AND m.user_id = %s AND m.left_at IS NULL"
_EXPENSES = f"SELECT {shapes.EXPENSE} FROM splits_expense e JOIN trips_trip t ON t.id = e.trip_id"
_PAYERS = (
    f"SELECT p.expense_id, p.entered_minor, {shapes.SUMMARY} FROM splits_payer p "
    "JOIN users_user u ON u.id = p.user_id WHERE p.expense_id IN "
)
_SPLITS = (
    f"SELECT {shapes.SPLIT} FROM splits_split s JOIN users_user u ON u.id = s.participant_id "
    "WHERE s."
)
_OPEN_OF = "(SELECT split_id FROM splits_debt WHERE debtor_id = %s AND open_minor > 0)"
#: PostgreSQL turns IN into a join, and reads all splits to find a few.
_PENDING = {
    Postgres: f"{_SPLITS}id = ANY(ARRAY{_OPEN_OF}) ORDER BY s.id",
    Sqlite: f"{_SPLITS}id IN {_OPEN_OF} ORDER BY s.id",
}


def expense(db: Database, caller_id: int, trip_id: int, expense_id: int) -> Answer:
    rows = db.rows(
        f"{_EXPENSES} {_OF_MEMBER} WHERE e.id = %s AND e.trip_id = %s",
        caller_id,
        expense_id,
        trip_id,
    )
    return (200, _with_details(db, rows)[0]) if rows else (404, None)


def page(db: Database, caller_id: int, trip_id: int) -> Answer:
    counted = db.rows(
        f"SELECT (SELECT count(*) FROM splits_expense WHERE trip_id = t.id) FROM trips_trip t "
        f"{_OF_MEMBER} WHERE t.id = %s",
        caller_id,
        trip_id,
    )
    if not counted:
        return 404, None
    rows = db.rows(
        f"{_EXPENSES} WHERE e.trip_id = %s ORDER BY e.expense_date DESC, e.id DESC "
        f"LIMIT {PAGE_ROWS}",
        trip_id,
    )
    return 200, _page(_with_details(db, rows) if rows else [], counted[0][0], PAGE_ROWS)


def balances(db: Database, caller_id: int, trip_id: int) -> Answer:
    rows = db.rows(
        "SELECT t.currency, b.paid_minor, b.share_minor, b.sent_minor, b.received_minor, "
        f"{shapes.SUMMARY} FROM trips_trip t {_OF_MEMBER} "
        "JOIN trips_member b ON b.trip_id = t.id JOIN users_user u ON u.id = b.user_id "
        "WHERE t.id = %s AND (b.left_at IS NULL OR b.paid_minor > 0 OR b.share_minor > 0 "
        "OR b.sent_minor > 0 OR b.received_minor > 0) ORDER BY b.joined_at, b.id",
        caller_id,
        trip_id,
    )
    if not rows:
        return 404, None
    units = shapes.UNITS[rows[0][0]]
    return 200, [
        {
            "user": shapes.summary(row[5:]),
            "paid": row[1] / units,
            "share": row[2] / units,
            "sent": row[3] / units,
            "received": row[4] / units,
            "balance": (row[1] - row[2] + row[3] - row[4]) / units,
        }
        for row in rows
    ]


def statistics(db: Database, caller_id: int, trip_id: int, by: str) -> Answer:
    if by == "member":
        rows = db.rows(
            "SELECT u.name, CAST(u.id AS text), b.paid_minor, b.share_minor, (SELECT count(*) "
            "FROM splits_payer p WHERE p.trip_id = t.id AND p.user_id = u.id) "
            f"FROM trips_trip t {_OF_MEMBER} JOIN trips_member b ON b.trip_id = t.id "
            "JOIN users_user u ON u.id = b.user_id WHERE t.id = %s ORDER BY b.joined_at, b.id",
            caller_id,
            trip_id,
        )
        return (200, shapes.statistics(rows, by)) if rows else (404, None)
    key = _KEYS[by][type(db)]
    rows = db.rows(
        f"SELECT {key}, {key}, CAST(SUM(e.amount_minor) AS bigint), "
        "CAST(SUM(s.amount_minor) AS bigint), count(*) "
        f"FROM trips_trip t {_OF_MEMBER} JOIN splits_expense e ON e.trip_id = t.id "
        "LEFT JOIN splits_split s ON s.expense_id = e.id AND s.participant_id = m.user_id "
        "WHERE t.id = %s AND e.expense_date <= %s GROUP BY 1 ORDER BY 1",
        caller_id,
        trip_id,
        _LAST_DAY,
    )
    return (200, shapes.statistics(rows, by)) if rows else (404, None)


def personal(db: Database, caller_id: int) -> Answer:
    rows = db.rows(
        "SELECT t.title, t.id, CAST(SUM(COALESCE(p.amount_minor, 0)) AS bigint), "
        f"CAST(SUM(s.amount_minor) AS bigint), count(p.id), {_KEYS['month'][type(db)]} "
        f"FROM trips_trip t {_OF_MEMBER} JOIN splits_expense e ON e.trip_id = t.id "
        "LEFT JOIN splits_payer p ON p.expense_id = e.id AND p.user_id = m.user_id "
        "LEFT JOIN splits_split s ON s.expense_id = e.id AND s.participant_id = m.user_id "
        "WHERE e.expense_date BETWEEN %s AND %s GROUP BY 1, 2, 6 ORDER BY 6",
        caller_id,
        date(_YEAR, 1, 1),
        date(_YEAR, 12, 31),
    )
    return 200, shapes.personal(rows, _YEAR)


def plan(db: Database, caller_id: int, trip_id: int) -> Answer:
    rows = db.rows(
        "SELECT t.currency, b.paid_minor - b.share_minor + b.sent_minor - b.received_minor, "
        f"{shapes.SUMMARY} FROM trips_trip t {_OF_MEMBER} "
        "JOIN trips_member b ON b.trip_id = t.id JOIN users_user u ON u.id = b.user_id "
        "WHERE t.id = %s",
        caller_id,
        trip_id,
    )
    if not rows:
        return 404, None
    units = shapes.UNITS[rows[0][0]]
    people = {row[2]: shapes.summary(row[2:]) for row in rows}
    return 200, [
        {
            "from": people[transfer.sender_id],
            "to": people[transfer.receiver_id],
            "amount": transfer.amount_minor / units,
        }
        for transfer in fewest_transfers({row[2]: row[1] for row in rows})
    ]


def pending(db: Database, caller_id: int, user_id: int) -> Answer:
    if caller_id != user_id:
        return 403, None
    return 200, shapes.splits(db.rows(_PENDING[type(db)], user_id), shapes.UNITS["EUR"])


def total(db: Database, caller_id: int, user_id: int) -> Answer:
    if caller_id != user_id:
        return 403, None
    sums = db.rows(
        "SELECT u.currency, t.currency, CAST(SUM(m.owed_minor) AS bigint) FROM users_user u "
        "JOIN trips_member m ON m.user_id = u.id AND m.owed_minor > 0 "
        "JOIN trips_trip t ON t.id = m.trip_id WHERE u.id = %s GROUP BY u.currency, t.currency",
        user_id,
    )
    return 200, sum(owed_minor for _to, _from, owed_minor in sums) / shapes.UNITS["EUR"]


def trips(db: Database, caller_id: int) -> Answer:
    rows = db.rows(
        f"SELECT count(*) OVER (), {shapes.TRIP} FROM trips_trip t {_OF_MEMBER} "
        "ORDER BY t.start_date DESC, t.id DESC LIMIT 20",
        caller_id,
    )
    items = [shapes.trip(row[1:]) for row in rows]
    return 200, _page(items, rows[0][0] if rows else 0, 20)


def _page(items: list[Any], count: int, size: int) -> dict[str, Any]:
    pages = -(-count // size)
    return {"items": items, "total": count, "page": 1, "pageSize": size, "totalPages": pages}


def _with_details(db: Database, rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Expenses with their payers and splits, in two more statements for any number of rows."""
    ids = [row[0] for row in rows]
    units = shapes.UNITS[rows[0][6]]
    payers: dict[int, list[Any]] = defaultdict(list)
    for expense_id, entered_minor, *person in db.rows(
        f"{_PAYERS}{marks(len(ids))} ORDER BY p.id", *ids
    ):
        amount = entered_minor / units
        payers[expense_id].append({"user": shapes.summary(person), "amount": amount})
    splits: dict[int, list[Any]] = defaultdict(list)
    found = db.rows(f"{_SPLITS}expense_id IN {marks(len(ids))} ORDER BY s.id", *ids)
    for split in shapes.splits(found, units):
        splits[split["expenseId"]].append(split)
    return [shapes.expense(row, payers[row[0]], splits[row[0]]) for row in rows]


def itinerary(db: Database, caller_id: int, trip_id: int) -> Answer:
    """All days of a trip, of which none has a title."""
    found = db.rows(
        f"SELECT t.start_date, t.end_date, t.currency FROM trips_trip t {_OF_MEMBER} "
        "WHERE t.id = %s",
        caller_id,
        trip_id,
    )
    if not found:
        return 404, None
    start, end, currency = found[0]
    linked = defaultdict(list)
    for activity_id, *expense_of in db.rows(
        "SELECT l.activity_id, l.expense_id, e.amount_minor FROM itinerary_activityexpense l "
        "JOIN splits_expense e ON e.id = l.expense_id WHERE l.trip_id = %s ORDER BY l.expense_id",
        trip_id,
    ):
        linked[activity_id].append(expense_of)
    rows = db.rows(
        f"SELECT {shapes.ACTIVITY} FROM itinerary_activity a "
        "JOIN users_user u ON u.id = a.created_by_id "
        'WHERE a.trip_id = %s AND a.deleted_at IS NULL ORDER BY a.date, a."order", a.id',
        trip_id,
    )
    named = db.rows(
        "SELECT date, id, title FROM itinerary_itineraryday WHERE trip_id = %s", trip_id
    )
    return 200, shapes.itinerary(trip_id, (start, end), shapes.UNITS[currency], rows, linked, named)
