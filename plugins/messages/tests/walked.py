"""What the tests that walk all apps need to know of messages; see `tests/walked.py`."""

from typing import Any

from plugins.messages.models import Message, ReadMark
from plugins.messages.rights import CanMessage
from plugins.messages.views import MessageViewSet
from tests.factories import acting_as_owner
from tests.trips.access import PROMISED as CORE
from tests.trips.access import TRIP, Row, just
from trips.roles import Can

MESSAGES = f"{TRIP}/messages"
MESSAGE = f"{MESSAGES}/{{message_id}}"
READ = f"{MESSAGES}/read"
CLIENT_ID = "0b7b4b0e-6c5f-4f0e-9a54-0d8a5f6f2a11"


def write(scene: Any) -> Message:
    """A message of `holder`."""
    with acting_as_owner(scene.trip, scene.holder):
        return Message.add(scene.trip, scene.holder, text="Hello")


ROWS = [
    Row("GET", MESSAGES, can=Can.READ),
    Row("POST", MESSAGES, 201, CanMessage.WRITE, just(text="Hello")),
    Row("PUT", READ, 200, CanMessage.MARK, lambda scene: {"messageId": write(scene).pk}),
    Row("PUT", MESSAGE, 200, CanMessage.CHANGE, just(text="Good morning")),
    Row("DELETE", MESSAGE, 204, CanMessage.DELETE),
    Row("POST", f"{MESSAGE}/restore", 200, CanMessage.DELETE),
]
PROMISED = {
    CanMessage.WRITE: CORE[Can.READ],
    CanMessage.MARK: CORE[Can.READ],
    CanMessage.CHANGE: ("own",) * len(CORE[Can.READ]),
    CanMessage.DELETE: CORE[Can.SETTLE],
}
SCOPES_OF = dict.fromkeys(CanMessage, "messages:write")
AREAS = {MessageViewSet: "messages"}
WRITTEN = {
    f"POST {MESSAGES}": ["message.created"],
    f"PUT {MESSAGE}": ["message.changed"],
    f"DELETE {MESSAGE}": ["message.deleted"],
    f"POST {MESSAGE}/restore": ["message.restored"],
}
QUERIES = {MESSAGES: 4}
LISTS = {MESSAGES}
RESTORABLE = ["messages"]
#: What is the same in the Spanish admin site.
DATA = ["Hello", r"message\.[a-z]+"]
COMMANDS = [
    (CanMessage.WRITE, "POST", MESSAGES, just(text="Hello")),
    (CanMessage.CHANGE, "PUT", MESSAGE, just(text="Good morning")),
    (CanMessage.DELETE, "DELETE", MESSAGE),
    (CanMessage.DELETE, "POST", f"{MESSAGE}/restore"),
]
#: It moves a mark of the caller alone, and only forward.
WITHOUT_LOCK = [("PUT", READ)]
OWNED_TABLES = ["trip_messages_message"]
PRUNED = ["deleted messages"]
ENDS = [("trip_messages_message", "deleted_at")]
VIOLATIONS = [("one_read_mark_in_trip", "read_mark", {"user": "olga"})]
UNIQUE = {"one_read_mark_in_trip"}


def ids(scene: Any, names: list[str]) -> dict[str, int]:
    """A message of the holder: deleted if it is to be restored."""
    if "message_id" not in names:
        return {}
    message = write(scene)
    if scene.route.endswith("/restore"):
        with acting_as_owner(scene.trip, scene.holder):
            message.remove(scene.holder)
    return {"message_id": message.pk}


def waiting_ids(scene: Any, names: list[str], by: Any, can: Any) -> dict[str, int]:
    """A message of the caller to change, or of Ed's to delete."""
    if "message_id" not in names:
        return {}
    author = by if can is CanMessage.CHANGE else scene.ed
    path = f"{scene.trip.path}/messages"
    return {"message_id": author.done("POST", path, {"text": "Hello"})["id"]}


def fill_world(world: Any) -> None:
    path = "/api/trips/{tripId}/messages"
    made = world.made(path.format(**world.ids), {"text": "Hello"})
    world.ids["messageId"] = made["id"]
    body = {"text": "Hello", "replyTo": made["id"], "clientId": CLIENT_ID}
    world.bodies |= {
        f"POST {path}": [body],
        f"PUT {path}/read": [{"messageId": made["id"]}],
        f"PUT {path}/{{messageId}}": [{"text": "Good morning"}],
    }


def many(trip: Any, _olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    """A message of each of the people, who has read it."""
    for user in people:
        row = Message.objects.create(trip=trip, created_by=user, text="Hello")
        ReadMark.move(trip.pk, [user.pk], row.pk)
    return {"message_id": row.pk}


def one_of_each(trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    Message.objects.create(trip=trip, created_by=olga, text="Hello")


def lengthen(text: str) -> None:
    Message.objects.update(text=text[:2000])


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    Message.objects.create(trip=trip, created_by=olga, text="Hello", client_id=CLIENT_ID)
    row = Message.objects.create(trip=trip, created_by=olga, text="Hello")
    ReadMark.move(trip.pk, trip.members.values_list("user", flat=True), row.pk)
    return {
        "message": Message.objects.filter(pk=row.pk),
        "read_mark": ReadMark.objects.filter(trip=trip).exclude(user=olga),
    }


def say(history: Any, which: int) -> None:
    """The owner or an editor writes, perhaps in reply."""
    body: dict[str, Any] = {"text": f"Hello {which}"}
    if which % 2 and (message := history.pick("messages", which)):
        body["replyTo"] = message["id"]
    assert history.send("post", "messages", body, by=history.accounts[which % 2]).status_code == 201


def mark(history: Any, which: int) -> None:
    if message := history.pick("messages", which):
        read = {"messageId": message["id"]}
        history.send("put", "messages/read", read, by=history.accounts[which % 2])


STEPS = [say, mark]


def sendable(client: Any, trip: Any, _olga: Any, _ed: Any) -> str:
    path = f"/api/trips/{trip.pk}/messages"
    return f"{path}/{client.post(path, {'text': 'Hello'}).json()['id']}"


#: Makes what takes back the answer that it gives, and with which method.
SENDABLE = [(sendable, "put")]
