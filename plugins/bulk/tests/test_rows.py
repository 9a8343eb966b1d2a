"""What a request for many rows costs, and what its rows may have."""

from functools import partial
from uuid import uuid4

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from splits.models import Expense
from tests.document import problem_of
from tests.factories import spend
from tests.splits.journey import Journey, at_once, sign_up
from tests.test_client_ids import CREATE, EXPENSES, body_of, is_taken, other
from tests.test_costs import inserted, remaining

#: Of a deletion, and of one with a split that was paid.
MOST_STATEMENTS, MOST_IF_PAID = 21, 30


def rows(count, user):
    body = {"description": "Tram", "amount": 3, "expenseDate": "2026-05-14", "splitType": "EQUAL"}
    return [{**body, "participantUserIds": [user.pk]} for _row in range(count)]


def test_a_body_counts_as_many_requests_as_it_has_objects(api, trip, olga, limits):
    """T208: A body counts as many requests as it has objects."""
    limits(user="10/min")
    bulk, client = f"/api/trips/{trip.pk}/expenses/bulk", api(olga)
    first = client.post(bulk, {"create": rows(4, olga)})
    assert (first.status_code, remaining(first)) == (200, 6)
    refused = client.post(bulk, {"create": rows(7, olga)})
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert int(refused["Retry-After"]) > 0
    assert Expense.objects.count() == 4
    # A refused one costs as much as any request.
    assert (remaining(refused), remaining(client.get("/api/users/me"))) == (5, 4)
    assert client.post(bulk, {"create": rows(3, olga)}).status_code == 200


def test_each_deletion_counts_as_a_request(api, trip, olga, limits):
    gone = [spend(trip, 100, paid_by=olga, among=[olga]).pk for _expense in range(4)]
    limits(user="10/min")
    answer = api(olga).post(f"/api/trips/{trip.pk}/expenses/bulk", {"delete": gone})
    assert (answer.status_code, remaining(answer)) == (200, 6)


def test_an_unused_window_takes_one_body_that_is_larger(api, trip, olga, limits):
    limits(user="5/min")
    bulk, client = f"/api/trips/{trip.pk}/expenses/bulk", api(olga)
    statuses = [client.post(bulk, {"create": rows(8, olga)}).status_code for _time in range(2)]
    assert statuses == [200, 429]


def test_expenses_beyond_the_quota_are_refused_before_the_first_write(api, trip, olga, settings):
    settings.QUOTA_EXPENSES = 4
    spend(trip, 100, paid_by=olga, among=[olga])
    client, bulk = api(olga), f"/api/trips/{trip.pk}/expenses/bulk"
    with CaptureQueriesContext(connection) as captured:
        assert client.post(bulk, {"create": rows(4, olga)}).json()["code"] == "limit_reached"
    assert inserted(captured) == []
    assert client.post(bulk, {"create": rows(3, olga)}).status_code == 200


@pytest.mark.parametrize(("is_paid", "most"), [(False, MOST_STATEMENTS), (True, MOST_IF_PAID)])
def test_a_deletion_takes_so_many_statements(api, trip, olga, ed, is_paid, most):
    """Under the lock of the trip, a hundred take a hundred times as many."""
    bulk, client = f"/api/trips/{trip.pk}/expenses/bulk", api(olga)
    counts = []
    for many in (1, 3):
        made = [spend(trip, 100, paid_by=olga, among=[olga, ed]) for _expense in range(many)]
        for expense in made if is_paid else ():
            expense.splits.get(participant=ed).pay(ed)
        with CaptureQueriesContext(connection) as captured:
            rows = {"delete": [expense.pk for expense in made]}
            assert client.post(bulk, rows).status_code == 200
        counts.append(len(captured))
    assert counts[1] - counts[0] <= 2 * most


def test_rows_of_bulk_take_it(world):
    [create] = [op for op in CREATE if op.path == EXPENSES]
    url, body = world.url(create), body_of(world, create)
    rows = {"create": [body, {**body, "clientId": str(uuid4())}]}
    first, second = (world.client.post(f"{url}/bulk", rows).json() for _again in range(2))
    assert first == second
    assert world.client.post(url, body).json() == first["create"][0]
    refused = world.client.post(f"{url}/bulk", {"create": [body, other(body)]})
    assert is_taken(refused)
    assert refused.json()["errors"].keys() == {"create.1"}
    change = {"id": first["create"][0]["id"], "clientId": str(uuid4())}
    refused = problem_of(world.client.post(f"{url}/bulk", {"change": [change]}), 400)
    assert refused["errors"].keys() == {"change.0.clientId"}


def test_bulk_requests_at_once_delete_an_expense_once(server):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        delete_at_once(sign_up(client))


def delete_at_once(owner):
    journey = Journey.start(owner)
    rows = {"delete": [journey.spend(10, owner)["id"]]}
    calls = [partial(owner.call, "POST", f"{journey.path}/expenses/bulk", rows)] * 5
    assert at_once(calls) == {(200, ""): 1, (400, "invalid"): 4}
    journey.adds_up()
