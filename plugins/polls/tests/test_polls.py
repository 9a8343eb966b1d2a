"""Polls: who asks, who votes, and who sees what."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from plugins.polls import views
from plugins.polls.models import Poll
from plugins.polls.tests.asking import QUESTION, ask, counts, polls, vote, voters
from tests.scoped import script_of
from tests.users.logins import bearer

pytestmark = pytest.mark.either

__all__ = ["ask", "polls"]


def test_a_poll_is_asked_answered_and_closed(api, ask, polls, olga, ed, vera):
    path = ask()
    poll = api(vera).get(path).json()
    assert (poll["state"], poll["myOptionIds"], poll["showsVotes"]) == ("open", [], "always")
    assert [option["id"] for option in poll["options"]] == [1, 2]
    assert counts(vote(api(vera), path, 1).json()) == [1, 0]
    mine = vote(api(vera), path, 2).json()
    assert (counts(mine), mine["myOptionIds"]) == ([0, 1], [2])
    vote(api(olga), path, "2")
    assert voters(api(ed).get(path).json()) == [[], ["Vera Viewer", "Olga Owner"]]
    assert counts(vote(api(olga), path).json()) == [0, 1]
    assert api(ed).post(f"{path}/close").json()["state"] == "closed"
    assert vote(api(olga), path, 1).json()["code"] == "poll_closed"
    assert api(ed).post(f"{path}/close").status_code == 200
    assert api(ed).post(f"{path}/reopen").json()["state"] == "open"
    assert vote(api(olga), path, 1).status_code == 200
    [listed] = api(vera).get(polls).json()["items"]
    assert (counts(listed), listed["myOptionIds"]) == ([1, 1], [2])
    assert voters(listed) == [["Olga Owner"], ["Vera Viewer"]]


def test_a_page_shows_no_more_votes_than_a_response_can_hold(
    api, ask, polls, olga, ed, vera, monkeypatch
):
    monkeypatch.setattr(views, "MAX_SHOWN_VOTES", 3)
    for path in (ask(), ask(), ask(anonymous=True)):
        for voter in (olga, vera):
            vote(api(voter), path, 1)
    assert len(api(ed).get(polls, {"pageSize": 2}).json()["items"]) == 2
    answer = api(ed).get(polls)
    assert (answer.status_code, [*answer.json()["errors"]]) == (400, ["pageSize"])


def test_several_options_only_where_the_poll_says_so(api, ask, vera):
    assert vote(api(vera), ask(), 1, 2).json()["errors"] == {"optionIds": ["Choose one option."]}
    assert counts(vote(api(vera), ask(multiple=True), 1, 2, 1).json()) == [1, 1]


@pytest.mark.parametrize(
    ("shows", "before", "after"),
    [("always", True, True), ("after_vote", False, True), ("after_close", False, False)],
)
def test_votes_are_shown_when_the_poll_says_so(api, ask, vera, olga, ed, shows, before, after):
    path = ask(showsVotes=shows)
    vote(api(olga), path, 1)
    poll = api(vera).get(path).json()
    assert counts(poll) == ([1, 0] if before else [None, None])
    assert voters(poll) == ([["Olga Owner"], []] if before else [None, None])
    assert counts(vote(api(vera), path, 1).json()) == ([2, 0] if after else [None, None])
    api(ed).post(f"{path}/close")
    assert counts(api(vera).get(path).json()) == [2, 0]


def test_a_poll_closes_in_time(api, ask, vera, ed):
    path = ask(closesAt=(timezone.now() + timedelta(hours=1)).isoformat())
    assert vote(api(vera), path, 1).status_code == 200
    Poll.objects.update(closes_at=timezone.now())
    assert api(vera).get(path).json()["state"] == "closed"
    assert vote(api(vera), path, 2).json()["code"] == "poll_closed"
    sent = api(ed).get(path).json() | {"question": "When?"}
    changed = api(ed).patch(path, sent).json()
    assert changed == sent | {"updatedAt": changed["updatedAt"]}
    passed = api(ed).patch(path, {"closesAt": "2020-01-01T00:00:00Z"}).json()
    assert passed["errors"] == {"closesAt": ["Must be in the future."]}
    opened = api(ed).post(f"{path}/reopen").json()
    assert (opened["state"], opened["closesAt"]) == ("open", None)


#: What the document cannot say, so that `tests/test_hostile_input.py` does not send it.
BAD: list[tuple[str, Any]] = [
    *(("options", value) for value in ([{"text": "One"}], [{"text": "A"}] * 2)),
    ("options", [{"text": str(number)} for number in range(21)]),
    ("options", [{"text": "A"}, {"text": "B", "id": 1}]),
    # Python takes it for +01:00, which it never was.
    ("closesAt", "2035-01-01T00:00:00+00:60"),
    ("state", "closed"),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=str)
def test_a_bad_body_is_refused_by_its_field(api, polls, ed, name, value):
    assert api(ed).post(polls, {**QUESTION, name: value}).status_code == 400
    assert not Poll.objects.exists()


def test_a_change_that_is_sent_again_adds_no_other_option(api, ask, ed, vera):
    path, client = ask(), api(ed)
    change = {"options": [{"id": 1, "text": "Sea"}, {"text": "City"}]}
    first = client.patch(path, change).json()
    assert client.patch(path, change).json() == first
    voted = vote(api(vera), path, 3).json()
    assert counts(client.patch(path, change).json()) == counts(voted) == [0, 1]


def test_what_people_voted_for_stays_as_it_is(api, ask, ed, vera):
    path, client = ask(), api(ed)
    two = [{"id": 1, "text": "Sea"}, {"id": 2, "text": "Woods"}, {"text": "City"}]
    assert client.patch(path, {"options": two, "anonymous": True}).status_code == 200
    client.patch(path, {"anonymous": False})
    vote(api(vera), path, 2)
    for change in (
        {"options": [two[0], two[2]]},
        {"options": [two[0], {"id": 2, "text": "Wood"}]},
        {"anonymous": True},
        {"multiple": True},
        {"showsVotes": "after_close"},
    ):
        assert client.patch(path, change).json()["code"] == "has_votes", change
    less = [two[1], {"text": "Lake"}]
    changed = client.patch(path, {"options": less, "question": "Which?"}).json()
    assert [(one["id"], one["text"]) for one in changed["options"]] == [(2, "Woods"), (4, "Lake")]
    assert vote(api(vera), path, 3).status_code == 400
    for options in ([{"id": 9, "text": "A"}, two[1]], [two[1], {"id": 2, "text": "B"}]):
        assert client.patch(path, {"options": options}).status_code == 400
    assert client.patch(path, client.get(path).json() | {"options": less}).status_code in {200, 409}


def test_a_deleted_poll_is_restored_with_its_votes(api, ask, polls, ed, vera):
    path = ask()
    vote(api(vera), path, 1)
    assert api(ed).post(f"{path}/restore").json()["code"] == "not_restorable"
    api(ed).delete(path)
    assert [api(vera).get(path).status_code, vote(api(vera), path, 2).status_code] == [404, 404]
    assert api(vera).get(polls).json()["total"] == 0
    [deleted] = api(vera).get(f"{polls}?deleted=true").json()["items"]
    assert counts(deleted) == [1, 0]
    assert api(vera).post(f"{path}/restore").status_code == 403
    assert counts(api(ed).post(f"{path}/restore").json()) == [1, 0]
    assert api(vera).get(path).json()["myOptionIds"] == [1]


def test_the_history_tells_what_happened(api, ask, trip, ed, vera):
    path = ask()
    vote(api(vera), path, 1)
    vote(api(vera), path, 1)
    api(ed).patch(path, {"question": "When?"})
    api(ed).post(f"{path}/close")
    rows = api(ed).get(f"/api/trips/{trip.pk}/history").json()["items"][:4]
    assert [row["text"] for row in rows] == [
        "Ed Editor closed a poll.",
        "Ed Editor changed a poll.",
        "Vera Viewer voted in a poll.",
        "Ed Editor created a poll.",
    ]
    assert rows[1]["changes"] == {"question": {"old": "Where to?", "new": "When?"}}
    assert rows[2]["changes"] == {}


def test_clients_read_the_poll_as_they_may_see_it(api, ask, olga, vera):
    path = ask(showsVotes="after_vote")
    cursor = api(vera).get("/api/changes").json()["cursor"]
    vote(api(olga), path, 1)
    assert counts(api(olga).get(path).json()) == [1, 0]
    [news] = api(vera).get(f"/api/changes?since={cursor}").json()["items"]
    assert (news["event"], news["object"]["type"]) == ("poll.voted", "poll")
    assert counts(news["state"]) == [None, None]


def test_a_new_client_gets_the_polls_of_the_trip(api, ask, trip, vera, olga, sam):
    ask()
    cursor = api(sam).get("/api/changes").json()["cursor"]
    api(sam).post("/api/trips/join", {"tripCode": trip.code})
    found, more = [], True
    while more:
        page = api(sam).get(f"/api/changes?limit=1&since={cursor}").json()
        found += [item["object"]["type"] for item in page["items"]]
        cursor, more = page["cursor"], page["more"]
    assert found.count("poll") == 1


def test_a_token_without_the_scope_learns_nothing_of_polls(api, ask, trip, olga):
    client = bearer(script_of(olga, "trips:read", "expenses:read", "polls:write").token)
    cursor = client.get("/api/changes").json()["cursor"]
    path = ask()
    assert client.get(path).json()["code"] == "insufficient_scope"
    assert client.get(f"/api/changes?since={cursor}").json()["items"] == []
    history = client.get(f"/api/trips/{trip.pk}/history").json()["items"]
    assert not any(row["event"].startswith("poll.") for row in history)
    assert vote(client, path, 1).status_code == 200


def test_the_trip_has_at_most_so_many_polls(api, ask, polls, ed, monkeypatch):
    monkeypatch.setattr(Poll, "limit", 1)
    ask()
    assert api(ed).post(polls, QUESTION).json()["code"] == "limit_reached"


def test_an_account_votes_only_so_often(api, ask, vera, limits):
    """T248: Nobody uses up the changes of a trip by voting."""
    limits(vote="2/hour")
    path = ask()
    assert [vote(api(vera), path, 1 + at % 2).status_code for at in range(3)] == [200, 200, 429]
