"""Tables that change under a running service: reads are repeated, a write may be asked to be."""

import psycopg
import pytest

from tests.compiled_only import compiled_only
from tests.document import problem_of
from tests.server import running_server
from tests.splits.journey import Journey, sign_up, split_path
from tests.walked import all_of

pytestmark = pytest.mark.postgresql

UNKNOWN_PAYER = {"paidByUserId": 10**15}


@pytest.fixture(scope="module")
def server():
    """One thread, so that every request meets the statements of those before.

    Not in development, where Django logs every statement and none is kept.
    """
    one = {"WEB_CONCURRENCY": "1", "DATABASE_POOL_SIZE": "1", "DEBUG": "false"}
    with running_server(**one) as server:
        yield server


@pytest.fixture(scope="module")
def journey(http):
    return Journey.start(sign_up(http))


_lengths = iter(range(3000, 4000))


def change(server, *columns):
    """Give text columns another type, so that no kept statement fits any more."""
    with psycopg.connect(server.environment["DATABASE_URL"], autocommit=True) as other:
        for column in columns:
            table, name = column.split(".")
            kind = f"varchar({next(_lengths)})"
            other.execute(f"ALTER TABLE {table} ALTER {name} TYPE {kind}")


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("", "users_user.name"),
        ("", "trips_member.role"),
        ("/expenses", "splits_expense.description"),
        ("/expenses", "users_user.name"),
        ("/settle-up", "users_user.name"),
        ("/members", "users_user.name"),
        ("/balances", "users_user.name"),
        *((place, "splits_expense.category") for place in all_of("PLACES")),
    ],
)
def test_a_read_is_repeated_when_its_table_has_changed(server, journey, path, column):
    journey.spend(30, journey.owner)
    url = f"{journey.path}{path}"
    before = journey.owner.done("GET", url)
    change(server, column)
    assert journey.owner.call("GET", url).status_code == 200
    assert journey.owner.done("GET", url) == before


@compiled_only
def test_a_write_is_refused_once_and_then_done(server, journey):
    owner, debtor = journey.owner, sign_up(journey.owner.http)
    journey.admit(debtor)
    path = split_path(journey.spend(60, debtor)["splits"][0])
    assert debtor.call("PUT", f"{path}/pay").status_code == 200
    assert debtor.call("PUT", f"{path}/unpay").status_code == 200
    # The trip is first read under its lock, inside the transaction.
    change(server, "trips_trip.title")
    response = debtor.call("PUT", f"{path}/pay")
    assert problem_of(response, 503, "unavailable")
    assert response.headers["Retry-After"] == "2"
    assert not owner.done("GET", path)["paid"]
    assert debtor.call("PUT", f"{path}/pay").status_code == 200
    assert owner.done("GET", path)["paid"]


def test_a_refused_write_hinders_none_after_it(journey):
    """Psycopg lets the server forget all statements when a transaction is rolled back."""
    owner, path = journey.owner, f"{journey.path}/expenses"
    right, wrong = (journey.expense_body(30, owner, **more) for more in ({}, UNKNOWN_PAYER))
    for _time in range(3):
        assert owner.call("POST", path, right).status_code == 201
        assert owner.call("POST", path, wrong).status_code == 400
        assert owner.call("GET", path).status_code == 200


@pytest.mark.parametrize(
    "columns",
    [
        ["trips_trip.title"],
        ["splits_expense.description", "users_user.name"],
        ["trips_member.role"],
    ],
)
def test_an_expense_is_recorded_at_the_second_try_at_the_latest(server, journey, columns):
    body = journey.expense_body(30, journey.owner)
    path = f"{journey.path}/expenses"
    assert journey.owner.call("POST", path, body).status_code == 201
    before = journey.owner.done("GET", path)["total"]
    change(server, *columns)
    first = journey.owner.call("POST", path, body)
    if first.status_code != 201:
        assert problem_of(first, 503, "unavailable")
        assert first.headers["Retry-After"] == "2"
        assert journey.owner.call("POST", path, body).status_code == 201
    assert journey.owner.done("GET", path)["total"] == before + 1
