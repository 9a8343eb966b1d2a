"""Rows of an expense, a debt or a settlement name their trip, whoever wrote them."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader

from splits.models import Allocation, DeletedEntry, Expense, Payer, Split
from splits.models.in_trip import InTrip
from splits.reports.audit import differences
from tests import citus
from tests.cast import Api
from tests.factories import settle, spend
from trips.models import Trip
from users.models import User

ROWS = [Allocation, Payer, Split]
#: SQLite made the tables of the others anew when their checks changed, with the column NOT NULL.
NULLABLE = ROWS if settings.DATABASE_URL.startswith("postgres") else [Allocation]


@pytest.fixture
def expense(api: Api, trip: Trip, olga: User, ed: User) -> Expense:
    """An expense with a payment, in a trip that was closed with credit left."""
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    settle(trip, ed, olga, 100)
    client, path = api(ed), f"/api/expenses/{expense.pk}"
    split = expense.splits.get(participant=ed)
    assert client.put(f"{path}/splits/{split.pk}/pay").status_code == 200
    spend(trip, 300, paid_by=olga, among=[ed])
    spend(trip, 300, paid_by=ed, among=[olga])
    settle(trip, ed, olga, 5)
    settle(trip, olga, ed, 5)
    return expense


def stored_trips(model: type[models.Model]) -> set[Any]:
    return set(model._default_manager.values_list("trip", flat=True))


@pytest.mark.parametrize("model", ROWS)
def test_every_row_is_written_with_its_trip(expense: Expense, model: type[models.Model]) -> None:
    assert stored_trips(model) == {expense.trip_id}


def test_no_other_row_repeats_its_trip() -> None:
    # Those of plugins have no rows of before.
    ours = {model for model in InTrip.__subclasses__() if model._meta.app_label == "splits"}
    assert ours == {*ROWS}


@citus.row_changes_trip
@pytest.mark.usefixtures("migrations")
@pytest.mark.parametrize("model", NULLABLE)
def test_rows_of_before_are_filled(expense: Expense, model: type[models.Model]) -> None:
    model._default_manager.update(trip=None)
    migration = MigrationLoader(connection).get_migration("splits", "0015_fill_trips")
    for operation in migration.operations:
        # SQLite has no schema editor in a transaction.
        operation.code(None, SimpleNamespace(connection=connection))
    assert stored_trips(model) == {expense.trip_id}
    assert list(differences(expense.trip_id)) == []


@citus.row_changes_trip
@pytest.mark.usefixtures("migrations")
@pytest.mark.parametrize("model", NULLABLE)
def test_a_row_that_names_no_trip_is_reported(expense: Expense, model: type[models.Model]) -> None:
    first = model._default_manager.earliest("pk")
    model._default_manager.filter(pk=first.pk).update(trip=None)
    text = f"{model.__name__} {first.pk} is stored as one of trip None"
    assert {difference.text for difference in differences()} == {text}
    assert {difference.text for difference in differences(expense.trip_id)} == {text}


@pytest.mark.usefixtures("migrations")
@pytest.mark.skipif(
    not settings.DATABASE_URL.startswith("postgres"), reason="SQLite has one release"
)
@pytest.mark.skipif(bool(citus.URL), reason="`distribute` drops the triggers that fill it")
@pytest.mark.parametrize("model", ROWS)
def test_a_row_of_the_previous_release_gets_its_trip(
    expense: Expense, model: type[models.Model]
) -> None:
    """It does not know the column."""
    table = model._meta.db_table
    all_columns = (field.column for field in model._meta.concrete_fields)
    columns = ", ".join(column for column in all_columns if column not in {"id", "trip_id"})
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # A copy of each row would violate them.
        cursor.execute("ALTER TABLE splits_payer DROP CONSTRAINT payer_once_in_expense")
        cursor.execute("ALTER TABLE splits_split DROP CONSTRAINT split_once_for_a_participant")
        cursor.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}")  # noqa: S608
        assert cursor.rowcount
    assert stored_trips(model) == {expense.trip_id}


def test_an_expense_that_the_previous_release_deleted_is_restored_with_it(
    api: Api, expense: Expense, olga: User
) -> None:
    client, path = api(olga), f"/api/trips/{expense.trip_id}/expenses/{expense.pk}"
    assert client.delete(path).status_code == 204
    entry = DeletedEntry.objects.get()
    for name in ("payers", "splits"):
        for row in entry.stored[name]:
            del row["trip_id"]
    entry.save_rows()
    assert client.post(f"{path}/restore").status_code == 200
    for model in (Payer, Split):
        assert stored_trips(model) == {expense.trip_id}
    assert list(differences()) == []
