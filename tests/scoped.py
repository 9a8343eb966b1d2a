"""Scoped tokens."""

from typing import Any

from rest_framework.response import Response
from rest_framework.test import APIClient

from trips.models import Trip
from users.models import ScopedToken, User
from users.scopes import all_scopes
from users.tokens import note_use

TOKENS = "/api/users/me/tokens"
ALL = [*all_scopes()]


def make(client: APIClient, **body: Any) -> Response:
    return client.post(TOKENS, {"name": "Import", "scopes": ["trips:read"], **body})


def script_of(user: User, *scopes: str, trip: Trip | None = None) -> ScopedToken:
    """A scoped token of `user` that was used a moment ago, so that using it writes nothing."""
    made = ScopedToken.issue(user, name="Import", scopes=list(scopes), trip_id=trip and trip.pk)
    note_use(made)
    return made
