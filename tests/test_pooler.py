"""The service behind a real PgBouncer in transaction mode, which mixes the clients' connections."""

import secrets
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
import psycopg
import pytest
from django.db import OperationalError, connection

from tests.own_rows import see_only_what_is_mine
from tests.pgbouncer import POOL_SIZE, PREPARING, pgbouncer, version
from tests.postgres import KILLED_MIGRATION, migrated_beside_a_writer
from tests.server import running_server
from tests.soak.chapter import play_chapters
from tests.splits.journey import Journey, sign_up
from tests.walked import all_of

pytestmark = [
    pytest.mark.postgresql,
    # They start clusters of their own, which `make cluster` hurts for longer.
    pytest.mark.slow,
    pytest.mark.needs("pgbouncer"),
]
THREADS = 16
#: Of each thread; see `tests.own_rows`. `make cluster` sends a hundred thousand statements.
ROUNDS = 15


@pytest.fixture(scope="module")
def pooled():
    with pgbouncer() as database:
        yield database


@pytest.fixture(scope="module", params=["unprepared", "prepared"])
def prepare(request, pooled):
    """Whether statements are prepared, which an old PgBouncer does not support."""
    if request.param == "prepared" and version() < PREPARING:
        pytest.skip("This PgBouncer does not support prepared statements.")
    return bool(request.param == "prepared")


@pytest.fixture(scope="module")
def environment(pooled, prepare):
    return pooled.environment | {"DATABASE_PREPARE": str(prepare).lower()}


@pytest.fixture(scope="module")
def server(environment):
    with running_server(**environment, DEBUG="false") as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_stays(pooled, server):
    """After each test, no server connection has kept anything of a client."""
    yield
    kept = """
        SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
            current_setting('idle_in_transaction_session_timeout'), current_setting('jit'),
            (SELECT count(*) FROM pg_prepared_statements WHERE name NOT LIKE 'PGBOUNCER%'),
            (SELECT count(*) FROM pg_cursors),
            (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    """
    with ExitStack() as stack:
        # Simultaneous transactions, so each is on another server connection.
        for _connection in range(POOL_SIZE):
            other = stack.enter_context(psycopg.connect(pooled.url, prepare_threshold=None))
            assert other.execute(kept).fetchone() == ("0", "0", "0", "on", 0, 0, 0)


@contextmanager
def traveller(server):
    with httpx.Client(base_url=server.url, timeout=30, trust_env=False) as http:
        yield sign_up(http)


def test_many_requests_of_many_clients_are_answered_with_their_own_rows(server):
    with ThreadPoolExecutor(THREADS) as pool:
        clients = [
            pool.submit(see_only_what_is_mine, server.url, ROUNDS) for _thread in range(THREADS)
        ]
        assert sum(client.result() for client in clients) >= 1500


@pytest.mark.slow
def test_random_histories_of_many_clients_are_recorded_as_they_happened(environment):
    findings = []
    with running_server(**environment) as server:
        for chapter in play_chapters(server, 6, "pooler"):
            findings += chapter.findings
    assert findings == []


def test_an_audit_and_an_export_read_everything(server):
    with traveller(server) as owner:
        journey = Journey.start(owner)
        for amount in range(1, 6):
            journey.spend(amount, owner)
        for path in all_of("OF_ACCOUNT"):
            owner.done("GET", path.removeprefix("/api"))
    assert "no difference" in server.manage("audit_ledger").stdout


_CURSORS = """
import sys
from django.db import connection, transaction
from users.models import User
def names():
    found, other = [], connection.copy()
    for name in User.objects.values_list("name", flat=True).iterator(1):
        found.append(name)
        if len(found) == 1:
            # It takes the server connection that was used last.
            other.set_autocommit(False)
            other.cursor().execute("SELECT 1")
    other.close()
    return found
outside = names()
with transaction.atomic():
    inside = names()
sys.stdout.write(f"{len(outside)} {outside == inside}")
"""


def test_rows_are_read_in_chunks_outside_and_inside_of_a_transaction(pooled, server):
    for _user in range(2):
        with traveller(server):
            pass
    [(users,)] = pooled.directly("SELECT count(*) FROM users_user")
    assert server.manage("shell", "--no-imports", "-c", _CURSORS).stdout == f"{users} True"


_TIME_OUTS = """
import sys
from django.db import OperationalError, connection, transaction
from django.db.models.expressions import RawSQL
from users.models import User
from tripcompanion.compiled import fetch_all
from tripcompanion.database.snapshots import snapshot
def code(act):
    try:
        act()
    except OperationalError as error:
        return error.__cause__.sqlstate
    return "none"
def slow():
    fetch_all("SELECT pg_sleep(%s)", [9])
def slow_in_snapshot():
    with snapshot():
        slow()
def blocked():
    fetch_all("SELECT id FROM users_user WHERE id = %s FOR UPDATE", [{id}])
def idle():
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return fetch_all("SELECT current_setting(%s)", ["idle_in_transaction_session_timeout"])
def in_chunks():
    setting = RawSQL("current_setting(%s)", ["statement_timeout"])
    with transaction.atomic():
        return list(User.objects.values_list(setting, flat=True)[:1].iterator(1))
found = [*map(code, (slow, slow_in_snapshot, blocked)), idle(), in_chunks()]
sys.stdout.write(str(found))
"""


