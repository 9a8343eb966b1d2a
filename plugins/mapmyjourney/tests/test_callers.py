"""The client's routes are its own, and everybody may do there what they may do elsewhere."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.itinerary.rights import CanPlan
from plugins.itinerary.tests.walked import ACTIVITIES, DAY, ordered
from plugins.mapmyjourney.client_urls import API
from plugins.mapmyjourney.tests.app import of_app
from tests.factories import UserFactory, join, spend
from tests.scoped import script_of
from tests.stored import everything_stored, rolled_back
from tests.test_html_answers import assert_pages, browser_of, ids
from tests.trips import rows
from tests.trips.access import CALLERS, TRIP, Row, Scene, call, endpoints, everybody
from tests.users.logins import bearer
from trips.roles import Can
from users.scopes import Scope

pytestmark = pytest.mark.once

MIDDLEWARE = "plugins.mapmyjourney.middleware.MapMyJourney"
EXPENSE = "/api/expenses/{expense_id}"


def new_expense(scene):
    return {
        "tripId": scene.trip.pk, "payerId": scene.holder.pk, "amount": 12.5, "description": "Tarts",
        "category": "FOOD", "date": "2026-05-15",
        "participants": [scene.holder.pk, scene.partner.pk],
    }  # fmt: skip


def both(scene):
    """The ids of two activities of a day, the last one first."""
    return [str(pk) for pk in ordered(scene)["activityIds"]]


def moved(scene):
    places = [{"id": pk, "order": at, "dayIndex": 0} for at, pk in enumerate(both(scene))]
    return {"tripId": str(scene.trip.pk), "activities": places}


def url_of(row, scene):
    """The path, with what the client puts into the query."""
    query = f"?date={DAY}" if row.route.startswith(ACTIVITIES) else ""
    return row.route.format(**scene.ids(row.route)) + query


#: The routes that only the client has.
OWN_ROWS = [
    Row("GET", "/api/health/auth", statuses=everybody(200)),
    Row("GET", "/api/health/trips", statuses=everybody(200)),
    Row("GET", "/api/health/users", statuses=everybody(200)),
    Row("POST", "/api/expenses", 201, Can.RECORD, new_expense),
    Row("GET", EXPENSE, can=Can.READ),
    Row("PUT", EXPENSE, can=Can.CHANGE_EXPENSES, body=lambda _scene: {"description": "Tart"}),
    Row("DELETE", EXPENSE, 204, Can.CHANGE_EXPENSES),
    Row("PATCH", f"{EXPENSE}/paid", can=Can.SETTLE),
    Row("GET", "/api/expenses/settlements/{trip_id}", can=Can.READ),
    Row("GET", "/api/expenses/summary/{trip_id}", can=Can.READ),
    Row(
        "GET",
        "/api/users/{user_id}/trips",
        statuses=everybody(404, anonymous=401),
        own=everybody(200),
    ),
    Row(
        "POST",
        f"{TRIP}/participants",
        201,
        Can.ADD_MEMBERS,
        lambda _scene: {"userId": UserFactory().pk},
    ),
    Row("DELETE", f"{TRIP}/participants/{{user_id}}", 204, Can.MANAGE_MEMBERS),
    Row("GET", f"{ACTIVITIES}/date", can=Can.READ),
    Row("PUT", f"{ACTIVITIES}/reorder", 204, CanPlan.PLAN, both),
    Row("PUT", f"{TRIP}/itinerary/reorder", 200, CanPlan.PLAN, moved),
]
SHARED = {str(row): row for row in rows.ROWS}
ROWS = OWN_ROWS + [
    SHARED[str(end)]
    for end in endpoints(API, "/api/")
    if str(end) not in {str(row) for row in OWN_ROWS}
]
AREAS = {
    "/api/expenses": "expenses",
    f"{TRIP}/activities": "activities",
    f"{TRIP}/itinerary": "activities",
    TRIP: "trips",
}


def scope_of(row):
    area = next(area for start, area in AREAS.items() if row.route.startswith(start))
    return f"{area}:{'read' if row.method == 'GET' else 'write'}"


CAST = dict(zip(CALLERS, ("olga", "ed", "vera", "sam", None, "ada"), strict=True))


@pytest.fixture
def cast(request, trip, sam, ada):
    return {who: name and request.getfixturevalue(name) for who, name in CAST.items()}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_caller_may_do_what_the_table_says(app, cast, trip, row):
    for caller, own in row.cells():
        with rolled_back():
            scene = Scene(trip, cast[caller], own)
            url, body = url_of(row, scene), row.body(scene)
            client, before = app(cast[caller]), everything_stored()
            response = call(client, row.method, url, body)
            status = row.expected(caller, own)
            assert response.status_code == status, (caller, own, response.content[:300])
            assert "X-App-Client" in response["Vary"]
            if response.status_code >= 400:
                assert response["Content-Type"] == "application/problem+json"
                assert everything_stored() == before


def test_every_route_of_the_client_has_a_row_and_no_row_is_stale():
    served = Counter(str(endpoint) for endpoint in endpoints(API, "/api/"))
    assert served == Counter(str(row) for row in ROWS)


@pytest.mark.parametrize("row", OWN_ROWS, ids=str)
def test_other_clients_have_none_of_its_routes(api, trip, olga, row):
    scene = Scene(trip, olga, own=True)
    url, body = url_of(row, scene), row.body(scene)
    client, before = api(olga), everything_stored()
    for name in (None, "", "web", "mapmyjourney", "Not MapMyJourney"):
        if name is not None:
            client.defaults["HTTP_X_APP_CLIENT"] = name
        response = call(client, row.method, url, body)
        assert response.status_code == 404, name
        assert "X-App-Client" in response["Vary"]
        assert everything_stored() == before


def test_without_its_middleware_nothing_of_it_is_left(app, trip, olga, settings):
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != MIDDLEWARE]
    client = app(olga)
    assert client.get("/api/health/auth").status_code == 404
    response = client.get(f"/api/trips/{trip.pk}")
    assert "name" not in response.json()
    assert "X-App-Client" not in response["Vary"]


@pytest.mark.parametrize("row", [row for row in OWN_ROWS if row.can], ids=str)
def test_a_scoped_token_needs_the_same_scope(trip, olga, row):
    scene = Scene(trip, olga, own=True)
    url, body = url_of(row, scene), row.body(scene)
    needed = scope_of(row)
    others = script_of(olga, *(scope for scope in Scope if scope != needed))
    fitting = script_of(olga, needed)
    before = everything_stored()
    refused = call(of_app(bearer(others.token)), row.method, url, body)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert everything_stored() == before
    assert call(of_app(bearer(fitting.token)), row.method, url, body).status_code == row.success


def test_its_requests_are_counted_like_all_others(app, trip, olga, limits):
    limits(user="2/min")
    client = app(olga)
    statuses = [client.get(f"/api/trips/{trip.pk}").status_code for _count in range(3)]
    assert statuses == [200, 200, 429]


@pytest.mark.parametrize(
    ("prefer", "status"),
    [("return=minimal", 200), ("", 200), ("respond-async, handling=strict", 400)],
)
def test_its_unknown_names_are_ignored_unless_it_prefers_otherwise(app, trip, olga, prefer, status):
    sent = {"name": "Porto", "tripName": "Porto"}
    url, headers = f"/api/trips/{trip.pk}", {"Prefer": prefer}
    assert app(olga).put(url, sent, headers=headers).status_code == status


@pytest.mark.parametrize("rows", [2, 20])
def test_its_fields_cost_no_query(api, app, trip, olga, ed, rows):
    for user in UserFactory.create_batch(rows):
        join(trip, user)
        expense = spend(trip, 1000, paid_by=olga, among=[ed, user])
    for path in ("", "/expenses", f"/expenses/{expense.pk}"):
        counted = []
        for client in (api(olga), app(olga)):
            with CaptureQueriesContext(connection) as captured:
                assert client.get(f"/api/trips/{trip.pk}{path}").status_code == 200
            counted.append(len(captured))
        assert counted[0] == counted[1], path


__all__ = ["ids"]


@pytest.mark.parametrize("has_token", [True, False])
@pytest.mark.parametrize("path", ["/api/expenses/{expenseId}", "/api/expenses", "/api/trips"])
def test_so_do_the_paths_of_the_predecessor(olga, ids, path, has_token):
    for user in (olga, None):
        client = browser_of(user, has_token=has_token)
        assert_pages(client, path.format(**ids), HTTP_X_APP_CLIENT="MapMyJourney/1.0")
