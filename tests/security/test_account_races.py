"""An account that ends while something happens in its trips: never half of both."""

import secrets
from collections import Counter
from contextlib import closing
from functools import partial

import pytest

from tests.factories import PASSWORD
from tests.locks import OtherProcess, answer_after
from tests.splits.journey import Journey, Traveller, answers_at_once, at_once, sign_up
from tests.trips.bodies import lisbon

ROUNDS = 8
GONE, LIVES = (204, ""), (409, "account_in_use")


@pytest.fixture
def newcomer(http):
    """Makes accounts."""
    return partial(sign_up, http)


@pytest.fixture
def journey(newcomer):
    return Journey.start(newcomer())


def go(user):
    """Delete one's own account."""
    return user.call("DELETE", "/users/me", {"password": PASSWORD})


def roles(journey, witness):
    rows = witness.done("GET", f"{journey.path}/members")
    return {row["user"]["id"]: row["role"] for row in rows}


def test_an_expense_recorded_meanwhile_keeps_the_account_or_comes_too_late(journey, newcomer):
    for _round in range(ROUNDS):
        user = newcomer()
        journey.admit(user)
        body = journey.expense_body(60, user)
        outcome = at_once(
            [
                lambda by=user: go(by),
                lambda b=body: journey.owner.call("POST", f"{journey.path}/expenses", b),
            ]
        )
        assert outcome in ({GONE: 1, (400, "invalid"): 1}, {LIVES: 1, (201, ""): 1})
        journey.adds_up()
        assert (user.id in roles(journey, journey.owner)) == (LIVES in outcome)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE trips_member SET paid_minor = 100 WHERE user_id = %s", "balance_open"),
        ("UPDATE trips_member SET left_at = joined_at WHERE user_id = %s", "last_owner"),
    ],
)
def test_what_prevents_the_deletion_is_judged_under_the_locks_of_the_trips(
    journey, newcomer, server, change, reason
):
    """T181: An account is deleted by what holds under the locks of all its trips.

    While it waits for a trip, money moves there, or the only other OWNER leaves.
    """
    user, other = newcomer(), newcomer()
    journey.admit(user, "OWNER")
    journey.admit(other, "VIEWER")
    changed = user.id if reason == "balance_open" else journey.owner.id
    response, nothing_stored = answer_after(
        server, "trips_trip", journey.id, lambda: go(user), (change, changed)
    )
    assert (response.status_code, response.json()["code"]) == LIVES
    [obstacle] = response.json()["obstacles"]
    assert (obstacle["tripId"], obstacle["reason"]) == (journey.id, reason)
    assert nothing_stored
    # The audit shall find no difference.
    repair = "UPDATE trips_member SET paid_minor = 0, left_at = NULL WHERE user_id = %s"
    with closing(OtherProcess(server)) as process:
        process.run(repair, changed)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["steps down", "leaves", "goes too"])
def test_of_two_owners_one_stays_whatever_the_other_does_meanwhile(newcomer, way):
    witness = newcomer()
    for _round in range(ROUNDS):
        first, second = newcomer(), newcomer()
        journey = Journey.start(first)
        journey.admit(second, "OWNER")
        journey.admit(witness, "VIEWER")
        path = f"{journey.path}/members"
        ways = {
            "steps down": lambda by=second, p=path: by.call(
                "PUT", f"{p}/{by.id}/role", {"role": "VIEWER"}
            ),
            "leaves": lambda by=second, p=path: by.call("POST", f"{p}/leave"),
            "goes too": lambda by=second: go(by),
        }
        answers = answers_at_once([lambda by=first: go(by), ways[way]])
        statuses = Counter(answer.status_code // 100 for answer in answers)
        assert statuses == {2: 1, 4: 1}
        [refused] = [answer for answer in answers if answer.status_code == 409]
        assert refused.json()["code"] in {"account_in_use", "last_owner"}
        assert Counter(roles(journey, witness).values())["OWNER"] == 1


@pytest.mark.slow
def test_who_is_added_while_they_go_is_gone_from_every_trip(newcomer):
    """They are added again and again, so that one of the additions falls into the deletion."""
    owner = newcomer()
    paths = [
        f"/trips/{owner.done('POST', '/trips', lisbon())['id']}/members" for _trip in range(24)
    ]

    def add(user, paths):
        body = {"userId": user.id, "role": "VIEWER"}
        answers = [owner.call("POST", path, body) for path in paths]
        assert {answer.status_code for answer in answers} <= {201, 404}
        return answers[-1]

    for _round in range(ROUNDS):
        user = newcomer()
        adders = [lambda by=user, at=at: add(by, paths[at::3]) for at in range(3)]
        gone, *_added = answers_at_once([lambda by=user: go(by), *adders])
        assert gone.status_code == 204
        for path in paths:
            assert user.id not in {row["user"]["id"] for row in owner.done("GET", path)}


@pytest.mark.slow
def test_of_two_administrators_who_go_at_once_one_stays(server, http):
    """With a trip in common, the one who waits gets an answer too: there is no deadlock."""
    alone = "from users.models import User; User.objects.filter(role='ADMIN').update(role='USER')"
    server.manage("shell", "--no-imports", "-c", alone)
    admins: list[Traveller] = []
    for share_a_trip in (True, False, False):
        while len(admins) < 2:
            admins.append(administrator(server, http))
        journey = Journey.start(admins[0])
        if share_a_trip:
            journey.admit(admins[1], "OWNER")
        outcome = at_once([lambda by=by: go(by) for by in admins])
        assert outcome == {GONE: 1, (409, "last_admin"): 1}
        admins = [by for by in admins if by.call("GET", "/users/me").is_success]
        assert len(admins) == 1


def administrator(server, http):
    email = f"{secrets.token_hex(8)}@example.com"
    given = {"DJANGO_SUPERUSER_EMAIL": email, "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    given["DJANGO_SUPERUSER_NAME"] = "Ada Admin"
    server.manage("createsuperuser", "--noinput", **given)
    login = http.post("/api/users/login", json={"email": email, "password": PASSWORD}).json()
    return Traveller(http, login["user"]["id"], {"Authorization": f"Bearer {login['token']}"})
