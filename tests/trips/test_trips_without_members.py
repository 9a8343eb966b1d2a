"""A trip whose only member deleted their account: nobody gets in without an owner."""

from functools import partial
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from tests.cast import Api
from tests.document import problem_of
from tests.factories import PASSWORD, TripFactory, UserFactory, add_guest, join
from tests.locks import answer_after
from tests.server import Server
from tests.splits.journey import Journey, sign_up
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

LEFT = "UPDATE trips_member SET left_at = joined_at WHERE trip_id = %s"


@pytest.fixture
def abandoned(api: Api, sam: User) -> Trip:
    """A trip with a guest, whose owner has deleted their account."""
    trip, owner = TripFactory(join_role="EDITOR"), UserFactory()
    join(trip, owner, TripRole.OWNER)
    add_guest(trip)
    response = api(owner).delete("/api/users/me", {"password": PASSWORD})
    assert response.status_code == 204, response.content
    return trip


def test_its_code_is_invalid(api: Api, abandoned: Trip, sam: User) -> None:
    """T155: Nobody gets into a trip whose only member deleted their account."""
    client = api(sam)
    assert client.get(f"/api/trips/code/{abandoned.code}").status_code == 404
    response = client.post("/api/trips/join", {"tripCode": abandoned.code})
    problem_of(response, 404, "not_found")
    call_command("audit_ledger")


def test_an_administrator_adds_an_owner_first(
    api: Api, abandoned: Trip, ada: User, ed: User, olga: User
) -> None:
    def add(user: User, role: str) -> Any:
        body = {"userId": user.pk, "role": role}
        return api(ada).post(f"/api/trips/{abandoned.pk}/members", body)

    refused = add(ed, "EDITOR")
    problem_of(refused, 409, "no_owner")
    assert add(olga, "OWNER").status_code == 201
    assert add(ed, "EDITOR").status_code == 201
    assert api(ed).get(f"/api/trips/code/{abandoned.code}").json()["memberCount"] == 3
    call_command("audit_ledger")


def test_who_joins_while_the_last_member_goes_does_not_get_in(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        olga, nina = sign_up(http), sign_up(http)
        trip = Journey.start(olga)
        code = olga.done("GET", trip.path)["tripCode"]
        call = partial(nina.call, "POST", "/trips/join", {"tripCode": code})
        response, nothing_stored = answer_after(
            server, "trips_trip", trip.id, call, (LEFT, trip.id)
        )
        problem_of(response, 409, "no_owner")
        assert nothing_stored
