"""The connection to PostgreSQL is kept, with its statements, as long as the server has them."""

from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from django.conf import settings
from django.db import DataError, IntegrityError, OperationalError, ProgrammingError, connection
from django.test.utils import CaptureQueriesContext

from tests.pooler import pooler
from tripcompanion.database.snapshots import StatementChanged

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]


@pytest.fixture
def database():
    """A connection of its own, kept as the settings say."""
    own = connection.copy()
    own.ensure_connection()
    with own.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE stop (id integer PRIMARY KEY, title varchar(20))")
        cursor.execute("INSERT INTO stop VALUES (1, 'Rome'), (2, 'Bari')")
    yield own
    own.close()


def next_request(database):
    """What Django does before and after each request."""
    database.close_if_unusable_or_obsolete()


def asked(database, query, *values):
    with database.prepared_cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def asked_together(database, *statements):
    """What the last of them answers; all in one transaction."""
    database.set_autocommit(False)
    try:
        answers = [asked(database, *statement) for statement in statements]
        database.commit()
    finally:
        database.rollback()
        database.set_autocommit(True)
    return answers[-1]


def kept(database):
    """How many statements the server keeps for the connection."""
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        return cursor.fetchone()[0]


def unseen(database, statement):
    """Run it so that psycopg does not see what it is, as it does not see what others run."""
    with database.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN EXECUTE '{statement}'; END $$")


def end_from_outside(database):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(%s, 5000)", [database.connection.info.backend_pid]
        )


TITLE = "SELECT title FROM stop WHERE id = %s"


def test_it_is_kept_from_request_to_request(database):
    first = database.connection
    for _request in range(3):
        next_request(database)
        assert asked(database, TITLE, 1) == [("Rome",)]
    assert database.connection is first
    assert kept(database) == 1


def test_a_connection_that_the_server_has_ended_is_not_used_again(database):
    first = database.connection
    assert asked(database, "SELECT 1") == [(1,)]
    end_from_outside(database)
    next_request(database)
    assert asked(database, "SELECT 1") == [(1,)]
    assert database.connection is not first


def test_one_that_ends_within_a_request_fails_only_there(database):
    asked(database, "SELECT 1")
    end_from_outside(database)
    with pytest.raises(OperationalError):
        asked(database, "SELECT 1")
    next_request(database)
    assert asked(database, "SELECT 1") == [(1,)]


def test_one_that_was_left_inside_a_transaction_is_not_used_again(database):
    first = database.connection
    first.execute("BEGIN")
    next_request(database)
    assert asked(database, "SELECT 1") == [(1,)]
    assert database.connection is not first


def test_a_statement_is_prepared_once_for_numbers_of_any_size(database):
    for number in (1, 70_000, 2**31 - 1):
        asked(database, TITLE, number)
    assert kept(database) == 1


def test_two_may_be_read_at_the_same_time(database):
    rows = "SELECT id FROM stop ORDER BY id"
    with database.prepared_cursor() as outer:
        outer.execute(rows, [])
        assert outer.fetchmany(1) == [(1,)]
        assert asked(database, rows) == [(1,), (2,)]
        assert outer.fetchmany(5) == [(2,)]
        assert outer.fetchmany(5) == []
    assert kept(database) == 1


def test_what_was_read_on_a_lost_connection_does_not_come_back(database):
    with database.prepared_cursor() as left_over:
        left_over.execute("SELECT 1", [])
        database.close()
        database.ensure_connection()
    assert asked(database, "SELECT 2") == [(2,)]


@pytest.mark.parametrize("value", ["Rome", "R'o\"me%", "Zürich 🏔", "NULL", "{1}", "", None])
def test_values_arrive_as_they_are(database, value):
    assert asked(database, "SELECT %s::text, array_length(%s::text[], 1)", value, [value]) == [
        (value, 1)
    ]


def test_a_statement_whose_columns_changed_is_prepared_anew(database):
    rows = "SELECT * FROM stop WHERE id = %s"
    assert asked(database, rows, 1) == [(1, "Rome")]
    unseen(database, "ALTER TABLE stop ALTER id TYPE bigint, ALTER title TYPE text")
    assert asked(database, rows, 1) == [(1, "Rome")]


def test_a_statement_that_the_server_forgot_is_prepared_anew(database):
    assert asked(database, TITLE, 1) == [("Rome",)]
    unseen(database, "DEALLOCATE ALL")
    assert asked(database, TITLE, 1) == [("Rome",)]


def test_inside_a_transaction_it_is_refused_once(database):
    rows = "SELECT * FROM stop WHERE id = %s"
    asked(database, rows, 1)
    unseen(database, "ALTER TABLE stop ALTER id TYPE bigint")
    with pytest.raises(StatementChanged):
        asked_together(database, ("SELECT 1",), (rows, 1))
    assert asked_together(database, ("SELECT 1",), (rows, 1)) == [(1, "Rome")]


