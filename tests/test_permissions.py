"""Who may do what: every endpoint of the URL map, for every kind of caller."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Api
from tests.trips.access import CALLERS, ROWS, Row, Scene, call, endpoints, everything_stored
from tripcompanion.urls import API
from trips.models import Trip
from trips.permissions import InTripViewSet
from trips.roles import TABLE, Can, TripRole, may_grant
from trips.views import TripViewSet
from users.models import User

CAST = dict(zip(CALLERS, ("olga", "ed", "vera", "sam", None, "ada"), strict=True))
IN_TRIP = [end for end in endpoints() if issubclass(end.view, InTripViewSet)]
REFUSED = {401, 403, 404, 409}

PROMISED = {
    #                        OWNER  EDITOR  VIEWER
    Can.READ:               ("any", "any",  "any"),
    Can.LEAVE:              ("any", "any",  "any"),
    Can.SETTLE:             ("any", "own",  "own"),
    Can.ADD_MEMBERS:        ("any", "any",  "none"),
    Can.RECORD:             ("any", "any",  "none"),
    Can.CHANGE_EXPENSES:    ("any", "own",  "none"),
    Can.DELETE_SPLITS:      ("any", "own",  "none"),
    Can.DELETE_SETTLEMENTS: ("any", "own",  "none"),
    Can.MANAGE_MEMBERS:     ("any", "none", "none"),
    Can.MANAGE_TRIP:        ("any", "none", "none"),
}  # fmt: skip


def cells() -> Iterator[Any]:
    for row in ROWS:
        for caller in CALLERS:
            for own in (False, True) if row.has_own(caller) else (False,):
                name = f"{row}-{caller}{' own' if own else ''}"
                yield pytest.param(row, caller, own, id=name)


@pytest.fixture
def cast(request: pytest.FixtureRequest, trip: Trip, sam: User, ada: User) -> dict[str, Any]:
    return {who: name and request.getfixturevalue(name) for who, name in CAST.items()}


@pytest.mark.parametrize(("row", "caller", "own"), list(cells()))
def test_each_caller_may_do_what_the_table_says(
    api: Api, cast: dict[str, Any], trip: Trip, row: Row, caller: str, own: bool
) -> None:
    scene = Scene(trip, cast[caller], own)
    url = row.route.format(**scene.ids(row.route))
    body, client = row.body(scene), api(cast[caller])
    before = everything_stored()
    response = call(client, row.method, url, body)
    assert response.status_code == row.expected(caller, own), response.content[:300]
    if response.status_code in REFUSED:
        assert response["Content-Type"] == "application/problem+json"
        assert everything_stored() == before
    if response.status_code == 401:
        assert response["WWW-Authenticate"] == "Bearer"
        assert response.json()["code"] == "not_authenticated"
    if response.status_code == 403:
        assert response.json()["code"] == "forbidden"


def test_every_endpoint_of_the_url_map_has_a_row_and_no_row_is_stale() -> None:
    served = Counter(str(endpoint) for endpoint in endpoints())
    assert served == Counter(str(row) for row in ROWS)


def test_the_table_of_roles_is_the_promised_one() -> None:
    assert list(TripRole) == ["OWNER", "EDITOR", "VIEWER"]
    assert {
        can: tuple(reach[role].value for role in TripRole) for can, reach in TABLE.items()
    } == PROMISED
    assert set(TABLE) == set(Can)


@pytest.mark.parametrize(
    ("own", "granted"),
    [("OWNER", "OWNER EDITOR VIEWER"), ("EDITOR", "EDITOR VIEWER"), ("VIEWER", "VIEWER")],
)
def test_no_role_grants_one_above_itself(own: str, granted: str) -> None:
    assert [role for role in TripRole if may_grant(own, role)] == granted.split()


@pytest.mark.parametrize("endpoint", IN_TRIP, ids=str)
def test_every_action_in_a_trip_declares_the_capability_of_its_row(endpoint: Any) -> None:
    row = next(row for row in ROWS if str(row) == str(endpoint))
    assert endpoint.action in endpoint.view.needs
    assert endpoint.view.needs[endpoint.action] is row.can


def test_no_viewset_declares_an_action_that_is_not_served() -> None:
    served = {(endpoint.view, endpoint.action) for endpoint in IN_TRIP}
    declared = {(view, action) for view, _action in served for action in view.needs}
    assert declared == served


@pytest.mark.parametrize("caller", CALLERS)
def test_an_action_that_declares_nothing_is_refused_to_everybody(
    api: Api, cast: dict[str, Any], trip: Trip, caller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(TripViewSet.needs, "retrieve")
    monkeypatch.delitem(TripViewSet.needs, "list")
    client = api(cast[caller])
    for path in ("/api/trips", f"/api/trips/{trip.pk}"):
        assert client.get(path).status_code == (401 if caller == "anonymous" else 403)


def test_the_walk_sees_nested_routes_and_every_method_of_a_route() -> None:
    """The tests above are worth as much as the walk."""
    found = {str(endpoint) for endpoint in endpoints()}
    assert found > {
        f"{method} /api/trips/{{trip_id}}" for method in ("GET", "PUT", "PATCH", "DELETE")
    }
    assert "PUT /api/expenses/{expense_id}/splits/{split_id}/pay" in found
    assert "POST /api/session/logout" in found
    assert len(found) > len(API) * 3
