"""The environment that the rows of SECURITY.md are played on."""

from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import Api
from tests.hostile import World
from tests.security.environment import Environment, add_up
from tests.server import Server
from tests.splits.journey import Journey, Traveller, sign_up
from trips.models import Trip
from users.models import User


@pytest.fixture
def environment(
    trip: Trip, olga: User, ed: User, vera: User, sam: User, ada: User, api: Api
) -> Iterator[Environment]:
    """Two trips with money; whatever a test does, the ledger adds up in the end."""
    cast = {"olga": olga, "ed": ed, "vera": vera, "sam": sam, "ada": ada}
    yield Environment(trip, cast, api)
    add_up()


@pytest.fixture(scope="package")
def http(server: Server) -> Iterator[httpx.Client]:
    """The real server; in the end everything that the races left behind is recomputed."""
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client
    server.manage("audit_ledger")


@pytest.fixture(scope="package")
def travellers(http: httpx.Client) -> list[Traveller]:
    """Twelve users; every race has its own trip, so that they can be shared."""
    return [sign_up(http) for _number in range(12)]


@pytest.fixture
def journey(travellers: list[Traveller]) -> Journey:
    """A trip of the first of the travellers."""
    return Journey.start(travellers[0])


@pytest.fixture
def world(olga: User, ed: User, sam: User, trip: Trip) -> World:
    return World(olga, ed, sam, trip)


@pytest.fixture
def authorization(travellers: list[Traveller]) -> str:
    return f"Authorization: {travellers[0].headers['Authorization']}"
