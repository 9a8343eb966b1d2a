"""Two owners who go at the same moment: one of them stays."""

from functools import partial

import pytest

from tests.splits.journey import Journey, answers_at_once, sign_up

ROUNDS = 10


def step_down(trip, by, _other):
    return by.call("PUT", f"{trip.path}/members/{by.id}/role", {"role": "VIEWER"})


def leave(trip, by, _other):
    return by.call("POST", f"{trip.path}/members/leave")


def demote_the_other(trip, by, other):
    return by.call("PUT", f"{trip.path}/members/{other.id}/role", {"role": "VIEWER"})


def remove_the_other(trip, by, other):
    return by.call("DELETE", f"{trip.path}/members/{other.id}")


@pytest.mark.parametrize("act", [step_down, leave, demote_the_other, remove_the_other])
def test_one_of_two_owners_stays(http, act):
    """T84: If two OWNERs leave concurrently, one remains.

    Several rounds, since each is a race.
    """
    first, second, witness = (sign_up(http) for _person in range(3))
    for _round in range(ROUNDS):
        trip = Journey.start(first)
        trip.admit(second, "OWNER")
        trip.admit(witness, "VIEWER")
        both = [partial(act, trip, *pair) for pair in ((first, second), (second, first))]
        answers = answers_at_once(both)
        # The other was refused as the last one, or was no owner any more when asking.
        assert sorted(answer.is_success for answer in answers) == [False, True]
        assert {answer.status_code for answer in answers} <= {200, 204, 403, 404, 409}
        assert len(trip.owners(witness)) == 1
