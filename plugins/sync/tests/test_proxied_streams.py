"""Streams and waiting requests through each proxy, with the files in deploy/."""

import json
import time

import httpx
import pytest

from plugins.sync.tests.test_live import SEEN_SECONDS, cursor_of, events, stream, wait, waiting
from tests.proxy import ALL_PROXIES
from tests.server import running_server
from tests.splits.journey import Journey, sign_up

pytestmark = [pytest.mark.once, pytest.mark.slow]

#: Longer than a proxy waits for a client that sends nothing.
QUIET_SECONDS = 33


@pytest.fixture(scope="module")
def behind():
    with running_server(NUM_PROXIES="1") as server:
        yield server


@pytest.mark.parametrize("start", ALL_PROXIES)
def test_a_proxy_passes_each_change_on_at_once(start, behind, tmp_path):
    with (
        start([behind.url, behind.url], tmp_path) as proxy,
        httpx.Client(base_url=proxy.url, verify=proxy.trust, timeout=60) as http,
    ):
        journey = Journey.start(sign_up(http))
        user = sign_up(http)
        journey.admit(user)
        with stream(user) as response:
            got = (event["data"] for event in events(response) if "data" in event)
            for pause in (0.5, QUIET_SECONDS):
                time.sleep(pause)
                expense, since = journey.spend(10, journey.owner), time.monotonic()
                assert json.loads(next(got))["object"]["id"] == expense["id"]
                assert time.monotonic() - since < SEEN_SECONDS
        cursor = cursor_of(user)
        with waiting(lambda: wait(user, cursor, 25)) as answer:
            journey.spend(11, journey.owner)
            assert len(answer.result().json()["items"]) == 1
