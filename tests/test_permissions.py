"""Who may do what: every endpoint of the URL map, for every kind of caller."""

import re
from collections import Counter

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.cast import WITH_ROLE
from tests.document import operation_at, require_valid
from tests.factories import owned_trip
from tests.scoped import ALL, script_of
from tests.sources import ROOT, shipped
from tests.stored import everything_stored, rolled_back
from tests.trips.access import CALLERS, OPEN, ROLES, Scene, call, endpoints, promised
from tests.trips.rows import ROWS
from tests.trips.scopes import AREAS, SCOPES_OF, scope_of, scopes_of
from tests.users.logins import bearer
from tests.walked import merged
from tripcompanion.urls import API
from trips.roles import TABLE, Can, TripRole, may_grant
from trips.views import TripViewSet
from trips.viewsets import InTripViewSet
from users.models import User

pytestmark = pytest.mark.once

CAST = dict(zip(CALLERS, (*WITH_ROLE.values(), "sam", None, "ada"), strict=True))
IN_TRIP = [end for end in endpoints() if issubclass(end.view, InTripViewSet)]
REFUSED = {401, 403, 404, 409}


def test_roles_are_compared_where_their_table_is():
    names = "|".join(TripRole.names)
    named = re.compile(rf"""TripRole\.({names})\b|["']({names})["']""")
    files = (
        path.relative_to(ROOT).as_posix() for path in shipped() if named.search(path.read_text())
    )
    assert set(files) == {"trips/roles.py"}


@pytest.fixture
def cast(request, trip, sam, ada):
    return {who: name and request.getfixturevalue(name) for who, name in CAST.items()}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_caller_may_do_what_the_table_says(api, cast, trip, row):
    """T49, T66, T68, T74: Roles, strangers and ADMINs may do what is promised, and nothing else.

    The promise stands in the tests, so a changed table is noticed over HTTP.
    """
    operation = operation_at(row.method, re.sub(r"{\w+}", "1", row.route))
    for cells in sharing_a_scene(row):
        with rolled_back():
            request = request_in(Scene(trip, cast[cells[0][0]], cells[0][1]), row)
            for caller, own in cells:
                expected = row.expected(caller, own)
                response = answer_to(request, api(cast[caller]), expected)
                assert response.status_code == expected, (caller, own, response.content)
                if operation and expected < 300:
                    require_valid(operation, response)
                    operation = None  # once is enough
                require_reason(row, response)


def sharing_a_scene(row):
    """The cells of a row; who has no right in a trip is refused in one scene."""
    cells = [*row.cells()]
    outside = [] if row.can is None else [("stranger", False), ("anonymous", False)]
    return [[cell] for cell in cells if cell not in outside] + [outside] * bool(outside)


def require_reason(row, response):
    """A refusal says which it is."""
    if response.status_code in REFUSED:
        assert response["Content-Type"] == "application/problem+json"
    if response.status_code == 401:
        assert response["WWW-Authenticate"] == "Bearer"
        is_for_all = row.statuses and set(row.statuses.values()) == {401}
        code = merged("REFUSED_BY_STATE")[str(row)] if is_for_all else "not_authenticated"
        assert response.json()["code"] == code
    if response.status_code == 403:
        assert response.json()["code"] == "forbidden"


def request_in(scene, row):
    """The method, the path and the body of the endpoint in the scene, whose rows are made."""
    path = row.route.format(**scene.ids(row.route))
    return row.method, path, row.body(scene)


def answer_to(request, client, expected=403):
    """What is answered; what shall be refused changes nothing."""
    before = expected in REFUSED and everything_stored()
    response = call(client, *request)
    assert response.status_code not in REFUSED or not before or everything_stored() == before
    return response


@pytest.mark.parametrize("row", [row for row in ROWS if row.can], ids=str)
def test_whoever_reads_or_writes_in_a_trip_has_answered(api, trip, olga, row):
    request = request_in(Scene(trip, olga, own=True), row)
    olga.memberships.filter(trip=trip).update(introduced_by=0)
    User.objects.filter(pk=olga.pk).update(is_unanswered=True)
    assert call(api(olga), *request).status_code == row.expected("owner", own=True)
    assert row.can is Can.LEAVE or not olga.memberships.filter(trip=trip, introduced_by=0)


def test_every_endpoint_of_the_url_map_has_a_row_and_no_row_is_stale():
    served = Counter(str(endpoint) for endpoint in endpoints())
    assert served == Counter(str(row) for row in ROWS)


def test_the_table_of_roles_is_the_promised_one():
    assert list(TripRole) == ROLES
    assert {
        can: tuple(access[role].value for role in TripRole) for can, access in TABLE.items()
    } == promised()


@pytest.mark.parametrize("place", range(len(ROLES)))
def test_no_role_grants_one_above_itself(place):
    assert [role for role in TripRole if may_grant(ROLES[place], role)] == ROLES[place:]


def test_every_action_in_a_trip_declares_the_capability_of_its_row():
    rows = {str(row): row for row in ROWS}
    for endpoint in IN_TRIP:
        assert endpoint.action in endpoint.view.needs, endpoint
        assert endpoint.view.needs[endpoint.action] is rows[str(endpoint)].can, endpoint