def test_errors_are_those_of_django(database):
    with pytest.raises(IntegrityError, match="stop_pkey"):
        asked(database, "INSERT INTO stop VALUES (%s, %s) RETURNING id", 1, "Rome again")
    with pytest.raises(DataError):
        asked(database, "INSERT INTO stop VALUES (%s, %s) RETURNING id", 3, "x" * 21)
    with pytest.raises(DataError):
        asked(database, TITLE, 2**64)
    assert len(asked(database, "SELECT id FROM stop")) == 2


def test_a_statement_that_was_wrong_may_be_sent_again(database):
    for _time in range(2):
        with pytest.raises(ProgrammingError, match="nowhere"):
            asked(database, "SELECT * FROM nowhere WHERE id = %s", 1)
    with database.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE nowhere AS SELECT 1 AS id")
    assert asked(database, "SELECT * FROM nowhere WHERE id = %s", 1) == [(1,)]


def test_a_transaction_holds_all_or_nothing(database):
    insert = "INSERT INTO stop VALUES (%s, %s) RETURNING id"
    with pytest.raises(IntegrityError):
        asked_together(database, (insert, 3, "Genoa"), (insert, 1, "Rome again"))
    assert asked(database, "SELECT count(*) FROM stop") == [(2,)]
    asked_together(database, (insert, 3, "Genoa"), (insert, 4, "Turin"))
    assert asked(database, "SELECT count(*) FROM stop") == [(4,)]


def test_after_a_rollback_statements_are_prepared_again(database):
    """Psycopg lets the server forget all of them then."""
    insert = "INSERT INTO stop VALUES (%s, %s) RETURNING id"
    for number in range(3, 6):
        asked_together(database, (TITLE, 1), (insert, number, "Genoa"))
    assert kept(database) == 2
    with pytest.raises(IntegrityError):
        asked_together(database, (TITLE, 1), (insert, 1, "Rome again"))
    database.set_autocommit(False)
    with database.cursor() as cursor:  # an ordinary one begins this transaction
        cursor.execute("SELECT 1")
    assert asked(database, insert, 8, "Turin") == [(8,)]
    database.commit()
    database.set_autocommit(True)
    assert asked(database, TITLE, 8) == [("Turin",)]


def test_after_a_savepoint_is_rolled_back_they_are_too(database):
    asked_together(database, (TITLE, 1))
    database.set_autocommit(False)
    for number in (1, 2):
        with database.cursor() as cursor:
            cursor.execute("SAVEPOINT here")
        assert asked(database, TITLE, 2) == [("Bari",)]
        with pytest.raises(IntegrityError):
            asked(database, "INSERT INTO stop VALUES (%s, 'Rome again')", number)
        with database.cursor() as cursor:
            cursor.execute("ROLLBACK TO SAVEPOINT here")
    assert asked(database, TITLE, 2) == [("Bari",)]
    database.commit()
    database.set_autocommit(True)
    assert kept(database) == 1


@pytest.mark.parametrize("kind", ["cursor", "prepared_cursor"])
def test_foreign_keys_of_many_rows_are_checked_without_reading_all_of_a_table(
    database, kind, monkeypatch
):
    """Also if the check was planned when all of the table was one page."""
    read = []

    def commit(own):
        # Whatever is still to check; then what the transaction has read in whole tables.
        own.execute("SET CONSTRAINTS ALL IMMEDIATE")
        counted = "SELECT seq_tup_read FROM pg_stat_xact_all_tables WHERE relid = 'stop'::regclass"
        read.append(own.execute(counted).fetchone()[0])
        psycopg_commit(own)

    psycopg_commit = psycopg.Connection.commit
    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    with database.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE visit "
            "(stop_id integer REFERENCES stop DEFERRABLE INITIALLY DEFERRED)"
        )
        cursor.execute("ANALYZE stop, visit")
    for most in (2, 2, 2, 2, 2, 2, 2000):
        database.set_autocommit(False)
        for statement in (
            "INSERT INTO stop SELECT n, '' FROM generate_series(3, %s::integer) AS n",
            "INSERT INTO visit SELECT n FROM generate_series(2, %s::integer) AS n",
        ):
            with getattr(database, kind)() as cursor:
                cursor.execute(statement, [most])
        database.commit()
        database.set_autocommit(True)
    assert read[-1] < 10_000


