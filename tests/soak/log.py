"""A log that triggers write: every change of a trip's rows, in the order of the trip's lock.

The triggers are in the soak's own database only. Each writes in the transaction of the change,
and whoever changes anything in a trip holds the lock of the trip until that transaction ends. So
the numbers of the log have, within a trip, the order in which the commands had the lock.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import psycopg

#: The columns that matter, by table. A change of no other column is logged.
TABLES = {
    "trips_trip": ("title", "currency", "code", "join_role", "budget_minor", "deleted_at"),
    "trips_member": ("trip_id", "user_id", "role", "left_at"),
    "trips_invitation": (
        *("trip_id", "created_by_id", "role", "guest_id"),
        *("max_uses", "uses", "revoked_at"),
    ),
    "users_user": ("name", "is_guest"),
    "splits_expense": (
        *("trip_id", "created_by_id", "description", "notes"),
        *("amount_minor", "entered_minor", "currency", "exchange_rate", "updated_at", "tags"),
        *("expense_date", "split_type", "stored_items"),
    ),
    "splits_payer": ("expense_id", "user_id", "entered_minor"),
    "splits_split": ("expense_id", "participant_id", "amount_minor"),
    "splits_debt": ("trip_id", "split_id", "debtor_id", "creditor_id"),
    "splits_settlement": (
        *("trip_id", "created_by_id", "sender_id", "receiver_id"),
        *("amount_minor", "note", "split_id", "closing_id"),
    ),
}
#: A guest belongs to one trip, and comes and goes with a membership.
_OPERATIONS = {"users_user": ("UPDATE",)}
_ALL_OPERATIONS = ("INSERT", "UPDATE", "DELETE")

_POSTGRESQL_TABLE = """
    CREATE TABLE soak_log (
        number bigserial PRIMARY KEY, transaction bigint, at double precision,
        "table" text, operation text, row_id bigint, old text, new text
    );
    CREATE FUNCTION soak_log_row() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO soak_log (transaction, at, "table", operation, row_id, old, new) VALUES (
            txid_current(), extract(epoch FROM clock_timestamp()), TG_TABLE_NAME, TG_OP,
            CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END,
            CASE TG_OP WHEN 'INSERT' THEN NULL ELSE to_jsonb(OLD) END,
            CASE TG_OP WHEN 'DELETE' THEN NULL ELSE to_jsonb(NEW) END
        );
        RETURN NULL;
    END $$
"""
_SQLITE_TABLE = """
    CREATE TABLE soak_log (
        number integer PRIMARY KEY AUTOINCREMENT, "transaction" integer, at real,
        "table" text, operation text, row_id integer, old text, new text
    )
