"""A deleted trip is nowhere for a week, and restored it is as it was."""

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import (
    PASSWORD,
    TripFactory,
    UserFactory,
    add_guest,
    join,
    owned_trip,
    purge,
    settle,
    spend,
)
from tests.scoped import script_of
from tests.trips.bodies import lisbon
from tests.walked import all_of
from trips.models import JournalEntry, Trip
from trips.roles import TripRole
from users.models import Mail, User
from users.scopes import Scope

DELETED = "/api/trips?deleted=true"


def url(trip, *parts):
    return "/".join(map(str, ("/api/trips", trip.pk, *parts)))


@pytest.fixture
def lived(api, trip, olga, ed, vera):
    """A trip with a bit of everything; Ed owes Olga 5.00."""
    guest = add_guest(trip)
    spend(trip, 2000, paid_by=olga, among=[olga, ed, vera, guest])
    settle(trip, vera, olga, 200)
    gone = spend(trip, 300, paid_by=ed, among=[ed])
    assert api(ed).delete(url(trip, "expenses", gone.pk)).status_code == 204
    return trip


def delete(api, trip, by):
    assert api(by).delete(url(trip)).status_code == 204


def restored(api, trip, by):
    response = api(by).post(url(trip, "restore"))
    assert response.status_code == 200, response.content
    assert list(differences(trip.pk)) == []
    return response.json()


def everything(api, trip, user):
    paths = (
        *("", "/members", "/expenses", "/expenses?deleted=true", "/settlements", "/balances"),
        *("/settle-up", *(f"/{path}" for path in all_of("UNCHANGED"))),
    )
    client = api(user)
    shown = {path: client.get(url(trip) + path).json() for path in paths}
    debts = f"/api/users/{user.pk}/pending-debts"
    return {**shown, "trips": client.get("/api/trips").json(), "debts": client.get(debts).json()}


def test_a_trip_is_restored_as_it_was(api, lived, olga, ed, vera):
    before = {user: everything(api, lived, user) for user in (olga, ed, vera)}
    numbers = JournalEntry.objects.filter(trip=lived.pk).count()
    delete(api, lived, olga)
    assert restored(api, lived, olga) == before[olga][""]
    assert {user: everything(api, lived, user) for user in before} == before
    rows = JournalEntry.objects.filter(trip=lived.pk).order_by("number")
    assert [(row.number, row.event) for row in rows][numbers:] == [
        (numbers + 1, "trip.deleted"),
        (numbers + 2, "trip.restored"),
    ]
    problem_of(api(olga).post(url(lived, "restore")), 409, "not_restorable")


def test_a_deleted_trip_is_nowhere(api, lived, olga, ed, ada, sam):
    """T175: A deleted trip is in no list and no sum, and nobody reads or changes it."""
    expense = lived.expenses.get()
    delete(api, lived, olga)
    paths = (
        *("", "/members", "/expenses", "/expenses?deleted=true", "/settlements", "/balances"),
        *("/settle-up", f"/members/{ed.pk}", f"/balances/{ed.pk}"),
        f"/expenses/{expense.pk}",
        *all_of("PLACES"),
    )
    for user in (olga, ed, ada):
        client = api(user)
        for path in paths:
            assert client.get(url(lived) + path).status_code == 404, path
        assert client.get(f"/api/expenses/{expense.pk}/splits").status_code == 404
        assert client.get("/api/trips").json()["items"] == []
    for path, expected in (("pending-debts", []), ("total-debt", 0)):
        for reader in (ed, ada):
            assert api(reader).get(f"/api/users/{ed.pk}/{path}").json() == expected
    assert api(ada).post(url(lived, "members"), {"userId": sam.pk}).status_code == 404
    assert api(ed).get(f"/api/users/{olga.pk}").json()["email"] is None
    assert list(differences(lived.pk)) == []


def test_only_those_who_owned_it_list_and_restore_it(api, trip, olga, ed, vera, sam, ada):
    """T176: Only those who owned a trip restore it, once and in time."""
    former = TripFactory()
    for user in (olga, sam):
        join(former, user, TripRole.OWNER)
    former.members.get(user=olga).leave(by=olga)
    delete(api, former, sam)
    delete(api, trip, olga)
    for user, ids in ((olga, [trip.pk]), (sam, [former.pk]), (ed, []), (vera, []), (ada, [])):
        page = api(user).get(DELETED).json()
        assert [row["id"] for row in page["items"]] == ids
        assert page["total"] == len(ids)
    for user in (ed, vera):
        problem_of(api(user).post(url(trip, "restore")), 403, "forbidden")
    for user in (olga, ed):
        problem_of(api(user).post(url(former, "restore")), 404)
    assert api(ada).post(url(trip, "restore")).status_code == 200


def test_the_last_deleted_is_listed_first_and_each_page_costs_the_same(
    api, olga, django_assert_num_queries
):
    trips = TripFactory.create_batch(12)
    for trip in trips:
        join(trip, olga, TripRole.OWNER)
        trip.remove(by=olga)
    client = api(olga)
    for size in (1, 10):
        with django_assert_num_queries(3):
            page = client.get(f"{DELETED}&pageSize={size}").json()
        assert [row["id"] for row in page["items"]] == [t.pk for t in trips[::-1]][:size]
        assert page["total"] == 12
    assert {row["currentUserRole"] for row in page["items"]} == {"OWNER"}


