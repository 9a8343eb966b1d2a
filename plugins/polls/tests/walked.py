"""What the tests that walk all apps need to know of polls; see `tests/walked.py`."""

from typing import Any

from plugins.polls.models import Poll, Vote
from plugins.polls.rights import CanPoll
from plugins.polls.views import PollViewSet
from tests.compiled_only import queries_of_parts
from tests.factories import acting_as_owner
from tests.trips.access import PROMISED as CORE
from tests.trips.access import TRIP, Row, just
from trips.roles import Can

QUESTION = {"question": "Where to?", "options": [{"text": "Sea"}, {"text": "Hills"}]}
POLLS = f"{TRIP}/polls"
POLL = f"{POLLS}/{{poll_id}}"

ROWS = [
    Row("GET", POLLS, can=Can.READ),
    Row("POST", POLLS, 201, CanPoll.CREATE, just(**QUESTION)),
    Row("GET", POLL, can=Can.READ),
    Row("PATCH", POLL, 200, CanPoll.CHANGE, just(question="When?")),
    Row("DELETE", POLL, 204, CanPoll.CHANGE),
    Row("PUT", f"{POLL}/vote", 200, CanPoll.VOTE, just(optionIds=[1])),
    *(Row("POST", f"{POLL}/{name}", 200, CanPoll.CHANGE) for name in ("close", "reopen")),
    Row("POST", f"{POLL}/restore", 200, CanPoll.CHANGE),
]
PROMISED = {
    CanPoll.CREATE: CORE[Can.RECORD],
    CanPoll.CHANGE: CORE[Can.CHANGE_EXPENSES],
    CanPoll.VOTE: CORE[Can.READ],
}
SCOPES_OF = dict.fromkeys(CanPoll, "polls:write")
AREAS = {PollViewSet: "polls"}
WRITTEN = {
    f"POST {POLLS}": ["poll.created"],
    f"PATCH {POLL}": ["poll.changed"],
    f"DELETE {POLL}": ["poll.deleted"],
    f"PUT {POLL}/vote": ["poll.voted"],
    f"POST {POLL}/close": ["poll.closed"],
    f"POST {POLL}/reopen": ["poll.reopened"],
    f"POST {POLL}/restore": ["poll.restored"],
}
QUERIES = {POLLS: 5, POLL: 2 + queries_of_parts(1)}
LISTS = {POLLS}
#: What is the same in the Spanish admin site.
DATA = [r"Where to\?", r"poll\.[a-z]+", r"\{.*\}"]
COMMANDS = [
    (CanPoll.CREATE, "POST", POLLS, lambda _s: QUESTION, False, False),
    (CanPoll.CHANGE, "PATCH", POLL, lambda _s: {"question": "When?"}, False, False),
    (CanPoll.CHANGE, "DELETE", POLL, None, False, False),
    (CanPoll.VOTE, "PUT", f"{POLL}/vote", lambda _s: {"optionIds": [1]}, False, False),
    (CanPoll.CHANGE, "POST", f"{POLL}/close", None, False, False),
    (CanPoll.CHANGE, "POST", f"{POLL}/reopen", None, False, False),
    (CanPoll.CHANGE, "POST", f"{POLL}/restore", None, False, False),
]
RESTORABLE = ["polls"]
OWNED_TABLES = ["polls_poll"]
PRUNED = ["deleted polls"]
ENDS = [("polls_poll", "deleted_at")]
VIOLATIONS = [("vote_chooses", "vote", {"option_words": ""})]
#: By two requests at once; see `test_races.py`.
VIOLATED_ELSEWHERE = ["one_vote_in_poll"]


def ids(scene: Any, names: list[str]) -> dict[str, int]:
    """A poll of the holder: closed if it is to be opened again, deleted if it is to be restored."""
    if "poll_id" not in names:
        return {}
    with acting_as_owner(scene.trip, scene.holder):
        poll = Poll.add(scene.trip, scene.holder, **QUESTION)
        if scene.route.endswith("/reopen"):
            poll.close(scene.holder)
        if scene.route.endswith("/restore"):
            poll.remove(scene.holder)
    return {"poll_id": poll.pk}


def waiting_ids(scene: Any, names: list[str], _by: Any, _can: Any) -> dict[str, int]:
    """The same of Ed's, over HTTP."""
    if "poll_id" not in names:
        return {}
    return {"poll_id": scene.ed.done("POST", f"{scene.trip.path}/polls", QUESTION)["id"]}


def fill_world(world: Any) -> None:
    path, one = "/api/trips/{tripId}/polls", "/api/trips/{tripId}/polls/{pollId}"
    world.ids["pollId"] = world.made(f"/api/trips/{world.ids['tripId']}/polls", QUESTION)["id"]
    ways = {"multiple": False, "anonymous": False, "showsVotes": "always"}
    whole = {**QUESTION, **ways, "closesAt": "2030-01-01T00:00:00Z"}
    world.bodies |= {
        f"POST {path}": [whole],
        f"PATCH {one}": [whole],
        f"PUT {one}/vote": [{"optionIds": [1]}],
    }


def _stored(trip: Any, user: Any) -> Poll:
    poll = Poll(trip=trip, created_by=user, question=QUESTION["question"], next_option=3)
    poll.counted = {1: {"text": "Sea", "votes": 1}, 2: {"text": "Hills", "votes": 0}}
    poll.save()
    return poll


def many(trip: Any, _olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    for user in people:
        poll = _stored(trip, user)
        for voter in people[:3]:
            Vote.objects.create(trip=trip, poll=poll, created_by=voter, option_words="1")
    for voter in people[3:]:
        Vote.objects.create(trip=trip, poll=poll, created_by=voter, option_words="1")
    return {"poll_id": poll.pk}


def one_of_each(trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    _stored(trip, olga)


def lengthen(text: str) -> None:
    Poll.objects.update(question=text[:255])


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    poll = _stored(trip, olga)
    vote = Vote.objects.create(trip=trip, poll=poll, created_by=olga, option_words="1")
    return {"vote": Vote.objects.filter(pk=vote.pk)}


def ask(history: Any, which: int) -> None:
    ways = {"multiple": which % 2 == 0, "anonymous": which % 3 == 0}
    assert history.send("post", "polls", {**QUESTION, **ways}).status_code == 201


def vote(history: Any, which: int) -> None:
    """The owner or an editor votes, or votes differently."""
    if poll := history.pick("polls", which):
        chosen = {"optionIds": [1 + which % 2]}
        history.send("put", f"polls/{poll['id']}/vote", chosen, by=history.accounts[which % 2])


def end(history: Any, which: int) -> None:
    if poll := history.pick("polls", which):
        history.send("post", f"polls/{poll['id']}/{['close', 'reopen'][which % 2]}")


STEPS = [ask, vote, end]
