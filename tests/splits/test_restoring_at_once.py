"""Restoring beside another command against the real server: one of the two is the first."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from tests.document import problem_of
from tests.factories import PASSWORD
from tests.locks import OtherProcess, answer_after
from tests.server import running_server
from tests.splits.journey import Journey, Traveller, at_once, sign_up
from tests.trips.bodies import lisbon

#: How often a race of two is run: whoever is first differs from time to time.
ROUNDS = 4


@pytest.fixture(scope="module")
def server():
    """One of our own, because rows are made old by hand; the audit is silent in the end."""
    with running_server() as server:
        yield server
        assert "no difference" in server.manage("audit_ledger").stdout


@pytest.fixture(scope="module")
def people(http):
    return [sign_up(http) for _number in range(3)]


@pytest.fixture
def journey(people):
    """A trip of the first, with the second as an EDITOR."""
    journey = Journey.start(people[0])
    journey.admit(people[1])
    return journey


def deleted_expense(journey, *among):
    """The path of an expense of 30 that was just deleted."""
    path = f"{journey.path}/expenses/{journey.spend(30, *among)['id']}"
    journey.owner.done("DELETE", path)
    return path


def guest_of(journey):
    row = journey.owner.done("POST", f"{journey.path}/guests", {"name": "Grandma"})
    return Traveller(journey.owner.http, row["user"]["id"], {})


def test_it_is_restored_once(journey, people):
    owner, other, _third = people
    for _round in range(ROUNDS):
        path = deleted_expense(journey, owner, other)
        outcome = at_once([lambda p=path: owner.call("POST", f"{p}/restore")] * 4)
        assert outcome == {(200, ""): 1, (409, "not_restorable"): 3}
        journey.adds_up()
    body = {"fromUserId": other.id, "toUserId": owner.id, "amount": 5}
    for _round in range(ROUNDS):
        paid = owner.done("POST", f"{journey.path}/settlements", body)
        path = f"{journey.path}/settlements/{paid['id']}"
        owner.done("DELETE", path)
        outcome = at_once([lambda p=path: owner.call("POST", f"{p}/restore")] * 4)
        assert outcome == {(200, ""): 1, (409, "not_restorable"): 3}
        journey.adds_up()


def test_beside_the_removal_of_a_member(people):
    owner, other, _third = people
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        journey.admit(other)
        path = deleted_expense(journey, other)
        calls = [
            lambda p=path: owner.call("POST", f"{p}/restore"),
            lambda j=journey: owner.call("DELETE", f"{j.path}/members/{other.id}"),
        ]
        restored_first = {(200, ""): 1, (409, "balance_open"): 1}
        assert at_once(calls) in (restored_first, {(204, ""): 1, (409, "not_restorable"): 1})
        journey.adds_up()


def test_beside_a_change_of_the_currency(people):
    owner, *_others = people
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        path = deleted_expense(journey, owner)
        calls = [
            lambda p=path: owner.call("POST", f"{p}/restore"),
            lambda j=journey: owner.call("PATCH", j.path, {"currency": "JPY"}),
        ]
        refused = ({(409, "currency_fixed")}, {(409, "not_restorable")})
        assert at_once(calls).keys() - {(200, "")} in refused
        journey.adds_up()


def test_beside_the_deletion_of_the_trip(people):
    owner, other, _third = people
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        journey.admit(other)
        path = deleted_expense(journey, owner, other)
        calls = [
            lambda p=path: owner.call("POST", f"{p}/restore"),
            lambda j=journey: owner.call("DELETE", j.path),
        ]
        assert at_once(calls) in (
            {(200, ""): 1, (204, ""): 1},
            {(404, "not_found"): 1, (204, ""): 1},
        )
        owner.done("POST", f"{journey.path}/restore")
        journey.adds_up()


def test_a_trip_is_restored_once(server, journey, people):
    owner, *_others = people
    for _round in range(ROUNDS):
        owner.done("DELETE", journey.path)
        outcome = at_once([lambda: owner.call("POST", f"{journey.path}/restore")] * 4)
        assert outcome == {(200, ""): 1, (409, "not_restorable"): 3}
    events = [row["event"] for row in server.journal(journey.id)]
    assert events.count("trip.restored") == ROUNDS


def test_a_trip_is_restored_beside_the_deletion_of_an_account(server, people):
    owner, *_others = people
    for _round in range(ROUNDS):
        journey, leaving = Journey.start(owner), sign_up(owner.http)
        journey.admit(leaving)
        owner.done("DELETE", journey.path)
        calls = [
            lambda j=journey: owner.call("POST", f"{j.path}/restore"),
            lambda who=leaving: who.call("DELETE", "/users/me", {"password": PASSWORD}),
        ]
        assert at_once(calls) == {(200, ""): 1, (204, ""): 1}
        members = owner.done("GET", f"{journey.path}/members")
        assert [row["user"]["id"] for row in members] == [owner.id]


@pytest.fixture(scope="module")
def one_trip_server():
    """A server on which nobody has more than one trip."""
    with running_server(QUOTA_TRIPS="1") as server:
        yield server


def test_a_trip_is_restored_beside_a_new_one_within_the_quota(one_trip_server):
    """The account stands still meanwhile, so that its trips can be counted."""
    with httpx.Client(base_url=one_trip_server.url, timeout=60, trust_env=False) as client:
        for _round in range(ROUNDS):
            owner = sign_up(client)
            journey = Journey.start(owner)
            owner.done("DELETE", journey.path)
            calls = [
                lambda o=owner, j=journey: o.call("POST", f"{j.path}/restore"),
                lambda o=owner: o.call("POST", "/trips", lisbon()),
            ]
            restored_first = {(200, ""): 1, (409, "limit_reached"): 1}
            assert at_once(calls) in (restored_first, {(201, ""): 1, (409, "not_restorable"): 1})
            assert owner.done("GET", "/trips")["total"] == 1


def test_members_get_no_trip_while_one_is_restored_within_their_quota(one_trip_server):
    """Their accounts are locked, like that of anybody who joins a trip."""
    with httpx.Client(base_url=one_trip_server.url, timeout=60, trust_env=False) as client:
        owner, member, third = (sign_up(client) for _number in range(3))
        other = Journey.start(third)
        other.admit(member)
        third.done("DELETE", f"{other.path}/members/{member.id}")
        journey = Journey.start(owner)
        journey.admit(member)
        owner.done("DELETE", journey.path)
        again = "UPDATE trips_member SET left_at = NULL WHERE trip_id = %s AND user_id = %s"
        refused, is_unchanged = answer_after(
            one_trip_server,
            "users_user",
            member.id,
            lambda: owner.call("POST", f"{journey.path}/restore"),
            (again, other.id, member.id),
        )
        assert problem_of(refused, 409, "not_restorable")
        assert is_unchanged


@pytest.mark.slow
def test_what_is_over_is_pruned_or_restored(server, journey, people):
    """Two prunes at once, beside a trip that is over and an expense that is over."""
    owner, other, _third = people
    path, gone = deleted_expense(journey, owner, other), Journey.start(owner)
    owner.done("DELETE", gone.path)
    with closing(OtherProcess(server)) as database:
        for table, key in (("trips_trip", "id"), ("splits_deletedentry", "trip_id")):
            trip = gone.id if key == "id" else journey.id
            statement = (
                f"UPDATE {table} SET deleted_at = '2026-01-01 00:00:00+00:00' WHERE {key} = %s"  # noqa: S608 -- names only
            )
            database.run(statement, trip)
    with ThreadPoolExecutor(3) as threads:
        prunes = [threads.submit(server.manage, "prune") for _number in range(2)]
        statuses = set()
        while not all(prune.done() for prune in prunes):
            statuses.add(owner.call("POST", f"{path}/restore").status_code)
            statuses.add(owner.call("POST", f"{gone.path}/restore").status_code)
        for prune in prunes:
            prune.result()
    assert statuses <= {200, 404, 409}
    assert owner.call("POST", f"{path}/restore").status_code in {404, 409}
    assert owner.call("POST", f"{gone.path}/restore").status_code in {404, 409}
    journey.adds_up()
