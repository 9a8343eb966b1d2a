"""The guest whose place somebody takes."""

import pytest

from tests.factories import add_guest
from trips.models import Trip
from users.models import User


@pytest.fixture
def grandma(trip: Trip) -> User:
    return add_guest(trip)
