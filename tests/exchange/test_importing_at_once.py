"""Confirming and undoing in the same instant: an import is recorded once."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.exchange.samples import SPLITWISE_API
from tests.locks import while_locked
from tests.server import Server
from tests.splits.journey import Traveller, sign_up


@pytest.fixture
def traveller(server: Server) -> Iterator[Traveller]:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield sign_up(client)


def test_a_plan_that_is_confirmed_twice_at_once_is_recorded_once(
    server: Server, traveller: Traveller
) -> None:
    planned = traveller.done("POST", "/imports", json.loads(SPLITWISE_API))

    def confirm() -> httpx.Response:
        return traveller.call("POST", f"/imports/{planned['id']}/confirm")

    answers = while_locked(server, "exchange_import", planned["id"], [confirm, confirm])
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert len(traveller.done("GET", "/trips")["items"]) == 1
