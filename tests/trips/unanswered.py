"""Adding somebody to a trip who does not answer."""

from typing import Any

from rest_framework.response import Response

from tests.cast import Api
from tests.trips.bodies import dinner, lisbon
from trips.models import Trip
from users.models import User


def new_trip(api: Api, by: User) -> Trip:
    """A trip that `by` has just created."""
    return Trip.objects.get(pk=api(by).post("/api/trips", lisbon()).json()["id"])


def add(api: Api, by: User, trip: Trip, **body: Any) -> Response:
    return api(by).post(f"/api/trips/{trip.pk}/members", body)


def bind(api: Api, by: User, trip: Trip, *debtors: User, amount: str = "10000.01") -> None:
    """Record an expense that `by` paid for the others, and a settlement."""
    body = dinner(by, *debtors, amount=amount)
    made = api(by).post(f"/api/trips/{trip.pk}/expenses", body)
    assert made.status_code == 201, made.content
    sent = {"fromUserId": debtors[0].pk, "toUserId": by.pk, "amount": "1.00"}
    assert api(by).post(f"/api/trips/{trip.pk}/settlements", sent).status_code == 201
