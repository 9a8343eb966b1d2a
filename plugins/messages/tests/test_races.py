"""Messages in the same instant against the real server."""

from functools import partial
from uuid import uuid4

import pytest

from tests.splits.journey import Journey, answers_at_once, at_once

ROUNDS = 4


@pytest.fixture
def journey(travellers):
    owner, member, *_others = travellers
    started = Journey.start(owner)
    started.admit(member, "VIEWER")
    return started


def test_marks_at_once_leave_the_newest(travellers, journey):
    owner, member, *_others = travellers
    path = f"{journey.path}/messages"
    for _round in range(ROUNDS):
        sent = [owner.done("POST", path, {"text": "Hello"})["id"] for _number in range(6)]
        bodies = [{"messageId": pk} for pk in [*sent[1:], *sent[1:]]]
        calls = [partial(member.call, "PUT", f"{path}/read", body) for body in bodies]
        assert at_once(calls) == {(200, ""): len(calls)}
        assert member.done("PUT", f"{path}/read", {"messageId": sent[0]}) == {
            "messageId": sent[-1],
            "unread": 0,
        }


def test_one_client_id_at_once_writes_one_message(travellers, journey):
    owner, member, *_others = travellers
    path = f"{journey.path}/messages"
    for _round in range(ROUNDS):
        body = {"text": "Hello", "clientId": str(uuid4())}
        same = [partial(member.call, "POST", path, body) for _number in range(5)]
        taken = [partial(owner.call, "POST", path, body) for _number in range(2)]
        answers = answers_at_once([*same, *taken])
        assert sorted({answer.status_code for answer in answers}) == [200, 201, 409]
        [created] = [answer for answer in answers if answer.status_code == 201]
        repeated = [answer for answer in answers if answer.status_code == 200]
        assert {answer.content for answer in repeated} == {created.content}
        rows = owner.done("GET", f"{path}?clientId={body['clientId']}")["items"]
        assert [row["id"] for row in rows] == [created.json()["id"]]


def test_what_is_deleted_is_not_changed_afterwards(travellers, journey):
    owner, member, *_others = travellers
    path = f"{journey.path}/messages"
    for _round in range(ROUNDS):
        one = f"{path}/{member.done('POST', path, {'text': 'One'})['id']}"
        changes = [partial(member.call, "PUT", one, {"text": text}) for text in ("Two", "Three")]
        *changed, deleted = answers_at_once([*changes, partial(owner.call, "DELETE", one)])
        assert deleted.status_code == 204
        assert {answer.status_code for answer in changed} <= {200, 404}
        events = owner.done("GET", f"{journey.path}/history?pageSize=4")["items"]
        assert events[0]["event"] == "message.deleted"
        kept = owner.done("POST", f"{one}/restore")
        # The last change that was answered before the deletion is what was deleted.
        assert kept["text"] == events[0]["changes"]["text"]["old"]
        assert kept["text"] in {"One", *(a.json()["text"] for a in changed if a.is_success)}