def test_a_week_later_it_is_over_and_prune_deletes_it(api, lived, olga, settings):
    delete(api, lived, olga)
    deleted_at = Trip.objects.get(pk=lived.pk).deleted_at
    with time_machine.travel(deleted_at + timedelta(days=7, seconds=-5)):
        call_command("prune", stdout=StringIO())
        assert api(olga).get(DELETED).json()["total"] == 1
    with time_machine.travel(deleted_at + timedelta(days=7, seconds=5)):
        client = api(olga)
        assert client.get(DELETED).json()["total"] == 0
        problem_of(client.post(url(lived, "restore")), 404)
        said = StringIO()
        call_command("prune", stdout=said, dry_run=True)
        assert "1 deleted trips" in said.getvalue()
        call_command("prune", stdout=StringIO())
    assert not Trip.objects.exists()
    assert not User.objects.filter(is_guest=True).exists()
    assert JournalEntry.objects.filter(trip=lived.pk, event="trip.deleted").exists()


@pytest.fixture
def left_out(transactional_db):
    """A table with a foreign key to trips that belongs to no app."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE left_out"
            " (trip_id bigint REFERENCES trips_trip DEFERRABLE INITIALLY DEFERRED)"
        )
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE left_out")


@pytest.mark.usefixtures("left_out")
def test_a_trip_of_which_an_app_that_is_left_out_has_rows_stays_and_stops_no_other(caplog):
    owner = UserFactory()
    kept, gone = trips = [TripFactory(), TripFactory()]
    for trip in trips:
        join(trip, owner, TripRole.OWNER)
        trip.remove(by=owner)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO left_out VALUES (%s)", [kept.pk])
    said = StringIO()
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        call_command("prune", stdout=said)
        assert "1 deleted trips" in said.getvalue()
        assert [*Trip.objects.all()] == [kept]
        assert f"Trip {kept.pk} stays" in caplog.text
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM left_out")
        call_command("prune", stdout=StringIO())
    assert not Trip.objects.exists()


def test_mails_end_with_their_trip(api, trip, olga, vera):
    delete(api, trip, olga)
    # As the previous release queues one meanwhile.
    Mail.objects.create(user=vera, letter="MEMBER_ADDED", address=vera.email, trip_id=trip.pk)
    assert Mail.objects.exists()
    purge(trip)
    assert not Mail.objects.exists()


def test_the_journal_of_a_trip_that_was_deleted_twice_stays_for_a_month_after_the_second_time(
    api, trip, olga
):
    delete(api, trip, olga)
    JournalEntry.objects.update(at=timezone.now() - timedelta(days=31))
    restored(api, trip, olga)
    delete(api, trip, olga)
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        call_command("prune", stdout=StringIO())
        assert JournalEntry.objects.filter(trip=trip.pk).count() == 3
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        call_command("prune", stdout=StringIO())
    assert not JournalEntry.objects.filter(trip=trip.pk).exists()


def test_a_deleted_trip_hinders_no_deletion_of_an_account(api, lived, olga, ed):
    """Ed owes something in it; restored, it has a former member who owes it."""
    delete(api, lived, olga)
    assert api(ed).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    rows = JournalEntry.objects.filter(trip=lived.pk, event="member.left")
    assert [row.object_id for row in rows] == [ed.pk]
    detail = restored(api, lived, olga)
    assert ed.pk not in [member["user"]["id"] for member in detail["members"]]
    balances = api(olga).get(url(lived, "balances")).json()
    assert {row["user"]["id"]: row["balance"] for row in balances}[ed.pk] == -5


def test_a_trip_without_owners_is_not_restored(api, trip, olga, ed, ada):
    delete(api, trip, olga)
    assert api(olga).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    problem_of(api(ed).post(url(trip, "restore")), 403, "forbidden")
    problem_of(api(ada).post(url(trip, "restore")), 409, "not_restorable")
    assert Trip.objects.get(pk=trip.pk).deleted_at is not None


def test_nobody_gets_more_trips_than_the_quota(api, trip, olga, vera, settings):
    settings.QUOTA_TRIPS = 1
    delete(api, trip, olga)
    other = api(vera).post("/api/trips", lisbon())
    assert other.status_code == 201
    refused = problem_of(api(olga).post(url(trip, "restore")), 409, "not_restorable")
    assert str(vera.pk) in refused["detail"]
    assert api(vera).delete(f"/api/trips/{other.json()['id']}").status_code == 204
    restored(api, trip, olga)


def test_a_stored_answer_is_not_replayed_while_the_trip_is_deleted(api, trip, olga):
    client = api(olga)
    key = {"HTTP_IDEMPOTENCY_KEY": "once"}
    first = client.post(url(trip, "code"), **key)
    delete(api, trip, olga)
    problem_of(client.post(url(trip, "code"), **key), 404)
    again = {"HTTP_IDEMPOTENCY_KEY": "again"}
    assert client.post(url(trip, "restore"), **again).status_code == 200
    assert client.post(url(trip, "restore"), **again)["Idempotency-Replayed"] == "true"
    assert client.post(url(trip, "code"), **key).json() == first.json()


def test_a_token_restores_only_its_trip_and_with_its_scope(api, trip, olga):
    other = owned_trip(olga)
    made = {
        "reads": script_of(olga, Scope.TRIPS_READ),
        "of other": script_of(olga, Scope.TRIPS_READ, Scope.TRIPS_WRITE, trip=other),
        "own": script_of(olga, Scope.TRIPS_READ, Scope.TRIPS_WRITE, trip=trip),
    }
    delete(api, trip, olga)
    found = {}
    for name, token in made.items():
        client = api(None)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token.token}")
        listed = client.get(DELETED).json()["total"]
        found[name] = listed, client.post(url(trip, "restore")).status_code
    assert found == {"reads": (1, 403), "of other": (0, 404), "own": (1, 200)}


def test_nothing_waits_to_be_told_of_a_deleted_trip(api, trip, olga, vera):
    Mail.objects.create(user=vera, letter="NEWS", address=vera.email, trip_id=trip.pk)
    delete(api, trip, olga)
    assert not Mail.objects.filter(trip_id=trip.pk).exists()
