"""Row T142: a stored answer is replayed to those alone who may still read what it is about."""

from typing import Any

import pytest
from django.utils import timezone

from tests.factories import join
from tests.scoped import ALL, script_of
from tests.security.environment import NEVER
from tests.stored import everything_stored
from tests.trips.access import Scene, call, endpoints
from tests.trips.bodies import lisbon
from tests.trips.rows import ROWS
from tests.users.logins import bearer
from trips.models import Member
from trips.roles import TripRole
from users.models import Role, User

pytestmark = pytest.mark.either

_REPEATED = {
    (end.method, end.route) for end in endpoints() if getattr(end.view, "safe_retries", False)
}
#: Every POST inside a trip whose answer shows something, and is stored.
POSTS = [
    row
    for row in ROWS
    if (row.method, row.route) in _REPEATED
    and row.method == "POST"
    and row.can is not None
    # It stores nothing.
    and not row.route.endswith("/preview")
    and row.success in {200, 201}
]


def keyed(user):
    """A client that sends the same key, and has the same request id, each time."""
    client = bearer_of(user)
    client.defaults |= {"HTTP_IDEMPOTENCY_KEY": "k", "HTTP_X_REQUEST_ID": "test"}
    return client


def bearer_of(user):
    return bearer(script_of(user, *ALL).token)


def end(user):
    Member.objects.filter(user=user).update(left_at=timezone.now())


def not_found(client):
    return client.get(f"/api/trips/{NEVER}").content


@pytest.mark.parametrize("row", POSTS, ids=str)
def test_t142_a_membership_that_ended_ends_the_replay_of_its_answers(trip, olga, row):
    """T142: A stored response about a trip is replayed only to members of that trip."""
    scene = Scene(trip, olga, own=True)
    url, client = row.route.format(**scene.ids(row.route)), keyed(olga)
    body = row.body(scene)
    first = call(client, "POST", url, body)
    assert first.status_code == row.success, first.content
    end(olga)
    before = everything_stored()
    refused = call(client, "POST", url, body)
    assert (refused.status_code, refused.content) == (404, not_found(client))
    assert "Idempotency-Replayed" not in refused
    assert everything_stored() == before
    Member.objects.filter(user=olga).update(left_at=None)
    again = call(client, "POST", url, body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again["Idempotency-Replayed"] == "true"


def test_t142_the_answer_to_making_a_trip_is_not_replayed_to_who_left_it(olga):
    client = keyed(olga)
    assert client.post("/api/trips", lisbon()).status_code == 201
    assert client.post("/api/trips", lisbon())["Idempotency-Replayed"] == "true"
    end(olga)
    refused = client.post("/api/trips", lisbon())
    assert (refused.status_code, refused.content) == (404, not_found(client))


def test_an_answer_that_shows_nothing_is_replayed_to_who_left(trip, ed):
    """Leaving is such a request: its retry says again that it is done."""
    client, path = keyed(ed), f"/api/trips/{trip.pk}/members/leave"
    first, again = client.post(path, {}), client.post(path, {})
    assert (first.status_code, again.status_code, again.content) == (204, 204, b"")
    assert again["Idempotency-Replayed"] == "true"


def test_a_member_who_may_only_read_now_gets_the_stored_answer(trip, ed):
    client, url = keyed(ed), f"/api/trips/{trip.pk}/expenses"
    body = Scene(trip, ed, own=True).expense_body()
    first = client.post(url, body)
    Member.objects.filter(user=ed).update(role=TripRole.VIEWER)
    again = client.post(url, body)
    assert (again.status_code, again.content) == (201, first.content)


def test_an_administrator_gets_stored_answers_of_every_trip(api, trip, olga, ada):
    join(trip, ada, TripRole.OWNER)
    client, url = api(ada), f"/api/trips/{trip.pk}/expenses"
    key: Any = {"headers": {"Idempotency-Key": "k"}}
    body = Scene(trip, olga, own=True).expense_body()
    first = client.post(url, body, **key)
    end(ada)
    again = client.post(url, body, **key)
    assert (again.status_code, again.content) == (201, first.content)
    User.objects.filter(pk=ada.pk).update(role=Role.USER)
    assert client.post(url, body, **key).status_code == 404


def test_an_answer_about_a_trip_that_is_gone_is_not_replayed(trip, olga):
    client, url = keyed(olga), f"/api/trips/{trip.pk}/expenses"
    body = Scene(trip, olga, own=True).expense_body()
    assert client.post(url, body).status_code == 201
    assert call(client, "DELETE", f"/api/trips/{trip.pk}", None).status_code == 204
    refused = client.post(url, body)
    assert (refused.status_code, refused.content) == (404, not_found(client))
