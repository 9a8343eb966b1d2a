"""Invitations that are accepted at the same moment, or beside something else, on a real server."""

from functools import partial

import httpx

from tests.security.conftest import http, journey, travellers
from tests.security.test_races import ROUNDS
from tests.server import running_server
from tests.splits.journey import Journey, at_once, sign_up
from tests.splits.test_restoring_at_once import deleted_expense, guest_of

__all__ = ["http", "journey", "travellers"]


def test_the_last_use_of_an_invitation_admits_one_of_many(journey, travellers):
    """T153: The last use of an invitation admits one of any number of requests."""
    owner, *others = travellers
    for round_ in range(ROUNDS):
        if round_:
            journey = Journey.start(owner)
        invitation = owner.done("POST", f"{journey.path}/invitations", {"maxUses": 3})
        path = f"/invitations/{invitation['token']}/accept"
        others[0].done("POST", path)
        others[1].done("POST", path)
        calls = [partial(by.call, "POST", path) for by in others[2:10]]
        assert at_once(calls) == {(201, ""): 1, (404, "not_found"): 7}
        assert len(owner.done("GET", f"{journey.path}/members")) == 4


def accepting(journey, guest):
    """The path at which somebody takes the place of the guest."""
    body = {"guestUserId": guest.id}
    token = journey.owner.done("POST", f"{journey.path}/invitations", body)["token"]
    return f"/invitations/{token}/accept"


def test_a_guest_is_claimed_or_merged(travellers):
    owner, user, third = travellers[:3]
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        journey.admit(user)
        guest = guest_of(journey)
        journey.spend(10, guest)
        accept = accepting(journey, guest)
        merge = f"{journey.path}/guests/{guest.id}/merge"
        outcome = at_once(
            [
                partial(owner.call, "POST", merge, {"userId": user.id}),
                partial(third.call, "POST", accept),
            ]
        )
        assert outcome in (
            {(200, ""): 1, (404, "not_found"): 1},
            {(201, ""): 1, (404, "not_found"): 1},
        )
        journey.adds_up()


def test_a_claim_beside_the_restoring_of_an_expense(travellers):
    owner, other, third = travellers[:3]
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        journey.admit(other)
        guest = guest_of(journey)
        path = deleted_expense(journey, other, guest)
        accept = accepting(journey, guest)
        calls = [
            partial(owner.call, "POST", f"{path}/restore"),
            partial(third.call, "POST", accept),
        ]
        assert at_once(calls) == {(200, ""): 1, (201, ""): 1}
        splits = owner.done("GET", path)["splits"]
        assert {row["participant"]["id"] for row in splits} == {other.id, third.id}
        journey.adds_up()


def test_ten_who_join_at_once_are_no_more_than_the_quota():
    """The members that are counted are those that there are: the trip stands still meanwhile."""
    with (
        running_server(QUOTA_MEMBERS="3") as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client,
    ):
        owner, *others = [sign_up(client) for _number in range(11)]
        for _round in range(ROUNDS):
            journey = Journey.start(owner)
            body = {"tripCode": owner.done("GET", journey.path)["tripCode"]}
            joining = [partial(by.call, "POST", "/trips/join", body) for by in others]
            assert at_once(joining) == {(201, ""): 2, (409, "limit_reached"): 8}
            assert len(owner.done("GET", f"{journey.path}/members")) == 3
