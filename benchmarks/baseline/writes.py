"""The writes: they insert the ledger's rows in one transaction under the trip's lock.

Credit and closing are not handled, because no trip of the benchmark has any.
"""

# ruff: noqa: S608 -- statements are put together from constants of this package only

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import jwt
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from splits import money

from . import shapes
from .database import table
from .reads import Answer, Database

_ACCESS_SECONDS, _REFRESH_SECONDS = 8 * 3600, 30 * 24 * 3600
_hasher = PasswordHasher()
_TRIP = (
    "SELECT t.currency, t.expenses_recorded FROM trips_trip t "
    "JOIN trips_member m ON m.trip_id = t.id AND m.user_id = %s AND m.left_at IS NULL "
    "AND m.role <> 'VIEWER' WHERE t.id = %s FOR UPDATE OF t"
)
_MEMBERS = (
    f"SELECT {shapes.SUMMARY} FROM trips_member m JOIN users_user u ON u.id = m.user_id "
    "WHERE m.trip_id = %s AND m.left_at IS NULL"
)
_SPLIT = (
    f"SELECT t.id, t.currency, m.role, s.amount_minor, s.percentage_e4, {shapes.SUMMARY} "
    "FROM splits_split s JOIN users_user u ON u.id = s.participant_id "
    "JOIN splits_expense e ON e.id = s.expense_id JOIN trips_trip t ON t.id = e.trip_id "
    "JOIN trips_member m ON m.trip_id = t.id AND m.user_id = %s AND m.left_at IS NULL "
    "WHERE s.id = %s AND e.id = %s FOR UPDATE OF t"
)


def _insert(table_name: str, columns: str) -> str:
    return f"INSERT INTO {table_name} ({columns}) VALUES "


_NEW_EXPENSE = _insert(
    "splits_expense",
    "trip_id, number, description, amount_minor, entered_minor, currency, rate_source, "
    "expense_date, category, split_type, divided, notes, created_by_id, created_at, updated_at",
)
_NEW_PAYER = _insert("splits_payer", "trip_id, expense_id, user_id, amount_minor, entered_minor")
_NEW_SPLITS = _insert(
    "splits_split", "trip_id, expense_id, participant_id, amount_minor, created_at"
)
_NEW_DEBTS = _insert(
    "splits_debt", "trip_id, split_id, debtor_id, creditor_id, amount_minor, open_minor"
)
_NEW_SETTLEMENT = _insert(
    "splits_settlement",
    "trip_id, sender_id, receiver_id, amount_minor, credit_minor, settled_on, note, split_id, "
    "created_by_id, created_at",
)
_NEW_ALLOCATION = _insert("splits_allocation", "trip_id, settlement_id, debt_id, amount_minor")


def log_in(db: Database, body: Mapping[str, Any], key: str) -> Answer:
    """One lookup, one Argon2 check, one session row, two tokens."""
    [(password, *account)] = db.rows(
        f"SELECT password, {shapes.USER} FROM users_user WHERE email_key = %s",
        body["email"].lower(),
    )
    try:
        _hasher.verify(password.removeprefix("argon2"), body["password"])
    except VerifyMismatchError:
        return 401, None
    now, session_id, jti = datetime.now(UTC), uuid4(), uuid4().hex
    user = shapes.user(account)
    db.run(
        "INSERT INTO users_session (id, user_id, refresh_jti, auth_hash, created_at, used_at, "
        f"expires_at) VALUES {table(1, 7)}",
        session_id,
        user["id"],
        jti,
        uuid4().hex,
        now,
        now,
        now + timedelta(seconds=_REFRESH_SECONDS),
    )
    claims = {
        "iat": now,
        "sub": str(user["id"]),
        "sid": session_id.hex,
        "iss": "tripcompanion",
        "aud": "tripcompanion",
    }

    def token(kind: str, seconds: int, token_id: str) -> str:
        own = {"token_type": kind, "jti": token_id, "exp": now + timedelta(seconds=seconds)}
        return jwt.encode(claims | own, key, algorithm="HS256")

    return 200, {
        "token": token("access", _ACCESS_SECONDS, uuid4().hex),
        "type": "Bearer",
        "expiresIn": _ACCESS_SECONDS,
        "refreshToken": token("refresh", _REFRESH_SECONDS, jti),
        "refreshExpiresIn": _REFRESH_SECONDS,
        "user": user,
    }


