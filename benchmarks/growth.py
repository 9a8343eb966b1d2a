"""Measures a large database: `python -m benchmarks.growth --millions 10`; see README.md.

The trips have ten members and a hundred expenses, each split equally among all ten; a third of the
debts is paid. COPY writes the rows, and the audit verifies them.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.report import machine
from benchmarks.servers import Home, home

MEMBERS = 10
EXPENSES = 100
SPLITS = MEMBERS * EXPENSES
DEBTS = (MEMBERS - 1) * EXPENSES
PAID = DEBTS // 3
#: Minor units; ten splits are exact.
AMOUNT, SHARE = 1_000, 100
DAY, INSTANT = "2026-05-14", "2026-05-14T12:00:00Z"
#: Expired rows of each of two tables, for a million splits.
EXPIRED = 100_000

_TRUE, _FALSE, _NULL = "t", "f", "\\N"
Lines = Iterator[tuple[Any, ...]]
_HEAD = "description, amount_minor, entered_minor, currency, rate_source, expense_date, category"
_REST = "split_type, divided, notes, created_by_id, created_at, updated_at"


def people(trip: int) -> range:
    """The ids of the members; each is in one trip."""
    return range(trip * MEMBERS + 1, (trip + 1) * MEMBERS + 1)


def expenses(trip: int) -> Iterator[tuple[int, int, int]]:
    """Id, number and payer of each expense."""
    for number in range(EXPENSES):
        yield trip * EXPENSES + number + 1, number, people(trip)[number % MEMBERS]


def debts(trip: int) -> Iterator[tuple[int, int, int, int, bool]]:
    """Id, split, debtor, creditor of each debt, and whether it is paid."""
    debt = trip * DEBTS
    for expense, _number, payer in expenses(trip):
        for at, debtor in enumerate(people(trip)):
            if debtor != payer:
                debt += 1
                yield debt, (expense - 1) * MEMBERS + at + 1, debtor, payer, debt % 3 == 0


def _users(trip: int) -> Lines:
    for user in people(trip):
        email = f"u{user}@example.com"
        yield user, f"User {user}", email, email, "!", "USER", "EUR", _TRUE, INSTANT, INSTANT, 0


def _trips(trip: int) -> Lines:
    ends = (DAY, DAY, "EUR", EXPENSES, 0, INSTANT, INSTANT)
    yield trip + 1, f"{trip:08X}", "VIEWER", f"Trip {trip}", "Everywhere", "", *ends


def _members(trip: int) -> Lines:
    sent: dict[int, int] = dict.fromkeys(people(trip), 0)
    received, owed = dict(sent), dict(sent)
    for _debt, _split, debtor, creditor, is_paid in debts(trip):
        if is_paid:
            sent[debtor] += SHARE
            received[creditor] += SHARE
        else:
            owed[debtor] += SHARE
    for at, user in enumerate(people(trip)):
        role = "EDITOR" if at else "OWNER"
        paid, share = AMOUNT * EXPENSES // MEMBERS, SHARE * EXPENSES
        sums = (paid, share, sent[user], received[user], owed[user])
        yield user, trip + 1, user, role, INSTANT, *sums


def _expenses(trip: int) -> Lines:
    for expense, number, payer in expenses(trip):
        head = (f"Expense {number}", AMOUNT, AMOUNT, "EUR", "", DAY, "FOOD")
        yield expense, trip + 1, number, *head, "EQUAL", _TRUE, "", payer, INSTANT, INSTANT


def _payers(trip: int) -> Lines:
    for expense, _number, payer in expenses(trip):
        yield expense, trip + 1, expense, payer, AMOUNT, AMOUNT


def _splits(trip: int) -> Lines:
    for expense, _number, _payer in expenses(trip):
        for at, user in enumerate(people(trip)):
            yield (expense - 1) * MEMBERS + at + 1, trip + 1, expense, user, SHARE, INSTANT


def _debts(trip: int) -> Lines:
    for debt, split, debtor, creditor, is_paid in debts(trip):
        state = (0, INSTANT) if is_paid else (SHARE, _NULL)
        yield debt, trip + 1, split, debtor, creditor, SHARE, *state


def _settlements(trip: int) -> Lines:
    for debt, split, debtor, creditor, is_paid in debts(trip):
        if is_paid:
            ends = (SHARE, 0, DAY, "", split, debtor, INSTANT)
            yield debt // 3, trip + 1, debtor, creditor, *ends


def _allocations(trip: int) -> Lines:
    for debt, *_pair, is_paid in debts(trip):
        if is_paid:
            yield debt // 3, trip + 1, debt // 3, debt, SHARE


#: The rows of a trip, by table and columns.
TABLES: dict[str, Callable[[int], Lines]] = {
    "users_user (id, name, email, email_key, password, role, currency, is_active, created_at, "
    "updated_at, session_epoch)": _users,
    "trips_trip (id, code, join_role, title, destination, description, start_date, end_date, "
    "currency, expenses_recorded, expenses_that_day, created_at, updated_at)": _trips,
    "trips_member (id, trip_id, user_id, role, joined_at, paid_minor, share_minor, sent_minor, "
    "received_minor, owed_minor)": _members,
    f"splits_expense (id, trip_id, number, {_HEAD}, {_REST})": _expenses,
    "splits_payer (id, trip_id, expense_id, user_id, amount_minor, entered_minor)": _payers,
    "splits_split (id, trip_id, expense_id, participant_id, amount_minor, created_at)": _splits,
    "splits_debt (id, trip_id, split_id, debtor_id, creditor_id, amount_minor, open_minor, "
    "covered_at)": _debts,
    "splits_settlement (id, trip_id, sender_id, receiver_id, amount_minor, credit_minor, "
    "settled_on, note, split_id, created_by_id, created_at)": _settlements,
    "splits_allocation (id, trip_id, settlement_id, debt_id, amount_minor)": _allocations,
}
#: Rows that `prune` deletes; PostgreSQL makes them.
_EXPIRED = (
    "INSERT INTO kit_throttlecounter (key, count, ends_at) "
    "SELECT 'login:' || n, 1, now() - interval '1 day' FROM generate_series(1, %s) n",
    "INSERT INTO kit_idempotencyrecord "
    "(user_id, key, fingerprint, status, location, body, created_at) "
    "SELECT 1 + n %% 10, n::text, repeat('0', 64), 201, '', repeat('x', 400)::bytea, "
    "now() - interval '2 days' FROM generate_series(1, %s) n",
)


def fill(url: str, trips: int) -> None:
    """Write so many trips into an empty, migrated database. The role must be a superuser.

    Foreign keys are not checked row by row: every row here refers to one that is written.
    """
    with psycopg.connect(url) as database:
        database.execute("SET session_replication_role = replica")
        for target, rows in TABLES.items():
            with database.cursor().copy(f"COPY {target} FROM STDIN") as copy:
                for trip in range(trips):
                    text = "\n".join(["\t".join(map(str, row)) for row in rows(trip)])
                    copy.write(f"{text}\n")
            table = target.partition(" ")[0]
            last = f"SELECT max(id) FROM {table}"  # noqa: S608 -- a name of ours
            database.execute(f"SELECT setval(pg_get_serial_sequence(%s, 'id'), ({last}))", [table])
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("VACUUM ANALYZE")


def expire(url: str, rows: int) -> None:
    with psycopg.connect(url) as database:
        for statement in _EXPIRED:
            database.execute(statement, [rows])


def size(url: str) -> int:
    """Bytes of the database."""
    with psycopg.connect(url) as database:
        row = database.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row
    return int(row[0])


class Table:
    """Prints a Markdown table row by row, with the time that each step took."""

    def __init__(self) -> None:
        sys.stdout.write("| Step | Seconds | |\n| --- | ---: | --- |\n")

    def step(self, name: str, note: str, run: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - start
        text = note.format(result) if result is not None else note
        sys.stdout.write(f"| {name} | {seconds:,.1f} | {text} |\n")
        sys.stdout.flush()
        return result


@contextmanager
def beside(url: str) -> Iterator[str]:
    """The URL of a new database beside that of `url`, which is dropped at the end."""
    copied = f"{url}_copied"
    name = copied.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(f'CREATE DATABASE "{name}"')
        try:
            yield copied
        finally:
            database.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def restore(url: str, dump: Path) -> None:
    with beside(url) as copied:
        subprocess.run(["pg_restore", "--dbname", copied, "--jobs", "2", dump], check=True)


def take_over(home: Home, url: str, file: Path) -> str:
    """Import a whole service into the new database `url`; what the command says."""
    new = replace(home, environment=home.environment | {"DATABASE_URL": url})
    new.must("manage.py", "migrate_safely", "--verbosity", "0")
    return new.must("manage.py", "import_all", str(file)).strip()


def measure(home: Home, millions: float) -> None:
    url = home.environment["DATABASE_URL"]
    trips = round(millions * 1_000_000 / SPLITS)
    rows = trips * (SPLITS + DEBTS + 2 * PAID + 2 * EXPENSES + 2 * MEMBERS + 1)
    before, table = size(url), Table()

    def manage(*arguments: str) -> str:
        return home.must("manage.py", *arguments).strip().replace("\n", ", ")

    table.step("write", f"{rows:,} rows", lambda: fill(url, trips))
    per_split = (size(url) - before) / (trips * SPLITS)
    table.step("full audit", "{}", lambda: manage("audit_ledger"))
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder, "growth.dump")
        command = ["pg_dump", "--format", "custom", "--file", dump, url]
        table.step("dump", "pg_dump -Fc", lambda: subprocess.run(command, check=True) and None)
        megabytes = dump.stat().st_size / 1e6
        table.step("restore", f"{megabytes:,.0f} MB, two jobs", lambda: restore(url, dump))
        moved, other = Path(folder, "service.zip"), f"sqlite:///{folder}/moved.sqlite3"
        table.step("export_all", "{}", lambda: manage("export_all", str(moved)))
        table.step("import_all, SQLite", "{}", lambda: take_over(home, other, moved))
        with beside(url) as copied:
            table.step("import_all, PostgreSQL", "{}", lambda: take_over(home, copied, moved))
    expire(url, round(EXPIRED * millions))
    table.step("prune", "{}", lambda: manage("prune"))
    sys.stdout.write(f"\n{trips * SPLITS:,} splits, {per_split:,.0f} bytes for each. {machine()}\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--millions", type=float, default=1, help="millions of splits (default 1)")
    arguments = parser.parse_args()
    with home(sqlite=False) as place:
        measure(place, arguments.millions)


if __name__ == "__main__":
    main()
