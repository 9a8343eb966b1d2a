"""How many messages a member has not read, in the answer of the trip."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.messages.models import Message, ReadMark
from tests.document import problem_of
from tests.factories import add_guest

pytestmark = pytest.mark.either


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


@pytest.mark.parametrize("message_id", [0, 10**9, "x", None, True])
def test_only_a_message_of_the_trip_is_read(api, messages, olga, message_id):
    refused = api(olga).put(f"{messages}/read", {"messageId": message_id})
    assert [*problem_of(refused, 400)["errors"]] == ["messageId"]
    assert not ReadMark.objects.exists()


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
