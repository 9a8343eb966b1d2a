"""Rows T80 and T83: retries act once, also at once and after a crash."""

import secrets
from collections import Counter

from tests.splits.journey import answers_at_once
from tests.stored import everything_stored
from trips.models import Trip


def keyed(key):
    return {"HTTP_IDEMPOTENCY_KEY": key}


def test_t80_one_key_used_by_twenty_at_once_acts_once(journey, travellers):
    """T80: Of twenty concurrent requests with one key, one takes effect."""
    owner = travellers[0]
    body = journey.expense_body(60, owner)
    key = {"Idempotency-Key": secrets.token_hex(8)}
    calls = [lambda: owner.call("POST", f"{journey.path}/expenses", body, **key)] * 20
    answers = answers_at_once(calls)
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses.keys() <= {201, 409}
    assert all(int(a.headers["Retry-After"]) >= 1 for a in answers if a.status_code == 409)
    made = [answer for answer in answers if answer.is_success]
    assert len({answer.json()["id"] for answer in made}) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in made) == 1
    assert len(journey.rows("expenses")) == 1


def test_t83_a_request_that_dies_leaves_its_key_unused(environment, monkeypatch):
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
