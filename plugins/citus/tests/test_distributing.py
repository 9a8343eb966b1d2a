"""`manage.py distribute` makes tables of a coordinator of Citus that are distributed by trip.

TEST_CITUS_URL names the coordinator; without it, only what needs none is tested.
"""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from plugins.citus.management.commands.distribute import distributed_tables
from tests import citus
from tests.factories import TripFactory, join

needs_citus = pytest.mark.skipif(not citus.URL, reason="TEST_CITUS_URL names no coordinator")

#: Tables with a column for a trip whose rows belong to a user.
OF_USERS = {
    "calendar_calendarlink",
    "exchange_import",
    "splits_webhook",
    "splits_webhookposition",
    "users_mail",
    "users_scopedtoken",
}


@pytest.mark.django_db
def test_every_table_of_a_trip_is_distributed():
    with connection.cursor() as cursor:
        introspection = connection.introspection
        with_trip = {
            table
            for table in introspection.table_names(cursor)
            for column in introspection.get_table_description(cursor, table)
            if column.name == "trip_id"
        }
    # `distribute` drops what only the previous release needs.
    left = {"splits_closedperiod", "splits_closedsum"}
    assert with_trip - OF_USERS - left == distributed_tables().keys() - {"trips_trip"}


@pytest.mark.django_db
@pytest.mark.skipif(bool(citus.URL), reason="needs an ordinary database")
def test_an_ordinary_database_is_refused():
    with pytest.raises(CommandError, match="Citus|citus"):
        call_command("distribute")


@needs_citus
@pytest.mark.django_db
def test_tables_are_distributed_by_trip_and_once():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name::text, distribution_column, citus_table_type FROM citus_tables"
        )
        found = {name: (column, kind) for name, column, kind in cursor.fetchall()}
    for table, column in distributed_tables().items():
        assert found[table] == (column, "distributed")
    assert found["users_user"] == ("<none>", "reference")
    with pytest.raises(CommandError, match="distributed already"):
        call_command("distribute")


@needs_citus
@pytest.mark.django_db
def test_rules_inside_a_trip_still_hold(trip, olga):
    with pytest.raises(IntegrityError, match="member_once_in_trip"), transaction.atomic():
        join(trip, olga)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = 'splits_split'::regclass AND contype = 'f'"
        )
        keys = [definition for (definition,) in cursor.fetchall()]
    assert any("(expense_id, trip_id) REFERENCES splits_expense(id, trip_id)" in k for k in keys)


@needs_citus
@pytest.mark.django_db
def test_ids_are_exact_in_json():
    assert TripFactory().pk < 2**53
