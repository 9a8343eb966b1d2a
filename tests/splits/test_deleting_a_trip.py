"""A trip goes with its whole history, which is kept for a week and then deleted unread."""

from uuid import uuid4

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.cast import trip_of
from tests.factories import join, owned_trip, purge
from tests.splits.ledger import Ledger
from tripcompanion.database import deletes
from tripcompanion.database.deletes import delete_unread
from trips.models import JournalEntry
from trips.roles import TripRole
from users.models import User

#: The journal stays, so that clients learn that the trip is gone.
LEDGER = {
    *apps.get_app_config("splits").get_models(),
    *apps.get_app_config("trips").get_models(),
} - {JournalEntry}


def counted():
    return {model.__name__: model._default_manager.count() for model in LEDGER}


def live(ledger, olga, ed, vera, times):
    """Expenses, some of them paid, settled, or left over; then one that closes the trip.

    What Olga and Ed owe each other is closed with it.
    """
    for _time in range(times):
        ledger.spend(olga, 5, ed, clientId=str(uuid4()))
        ledger.spend(ed, 5, olga, paidByUserId=ed.pk)
        expense = ledger.spend(olga, 30, olga, ed, vera)
        ledger.pay(ledger.split(expense, ed), by=ed)
        ledger.settle(vera, olga, 4)
    deleted = ledger.spend(olga, 5, ed)
    assert ledger.answer(olga, "delete", f"expenses/{deleted['id']}").status_code == 204
    ledger.settle(vera, olga, 6 * times)


def test_it_takes_as_many_statements_for_a_long_history(
    api, olga, ed, vera, django_assert_num_queries
):
    statements = []
    for times in (1, 12):
        trip = trip_of(olga, ed, vera)
        ledger = Ledger(trip, api, olga)
        live(ledger, olga, ed, vera, times)
        of_no_trip = {"Rate", "DailyRate", "AuditRun"}
        assert all(count for name, count in counted().items() if name not in of_no_trip)
        ledger.client(olga)
        before = counted()
        with django_assert_num_queries(10):
            assert ledger.answer(olga, "delete", ledger.url).status_code == 204
        assert counted() == before
        with CaptureQueriesContext(connection) as captured:
            purge(trip)
        assert not any(counted().values())
        statements.append(len(captured))
    assert statements[0] == statements[1] < 70


def test_another_trip_of_the_same_people_stays(api, trip, olga, ed, vera):
    other = owned_trip(olga)
    join(other, ed, TripRole.EDITOR)
    join(other, vera)
    live(Ledger(other, api, olga), olga, ed, vera, 2)
    before = counted()
    ledger = Ledger(trip, api, olga)
    live(ledger, olga, ed, vera, 3)
    assert ledger.answer(olga, "delete", ledger.url).status_code == 204
    purge(trip)
    # The trip itself and its three members were there before.
    assert counted() == {**before, "Trip": before["Trip"] - 1, "Member": before["Member"] - 3}


@pytest.mark.parametrize("rows", [1, 5])
def test_a_statement_deletes_so_many_rows_at_most(api, trip, olga, ed, vera, rows, monkeypatch):
    ledger = Ledger(trip, api, olga)
    live(ledger, olga, ed, vera, 4)
    monkeypatch.setattr(deletes, "_BATCH_ROWS", rows)
    deleted = []

    def note(execute, sql, values, many, context):
        done = execute(sql, values, many, context)
        if sql.startswith("DELETE FROM"):
            deleted.append(context["cursor"].rowcount)
        return done

    ledger.client(olga)
    assert ledger.answer(olga, "delete", ledger.url).status_code == 204
    with connection.execute_wrapper(note):
        purge(trip)
    assert max(deleted) == rows
    assert not any(counted().values())


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite checks row by row anyway")
def test_foreign_keys_are_checked_by_each_statement_and_not_all_by_the_commit(trip, olga):
    """As many as there are rows: no time-out would end a COMMIT that checks them."""
    statements: list[str] = []

    def note(execute, sql, values, many, context):
        statements.append(sql)
        return execute(sql, values, many, context)

    trip.remove(by=olga)
    with connection.execute_wrapper(note):
        purge(trip)
    # Nothing refers to the mails and tokens, which are deleted before.
    deletions = [
        at
        for at, sql in enumerate(statements)
        if sql.startswith("DELETE FROM") and not sql.startswith('DELETE FROM "users_')
    ]
    assert "DISCARD PLANS; SET CONSTRAINTS ALL IMMEDIATE" in statements[: deletions[0]]
    assert "SET CONSTRAINTS ALL DEFERRED" in statements[deletions[-1] :]


def test_what_others_rely_on_is_not_deleted_like_that(olga, trip):
    with pytest.raises(TypeError, match=r"\w+\.(by|user)"):
        delete_unread(User.objects.filter(pk=olga.pk))
    assert User.objects.filter(pk=olga.pk).exists()
