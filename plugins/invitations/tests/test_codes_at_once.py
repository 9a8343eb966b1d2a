"""Joining by a code beside something else, on a real server."""

from functools import partial

import httpx

from tests.document import problem_of
from tests.locks import answer_after
from tests.security.conftest import http, journey, travellers
from tests.splits.journey import Journey, at_once, sign_up
from tests.trips.test_behind_the_lock import people, scene

__all__ = ["http", "journey", "people", "scene", "travellers"]

LEFT = "UPDATE trips_member SET left_at = joined_at WHERE trip_id = %s"


def test_a_code_that_was_renewed_lets_nobody_in(server, scene):
    code = scene.olga.done("GET", scene.trip.path)["tripCode"]
    call = partial(scene.nina.call, "POST", "/trips/join", {"tripCode": code})
    renewed = ("UPDATE trips_trip SET code = %s WHERE id = %s", code[::-1], scene.trip.id)
    response, nothing_stored = answer_after(server, "trips_trip", scene.trip.id, call, renewed)
    assert (response.status_code, nothing_stored) == (404, True)


def test_who_joins_gets_the_role_that_the_trip_gives_by_then(server, scene):
    scene.olga.done("PATCH", scene.trip.path, {"joinRole": "EDITOR"})
    code = scene.olga.done("GET", scene.trip.path)["tripCode"]
    call = partial(scene.nina.call, "POST", "/trips/join", {"tripCode": code})
    change = ("UPDATE trips_trip SET join_role = 'VIEWER' WHERE id = %s", scene.trip.id)
    response, _nothing_stored = answer_after(server, "trips_trip", scene.trip.id, call, change)
    assert response.json()["role"] == "VIEWER"


def test_who_joins_while_the_last_member_goes_does_not_get_in(server):
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


def test_of_twenty_who_join_as_one_user_one_succeeds(journey, travellers):
    owner, joiner, *_others = travellers
    code = {"tripCode": owner.done("GET", journey.path)["tripCode"]}
    joining = at_once([lambda: joiner.call("POST", "/trips/join", code)] * 20)
    assert joining == {(201, ""): 1, (409, "already_member"): 19}
