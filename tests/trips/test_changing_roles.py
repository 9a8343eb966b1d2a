"""Changing a member's role: by an OWNER, at once, and never to a trip without one."""

from typing import Any

import pytest
from rest_framework.response import Response

from tests.cast import Api
from tests.factories import join
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

pytestmark = pytest.mark.either


def change(api: Api, caller: User, trip: Trip, member: User, role: Any) -> Response:
    return api(caller).put(f"/api/trips/{trip.pk}/members/{member.pk}/role", {"role": role})


@pytest.mark.parametrize("role", list(TripRole))
def test_an_owner_gives_any_role(api: Api, trip: Trip, olga: User, ed: User, role: str) -> None:
    response = change(api, olga, trip, ed, role)
    assert response.status_code == 200
    assert (response.json()["user"]["id"], response.json()["role"]) == (ed.pk, role)
    assert api(ed).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == role


def test_the_answer_is_the_member(api: Api, trip: Trip, olga: User, ed: User) -> None:
    before = api(olga).get(f"/api/trips/{trip.pk}/members/{ed.pk}").json()
    after = change(api, olga, trip, ed, "VIEWER").json()
    assert after == before | {"role": "VIEWER"}
    assert api(olga).get(f"/api/trips/{trip.pk}/members/{ed.pk}").json() == after


def test_the_new_role_counts_at_once(api: Api, trip: Trip, olga: User, ed: User) -> None:
    """T15: Removal and demotion take effect with the next request."""
    client = api(ed)
    assert client.delete(f"/api/trips/{trip.pk}").status_code == 403
    change(api, olga, trip, ed, "OWNER")
    assert client.patch(f"/api/trips/{trip.pk}", {"title": "Ed's"}).status_code == 200
    change(api, olga, trip, ed, "VIEWER")
    assert client.patch(f"/api/trips/{trip.pk}", {"title": "Ed's again"}).status_code == 403


def test_the_last_owner_cannot_step_down(api: Api, trip: Trip, olga: User) -> None:
    for role in ("EDITOR", "VIEWER"):
        response = change(api, olga, trip, olga, role)
        assert (response.status_code, response.json()["code"]) == (409, "last_owner")
    assert trip.members.get(user=olga).role == TripRole.OWNER


def test_an_administrator_cannot_take_the_last_owner_away_either(
    api: Api, trip: Trip, ada: User, olga: User
) -> None:
    response = change(api, ada, trip, olga, "VIEWER")
    assert (response.status_code, response.json()["code"]) == (409, "last_owner")


def test_the_last_owner_may_stay_owner(api: Api, trip: Trip, olga: User) -> None:
    assert change(api, olga, trip, olga, "OWNER").status_code == 200


def test_one_of_two_owners_may_step_down_and_then_the_other_not(
    api: Api, trip: Trip, olga: User, ed: User
) -> None:
    change(api, olga, trip, ed, "OWNER")
    assert change(api, olga, trip, olga, "VIEWER").status_code == 200
    assert change(api, olga, trip, ed, "EDITOR").status_code == 403
    response = change(api, ed, trip, ed, "EDITOR")
    assert (response.status_code, response.json()["code"]) == (409, "last_owner")


def test_an_owner_who_left_does_not_count(api: Api, trip: Trip, olga: User, sam: User) -> None:
    join(trip, sam, TripRole.OWNER)
    assert api(sam).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    response = change(api, olga, trip, olga, "EDITOR")
    assert (response.status_code, response.json()["code"]) == (409, "last_owner")
