"""How somebody takes the place of a guest, over HTTP."""

from typing import Any

from rest_framework.response import Response

from tests.cast import Api
from trips.models import Trip
from users.models import User


def invite(api: Api, trip: Trip, by: User, guest: User, **body: Any) -> dict[str, Any]:
    response = api(by).post(f"/api/trips/{trip.pk}/invitations", {"guestUserId": guest.pk, **body})
    assert response.status_code == 201, response.content
    return response.json()


def accept(api: Api, user: User, invitation: dict[str, Any]) -> Response:
    return api(user).post(f"/api/invitations/{invitation['token']}/accept")