def create(db: Database, caller_id: int, trip_id: int, body: Mapping[str, Any]) -> Answer:
    """Record an expense that the caller paid, split equally."""
    now = datetime.now(UTC)
    with db.transaction():
        locked = db.rows(_TRIP, caller_id, trip_id)
        if not locked:
            return 404, None
        [(currency, number)] = locked
        units = shapes.UNITS[currency]
        amount_minor = round(body["amount"] * units)
        people = {row[0]: shapes.summary(row) for row in db.rows(_MEMBERS, trip_id)}
        shares = money.divide(amount_minor, dict.fromkeys(body["participantUserIds"], 1), number)
        owed = money.debts(shares, {caller_id: amount_minor}, number)
        day = date.fromisoformat(body["expenseDate"])
        db.run("UPDATE trips_trip SET expenses_recorded = %s WHERE id = %s", number + 1, trip_id)
        [(expense_id,)] = db.rows(
            f"{_NEW_EXPENSE}{table(1, 15)} RETURNING id",
            *(trip_id, number, body["description"], amount_minor, amount_minor, currency, ""),
            *(day, "OTHER", "EQUAL", True, "", caller_id, now, now),
        )
        paid_minor = (amount_minor, amount_minor)
        db.run(f"{_NEW_PAYER}{table(1, 5)}", trip_id, expense_id, caller_id, *paid_minor)
        split_ids = dict(
            db.rows(
                f"{_NEW_SPLITS}{table(len(shares), 5)} RETURNING participant_id, id",
                *(
                    value
                    for user_id, share in shares.items()
                    for value in (trip_id, expense_id, user_id, share, now)
                ),
            )
        )
        debts = [
            value
            for (debtor, creditor), minor in owed.items()
            for value in (trip_id, split_ids[debtor], debtor, creditor, minor, minor)
        ]
        db.run(f"{_NEW_DEBTS}{table(len(owed), 6)}", *debts)
        paid = {caller_id: amount_minor}
        moved = {u: (paid.get(u, 0), shares[u], owed.get((u, caller_id), 0)) for u in shares}
        _shift(db, trip_id, ("paid", "share", "owed"), moved)
    row = (
        *(expense_id, trip_id, body["description"], amount_minor, currency, amount_minor),
        *(currency, None, "", None, day, "OTHER", "EQUAL"),
        *(value for _column, value in shapes.OPTIONAL.values()),
        *(now, now),
    )
    splits = shapes.splits(
        (
            (split_ids[u], expense_id, share, None, now, owed.get((u, caller_id)), None)
            + tuple(people[u].values())
            for u, share in shares.items()
        ),
        units,
    )
    payers = [{"user": people[caller_id], "amount": amount_minor / units}]
    return 201, shapes.expense(row, payers, splits)


def pay(db: Database, caller_id: int, expense_id: int, split_id: int) -> Answer:
    """Record a settlement for each open debt of the split."""
    now = datetime.now(UTC)
    with db.transaction():
        locked = db.rows(_SPLIT, caller_id, split_id, expense_id)
        if not locked:
            return 404, None
        [(trip_id, currency, role, amount_minor, percentage, *person)] = locked
        debtor_id = person[0]
        debts = db.rows(
            "SELECT id, creditor_id, open_minor FROM splits_debt "
            "WHERE split_id = %s AND open_minor > 0 ORDER BY id",
            split_id,
        )
        if role != "OWNER" and caller_id not in {debtor_id, *(debt[1] for debt in debts)}:
            return 403, None
        for debt_id, creditor_id, open_minor in debts:
            [(settlement_id,)] = db.rows(
                f"{_NEW_SETTLEMENT}{table(1, 10)} RETURNING id",
                *(trip_id, debtor_id, creditor_id, open_minor, 0, now.date(), "", split_id),
                *(caller_id, now),
            )
            ids = (trip_id, settlement_id, debt_id)
            db.run(f"{_NEW_ALLOCATION}{table(1, 4)}", *ids, open_minor)
            db.run(
                "UPDATE splits_debt SET open_minor = 0, covered_at = %s WHERE id = %s", now, debt_id
            )
            moved = {debtor_id: (open_minor, 0, -open_minor), creditor_id: (0, open_minor, 0)}
            _shift(db, trip_id, ("sent", "received", "owed"), moved)
    row = (split_id, expense_id, amount_minor, percentage, now, 0, now, *person)
    return 200, shapes.splits([row], shapes.UNITS[currency])[0]


def _shift(
    db: Database, trip_id: int, names: tuple[str, ...], moved: Mapping[int, tuple[int, ...]]
) -> None:
    """Add to sums of several members in one statement."""
    changes = ", ".join(f"{name}_minor = {name}_minor + moved.{name}" for name in names)
    db.run(
        f"WITH moved (user_id, {', '.join(names)}) AS (VALUES {table(len(moved), 1 + len(names))}) "
        f"UPDATE trips_member AS m SET {changes} "
        "FROM moved WHERE m.trip_id = %s AND m.user_id = moved.user_id",
        *(value for user_id, sums in moved.items() for value in (user_id, *sums)),
        trip_id,
    )
