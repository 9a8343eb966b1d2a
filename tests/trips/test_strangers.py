"""What is not for one's eyes answers like what never was, byte for byte, and stays as it is."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.factories import join, owned_trip, settle, spend
from tests.stored import everything_stored, rolled_back
from tests.trips.access import TRIP, Scene, call
from tests.trips.rows import MEMBER, ROWS, SPLITS
from trips.roles import TripRole

pytestmark = pytest.mark.once

NEVER = 10**15
BALANCE = f"{TRIP}/balances/{{user_id}}"
IN_TRIP = [row for row in ROWS if "{trip_id}" in row.route or "{expense_id}" in row.route]
#: What is below something else in its path.
BELOW = [
    row
    for row in IN_TRIP
    if row.route.startswith((MEMBER, BALANCE)) or re.search(r"}.*{(?!user)\w+_id}", row.route)
]
#: What a route would refuse if the thing were there.
WRONG: Mapping[str, Any] = {"role": 5, "amount": "x", "tag": 5}


def looks(response):
    """All that a caller sees, but for an id of the request."""
    headers = {k: v for k, v in response.headers.items() if k.lower() != "x-request-id"}
    return response.status_code, response.content, sorted(headers.items())


def assert_alike(answers, codes=("not_found",)):
    assert answers[0].status_code in {404, 400}
    assert answers[0].json()["code"] in codes
    assert all(looks(answer) == looks(answers[0]) for answer in answers)


@pytest.mark.parametrize("row", IN_TRIP, ids=str)
def test_to_a_stranger_a_trip_is_as_if_it_had_never_been(api, trip, sam, row):
    """T01, T02, T03, T04: To a stranger, a trip and all in it are as if they did not exist."""
    scene = Scene(trip, sam, own=False)
    ids = scene.ids(row.route)
    none = {name: NEVER + at for at, name in enumerate(ids)}
    client, good = api(sam), row.body(scene)
    before = everything_stored()
    for body in (good, {}, WRONG):
        # Names that an operation does not have are refused before anything is looked for.
        codes = ("not_found", "invalid") if body is WRONG else ("not_found",)
        answers = [call(client, row.method, row.route.format(**at), body) for at in (ids, none)]
        assert_alike(answers, codes)
    assert everything_stored() == before


def test_to_who_left_a_trip_is_as_if_it_had_never_been(api, trip, sam):
    join(trip, sam, TripRole.OWNER)
    client = api(sam)
    assert client.post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    for row in IN_TRIP:
        with rolled_back():
            scene = Scene(trip, sam, own=False)
            ids = scene.ids(row.route)
            none = {name: NEVER + at for at, name in enumerate(ids)}
            urls, body = [row.route.format(**at) for at in (ids, none)], row.body(scene)
            assert_alike([call(client, row.method, url, body) for url in urls])


@pytest.mark.parametrize("row", BELOW, ids=str)
def test_under_another_parent_a_thing_is_not_there(api, trip, olga, ada, sam, row):
    """T06: An object is not found under a parent that it does not belong to.

    Olga owns both trips, and may see both expenses.
    """
    other = owned_trip(olga)
    join(other, sam, TripRole.OWNER)
    beside = {
        "trip_id": other.pk,
        "expense_id": spend(other, 900, paid_by=olga, among=[olga, sam]).pk,
        "user_id": sam.pk,
    }
    for user in (olga, ada):
        with rolled_back():
            scene = Scene(trip, user, own=False)
            ids = scene.ids(row.route)
            *parents, child = ids
            # Somebody of another trip, or something of another parent.
            wrong = [child] if child == "user_id" else parents
            never = ids | {child: NEVER}
            client, body = api(user), row.body(scene)
            before = everything_stored()
            urls = [row.route.format(**at) for at in (ids | {n: beside[n] for n in wrong}, never)]
            assert_alike([call(client, row.method, url, body) for url in urls])
            assert everything_stored() == before


@pytest.mark.parametrize("method_and_end", ["GET", "DELETE", "PUT /pay", "PUT /unpay"])
def test_a_split_is_not_there_under_another_expense_of_the_same_trip(
    api, trip, olga, ed, method_and_end
):
    """T07: A split is not found under another expense of its trip."""
    method, _space, end = method_and_end.partition(" ")
    one, two = (spend(trip, 1000, paid_by=olga, among=[olga, ed]) for _expense in range(2))
    split = one.splits.get(participant=ed)
    client = api(olga)
    before = everything_stored()
    urls = [f"/api/expenses/{two.pk}/splits/{pk}{end}" for pk in (split.pk, NEVER)]
    assert_alike([call(client, method, url, None) for url in urls])
    assert everything_stored() == before


def test_the_lists_of_a_trip_hold_nothing_of_another(api, trip, olga, ed):
    other = owned_trip(olga)
    join(other, ed)
    expense = spend(other, 1000, paid_by=olga, among=[olga, ed])
    settle(other, ed, olga, 100)
    client = api(olga)
    assert client.get(f"/api/trips/{trip.pk}/expenses").json()["total"] == 0
    assert client.get(f"/api/trips/{trip.pk}/settlements").json()["total"] == 0
    assert {row["balance"] for row in client.get(f"/api/trips/{trip.pk}/balances").json()} == {0}
    assert client.get(f"/api/trips/{trip.pk}/settle-up").json() == []
    mine = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    listed = client.get(SPLITS.format(expense_id=mine.pk)).json()
    assert {split["expenseId"] for split in listed} == {mine.pk}
    assert expense.pk != mine.pk


OF_A_USER = [row for row in ROWS if "users/{user_id}" in row.route and row.own != row.statuses]


@pytest.mark.parametrize("row", OF_A_USER, ids=str)
def test_what_is_for_oneself_is_403_whether_or_not_the_account_exists(api, trip, sam, olga, row):
    """T08, T10, T11: What is for oneself and ADMINs is refused to others, for any id alike."""
    client, good = api(sam), row.body(Scene(trip, sam, own=False))
    before = everything_stored()
    for body in (good, {}, WRONG):
        real, none = (
            call(client, row.method, row.route.format(user_id=pk), body) for pk in (olga.pk, NEVER)
        )
        assert (real.status_code, real.json()["code"]) == (403, "forbidden")
        assert looks(real) == looks(none)
    assert everything_stored() == before
