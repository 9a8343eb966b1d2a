"""Fixtures of imports."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from rest_framework.response import Response

from splits.reports.audit import differences
from tests.cast import Api
from tests.factories import add_guest, owned_trip, settle, spend
from trips.models import Trip
from users.models import User


@pytest.fixture
def plan(api: Any, olga: Any) -> Callable[..., Response]:
    """`plan(content, currency="EUR")` sends a file as Olga, or as another `user`."""

    def send(content: str | bytes, user: Any = None, name: str = "x", **options: Any) -> Response:
        data = content.encode() if isinstance(content, str) else content
        return send_form(api(user or olga), data, name, **options)

    return send


def send_form(client: Any, content: bytes, name: str = "x.csv", **options: Any) -> Response:
    fields = {key: v if isinstance(v, str) else json.dumps(v) for key, v in options.items()}
    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile(name, content), **fields})
    return client.post("/api/imports", body, content_type=MULTIPART_CONTENT)


@pytest.fixture
def imported(api: Any, olga: Any, plan: Any) -> Callable[..., dict[str, Any]]:
    """`imported(content)` plans and confirms a file; returns the answer."""

    def send(content: str | bytes, user: Any = None, **options: Any) -> dict[str, Any]:
        planned = plan(content, user, **options)
        assert planned.status_code == 201, planned.json()
        answer = api(user or olga).post(f"/api/imports/{planned.json()['id']}/confirm")
        assert answer.status_code == 200, answer.json()
        assert not list(differences())
        return answer.json()

    return send


@pytest.fixture
def other(olga: User) -> Trip:
    """Another trip, of Olga alone."""
    return owned_trip(olga)


@pytest.fixture
def lived(trip: Trip, olga: User, ed: User, vera: User, api: Api) -> Trip:
    """A trip that was closed once, with a paid split, a comment and something deleted."""
    boat = spend(trip, 1001, paid_by=olga, among=[olga, ed, vera], tags=["fish"])
    settle(trip, ed, olga, 400)
    settle(trip, vera, olga, 268)
    tarts = spend(trip, 700, paid_by=ed, among=[olga, ed, add_guest(trip)])
    client = api(olga)
    client.post(f"/api/expenses/{boat.pk}/comments", {"text": "Six of them."})
    part = tarts.splits.get(participant=olga)
    client.put(f"/api/expenses/{tarts.pk}/splits/{part.pk}/pay")
    client.delete(f"/api/trips/{trip.pk}/expenses/{spend(trip, 1, paid_by=ed, among=[ed]).pk}")
    return trip
