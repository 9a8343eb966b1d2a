"""Votes in the same instant against the real server: one for each person, none after the end."""

from functools import partial

import pytest

from plugins.polls.tests.asking import QUESTION
from tests.splits.journey import Journey, answers_at_once, at_once

ROUNDS = 4


@pytest.fixture
def polls(travellers):
    journey = Journey.start(travellers[0])
    for traveller in travellers[1:]:
        journey.admit(traveller)
    return f"/trips/{journey.id}/polls"


def test_votes_of_one_person_at_once_are_one_vote(travellers, polls):
    owner, voter, *_others = travellers
    path = f"{polls}/{owner.done('POST', polls, QUESTION)['id']}"
    bodies = [{"optionIds": [1]}, {"optionIds": [2]}] * 5
    calls = [lambda body=body: voter.call("PUT", f"{path}/vote", body) for body in bodies]
    assert at_once(calls) == {(200, ""): 10}
    poll = owner.done("GET", path)
    assert sum(option["votes"] for option in poll["options"]) == 1
    assert [len(option["voters"]) for option in poll["options"]] == [
        option["votes"] for option in poll["options"]
    ]


def test_what_is_counted_was_given_before_the_poll_was_closed(travellers, polls):
    owner, *voters = travellers
    body = {"optionIds": [1]}
    for _round in range(ROUNDS):
        path = f"{polls}/{owner.done('POST', polls, QUESTION)['id']}"
        calls = [partial(one.call, "PUT", f"{path}/vote", body) for one in voters]
        *votes, _closed = answers_at_once([*calls, partial(owner.call, "POST", f"{path}/close")])
        assert {answer.status_code for answer in votes} <= {200, 409}
        given = sum(answer.status_code == 200 for answer in votes)
        assert owner.done("GET", path)["options"][0]["votes"] == given