def test_waits_are_limited_in_and_outside_of_transactions(pooled, server):
    with traveller(server) as owner, psycopg.connect(pooled.direct_url) as other:
        other.execute("SELECT id FROM users_user FOR UPDATE")
        program = _TIME_OUTS.replace("{id}", str(owner.id))
        shown = server.manage("shell", "--no-imports", "-c", program, DATABASE_TIMEOUT="3")
        other.rollback()
    canceled, not_available = "57014", "55P03"
    assert shown.stdout == str([canceled, canceled, not_available, [("10s",)], ["3s"]])


def test_without_a_time_out_a_command_takes_as_long_as_it_likes(server):
    program = "import sys; from tripcompanion.compiled import fetch_all as f;"
    program += "sys.stdout.write(str(f('SELECT 1 FROM pg_sleep(%s)', [3])))"
    shown = server.manage("shell", "--no-imports", "-c", program, DATABASE_TIMEOUT="0")
    assert shown.stdout == "[(1,)]"


def test_after_an_idempotency_key_a_lock_is_waited_for_as_before(server):
    with traveller(server) as owner:
        key, journey = {"Idempotency-Key": secrets.token_hex(8)}, Journey.start(owner)
        body = journey.expense_body(7, owner)
        first, second = (
            owner.call("POST", f"{journey.path}/expenses", body, **key) for _time in range(2)
        )
        assert (first.status_code, second.status_code) == (201, 201)
        assert second.headers["Idempotency-Replayed"] == "true"
        assert first.json() == second.json()
        assert len(journey.rows("expenses")) == 1


# -- Migrations -----------------------------------------------------------------------------------


def migrated(server):
    return server.manage("migrate_safely", "--wait", "20").stdout


@pytest.mark.slow
def test_migrations_run_again_and_again(server):
    for _time in range(2):
        assert "No migrations to apply" in migrated(server)


@pytest.mark.slow
def test_a_killed_migration_does_not_stop_the_next(server):
    for _time in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            server.manage("shell", "--no-imports", "-c", KILLED_MIGRATION)
    assert "No migrations to apply" in migrated(server)


def test_a_migration_waits_shortly_for_a_busy_table(pooled, server):
    """Its limit belongs to its transactions, not to the connection that it happened to have."""
    server.manage("migrate", "kit", "zero", "--verbosity", "0")
    said = migrated_beside_a_writer(server, pooled.direct_url, "users_user")
    assert "Applying kit.0001_tables_of_1_0_0... OK" in said


# -- What cannot work -----------------------------------------------------------------------------


def test_without_the_setting_the_refusal_is_one_line(pooled, server):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        server.manage("migrate_safely", DATABASE_POOLER="none")
    [line] = failed.value.stderr.splitlines()
    assert "unsupported startup parameter" in line


def test_a_pooler_that_passes_on_the_names_of_statements_is_refused_in_one_line(pooled, server):
    """Nor does its server connection keep the statement that was tried."""
    if version() >= PREPARING:
        pytest.skip("This PgBouncer gives statements names of its own.")
    for _time in range(POOL_SIZE + 1):
        with pytest.raises(subprocess.CalledProcessError) as failed:
            server.manage("audit_ledger", DATABASE_PREPARE="true")
        [line] = failed.value.stderr.splitlines()
        assert "does not support prepared statements" in line


def test_prepared_statements_are_kept_by_the_server_and_used_again(pooled, server, prepare):
    with traveller(server) as owner:
        for _time in range(5):
            owner.done("GET", "/trips")
    kept = (
        "SELECT count(*) FROM pg_prepared_statements "
        "WHERE generic_plans + custom_plans > 1 AND statement LIKE '%trips_trip%'"
    )
    with ExitStack() as stack:
        others = [
            stack.enter_context(psycopg.connect(pooled.url, prepare_threshold=None))
            for _connection in range(POOL_SIZE)
        ]
        counts = [other.execute(kept).fetchone() for other in others]
    assert any(count != (0,) for count in counts) == prepare


@pytest.mark.django_db
def test_a_time_zone_that_would_belong_to_the_session_is_refused(monkeypatch):
    monkeypatch.setenv("PGTZ", "Asia/Tokyo")
    own = connection.copy()
    own.is_pooled = True
    with pytest.raises(OperationalError, match="the time zone is Asia/Tokyo"):
        own.ensure_connection()
    own.close()
