"""Merges beside other commands against the real server: each race has one lawful outcome."""

from functools import partial

import pytest

from tests.splits.journey import Journey, answers_at_once, at_once, sign_up, split_path
from tests.splits.test_restoring_at_once import deleted_expense, guest_of

#: How often a race is run: whoever is first differs from time to time.
ROUNDS = 6


@pytest.fixture(scope="module")
def travellers(server, http):
    """Three users; in the end everything that the races left behind is recomputed."""
    yield [sign_up(http) for _number in range(3)]
    assert "no difference" in server.manage("audit_ledger").stdout


def test_a_guest_is_merged_once_whatever_else_happens_at_that_moment(travellers):
    owner, user, other = travellers
    journey = Journey.start(owner)
    for person in (user, other):
        journey.admit(person)
    for _round in range(ROUNDS):
        guest = owner.done("POST", f"{journey.path}/guests", {"name": "Grandma"})["user"]["id"]
        # Whoever takes the guest's place is in no entry with the guest.
        among = [{"userId": guest, "amount": 60}, {"userId": owner.id, "amount": 40}]
        people = {"participantUserIds": [guest, owner.id], "payers": among}
        shared = journey.expense_body(100, **people)
        expense = owner.done("POST", f"{journey.path}/expenses", shared)
        merge = f"{journey.path}/guests/{guest}/merge"
        handed = {"fromUserId": guest, "toUserId": owner.id, "amount": 7}
        path = f"{journey.path}/expenses/{expense['id']}"
        paid = [{"userId": owner.id, "amount": 90}]
        split = next(s for s in expense["splits"] if s["participant"]["id"] == owner.id)
        answers = answers_at_once(
            [
                partial(owner.call, "POST", merge, {"userId": user.id}),
                partial(owner.call, "POST", merge, {"userId": other.id}),
                partial(owner.call, "POST", f"{journey.path}/settlements", handed),
                partial(owner.call, "PUT", split_path(split, "/pay")),
                partial(owner.call, "PATCH", path, {"amount": 90, "payers": paid}),
                partial(owner.call, "POST", f"{journey.path}/expenses", shared),
                partial(owner.call, "DELETE", f"{journey.path}/members/{guest}"),
                partial(other.call, "POST", f"{journey.path}/members/leave"),
            ]
        )
        # Once the owner has paid, the guest is even, and may be removed before anybody is merged.
        is_removed = answers[6].is_success
        assert [answer.is_success for answer in answers[:2]].count(True) == 1 - is_removed
        # Who leaves may be the one who was to get everything.
        assert {answer.status_code for answer in answers[:2]} <= {200, 400, 404}
        members = owner.done("GET", f"{journey.path}/members")
        assert guest not in {row["user"]["id"] for row in members}
        if answers[7].is_success:
            journey.admit(other)
        assert sum(row["balance"] for row in owner.done("GET", f"{journey.path}/balances")) == 0


def test_beside_a_restore(travellers):
    """The expense names both. Whichever comes first, the other one is refused."""
    owner, other, _third = travellers
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        journey.admit(other)
        guest = guest_of(journey)
        path = deleted_expense(journey, other, guest)
        merge = f"{journey.path}/guests/{guest.id}/merge"
        calls = [
            lambda p=path: owner.call("POST", f"{p}/restore"),
            lambda m=merge: owner.call("POST", m, {"userId": other.id}),
        ]
        outcome = at_once(calls)
        refused = ((409, "names_both"), (409, "not_restorable"))
        assert outcome in [{(200, ""): 1, refusal: 1} for refusal in refused]
        if (409, "not_restorable") not in outcome:
            splits = owner.done("GET", path)["splits"]
            assert {row["participant"]["id"] for row in splits} == {other.id, guest.id}
        journey.adds_up()
