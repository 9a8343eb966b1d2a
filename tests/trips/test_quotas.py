"""How much there may be of something: trips of a user, members of a trip, expenses of a day."""

from datetime import UTC, datetime, timedelta

import time_machine

from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory, join, owned_trip
from tests.trips.bodies import dinner, lisbon
from trips.models import Trip
from trips.roles import TripRole


def assert_limit(response, limit):
    problem = problem_of(response, 409, "limit_reached")
    assert str(limit) in problem["detail"]


def test_nobody_has_more_trips_than_the_quota(api, olga, settings):
    settings.QUOTA_TRIPS = 2
    client = api(olga)
    assert [client.post("/api/trips", lisbon()).status_code for _time in range(2)] == [201, 201]
    assert_limit(client.post("/api/trips", lisbon()), 2)
    assert Trip.objects.count() == 2
    client.delete(f"/api/trips/{Trip.objects.first().pk}")
    assert client.post("/api/trips", lisbon()).status_code == 201


def test_others_may_add_somebody_above_the_quota(api, olga, sam, trip, settings):
    settings.QUOTA_TRIPS = 1
    assert api(sam).post("/api/trips", lisbon()).status_code == 201
    assert api(olga).post(f"/api/trips/{trip.pk}/members", {"userId": sam.pk}).status_code == 201
    assert trip.members.count() == 4


def test_a_trip_has_no_more_members_than_the_quota(api, olga, sam, trip, settings):
    """T63: Quotas limit trips, members and expenses."""
    settings.QUOTA_MEMBERS = 4
    client = api(olga)
    nina = UserFactory()
    assert client.post(f"/api/trips/{trip.pk}/members", {"userId": nina.pk}).status_code == 201
    assert_limit(client.post(f"/api/trips/{trip.pk}/members", {"userId": sam.pk}), 4)
    client.delete(f"/api/trips/{trip.pk}/members/{nina.pk}")
    assert client.post(f"/api/trips/{trip.pk}/members", {"userId": sam.pk}).status_code == 201
    assert_limit(client.post(f"/api/trips/{trip.pk}/members", {"userId": nina.pk}), 4)


def test_a_trip_gets_no_more_expenses_in_a_day_than_the_quota(api, olga, trip, settings):
    settings.QUOTA_EXPENSES = 2
    expense, path = dinner(olga), f"/api/trips/{trip.pk}/expenses"
    with time_machine.travel(datetime(2026, 5, 14, 23, 59, tzinfo=UTC), tick=False) as clock:
        client = api(olga)
        assert [client.post(path, expense).status_code for _time in range(2)] == [201, 201]
        before = trip.members.get(user=olga).paid_minor
        assert_limit(client.post(path, expense), 2)
        assert trip.expenses.count() == 2
        assert trip.members.get(user=olga).paid_minor == before
        clock.shift(60)
        assert client.post(path, expense).status_code == 201


def test_each_trip_counts_for_itself(api, olga, trip, settings):
    settings.QUOTA_EXPENSES = 1
    client, expense, other = api(olga), dinner(olga), owned_trip(olga)
    for one in (trip, other):
        assert client.post(f"/api/trips/{one.pk}/expenses", expense).status_code == 201
    assert_limit(client.post(f"/api/trips/{other.pk}/expenses", expense), 1)


def test_the_changes_of_a_day_are_limited(api, trip, olga, settings):
    """T198: A trip keeps a limited number of changes a day, which holds nobody in it."""
    settings.QUOTA_CHANGES = 5
    path = f"/api/trips/{trip.pk}"
    with time_machine.travel("2026-05-14T12:00:00Z", tick=False) as clock:
        client = api(olga)
        for number in range(5):
            assert client.patch(path, {"title": f"Trip {number}"}).status_code == 200
        problem_of(client.patch(path, {"title": "One more"}), 409, "limit_reached")
        assert client.get(path).json()["title"] == "Trip 4"
        clock.shift(timedelta(hours=23))
        problem_of(api(olga).patch(path, {"title": "One more"}), 409, "limit_reached")
        clock.shift(timedelta(hours=1, seconds=1))
        assert api(olga).patch(path, {"title": "One more"}).status_code == 200


def test_nobody_is_held_in_a_trip_that_others_filled(api, trip, olga, ed, vera, sam, ada, settings):
    join(trip, sam, TripRole.EDITOR)
    path = f"/api/trips/{trip.pk}"
    assert api(olga).patch(path, {"title": "Full"}).status_code == 200
    settings.QUOTA_CHANGES = 1
    problem_of(api(ed).post(f"{path}/guests", {"name": "One more"}), 409, "limit_reached")
    assert api(sam).post(f"{path}/members/leave").status_code == 204
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert api(olga).delete(f"{path}/members/{ed.pk}").status_code == 204
    assert api(olga).post("/api/users/me/logout-everywhere").status_code == 204
    assert api(ada).delete(path).status_code == 204
