"""Messages: who writes, reads, changes, deletes and restores them."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.utils import timezone

from plugins.messages.models import Message
from plugins.messages.tests.conftest import trip_led_by
from tests.document import problem_of
from tests.scoped import script_of
from tests.users.logins import bearer

pytestmark = pytest.mark.either


def texts(page):
    return [row["text"] for row in page.json()["items"]]


def test_every_member_writes_and_all_read_it_newest_first(api, say, messages, trip, olga, ed, vera):
    first = say(vera, "  Two\nlines 🍷 ")
    second = say(ed, "Yes", replyTo=first["id"])
    third = say(olga, "x" * 2000)
    assert (first["tripId"], first["by"]["id"], first["text"]) == (
        trip.pk,
        vera.pk,
        "Two\nlines 🍷",
    )
    assert (first["replyTo"], second["replyTo"], first["clientId"]) == (None, first["id"], None)
    assert first["createdAt"] == first["updatedAt"]
    assert api(vera).get(messages).json()["items"] == [third, second, first]


def test_a_page_is_what_came_between_two_messages(api, say, messages, olga):
    ids = [say(olga, f"{number}")["id"] for number in range(5)]
    client = api(olga)
    assert texts(client.get(f"{messages}?since={ids[2]}")) == ["4", "3"]
    assert texts(client.get(f"{messages}?before={ids[2]}")) == ["1", "0"]
    assert texts(client.get(f"{messages}?since={ids[0]}&before={ids[4]}")) == ["3", "2", "1"]
    page = client.get(f"{messages}?pageSize=2&page=2")
    assert (texts(page), page.json()["total"]) == (["2", "1"], 5)
    for query in ("since=0", "since=x", "before=", "clientId=7", "after=1"):
        problem_of(client.get(f"{messages}?{query}"), 400)


@pytest.mark.parametrize(
    "body",
    [
        *({"text": text} for text in ("", " \n ", "a\0b", "x" * 2001, None, 5, ["x"])),
        {},
        *({"text": "x", "replyTo": value} for value in (0, "x", True, 10**9)),
        *({"text": "x", "clientId": value} for value in ("", "x", 7, "0" * 32, True)),
        {"text": "x", "by": 1},
    ],
    ids=str,
)
def test_a_bad_body_is_refused_and_writes_nothing(api, messages, olga, body):
    problem_of(api(olga).post(messages, body), 400)
    assert not Message.objects.exists()


def test_a_reply_is_to_a_message_that_is_there(api, say, messages, olga, sam):
    gone = say(olga, "Wrong chat")["id"]
    api(olga).delete(f"{messages}/{gone}")
    elsewhere = Message.add(trip_led_by(sam), sam, text="Hello").pk
    for reply_to in (gone, elsewhere):
        refused = api(olga).post(messages, {"text": "x", "replyTo": reply_to})
        assert [*problem_of(refused, 400)["errors"]] == ["replyTo"]


def test_only_authors_change_what_they_wrote(api, say, messages, olga, vera, ada):
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        message = say(vera, "Helo")
    path = f"{messages}/{message['id']}"
    for user in (olga, ada):
        problem_of(api(user).put(path, {"text": "Mine"}), 403)
    changed = api(vera).put(path, {"text": "Hello"}).json()
    assert changed["text"] == "Hello"
    assert changed["createdAt"] == message["createdAt"] < changed["updatedAt"]
    again = api(vera).put(path, changed)
    assert (again.status_code, again.json()) == (200, changed)


def test_authors_and_owners_delete_and_restore(api, say, messages, olga, ed, vera):
    message, other = say(vera, "One"), say(vera, "Two")
    path = f"{messages}/{message['id']}"
    problem_of(api(ed).delete(path), 403)
    assert api(olga).delete(path).status_code == 204
    assert api(vera).delete(f"{messages}/{other['id']}").status_code == 204
    problem_of(api(vera).put(path, {"text": "x"}), 404)
    assert texts(api(ed).get(f"{messages}?deleted=true")) == ["Two", "One"]
    assert texts(api(ed).get(messages)) == []
    problem_of(api(ed).post(f"{path}/restore"), 403)
    assert api(olga).post(f"{path}/restore").json() == message
    assert problem_of(api(olga).post(f"{path}/restore"), 409)["code"] == "not_restorable"
    late = timezone.now() + timedelta(days=settings.DELETED_ENTRY_DAYS, minutes=1)
    with time_machine.travel(late):
        assert texts(api(ed).get(f"{messages}?deleted=true")) == []
        problem_of(api(vera).post(f"{messages}/{other['id']}/restore"), 404)


def test_a_token_without_the_scope_learns_nothing_of_messages(api, say, messages, trip, olga):
    client = bearer(script_of(olga, "trips:read", "expenses:read", "messages:write").token)
    cursor = client.get("/api/changes").json()["cursor"]
    assert client.post(messages, {"text": "From a script"}).status_code == 201
    say(olga, "Secret")
    assert client.get(messages).json()["code"] == "insufficient_scope"
    assert client.get(f"/api/changes?since={cursor}").json()["items"] == []
    history = client.get(f"/api/trips/{trip.pk}/history").json()["items"]
    assert not any(row["event"].startswith("message.") for row in history)


def test_the_history_and_clients_learn_what_happened(api, say, messages, trip, olga, vera):
    cursor = api(vera).get("/api/changes").json()["cursor"]
    path = f"{messages}/{say(olga, 'Helo')['id']}"
    api(olga).put(path, {"text": "Hello"})
    [news] = api(vera).get(f"/api/changes?since={cursor}").json()["items"]
    assert (news["event"], news["object"]["type"], news["state"]["text"]) == (
        "message.created",
        "message",
        "Hello",
    )
    api(olga).delete(path)
    api(olga).post(f"{path}/restore")
    history = f"/api/trips/{trip.pk}/history?pageSize=4"
    rows = api(vera).get(history).json()["items"]
    assert [row["text"] for row in rows] == [
        "Olga Owner restored a message.",
        "Olga Owner deleted a message.",
        "Olga Owner changed a message.",
        "Olga Owner wrote a message.",
    ]
    assert rows[2]["changes"] == {"text": {"old": "Helo", "new": "Hello"}}
    spanish = api(vera).get(history, headers={"Accept-Language": "es"}).json()["items"]
    assert spanish[3]["text"] == "Olga Owner escribió un mensaje."
