"""The connection to PostgreSQL is kept, with its statements, as long as the server has them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import (
    DataError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    connection,
)

from tripcompanion.kit.snapshots import StatementChanged

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not settings.DATABASE_URL.startswith("postgres"), reason="is about PostgreSQL"
    ),
]


@pytest.fixture
def database() -> Iterator[Any]:
    """A connection of its own, kept as the settings say."""
    own = connection.copy()
    own.ensure_connection()
    with own.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE stop (id integer PRIMARY KEY, title varchar(20))")
        cursor.execute("INSERT INTO stop VALUES (1, 'Rome'), (2, 'Bari')")
    yield own
    own.close()


def next_request(database: Any) -> None:
    """What Django does before and after each request."""
    database.close_if_unusable_or_obsolete()


def asked(database: Any, query: str, *values: Any) -> list[Any]:
    with database.kept_cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def asked_together(database: Any, *statements: tuple[Any, ...]) -> list[Any]:
    """What the last of them answers; all in one transaction."""
    database.set_autocommit(False)
    try:
        answers = [asked(database, *statement) for statement in statements]
        database.commit()
    finally:
        database.rollback()
        database.set_autocommit(True)
    return answers[-1]


def kept(database: Any) -> int:
    """How many statements the server keeps for the connection."""
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'kept%%'")
        return cursor.fetchone()[0]


def end_from_outside(database: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(%s, 5000)", [database.connection.info.backend_pid]
        )


TITLE = "SELECT title FROM stop WHERE id = %s"


def test_it_is_kept_from_request_to_request(database: Any) -> None:
    first = database.connection
    for _request in range(3):
        next_request(database)
        assert asked(database, TITLE, 1) == [("Rome",)]
    assert database.connection is first
    assert kept(database) == 1


def test_a_connection_that_the_server_has_ended_is_not_used_again(database: Any) -> None:
    first = database.connection
    assert asked(database, "SELECT 1") == [(1,)]
    end_from_outside(database)
    next_request(database)
    assert asked(database, "SELECT 1") == [(1,)]
    assert database.connection is not first


def test_one_that_ends_within_a_request_fails_only_there(database: Any) -> None:
    asked(database, "SELECT 1")
    end_from_outside(database)
    with pytest.raises(OperationalError):
        asked(database, "SELECT 1")
    next_request(database)
    assert asked(database, "SELECT 1") == [(1,)]


def test_one_that_was_left_inside_a_transaction_is_not_used_again(database: Any) -> None:
    first = database.connection
    first.execute("BEGIN")
    next_request(database)
    assert asked(database, "SELECT 1") == [(1,)]
    assert database.connection is not first


def test_a_statement_is_prepared_once_for_numbers_of_any_size(database: Any) -> None:
    for number in (1, 70_000, 2**31 - 1):
        asked(database, TITLE, number)
    assert kept(database) == 1


def test_two_may_be_read_at_the_same_time(database: Any) -> None:
    rows = "SELECT id FROM stop ORDER BY id"
    with database.kept_cursor() as outer:
        outer.execute(rows, [])
        assert outer.fetchmany(1) == [(1,)]
        assert asked(database, rows) == [(1,), (2,)]
        assert outer.fetchmany(5) == [(2,)]
        assert outer.fetchmany(5) == []
    assert kept(database) == 1


def test_what_was_read_on_a_lost_connection_does_not_come_back(database: Any) -> None:
    with database.kept_cursor() as left_over:
        left_over.execute("SELECT 1", [])
        database.close()
        database.ensure_connection()
    assert asked(database, "SELECT 2") == [(2,)]


@pytest.mark.parametrize("value", ["Rome", "R'o\"me%", "Zürich 🏔", "NULL", "{1}", "", None])
def test_values_arrive_as_they_are(database: Any, value: Any) -> None:
    assert asked(database, "SELECT %s::text, array_length(%s::text[], 1)", value, [value]) == [
        (value, 1)
    ]


def test_a_statement_whose_columns_changed_is_prepared_anew(database: Any) -> None:
    rows = "SELECT * FROM stop WHERE id = %s"
    assert asked(database, rows, 1) == [(1, "Rome")]
    with database.cursor() as cursor:
        cursor.execute("ALTER TABLE stop ALTER id TYPE bigint, ALTER title TYPE text")
    assert asked(database, rows, 1) == [(1, "Rome")]


def test_a_statement_that_the_server_forgot_is_prepared_anew(database: Any) -> None:
    assert asked(database, TITLE, 1) == [("Rome",)]
    with database.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    assert asked(database, TITLE, 1) == [("Rome",)]


def test_inside_a_transaction_it_is_refused_once(database: Any) -> None:
    rows = "SELECT * FROM stop WHERE id = %s"
    asked(database, rows, 1)
    with database.cursor() as cursor:
        cursor.execute("ALTER TABLE stop ALTER id TYPE bigint")
    with pytest.raises(StatementChanged):
        asked_together(database, ("SELECT 1",), (rows, 1))
    assert asked_together(database, ("SELECT 1",), (rows, 1)) == [(1, "Rome")]


def test_errors_are_those_of_django(database: Any) -> None:
    with pytest.raises(IntegrityError, match="stop_pkey"):
        asked(database, "INSERT INTO stop VALUES (%s, %s) RETURNING id", 1, "Rome again")
    with pytest.raises(DataError):
        asked(database, "INSERT INTO stop VALUES (%s, %s) RETURNING id", 3, "x" * 21)
    with pytest.raises(DataError):
        asked(database, TITLE, 2**64)
    assert len(asked(database, "SELECT id FROM stop")) == 2


def test_a_statement_that_was_wrong_may_be_sent_again(database: Any) -> None:
    for _time in range(2):
        with pytest.raises(ProgrammingError, match="nowhere"):
            asked(database, "SELECT * FROM nowhere WHERE id = %s", 1)
    with database.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE nowhere AS SELECT 1 AS id")
    assert asked(database, "SELECT * FROM nowhere WHERE id = %s", 1) == [(1,)]


def test_a_transaction_holds_all_or_nothing(database: Any) -> None:
    insert = "INSERT INTO stop VALUES (%s, %s) RETURNING id"
    with pytest.raises(IntegrityError):
        asked_together(database, (insert, 3, "Genoa"), (insert, 1, "Rome again"))
    assert asked(database, "SELECT count(*) FROM stop") == [(2,)]
    asked_together(database, (insert, 3, "Genoa"), (insert, 4, "Turin"))
    assert asked(database, "SELECT count(*) FROM stop") == [(4,)]


def test_a_rollback_takes_no_statement_away(database: Any) -> None:
    """Psycopg lets the server forget all statements then, if any is its own."""
    insert = "INSERT INTO stop VALUES (%s, %s) RETURNING id"
    for number in range(3, 8):
        asked_together(database, (TITLE, 1), (insert, number, "Genoa"))
    with pytest.raises(IntegrityError):
        asked_together(database, (TITLE, 1), (insert, 1, "Rome again"))
    assert kept(database) == 2
    database.set_autocommit(False)
    with database.cursor() as cursor:  # an ordinary one begins this transaction
        cursor.execute("SELECT 1")
    assert asked(database, insert, 8, "Turin") == [(8,)]
    database.commit()
    database.set_autocommit(True)


def test_a_savepoint_that_is_rolled_back_takes_no_statement_away(database: Any) -> None:
    for _time in range(5):
        asked_together(database, (TITLE, 1))
    database.set_autocommit(False)
    assert asked(database, TITLE, 1) == [("Rome",)]
    with database.cursor() as cursor:
        cursor.execute("SAVEPOINT here")
        cursor.execute("ROLLBACK TO SAVEPOINT here")
    assert asked(database, TITLE, 2) == [("Bari",)]
    database.rollback()
    database.set_autocommit(True)
    assert kept(database) == 1


# -- Behind a pooler, which gives a client now this server connection, now that -----------------


@pytest.fixture
def other() -> Iterator[Any]:
    own = connection.copy()
    own.ensure_connection()
    yield own
    own.close()


def exchange(one: Any, another: Any) -> None:
    """From now on each client talks to the server connection of the other."""
    ours, theirs = one.connection, another.connection
    ours.pgconn, theirs.pgconn = theirs.pgconn, ours.pgconn


def test_a_pooled_connection_never_answers_with_rows_of_another_statement(
    database: Any, other: Any
) -> None:
    ours, theirs = "SELECT 'ours', %s::int", "SELECT 'theirs', %s::int"
    assert asked(database, ours, 1) == [("ours", 1)]
    assert asked(other, theirs, 1) == [("theirs", 1)]
    for number in (2, 3, 4):
        exchange(database, other)
        assert asked(database, ours, number) == [("ours", number)]
        assert asked(other, theirs, number) == [("theirs", number)]


def test_a_statement_that_a_pooled_connection_has_already_is_used(
    database: Any, other: Any
) -> None:
    same = "SELECT 'same', %s::int"
    assert asked(other, same, 1) == [("same", 1)]
    exchange(database, other)
    assert asked(database, same, 2) == [("same", 2)]
    assert kept(database) == 1


@pytest.mark.parametrize("query", ["SELECT 'same', %s::int", "SELECT 'new', %s::int"])
def test_inside_a_transaction_a_pooled_connection_is_an_error_at_worst(
    database: Any, other: Any, query: str
) -> None:
    asked(other, "SELECT 'same', %s::int", 1)
    asked(database, "SELECT 'new', %s::int", 1)
    exchange(database, other)
    with pytest.raises(OperationalError):
        asked_together(database, (query, 2))
    assert asked_together(database, (query, 2))[0][1] == 2
