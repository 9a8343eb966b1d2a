"""A copy of a client forgets who left without an answer."""

from typing import Any

import pytest
from rest_framework.response import Response

from tests.cast import Api
from tests.factories import UserFactory
from tests.trips.bodies import lisbon
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.either


@pytest.fixture
def stranger(db: None) -> User:
    return UserFactory(name="Stan")


@pytest.fixture
def theirs(api: Api, stranger: User) -> Trip:
    """A trip that the stranger has just created."""
    return Trip.objects.get(pk=api(stranger).post("/api/trips", lisbon()).json()["id"])


def add(api: Api, by: User, trip: Trip, **body: Any) -> Response:
    return api(by).post(f"/api/trips/{trip.pk}/members", body)


def bind(api: Api, by: User, trip: Trip, *debtors: User, amount: str = "10000.01") -> None:
    """Record an expense that `by` paid for the others, and a settlement."""
    body = {
        "description": "Yacht",
        "amount": amount,
        "expenseDate": "2026-05-14",
        "splitType": "EQUAL",
        "participantUserIds": [by.pk, *(user.pk for user in debtors)],
    }
    made = api(by).post(f"/api/trips/{trip.pk}/expenses", body)
    assert made.status_code == 201, made.content
    sent = {"fromUserId": debtors[0].pk, "toUserId": by.pk, "amount": "1.00"}
    assert api(by).post(f"/api/trips/{trip.pk}/settlements", sent).status_code == 201


def test_a_clients_copy_gets_what_the_guest_has_now(
    api: Api, stranger: User, theirs: Trip, olga: User
) -> None:
    add(api, stranger, theirs, userId=olga.pk)
    bind(api, stranger, theirs, olga)
    cursor = api(stranger).get("/api/changes").json()["cursor"]
    api(olga).post(f"/api/trips/{theirs.pk}/members/leave")
    kinds: dict[str, Any] = {}
    more = True
    while more:
        page = api(stranger).get(f"/api/changes?since={cursor}&limit=100").json()
        kinds |= {row["object"]["type"]: row["state"] for row in page["items"]}
        cursor, more = page["cursor"], page["more"]
    assert {"member", "expense", "settlement"} <= kinds.keys()
    assert str(olga.pk) not in {
        str(split["participant"]["id"]) for split in kinds["expense"]["splits"]
    }
