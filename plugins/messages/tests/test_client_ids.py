"""What a client sends twice under one `clientId` is written once."""

from typing import Any
from uuid import uuid4

import pytest

from plugins.messages.models import Message
from plugins.messages.tests.conftest import Say, trip_led_by
from tests.cast import Api
from tests.document import problem_of
from trips.models import JournalEntry
from users.models import User

pytestmark = pytest.mark.either

CLIENT_ID = "0b7b4b0e-6c5f-4f0e-9a54-0d8a5f6f2a11"
BODY = {"text": "Hello", "clientId": CLIENT_ID}


def taken(answer: Any) -> bool:
    return problem_of(answer, 409)["code"] == "client_id_taken"


def test_the_same_again_is_answered_as_it_is_now_and_written_once(
    api: Api, messages: str, olga: User
) -> None:
    made = api(olga).post(messages, BODY)
    assert (made.status_code, made.json()["clientId"]) == (201, CLIENT_ID)
    rows = JournalEntry.objects.count()
    again = api(olga).post(messages, {**BODY, "clientId": CLIENT_ID.upper(), "replyTo": None})
    assert (again.status_code, again.json()) == (200, made.json())
    assert again["Location"] == made["Location"]
    assert (JournalEntry.objects.count(), Message.objects.count()) == (rows, 1)
    api(olga).put(made["Location"], {"text": "Hello!"})
    assert api(olga).post(messages, BODY).json()["text"] == "Hello!"
    assert taken(api(olga).post(messages, {**BODY, "text": "Hello!"}))


def test_another_body_another_account_and_a_deleted_message_are_refused(
    api: Api, say: Say, messages: str, olga: User, ed: User
) -> None:
    other = say(ed, "Hi")["id"]
    path = api(olga).post(messages, BODY)["Location"]
    assert taken(api(olga).post(messages, {**BODY, "text": "Bye"}))
    assert taken(api(olga).post(messages, {**BODY, "replyTo": other}))
    assert taken(api(ed).post(messages, BODY))
    api(olga).delete(path)
    assert taken(api(olga).post(messages, BODY))
    api(olga).post(f"{path}/restore")
    assert api(olga).post(messages, BODY).status_code == 200
    assert Message.objects.count() == 2


def test_it_counts_within_its_trip_and_finds_its_message(
    api: Api, say: Say, messages: str, olga: User
) -> None:
    say(olga, "Hi", clientId=str(uuid4()))
    mine = say(olga, **BODY)
    elsewhere = f"/api/trips/{trip_led_by(olga).pk}/messages"
    assert api(olga).post(elsewhere, BODY).status_code == 201
    assert api(olga).get(f"{messages}?clientId={CLIENT_ID}").json()["items"] == [mine]
    assert api(olga).get(f"{messages}?clientId={uuid4()}").json()["items"] == []


def test_changes_have_it(api: Api, say: Say, olga: User, vera: User) -> None:
    cursor = api(vera).get("/api/changes").json()["cursor"]
    say(olga, **BODY)
    [news] = api(vera).get(f"/api/changes?since={cursor}").json()["items"]
    assert news["state"]["clientId"] == CLIENT_ID