"""
_SQLITE_NOW = "(julianday('now') - 2440587.5) * 86400"
_READ = (
    'SELECT number, "transaction", at, "table", operation, row_id, old, new FROM soak_log '
    "ORDER BY number"
)

_EMPTY = "DELETE FROM soak_log"


@dataclass(slots=True)
class Entry:
    """One changed row: its columns before and after, each None if there was or is no such row."""

    number: int
    #: Which transaction it was; None on SQLite, which has no name for it.
    transaction: int | None
    at: float
    table: str
    operation: str
    row: int
    old: Any
    new: Any
    #: 0 if nothing tells which trip it belongs to.
    trip: int = 0

    @property
    def columns(self) -> Any:
        """The row as it is after the change, or was before it was deleted."""
        return self.new or self.old

    @property
    def deletes_a_trip(self) -> bool:
        return self.is_of_whole_trip and self.new["deleted_at"] is not None

    @property
    def is_of_whole_trip(self) -> bool:
        """Whether it deletes or restores a trip; the memberships follow."""
        return self.table == "trips_trip" and self.changed("deleted_at")

    def changed(self, name: str) -> bool:
        return bool(self.old and self.new and self.old.get(name) != self.new.get(name))

    def __str__(self) -> str:
        names = TABLES[self.table]
        before, after = (
            row and {name: row[name] for name in names if row.get(name) not in (None, "")}
            for row in (self.old, self.new)
        )
        if before and after:
            before = {name: value for name, value in before.items() if after.get(name) != value}
        what = f"{self.table} {self.row} {self.operation} {before or ''} -> {after or ''}"
        return f"{self.number} at {self.at:.3f} (transaction {self.transaction}): {what}"


def install(database_url: str) -> None:
    """Create the log and its triggers in a database with migrated tables."""
    if database_url.startswith("sqlite"):
        with closing(_sqlite(database_url)) as connection:
            connection.execute(_SQLITE_TABLE)
            for table in TABLES:
                for operation in _OPERATIONS.get(table, _ALL_OPERATIONS):
                    connection.execute(_sqlite_trigger(table, operation))
        return
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(_POSTGRESQL_TABLE)
        for table, names in TABLES.items():
            for operation in _OPERATIONS.get(table, _ALL_OPERATIONS):
                connection.execute(
                    f"CREATE TRIGGER soak_{operation} AFTER {operation} ON {table} "
                    f"FOR EACH ROW {_when(operation, names)} EXECUTE FUNCTION soak_log_row()"
                )


def taken(database_url: str) -> list[Entry]:
    """The log in its order, which is empty then; each entry knows its trip."""
    if database_url.startswith("sqlite"):
        with closing(_sqlite(database_url)) as connection:
            rows = connection.execute(_READ).fetchall()
            connection.execute(_EMPTY)
    else:
        with psycopg.connect(database_url, autocommit=True) as connection:
            rows = connection.execute(_READ).fetchall()
            connection.execute(_EMPTY)
    entries = [Entry(*row[:6], *(text and json.loads(text) for text in row[6:])) for row in rows]
    # Offsets come and go with what closed the trip.
    entries = [entry for entry in entries if not entry.columns.get("closing_id")]
    trips: dict[int, int] = {}
    of_people: dict[int, int] = {}
    for entry in entries:
        columns = entry.columns
        if entry.table == "splits_expense":
            trips[entry.row] = columns["trip_id"]
        if entry.table == "trips_member":
            of_people[columns["user_id"]] = columns["trip_id"]
        if entry.table == "users_user":
            entry.trip = of_people.get(entry.row, 0) if columns["is_guest"] else 0
            continue
        is_trip = entry.table == "trips_trip"
        entry.trip = (
            entry.row
            if is_trip
            else columns.get("trip_id") or trips.get(columns.get("expense_id", 0), 0)
        )
    return entries


def by_transaction(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries of one trip, grouped into transactions."""
    listed = list(entries)
    if listed and listed[0].transaction is None:
        yield from _guessed(listed)
        return
    for _number, group in groupby(listed, lambda entry: entry.transaction):
        yield list(group)


def _guessed(entries: list[Entry]) -> Iterator[list[Entry]]:
    """What belongs together on SQLite, as far as the judge depends on it.

    A trip is deleted and restored with its memberships. Payers are replaced before their expense
    is written, so they go with the next entry of the expense: who may change it is decided by the
    former payers.
    """
    group: list[Entry] = []
    for entry in entries:
        if group and _ends_with_its_trip(entry, group[0]):
            group.append(entry)
            continue
        if group and (entry.table in {"trips_trip", "trips_member"} or group[0].is_of_whole_trip):
            yield group
            group = []
        group.append(entry)
        if entry.is_of_whole_trip:
            continue
        replaces = group[0].table == "splits_payer" and group[0].operation == "DELETE"
        if not replaces or entry.table == "splits_expense":
            yield group
            group = []
    if group:
        yield group


def _ends_with_its_trip(entry: Entry, first: Entry) -> bool:
    """Whether a membership ends or comes back with the trip of the entry `first`."""
    if entry.table != "trips_member" or not first.is_of_whole_trip or not entry.changed("left_at"):
        return False
    row, trip = (entry.new, first.new) if first.deletes_a_trip else (entry.old, first.old)
    return bool(row["left_at"] == trip["deleted_at"])


def _sqlite(database_url: str) -> sqlite3.Connection:
    path = database_url.removeprefix("sqlite:///")
    return sqlite3.connect(path, timeout=30, isolation_level=None)


def _sqlite_trigger(table: str, operation: str) -> str:
    names = TABLES[table]
    old, new = (
        "json_object(" + ", ".join(f"'{name}', {row}.{name}" for name in names) + ")"
        for row in ("OLD", "NEW")
    )
    row, old, new = {
        "INSERT": ("NEW", "NULL", new),
        "UPDATE": ("NEW", old, new),
        "DELETE": ("OLD", old, "NULL"),
    }[operation]
    columns = 'at, "table", operation, row_id, old, new'
    values = f"{_SQLITE_NOW}, '{table}', '{operation}', {row}.id, {old}, {new}"
    return (
        f"CREATE TRIGGER soak_{table}_{operation} AFTER {operation} ON {table} "  # noqa: S608 -- names only
        f"FOR EACH ROW {_when(operation, names)} "
        f"BEGIN INSERT INTO soak_log ({columns}) VALUES ({values}); END"
    )


def _when(operation: str, names: Iterable[str]) -> str:
    if operation != "UPDATE":
        return ""
    return f"WHEN ({' OR '.join(f'OLD.{name} IS DISTINCT FROM NEW.{name}' for name in names)})"
