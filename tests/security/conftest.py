"""The environment that the rows of SECURITY.md are played on."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.cast import Api
from tests.locks import OtherProcess
from tests.security.accounts import Account, Past
from tests.security.environment import Environment, add_up
from tests.server import Server
from tests.splits.journey import Journey, Traveller, fresh_email, register, sign_up
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
def authorization(travellers: list[Traveller]) -> str:
    return f"Authorization: {travellers[0].headers['Authorization']}"


@pytest.fixture(scope="module")
def other(server: Server) -> Iterator[OtherProcess]:
    """Another process, which changes accounts while requests wait for them."""
    process = OtherProcess(server)
    yield process
    process.close()


@pytest.fixture
def account(http: httpx.Client, other: OtherProcess) -> Callable[[], Account]:
    """Makes accounts."""

    def make() -> Account:
        email = fresh_email()
        login = register(http, email).json()
        headers = {"Authorization": f"Bearer {login['token']}"}
        traveller = Traveller(http, login["user"]["id"], headers)
        body = {"name": "Import", "scopes": ["trips:read"]}
        token_id = traveller.done("POST", "/users/me/tokens", body)["id"]
        other.run("DELETE FROM users_mail WHERE user_id = %s", traveller.id)
        return Account(traveller, email, token_id)

    return make


@pytest.fixture
def admin(account: Callable[[], Account], other: OtherProcess) -> Callable[[], Account]:
    """Makes administrators."""

    def make() -> Account:
        made = account()
        other.run("UPDATE users_user SET role = 'ADMIN' WHERE id = %s", made.id)
        return made

    return make


@pytest.fixture
def past(other: OtherProcess) -> Past:
    return Past(other)
