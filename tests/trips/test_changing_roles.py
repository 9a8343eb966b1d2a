"""Changing a member's role: by an OWNER, at once, and never to a trip without one."""

import pytest

from tests.document import problem_of
from tests.factories import join
from trips.roles import TripRole

pytestmark = pytest.mark.either


def change(api, caller, trip, member, role):
    return api(caller).put(f"/api/trips/{trip.pk}/members/{member.pk}/role", {"role": role})


@pytest.mark.parametrize("role", list(TripRole))
def test_an_owner_gives_any_role(api, trip, olga, ed, role):
    response = change(api, olga, trip, ed, role)
    assert response.status_code == 200
    assert (response.json()["user"]["id"], response.json()["role"]) == (ed.pk, role)
    assert api(ed).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == role


def test_the_answer_is_the_member(api, trip, olga, ed):
    before = api(olga).get(f"/api/trips/{trip.pk}/members/{ed.pk}").json()
    after = change(api, olga, trip, ed, "VIEWER").json()
    assert after == before | {"role": "VIEWER"}
    assert api(olga).get(f"/api/trips/{trip.pk}/members/{ed.pk}").json() == after


def test_the_new_role_counts_at_once(api, trip, olga, ed):
    """T15: Removal and demotion take effect with the next request."""
    client = api(ed)
    assert client.delete(f"/api/trips/{trip.pk}").status_code == 403
    change(api, olga, trip, ed, "OWNER")
    assert client.patch(f"/api/trips/{trip.pk}", {"title": "Ed's"}).status_code == 200
    change(api, olga, trip, ed, "VIEWER")
    assert client.patch(f"/api/trips/{trip.pk}", {"title": "Ed's again"}).status_code == 403


def test_the_last_owner_cannot_step_down(api, trip, olga):
    for role in ("EDITOR", "VIEWER"):
        problem_of(change(api, olga, trip, olga, role), 409, "last_owner")
    assert trip.members.get(user=olga).role == TripRole.OWNER


def test_an_administrator_cannot_take_the_last_owner_away_either(api, trip, ada, olga):
    problem_of(change(api, ada, trip, olga, "VIEWER"), 409, "last_owner")


def test_the_last_owner_may_stay_owner(api, trip, olga):
    assert change(api, olga, trip, olga, "OWNER").status_code == 200


def test_one_of_two_owners_may_step_down_and_then_the_other_not(api, trip, olga, ed):
    change(api, olga, trip, ed, "OWNER")
    assert change(api, olga, trip, olga, "VIEWER").status_code == 200
    assert change(api, olga, trip, ed, "EDITOR").status_code == 403
    problem_of(change(api, ed, trip, ed, "EDITOR"), 409, "last_owner")


def test_an_owner_who_left_does_not_count(api, trip, olga, sam):
    join(trip, sam, TripRole.OWNER)
    assert api(sam).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    problem_of(change(api, olga, trip, olga, "EDITOR"), 409, "last_owner")
