"""What a scoped token sees and does in trips: never more than its owner, often less."""

import pytest

from tests.document import problem_of
from tests.factories import TripFactory, join, owned_trip, spend
from tests.scoped import script_of
from tests.trips.bodies import dinner, lisbon
from tests.users.logins import bearer
from trips.models import Trip
from trips.roles import TripRole
from users.models import ScopedToken
from users.scopes import Scope

pytestmark = pytest.mark.once


@pytest.fixture
def other(olga, ed):
    """A second trip of Olga and Ed."""
    trip = owned_trip(olga, currency="EUR")
    join(trip, ed, TripRole.OWNER)
    return trip


def confined(user, trip, *scopes):
    return bearer(script_of(user, *(scopes or Scope), trip=trip).token)


def ids(response):
    shown = response.json()
    return [row["id"] for row in (shown["items"] if isinstance(shown, dict) else shown)]


@pytest.mark.parametrize("path", ["/api/trips", "/api/trips/my-trips"])
def test_the_list_of_trips_is_narrowed(trip, other, olga, path):
    assert ids(confined(olga, trip).get(path)) == [trip.pk]
    assert sorted(ids(bearer(script_of(olga, *Scope).token).get(path))) == [trip.pk, other.pk]


@pytest.mark.parametrize("path", ["/api/users/{}/{}", "/api/expenses/users/{}/{}"])
def test_debts_are_narrowed(trip, other, olga, ed, path):
    here = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    spend(other, 9000, paid_by=olga, among=[olga, ed])
    client = confined(ed, trip)
    assert ids(client.get(path.format(ed.pk, "pending-debts"))) == [
        here.splits.get(participant=ed).pk
    ]
    assert client.get(path.format(ed.pk, "total-debt")).json() == 5
    whole = bearer(script_of(ed, *Scope).token)
    assert len(ids(whole.get(path.format(ed.pk, "pending-debts")))) == 2
    assert whole.get(path.format(ed.pk, "total-debt")).json() == 50


def test_a_confined_token_makes_no_trips(trip, olga):
    problem_of(confined(olga, trip).post("/api/trips", lisbon()), 403, "insufficient_scope")
    assert Trip.objects.count() == 1


def test_the_present_role_of_the_owner_limits_the_token(trip, ed):
    client, path = confined(ed, trip), f"/api/trips/{trip.pk}/expenses"
    assert client.post(path, dinner(ed)).status_code == 201
    trip.members.filter(user=ed).update(role="VIEWER")
    problem_of(client.post(path, dinner(ed)), 403, "forbidden")
    assert client.get(path).status_code == 200


def test_who_left_sees_nothing_with_a_token_either(trip, ed):
    clients = [confined(ed, trip), bearer(script_of(ed, *Scope).token)]
    trip.members.get(user=ed).leave(by=ed)
    for client in clients:
        assert client.get(f"/api/trips/{trip.pk}").status_code == 404
        assert ids(client.get("/api/trips")) == []


def test_an_administrators_token_is_that_of_a_plain_member(api, trip, ada):
    path = f"/api/trips/{trip.pk}"
    client = bearer(script_of(ada, *Scope).token)
    assert api(ada).get(path).status_code == 200
    assert client.get(path).status_code == 404
    join(trip, ada, TripRole.VIEWER)
    assert client.get(path).json()["currentUserRole"] == "VIEWER"
    assert client.patch(path, {"title": "Porto"}).status_code == 403
    assert api(ada).patch(path, {"title": "Porto"}).status_code == 200


@pytest.mark.parametrize("method", ["get", "head"])
def test_reading_is_get_and_head(trip, olga, method):
    path = f"/api/trips/{trip.pk}"
    reader, writer = (bearer(script_of(olga, f"trips:{at}").token) for at in ("read", "write"))
    assert getattr(reader, method)(path).status_code == 200
    assert getattr(writer, method)(path).status_code == 403


def test_the_scope_is_asked_first_and_so_says_nothing_about_a_trip(trip, olga):
    foreign = TripFactory()
    client = bearer(script_of(olga, "expenses:read").token)
    answers = [client.get(f"/api/trips/{each}") for each in (trip.pk, foreign.pk, 999_999)]
    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.content for answer in answers}) == 1


def test_a_method_that_the_path_has_not_is_405_with_any_scope(trip, olga):
    assert bearer(script_of(olga, "expenses:read").token).delete("/api/trips").status_code == 405


# -- Safe retries -----------------------------------------------------------------------------


def record(client, trip, user):
    headers = {"Idempotency-Key": "k-1"}
    return client.post(f"/api/trips/{trip.pk}/expenses", dinner(user), headers=headers)


def test_what_a_token_may_not_see_is_not_replayed_to_it(api, trip, other, olga):
    assert record(api(olga), other, olga).status_code == 201
    problem_of(record(confined(olga, trip), other, olga), 422, "idempotency_mismatch")


def test_a_token_is_kept_apart_from_another_token(trip, olga):
    first, second = confined(olga, trip), confined(olga, trip)
    assert record(first, trip, olga).status_code == 201
    assert record(second, trip, olga).status_code == 422
    assert ScopedToken.objects.count() == 2
