"""A request counts as what it costs: a body by its objects, an export by its time."""

from collections.abc import Mapping

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from splits.reports.balances import Plan
from tests.document import operations, resolved
from tests.factories import spend
from tripcompanion.api.throttling import requests_of

pytestmark = pytest.mark.either

#: More than a window of these tests has.
MANY = 1_000
#: Operations with a limit of their own, at most 60 in an hour.
WITH_OWN_LIMIT = {"changeImport", "createWebhook", "planImport", "updateWebhook"}


def remaining(response):
    return int(response["RateLimit"].partition(";r=")[2].partition(";")[0])


@pytest.mark.parametrize(
    ("body", "requests"),
    [
        ({}, 1),
        ({"a": 1, "payers": [{"b": 1}]}, 1),
        ({"create": [{"payers": [{}, {}]}, {}], "change": [{}]}, 5),
        ({"ids": list(range(39))}, 1),
        ({"ids": list(range(40))}, 2),
        ({"amounts": dict.fromkeys(map(str, range(100)), 1)}, 5),
    ],
)
def test_objects_and_values_are_counted(body, requests):
    assert requests_of(body) == requests


def lists_in(schema, depth=0):
    """The path of every list and map in the schema of a body, and what fills it."""
    schema = resolved(schema)
    for part in (*schema.get("allOf", ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from lists_in(part, depth)
    if "items" in schema:
        objects = "properties" in resolved(schema["items"])
        yield [], [{} for _at in range(MANY)] if objects else [1] * (20 * MANY)
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield [], dict.fromkeys(map(str, range(20 * MANY)), 1)
    for name, inner in schema.get("properties", {}).items() if depth < 4 else ():
        for path, filled in lists_in(inner, depth + 1):
            yield [name, *path], filled


def with_lists():
    return [
        pytest.param(operation, path, filled, id=f"{operation} {'.'.join(path)}")
        for operation in operations()
        if operation.body and operation.spec["operationId"] not in WITH_OWN_LIMIT
        for path, filled in lists_in(operation.body)
    ]


@pytest.mark.parametrize(("operation", "path", "filled"), with_lists())
def test_every_documented_list_is_counted(api, olga, limits, operation, path, filled):
    body = filled
    for name in reversed(path):
        body = {name: body}
    names = [parameter["name"] for parameter in operation.parameters("path")]
    url = operation.url({name: olga.pk if name == "userId" else 1 for name in names})
    limits(user="100/min")
    # The window does not end between the two requests, however slow the machine is.
    with time_machine.travel(timezone.now(), tick=False):
        client = api(olga)
        client.get("/api/users/me")
        with CaptureQueriesContext(connection) as captured:
            response = getattr(client, operation.method.lower())(url, body)
    assert response.status_code == 429
    # It is cheaper than one that is served: nothing but the session was read.
    assert len(captured) == 1


def test_there_are_lists_in_bodies():
    assert len(with_lists()) > 20


def inserted(captured):
    return [one["sql"] for one in captured if one["sql"].startswith("INSERT")]


def payment_of_all(trip):
    [transfer] = Plan(trip).transfers
    return {
        "fromUserId": transfer.sender.pk,
        "toUserId": transfer.receiver.pk,
        "amount": 200,
        "settledOn": "2026-05-14",
    }


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "expenses?ordering=amount", None),
        ("post", "settlements", payment_of_all),
        ("post", "settle-up", lambda trip: {"tag": Plan(trip).tag}),
    ],
)
def test_what_goes_through_many_entries_counts_as_several(
    api, trip, olga, ed, limits, method, path, body
):
    limits(user="10/min")
    for _expense in range(200):
        spend(trip, 100, paid_by=olga, among=[ed])
    client = api(olga)
    url = f"/api/trips/{trip.pk}/{path}"
    answer = getattr(client, method)(url, body and body(trip))
    assert answer.status_code in {200, 201}, answer.json()
    assert remaining(client.get("/api/users/me")) == 6