@pytest.mark.parametrize("kind", ["cursor", "prepared_cursor"])
def test_a_commit_has_tables_analysed_that_have_grown_by_a_tenth(database, kind):
    """So nobody reads all of them by a plan, or an estimate, from when they were small.

    Those that were deleted from are as before: their indexes are not smaller yet.
    """
    known = []
    grow = "INSERT INTO stop SELECT n, '' FROM generate_series(%s::integer, %s::integer) AS n"
    shrink = "DELETE FROM stop WHERE id BETWEEN %s AND %s"
    for statement, *numbers in (
        *((grow, 3, 20_000), (grow, 20_001, 20_600), (grow, 20_601, 25_000)),
        (shrink, 10_001, 25_000),
    ):
        database.set_autocommit(False)
        with getattr(database, kind)() as cursor:
            cursor.execute(statement, numbers)
        database.commit()
        database.set_autocommit(True)
        with database.cursor() as cursor:
            # Rows that are not reported yet would count for the next transaction, too.
            cursor.execute(
                "SELECT reltuples, pg_stat_force_next_flush() FROM pg_class "
                "WHERE oid = 'stop'::regclass"
            )
            known.append(cursor.fetchone()[0])
    assert known == [20_000, 20_000, 25_000, 25_000]


def test_what_is_logged_goes_through_the_cursor_of_django():
    with CaptureQueriesContext(connection) as queries, connection.prepared_cursor() as cursor:
        cursor.execute("SELECT %s::bigint = ANY(%s)", [2**40, [1, 2**40]])
        assert cursor.fetchall() == [(True,)]
    assert len(queries) == 1


# -- Behind a pooler, which gives a client now this server connection, now that -----------------


@contextmanager
def two_clients(port):
    """Two connections through a pooler."""
    ours, theirs = connection.copy(), connection.copy()
    for own in (ours, theirs):
        own.settings_dict["HOST"], own.settings_dict["PORT"] = "127.0.0.1", port
        own.settings_dict["OPTIONS"] |= {"sslmode": "disable"}
        own.ensure_connection()
    try:
        yield ours, theirs
    finally:
        ours.close()
        theirs.close()


def test_behind_a_pooler_nobody_reads_rows_of_anothers_statement():
    """T141: Nobody gets rows of another client's statement through a pooler."""
    with pooler(settings.DATABASE_URL) as port, two_clients(port) as (ours, theirs):
        processes = set()
        for number in range(1, 6):
            assert asked(ours, "SELECT 'ours', %s::int", number) == [("ours", number)]
            assert asked(theirs, "SELECT 'theirs', %s::int", number) == [("theirs", number)]
            processes.add(asked(ours, "SELECT pg_backend_pid()")[0])
        # Else it would be no pooler.
        assert len(processes) == 2
        assert kept(ours) == kept(theirs) == 0


def test_behind_a_pooler_transactions_hold_together():
    with pooler(settings.DATABASE_URL) as port, two_clients(port) as (ours, theirs):
        for number in range(3):
            asked(theirs, "SELECT %s::int", number)
            statements = [("SELECT pg_backend_pid(), txid_current()",)] * 2
            first = asked_together(ours, statements[0])
            assert asked_together(ours, *statements) != first


def test_without_a_pooler_statements_are_kept_unless_the_settings_say_otherwise():
    own = connection.copy()
    own.settings_dict["OPTIONS"] |= {"prepare_threshold": None}
    try:
        assert asked(own, "SELECT %s::int", 1) == [(1,)]
        assert kept(own) == 0
    finally:
        own.close()


INSTANTS = [
    "0001-01-01 00:00:00+00",
    "1815-06-18 11:35:00.5+00",
    "2026-05-14 12:00:00+00",
    "2026-05-14 12:00:00.000001+00",
    "2026-05-14 12:00:00.120000+00",
    "2026-10-25 01:30:00.999999+05:45",
    "9999-12-31 23:59:59.999999+00",
]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
def test_instants_in_text_are_read_as_psycopg_reads_them(database, zone):
    plain = psycopg.connect(settings.DATABASE_URL, options="-c timezone=UTC", dbname="postgres")
    query = "SELECT unnest(%s::timestamptz[])"
    with plain, database.cursor() as cursor:
        expected = plain.execute(query, [INSTANTS]).fetchall()
        cursor.execute("SELECT set_config('TimeZone', %s, false)", [zone])
        # Elsewhere, the first and the last are in years that Python does not have.
        own = INSTANTS if zone == "UTC" else INSTANTS[1:-1]
        cursor.execute(query, [own])
        values = cursor.fetchall()
    assert values == (expected if zone == "UTC" else expected[1:-1])
    assert {value.utcoffset() for (value,) in values} == {timedelta(0)}


@pytest.mark.parametrize("text", ["infinity", "-infinity", "10000-01-01 00:00:00+00"])
def test_instants_that_python_does_not_have_are_an_error(database, text):
    with database.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        with pytest.raises(DataError):
            cursor.fetchone()
