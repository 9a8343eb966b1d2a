"""Messages: who writes, reads, changes, deletes and restores them, and how many are unread."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from plugins.messages.models import Message, ReadMark
from tests.document import problem_of
from tests.factories import add_guest, owned_trip
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


def test_a_reply_is_to_a_message_that_is_there(api, say, messages, olga, sam):
    gone = say(olga, "Wrong chat")["id"]
    api(olga).delete(f"{messages}/{gone}")
    elsewhere = Message.add(owned_trip(sam), sam, text="Hello").pk
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


@pytest.fixture
def path(trip):
    return f"/api/trips/{trip.pk}"


def test_what_others_wrote_is_unread_until_one_says_so(api, say, messages, path, olga, ed):
    def unread(user):
        return api(user).get(path).json()["unread"]

    def read(user, message):
        return api(user).put(f"{messages}/read", {"messageId": message["id"]}).json()

    first, second, third = (say(ed, text) for text in ("One", "Two", "Three"))
    assert (unread(olga), unread(ed)) == (3, 0)
    say(olga, "Four")
    assert (unread(olga), unread(ed)) == (3, 1)
    assert read(olga, second) == {"messageId": second["id"], "unread": 1}
    assert read(olga, first) == {"messageId": second["id"], "unread": 1}
    assert unread(olga) == 1
    api(ed).delete(f"{messages}/{third['id']}")
    assert unread(olga) == 0
    # It was deleted while the client showed it.
    assert read(olga, third) == {"messageId": third["id"], "unread": 0}
    assert (unread(ed), ReadMark.objects.count()) == (1, 1)


def test_an_administrator_who_is_no_member_has_read_nothing(api, say, messages, path, ed, ada):
    message = say(ed, "Hello")
    assert api(ada).get(path).json()["unread"] == 1
    assert api(ada).put(f"{messages}/read", {"messageId": message["id"]}).json()["unread"] == 0
    assert api(ada).get(path).json()["unread"] == 0


def test_the_trip_takes_no_statement_more(api, say, path, trip, olga, ed):
    api(olga).get(path)
    with CaptureQueriesContext(connection) as before:
        api(olga).get(path)
    Message.objects.bulk_create(Message(trip=trip, created_by=ed, text="x") for _ in range(50))
    with CaptureQueriesContext(connection) as after:
        assert api(olga).get(path).json()["unread"] == 50
    assert len(after) == len(before)


def test_a_message_prevents_no_change_of_the_trip(api, say, path, olga, ed):
    shown = api(olga).get(path)
    say(ed, "Hello")
    again = api(olga).get(path, headers={"If-None-Match": shown["ETag"]})
    assert (again.status_code, again.json()["unread"]) == (200, 1)
    assert again["ETag"] != shown["ETag"]
    held = {"If-Match": shown["ETag"]}
    # As it was answered before the message came.
    assert api(olga).put(path, shown.json(), headers=held).status_code == 200
    assert api(olga).patch(path, {"title": "Porto"}, headers=held).status_code == 200
    refused = api(olga).patch(path, {"title": "Faro"}, headers=held)
    assert problem_of(refused, 412)["code"] == "precondition_failed"


def test_only_a_message_of_the_trip_is_read(api, messages, olga, sam):
    elsewhere = Message.add(owned_trip(sam), sam, text="Hello").pk
    refused = api(olga).put(f"{messages}/read", {"messageId": elsewhere})
    assert [*problem_of(refused, 400)["errors"]] == ["messageId"]


def test_who_takes_the_place_of_somebody_has_read_what_they_had(api, trip, path, olga, vera):
    guest = add_guest(trip)
    first = Message.objects.create(trip=trip, created_by=guest, text="From a file")
    last = Message.objects.create(trip=trip, created_by=olga, text="Hello")
    ReadMark.move(trip.pk, [guest.pk], last.pk)
    ReadMark.move(trip.pk, [vera.pk], first.pk)
    assert api(olga).post(f"{path}/guests/{guest.pk}/merge", {"userId": vera.pk}).status_code == 200
    assert api(vera).get(path).json()["unread"] == 0
    rows = api(olga).get(f"{path}/messages").json()["items"]
    assert [row["by"]["id"] for row in rows] == [olga.pk, vera.pk]
    assert ReadMark.objects.count() == 1
