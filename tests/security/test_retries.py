"""Rows T29 and T77-T83: retries act once."""

import secrets
from collections import Counter

import httpx
import pytest

from tests.security.environment import Environment
from tests.splits.journey import Journey, Traveller, answers_at_once, fresh_email, register
from tests.stored import everything_stored
from trips.models import Trip

#: How often a race of two is run; `make soak` and `make mutate` run more.
ROUNDS = 5


def keyed(key: str) -> dict[str, str]:
    return {"HTTP_IDEMPOTENCY_KEY": key}


def test_t77_a_repeated_key_acts_once(environment: Environment) -> None:
    """T77: A repeated idempotency key takes effect once."""
    url, body = f"{environment.url}/expenses", environment.expense_body()
    first, again = (
        environment.ask(environment.ed, "POST", url, body, **keyed("k")) for _turn in range(2)
    )
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Idempotency-Replayed"] == "true"
    assert environment.trip.expenses.count() == 3


def test_t78_a_used_key_fits_no_other_request(environment: Environment) -> None:
    """T78: A used key is rejected for any other request."""
    environment.ask(
        environment.ed,
        "POST",
        f"{environment.url}/expenses",
        environment.expense_body(),
        **keyed("k"),
    )
    before = everything_stored()
    for path, body in (
        ("/expenses", environment.expense_body(amount=13)),
        ("/settlements", environment.expense_body()),
    ):
        other = environment.ask(environment.ed, "POST", environment.url + path, body, **keyed("k"))
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert everything_stored() == before


def test_t79_a_key_is_its_users_alone(environment: Environment) -> None:
    """T79: A key belongs to one user."""
    body = environment.expense_body()
    made = [
        environment.ask(user, "POST", f"{environment.url}/expenses", body, **keyed("k"))
        for user in (environment.ed, environment.olga)
    ]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json()["id"] != made[1].json()["id"]


def test_t80_one_key_used_by_twenty_at_once_acts_once(
    journey: Journey, travellers: list[Traveller]
) -> None:
    """T80: Of twenty concurrent requests with one key, one takes effect."""
    owner = travellers[0]
    body = journey.expense_body(60, owner)
    key = {"Idempotency-Key": secrets.token_hex(8)}
    calls = [lambda: owner.call("POST", f"{journey.path}/expenses", body, **key)] * 20
    answers = answers_at_once(calls)
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses.keys() <= {201, 409}
    assert all(int(a.headers["Retry-After"]) >= 1 for a in answers if a.status_code == 409)
    assert len({answer.json()["id"] for answer in answers if answer.is_success}) == 1
    assert len(journey.rows("expenses")) == 1


def test_t29_a_refresh_token_used_by_twenty_at_once_is_good_for_one(http: httpx.Client) -> None:
    """T29: Of twenty concurrent uses of a refresh token, one succeeds."""
    for _round in range(ROUNDS):
        body = {"refreshToken": register(http, fresh_email()).json()["refreshToken"]}
        calls = [lambda b=body: http.post("/api/users/token/refresh", json=b)] * 20
        outcome = Counter(answer.status_code for answer in answers_at_once(calls))
        assert outcome == {200: 1, 401: 19}


def test_t82_a_refused_request_leaves_its_key_unused(environment: Environment) -> None:
    """T82: A rejected request does not use up its key."""
    url = f"{environment.url}/expenses"
    for wrong in ({}, environment.expense_body(amount=0), environment.expense_body(amount="x")):
        assert environment.ask(environment.ed, "POST", url, wrong, **keyed("k")).status_code == 400
    assert (
        environment.ask(
            environment.ed, "POST", url, environment.expense_body(), **keyed("k")
        ).status_code
        == 201
    )


def test_t83_a_request_that_dies_leaves_its_key_unused(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T83: A request that crashes does not use up its key.

    Key and effect are one transaction, so a broken one leaves neither.
    """
    url, body = f"{environment.url}/expenses", environment.expense_body()
    before = everything_stored()
    with monkeypatch.context() as broken:
        broken.setattr(Trip, "count_expense", lambda _trip: 1 / 0)
        environment.client(environment.ed).raise_request_exception = False
        assert environment.ask(environment.ed, "POST", url, body, **keyed("k")).status_code == 500
    assert everything_stored() == before
    again = environment.ask(environment.ed, "POST", url, body, **keyed("k"))
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again
