"""A client that checks that every answer contains its own rows and nothing else.

Behind a pooler that mixes up its clients, a statement may run with the values of another client.
"""

import secrets
import ssl

import httpx

from tests.splits.journey import Journey, sign_up

#: Requests of each round.
REQUESTS = 7


def see_only_what_is_mine(url: str, rounds: int, trust: ssl.SSLContext | bool = True) -> int:
    """Write and read as a new user; returns the number of requests, at most 100 rounds of them."""
    with httpx.Client(base_url=url, timeout=30, trust_env=False, verify=trust) as http:
        owner = sign_up(http)
        name, journey = secrets.token_hex(4), Journey.start(owner)
        for number in range(1, rounds + 1):
            title = f"{name} {number}"
            owner.done("PATCH", journey.path, {"title": title})
            expense = journey.spend(number, owner)
            assert owner.done("GET", "/users/me")["id"] == owner.id
            trip = owner.done("GET", journey.path)
            assert (trip["id"], trip["title"]) == (journey.id, title)
            [listed] = owner.done("GET", "/trips")["items"]
            assert (listed["id"], listed["title"]) == (journey.id, title)
            newest = owner.done("GET", f"{journey.path}/expenses/{expense['id']}")
            assert (newest["tripId"], newest["amount"]) == (journey.id, number)
            page = owner.done("GET", f"{journey.path}/expenses?pageSize=100")
            assert sorted(row["amount"] for row in page["items"]) == [*range(1, number + 1)]
        journey.adds_up()
        return rounds * REQUESTS