def test_no_viewset_declares_an_action_that_is_not_served():
    served = {(endpoint.view, endpoint.action) for endpoint in IN_TRIP}
    declared = {(view, action) for view, _action in served for action in view.needs}
    inherited = {
        (view, action)
        for view, action in declared
        if any(action in getattr(base, "needs", ()) for base in view.__bases__)
    }
    assert declared - inherited == served - inherited


def test_every_viewset_has_its_area_and_every_route_its_scope():
    for endpoint in endpoints():
        area = AREAS[endpoint.view]
        assert area == OPEN or area == getattr(endpoint.view, "scope_prefix", None), endpoint
    assert {endpoint.view for endpoint in endpoints()} == set(AREAS)


def test_the_scope_of_every_route_in_a_trip_opens_its_capability():
    for endpoint in IN_TRIP:
        can, scope = endpoint.view.needs[endpoint.action], scope_of(endpoint)
        assert can is None or scope in SCOPES_OF[can].split(), endpoint


def assert_out_of_scope(response, scope):
    assert response.status_code == 403, response.content[:300]
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "insufficient_scope"
    named = f', scope="{scope}"' if scope else ""
    assert response["WWW-Authenticate"] == f'Bearer error="insufficient_scope"{named}'


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_token_with_every_scope_but_a_needed_one_is_refused_everywhere(trip, olga, row):
    """What is open stays open, and what needs a log-in is closed to a token with all scopes."""
    request = request_in(Scene(trip, olga, own=True), row)
    for scope in scopes_of(row) if scope_of(row) not in {OPEN, None} else [scope_of(row)]:
        client = bearer(script_of(olga, *(each for each in ALL if each != scope)).token)
        response = answer_to(request, client)
        if scope == OPEN:
            assert response.status_code == row.expected("owner", own=False)
        else:
            assert_out_of_scope(response, scope)


@pytest.mark.parametrize("row", [row for row in ROWS if scope_of(row) not in {OPEN, None}], ids=str)
def test_a_token_with_the_needed_scope_alone_may_do_what_its_owner_may(cast, trip, row):
    """An ADMIN's token is that of a stranger, who may look and owns nothing here.

    The highest and the lowest role are enough: roles are looked at after scopes.
    """
    owner = ("owner", row.has_own("owner"))
    viewers = [cell for cell in row.cells() if cell[0] == "viewer"]
    for caller, own in (owner, *viewers, ("admin", False)):
        expected = row.expected("stranger" if caller == "admin" else caller, own)
        with rolled_back():
            client = bearer(script_of(cast[caller], *scopes_of(row)).token)
            response = answer_to(request_in(Scene(trip, cast[caller], own), row), client, expected)
        assert response.status_code == expected, (caller, own, response.content)
        if response.status_code == 403:
            assert response.json()["code"] == "forbidden"


@pytest.mark.parametrize("row", [row for row in ROWS if row.can is not None], ids=str)
def test_a_token_that_is_confined_to_another_trip_finds_nothing(trip, olga, row):
    scene = Scene(trip, olga, own=True)
    ids = scene.ids(row.route)
    url, missing = row.route.format(**ids), row.route.format(**dict.fromkeys(ids, 999_999))
    body = row.body(scene)
    elsewhere = owned_trip(olga)
    client = bearer(script_of(olga, *ALL, trip=elsewhere).token)
    before = everything_stored()
    response = call(client, row.method, url, body)
    assert response.status_code == 404, response.content[:300]
    assert response.content == call(client, row.method, missing, body).content
    assert everything_stored() == before


def test_a_route_without_an_area_is_closed_to_scoped_tokens(trip, olga, monkeypatch):
    monkeypatch.setattr(TripViewSet, "scope_prefix", None)
    assert_out_of_scope(bearer(script_of(olga, *ALL).token).get(f"/api/trips/{trip.pk}"), None)


def test_an_action_that_declares_nothing_has_no_route(monkeypatch):
    actions = {"get": "retrieve", "delete": "destroy"}
    TripViewSet.as_view(actions)
    monkeypatch.delitem(TripViewSet.needs, "retrieve")
    with pytest.raises(ImproperlyConfigured, match="TripViewSet.needs lacks retrieve"):
        TripViewSet.as_view(actions)


def test_the_walk_sees_nested_routes_and_every_method_of_a_route():
    """The tests above are worth as much as the walk."""
    found = {str(endpoint) for endpoint in endpoints()}
    assert found > {
        f"{method} /api/trips/{{trip_id}}" for method in ("GET", "PUT", "PATCH", "DELETE")
    }
    assert "PUT /api/expenses/{expense_id}/splits/{split_id}/pay" in found
    assert "POST /api/session/logout" in found
    assert len(found) > len(API) * 3


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.can is not None and row.method != "GET"], ids=str
)
def test_what_the_quota_of_changes_refuses_is_documented(api, cast, trip, row, settings):
    owner = CALLERS[0]
    scene = Scene(trip, cast[owner], row.has_own(owner))
    url, body = row.route.format(**scene.ids(row.route)), row.body(scene)
    client = api(cast[owner])
    settings.QUOTA_CHANGES = 0
    before = everything_stored()
    response = call(client, row.method, url, body)
    operation = operation_at(row.method, url)
    assert operation is not None
    if "limit_reached" in operation.refusals.get(409, ()):
        # "Not paid" is said of what is not paid.
        assert response.status_code == 409 or row.route.endswith("/unpay"), response.content[:300]
        assert everything_stored() == before
    else:
        assert response.status_code in {200, 201, 204}, response.content[:300]
