"""The journal: one statement for any number of rows, counted without gaps, never changed."""

from datetime import timedelta
from decimal import Decimal
from io import StringIO

from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import TripFactory, add_guest, spend
from tests.stored import rolled_back
from trips.deletion import delete_account
from trips.models import JournalEntry, Trip
from trips.models.events import Event
from trips.models.journal import Entry, write
from users.models import ScopedToken, Via
from users.scopes import Scope


def rows_of(trip):
    return list(JournalEntry.objects.filter(trip=trip.pk).order_by("number"))


def events_of(trip):
    return [row.event for row in rows_of(trip)]


def test_rows_are_counted_in_each_trip_without_gaps(trip, olga):
    other = TripFactory()
    first = Entry(Event.EXPENSE_CREATED, 7, {"amount": (None, Decimal("40.00"))}, 7)
    second = Entry(Event.SPLIT_PAID, 8, {"paid": (False, True)}, 7)
    write(trip.pk, olga, first)
    with CaptureQueriesContext(connection) as captured:
        write(trip.pk, None, first, second, second, is_limited=False)
        write(other.pk, None)
    assert len(captured) == 1
    write(other.pk, None, first)
    assert [row.number for row in rows_of(trip)] == [1, 2, 3, 4]
    assert events_of(trip) == ["expense.created", "expense.created", "split.paid", "split.paid"]
    [row] = rows_of(other)
    assert (row.number, row.by, row.via, row.object_id, row.expense_id) == (
        1,
        None,
        "service",
        7,
        7,
    )
    assert row.stored_changes == '{"amount":{"old":null,"new":40.00}}'
    assert row.changes == {"amount": {"old": None, "new": Decimal("40.00")}}


def test_a_command_that_fails_leaves_no_gap(trip, olga):
    entry = Entry(Event.EXPENSE_CREATED, 7)
    with rolled_back():
        write(trip.pk, olga, entry)
    write(trip.pk, olga, entry)
    assert [row.number for row in rows_of(trip)] == [1]


def test_it_says_who_did_it_and_how(api, trip, olga, ed):
    url = f"/api/trips/{trip.pk}"
    token = ScopedToken.issue(olga, name="Import", scopes=list(Scope))
    client = api(None)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token.token}")
    assert api(olga).patch(url, {"title": "A"}).status_code == 200
    assert client.patch(url, {"title": "B"}).status_code == 200
    delete_account(ed, by=None)
    found = [(row.by, row.via, row.event) for row in rows_of(trip)]
    assert found == [
        (olga, Via.SESSION, Event.TRIP_CHANGED),
        (olga, Via.TOKEN, Event.TRIP_CHANGED),
        (None, Via.SERVICE, Event.MEMBER_LEFT),
    ]


def test_what_changes_nothing_is_not_in_it(api, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    guest = add_guest(trip, "Grandma")
    settled = expense.splits.get(participant=olga)
    before = len(rows_of(trip))
    client, url = api(olga), f"/api/trips/{trip.pk}"
    calls = [
        client.patch(url, {"title": trip.title}),
        client.patch(f"{url}/expenses/{expense.pk}", {"amount": 10, "notes": ""}),
        client.put(f"{url}/members/{ed.pk}/role", {"role": "EDITOR"}),
        client.put(f"{url}/guests/{guest.pk}", {"name": "Grandma"}),
        client.put(f"/api/expenses/{expense.pk}/splits/{settled.pk}/pay"),
        client.put(f"/api/expenses/{expense.pk}/splits/{settled.pk}/unpay"),
    ]
    assert [response.status_code for response in calls] == [200] * 6
    assert len(rows_of(trip)) == before


def test_prune_deletes_the_journal_of_a_trip_that_was_deleted_a_month_ago(trip, olga):
    gone, recent = TripFactory(), TripFactory()
    for each in (trip, gone, recent):
        write(each.pk, olga, Entry(Event.TRIP_CREATED, each.pk))
        write(each.pk, olga, Entry(Event.TRIP_DELETED, each.pk))
    month_ago = timezone.now() - timedelta(days=30, seconds=1)
    JournalEntry.objects.filter(trip__in=[trip.pk, gone.pk]).update(at=month_ago)
    Trip.objects.filter(pk__in=[gone.pk, recent.pk]).delete()
    call_command("prune", stdout=StringIO())
    assert set(JournalEntry.objects.values_list("trip", flat=True)) == {trip.pk, recent.pk}
