"""The stage that the rows of SECURITY.md are played on."""

from collections.abc import Iterator

import pytest

from tests.conftest import Api
from tests.security.stage import Stage, add_up
from trips.models import Trip
from users.models import User


@pytest.fixture
def stage(
    trip: Trip, olga: User, ed: User, vera: User, sam: User, ada: User, api: Api
) -> Iterator[Stage]:
    """Two trips with money; whatever a test does, the ledger adds up in the end."""
    cast = {"olga": olga, "ed": ed, "vera": vera, "sam": sam, "ada": ada}
    yield Stage(trip, cast, api)
    add_up()
