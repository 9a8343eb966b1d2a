"""The indexes of the search in PostgreSQL: what reads them, and who makes them."""

from typing import Any

import pytest
from django.db import connection

from plugins.search.indexes import make_indexes, wanted_indexes
from splits.models import Expense
from tests import citus
from tests.bulk import analyse
from tests.factories import TripFactory, owned_trip, spend
from tests.test_plans import plan_of, scans_of

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no such indexes"),
    pytest.mark.django_db(transaction=True),
    citus.hides_plans,
]

ROWS, TRIPS = 100_000, 200
_FOUND = """
    SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE starts_with(relname, 'search_texts_')
"""


def found():
    with connection.cursor() as cursor:
        cursor.execute(_FOUND)
        return dict(cursor.fetchall())


def copy(of):
    """Copies of an expense in other trips, a hundred to each word."""
    first, *_others = [trip.pk for trip in TripFactory.create_batch(TRIPS)]
    columns = {field.column: field.column for field in Expense._meta.concrete_fields}
    del columns["id"]
    columns |= {
        "trip_id": f"{first} + at %% {TRIPS}",
        "number": "number + at",
        "description": "'Boat w' || at / 100 || 'x'",
    }
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO splits_expense ({', '.join(columns)}) "  # noqa: S608 -- names only
            f"SELECT {', '.join(columns.values())} FROM splits_expense "
            "CROSS JOIN generate_series(1, %s) AS at WHERE id = %s",
            [ROWS, of.pk],
        )


def statements_of(call):
    written: list[tuple[str, Any]] = []

    def note(execute, sql, values, many, context):
        written.append((sql, values))
        return execute(sql, values, many, context)

    with connection.execute_wrapper(note):
        call()
    return [(sql, values) for sql, values in written if "to_tsquery" in sql]


def test_a_search_reads_an_index_or_what_the_caller_may_see(api, trip, olga, ada):
    make_indexes()
    other = owned_trip(ada)
    copy(spend(other, 100, paid_by=ada, among=[ada], description="Far"))
    mine = spend(trip, 100, paid_by=olga, among=[olga], description="Boat w7x")
    analyse()
    index = next(
        name for name, (table, _text) in wanted_indexes().items() if table == Expense._meta.db_table
    )
    answers = {}
    for user, q in ((olga, "boat"), (olga, "w7x bo"), (ada, "w7x bo"), (ada, "zebra")):
        path = f"/api/search?q={q}&type=expense"

        def ask(user=user, path=path):
            answers[user.pk, path[14:]] = api(user).get(path).json()["total"]

        assert not scans_of(ask, {"splits_expense"}), (user, q)
        if user == ada:
            plans = [plan_of(*statement) for statement in statements_of(ask)]
            assert plans, q
            assert all(index in text for text in plans), (q, plans)
    assert [*answers.values()] == [1, 1, 101, 0]
    assert mine.description == "Boat w7x"


def test_a_search_in_one_trip_does_not_read_all_trips_backwards(api, trip, olga):
    spend(trip, 100, paid_by=olga, among=[olga], description="Boat")
    path = f"/api/search?q=boat&type=expense&tripId={trip.pk}"
    plans = []

    def ask():
        # Otherwise a table with one row is read as a whole.
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan = off")
            cursor.execute("SET enable_sort = off")
        api(olga).get(path)

    try:
        plans += [plan_of(*one) for one in statements_of(ask)]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET enable_seqscan")
            cursor.execute("RESET enable_sort")
    assert plans
    assert not any("Backward using splits_expense_pkey" in text for text in plans), plans


def test_missing_and_unfinished_indexes_are_made_and_others_dropped():
    make_indexes()
    wanted = dict.fromkeys(wanted_indexes(), True)
    assert found() == wanted
    first, second, *_others = wanted
    with connection.cursor() as cursor:
        cursor.execute(f'DROP INDEX "{first}"')
        cursor.execute("CREATE INDEX search_texts_0 ON trips_trip (title)")
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [second]
        )
    make_indexes()
    assert found() == wanted


def test_an_app_whose_tables_were_removed_has_no_index():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE trips_trip RENAME TO removed")
        try:
            make_indexes()
        finally:
            cursor.execute("ALTER TABLE removed RENAME TO trips_trip")
    assert len(found()) == len(wanted_indexes()) - 1
    make_indexes()
    assert found() == dict.fromkeys(wanted_indexes(), True)
