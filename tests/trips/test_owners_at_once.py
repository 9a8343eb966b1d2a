"""Two owners who go at the same moment: one of them stays."""

import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest

from tests.factories import PASSWORD
from tests.trips.bodies import lisbon

ROUNDS = 10


@dataclass(frozen=True)
class Owner:
    """Somebody at the running server."""

    http: httpx.Client
    user_id: int

    def step_down(self, trip, other):
        return self.http.put(f"{trip}/members/{self.user_id}/role", json={"role": "VIEWER"})

    def leave(self, trip, other):
        return self.http.post(f"{trip}/members/leave")

    def demote_the_other(self, trip, other):
        return self.http.put(f"{trip}/members/{other.user_id}/role", json={"role": "VIEWER"})

    def remove_the_other(self, trip, other):
        return self.http.delete(f"{trip}/members/{other.user_id}")


@pytest.fixture
def owners(server):
    """Two fresh accounts."""
    with ExitStack() as stack:
        pair = []
        for _owner in range(2):
            body = {"email": f"{secrets.token_hex(8)}@example.com", "password": PASSWORD}
            url = f"{server.url}/api/users/register"
            answer = httpx.post(url, json=body, timeout=30).json()
            http = httpx.Client(
                base_url=server.url,
                headers={"Authorization": f"Bearer {answer['token']}"},
                timeout=30,
            )
            pair.append(Owner(stack.enter_context(http), answer["user"]["id"]))
        yield pair


@pytest.mark.parametrize("act", [Owner.step_down, Owner.leave, Owner.demote_the_other,
                                 Owner.remove_the_other], ids=lambda act: act.__name__)  # fmt: skip
def test_one_of_two_owners_stays(owners, act):
    """T84: If two OWNERs leave concurrently, one remains.

    Several rounds, since each is a race.
    """
    first, second = owners
    for _round in range(ROUNDS):
        made = first.http.post("/api/trips", json=lisbon())
        trip = made.headers["Location"]
        body = {"userId": second.user_id, "role": "OWNER"}
        assert first.http.post(f"{trip}/members", json=body).status_code == 201

        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(act, first, trip, second), pool.submit(act, second, trip, first)]
            outcomes = Counter(future.result().status_code for future in both)
        assert outcomes[200] + outcomes[204] == 1
        # The other was refused as the last one, or was no owner any more when asking.
        assert outcomes[409] + outcomes[403] + outcomes[404] == 1
        seen = [answer for owner in owners if (answer := owner.http.get(trip)).is_success]
        roles = [member["role"] for member in seen[0].json()["members"]]
        assert roles.count("OWNER") == 1
