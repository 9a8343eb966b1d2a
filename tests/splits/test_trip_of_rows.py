"""Rows of an expense, a debt or a settlement name their trip, whoever wrote them."""

import pytest

from splits.models import Allocation, DeletedEntry, Payer, Split
from splits.models.in_trip import InTrip
from splits.reports.audit import Difference, differences
from tests import citus
from tests.factories import TripFactory, settle, spend

ROWS = [Allocation, Payer, Split]


@pytest.fixture
def expense(api, trip, olga, ed):
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


def stored_trips(model):
    return set(model._default_manager.values_list("trip", flat=True))


@pytest.mark.parametrize("model", ROWS)
def test_every_row_is_written_with_its_trip(expense, model):
    assert stored_trips(model) == {expense.trip_id}


def test_no_other_row_repeats_its_trip():
    # Those of plugins have no rows of before.
    ours = {model for model in InTrip.__subclasses__() if model._meta.app_label == "splits"}
    assert ours == {*ROWS}


@citus.row_changes_trip
@pytest.mark.parametrize("model", ROWS)
def test_a_row_that_names_another_trip_is_reported(expense, model):
    first, other = model._default_manager.earliest("pk"), TripFactory()
    model._default_manager.filter(pk=first.pk).update(trip=other)
    text = f"{model.__name__} {first.pk} is stored as one of trip {other.pk}"
    named = {Difference(expense.trip_id, text)}
    assert {*differences()} == {*differences(expense.trip_id)} == named


def test_an_expense_that_the_previous_release_deleted_is_restored_with_it(api, expense, olga):
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
