"""What is kept of polls: races, anonymous votes, guests, files, and what a list costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.invitations.models import Invitation
from plugins.polls.models import Poll, Vote
from plugins.polls.tests.asking import QUESTION, ask, counts, polls, vote, voters
from tests.factories import PASSWORD, add_guest
from tests.own_data import own_data
from tests.scoped import script_of
from tests.users.logins import bearer
from trips.roles import TripRole
from users.models import User
from users.scopes import all_scopes

pytestmark = pytest.mark.either

__all__ = ["ask", "polls"]


def test_nobody_learns_who_voted_in_an_anonymous_poll(api, ask, trip, olga, ed, vera, ada):
    path = ask(anonymous=True)
    mine = vote(api(vera), path, 2).json()
    assert (counts(mine), voters(mine), mine["myOptionIds"]) == ([0, 1], [None, None], [2])
    api(ed).post(f"{path}/close")
    for user in (olga, ed, ada):
        shown = api(user).get(path).json()
        assert (voters(shown), shown["myOptionIds"]) == ([None, None], [])
    [_closed, news, *_rest] = api(olga).get(f"/api/trips/{trip.pk}/history").json()["items"]
    assert (news["by"], news["text"]) == (None, "Somebody voted in an anonymous poll.")
    file = api(olga).get(f"/api/trips/{trip.pk}/export?format=json").json()
    assert file["votes"] == []
    assert file["polls"][0]["options"]["2"] == {"text": "Hills", "votes": 1}
    assert own_data(vera)["votes"] == []


def test_an_account_that_ends_takes_its_anonymous_choice_along(api, ask, olga, vera):
    secret, shown = ask(anonymous=True), ask()
    for path in (secret, shown):
        vote(api(vera), path, 1)
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert Vote.objects.filter(poll__anonymous=True).count() == 0
    assert counts(api(olga).get(secret).json()) == [1, 0]
    assert voters(api(olga).get(shown).json()) == [["Deleted user"], []]


def test_votes_go_with_a_guest_who_becomes_a_member(api, ask, trip, olga, vera, ed):
    path, other = ask(), ask()
    guest = add_guest(trip)
    for pk in (int(path.rpartition("/")[2]), int(other.rpartition("/")[2])):
        poll = Poll.objects.get(pk=pk)
        Vote(trip=trip, poll=poll, created_by=guest, option_words="1").save()
        poll.count([1], 1)
        poll.save()
    vote(api(vera), path, 2)
    merged = api(olga).post(f"/api/trips/{trip.pk}/guests/{guest.pk}/merge", {"userId": vera.pk})
    assert merged.status_code == 200
    assert voters(api(ed).get(path).json()) == [[], ["Vera Viewer"]]
    assert counts(api(ed).get(path).json()) == [0, 1]
    assert voters(api(ed).get(other).json()) == [["Vera Viewer"], []]


def test_a_guest_is_claimed_with_their_votes(api, ask, trip, olga, sam):
    path, guest = ask(), add_guest(trip)
    poll = Poll.objects.get()
    Vote(trip=trip, poll=poll, created_by=guest, option_words="1").save()
    poll.count([1], 1)
    poll.save()
    invitation = Invitation.issue(trip, olga, role=TripRole.VIEWER, guest_user_id=guest.pk)
    assert api(sam).post(f"/api/invitations/{invitation.token}/accept").status_code == 201
    assert voters(api(olga).get(path).json()) == [[sam.name], []]


def test_a_file_brings_polls_and_votes(api, ask, trip, olga, vera, sam):
    shown, secret = ask(multiple=True), ask(anonymous=True, question="Who cooks?")
    vote(api(vera), shown, 1, 2)
    vote(api(olga), shown, 2)
    vote(api(vera), secret, 1)
    assert [row["optionIds"] for row in own_data(vera)["votes"]] == [[1, 2]]
    file = api(olga).get(f"/api/trips/{trip.pk}/export?format=json").json()
    planned = api(sam).post("/api/imports", file).json()
    with CaptureQueriesContext(connection) as captured:
        made = api(sam).post(f"/api/imports/{planned['id']}/confirm").json()
    assert "tripId" in made, made
    # A file may have 100,000 votes: none of them is written again without need.
    assert not [one for one in captured if f'UPDATE "{Vote._meta.db_table}"' in one["sql"]]
    [second, first] = api(sam).get(f"/api/trips/{made['tripId']}/polls").json()["items"]
    assert (counts(first), counts(second)) == ([1, 2], [1, 0])
    assert voters(first) == [["Vera Viewer"], ["Vera Viewer", "Olga Owner"]]
    assert voters(second) == [None, None]
    path = f"/api/trips/{made['tripId']}/polls/{first['id']}"
    added = api(sam).patch(path, {"options": [*plain(first["options"]), {"text": "City"}]}).json()
    assert [option["id"] for option in added["options"]] == [1, 2, 3]


def test_a_file_has_no_more_polls_than_a_trip_may(api, ask, trip, olga, sam, monkeypatch):
    ask(), ask()
    file = api(olga).get(f"/api/trips/{trip.pk}/export?format=json").json()
    confirm = f"/api/imports/{api(sam).post('/api/imports', file).json()['id']}/confirm"
    for limit, status in ((1, 409), (2, 200)):
        monkeypatch.setattr(Poll, "limit", limit)
        assert api(sam).post(confirm).status_code == status


def test_a_file_shows_no_votes_that_members_do_not_see(api, ask, trip, olga, vera, ed):
    """T242: A file has no votes that members do not see."""
    later, secret = ask(showsVotes="after_vote"), ask(showsVotes="after_close", anonymous=True)
    for path in (later, secret):
        vote(api(vera), path, 2)

    def exported():
        return api(ed).get(f"/api/trips/{trip.pk}/export?format=json").json()

    nothing = {"1": {"text": "Sea", "votes": 0}, "2": {"text": "Hills", "votes": 0}}
    assert [poll["options"] for poll in exported()["polls"]] == [nothing, nothing]
    assert exported()["votes"] == []
    for path in (later, secret):
        api(olga).post(f"{path}/close")
    assert [poll["options"]["2"]["votes"] for poll in exported()["polls"]] == [1, 1]
    assert [found["createdById"] for found in exported()["votes"]] == [vera.pk]


def test_a_token_brings_polls_only_with_the_scope_for_them(api, ask, trip, olga, sam):
    ask()
    file = api(olga).get(f"/api/trips/{trip.pk}/export?format=json").json()
    for missing, status in (("polls:write", 403), ("messages:write", 200)):
        client = bearer(script_of(sam, *({*all_scopes()} - {missing})).token)
        planned = client.post("/api/imports", file).json()
        assert client.post(f"/api/imports/{planned['id']}/confirm").status_code == status


def test_a_file_with_too_many_choices_in_a_vote_counts_those_that_it_keeps(
    api, ask, trip, olga, vera, sam
):
    path = ask()
    vote(api(olga), path, 1)
    vote(api(vera), path, 1)
    file = api(olga).get(f"/api/trips/{trip.pk}/export?format=json").json()
    for stored, words in zip(file["votes"], ("1 2", "9"), strict=True):
        stored["optionWords"] = words
    planned = api(sam).post("/api/imports", file).json()
    made = api(sam).post(f"/api/imports/{planned['id']}/confirm").json()["tripId"]
    [poll] = api(sam).get(f"/api/trips/{made}/polls").json()["items"]
    assert (counts(poll), voters(poll)) == ([1, 0], [["Olga Owner"], []])


def test_who_is_added_again_and_removed_keeps_what_they_wrote(api, ask, trip, olga, ed):
    """T241: Nobody gets what others wrote by adding them again."""
    secret, shown = ask(anonymous=True), ask()
    for path in (secret, shown):
        vote(api(ed), path, 2)
    members = f"/api/trips/{trip.pk}/members"
    assert api(olga).delete(f"{members}/{ed.pk}").status_code == 204
    assert api(olga).post(members, {"userId": ed.pk}).status_code == 201
    assert api(olga).delete(f"{members}/{ed.pk}").status_code == 204
    assert not trip.members.present().filter(user__is_guest=True).exists()
    assert voters(api(olga).get(shown).json()) == [[], [ed.name]]


def test_no_vote_in_an_anonymous_poll_goes_to_whoever_takes_a_place(api, ask, trip, olga, ed, vera):
    """T240: Whoever takes somebody's place does not see their vote in an anonymous poll."""
    path = ask(anonymous=True)
    vote(api(ed), path, 2)
    members = f"/api/trips/{trip.pk}/members"
    api(olga).delete(f"{members}/{ed.pk}")
    api(olga).post(members, {"userId": ed.pk})
    spent = {"description": "Boat", "amount": 10, "expenseDate": "2026-05-14"}
    spent |= {"splitType": "EQUAL", "participantUserIds": [ed.pk]}
    api(olga).post(f"/api/trips/{trip.pk}/expenses", spent)
    assert api(ed).post(f"{members}/leave").status_code == 204
    guest = trip.members.present().get(user__is_guest=True).user_id
    body = {"userId": vera.pk}
    assert api(olga).post(f"/api/trips/{trip.pk}/guests/{guest}/merge", body).status_code == 200
    assert api(vera).get(path).json()["myOptionIds"] == []


def plain(options):
    return [{"id": option["id"], "text": option["text"]} for option in options]


@pytest.mark.parametrize(
    "change",
    [
        {"options": []},
        {"options": {"1": {"text": "Sea", "votes": 0}}},
        {"options": {"1": {"text": "Sea", "votes": -1}, "2": {"text": "Hills", "votes": 0}}},
        {"options": {"x": {"text": "Sea", "votes": 0}, "2": {"text": "Hills", "votes": 0}}},
        {"options": {"1": {"text": "Sea", "votes": 0}, "2": 7}},
        {"options": {"1": {"text": "Sea", "votes": 0}, "3000000000": {"text": "Hill", "votes": 0}}},
        {"question": ""},
        {"showsVotes": "never"},
    ],
    ids=str,
)
def test_a_file_that_lies_is_refused(api, ask, trip, olga, sam, change):
    ask()
    file = api(olga).get(f"/api/trips/{trip.pk}/export?format=json").json()
    file["polls"][0] |= change
    planned = api(sam).post("/api/imports", file)
    if planned.status_code == 201:
        planned = api(sam).post(f"/api/imports/{planned.json()['id']}/confirm")
    assert (planned.status_code, planned.json()["code"]) == (400, "unreadable")


def test_members_who_want_it_get_a_mail_about_a_new_poll(api, ask, vera):
    User.objects.filter(pk=vera.pk).update(
        notice_mode="each", notice_events="poll.created", email_verified_at=vera.created_at
    )
    ask()
    [mail] = vera.mails.all()
    assert mail.letter == "POLL_CREATED"


def test_assistants_ask_and_vote(api, trip, ed, polls):
    def call(name, **arguments):
        params = {"name": name, "arguments": {"trip": trip.title, **arguments}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return api(ed).post("/api/mcp", body).json()["result"]

    made = call("create_poll", **QUESTION)["structuredContent"]
    assert call("vote", poll=made["id"], optionIds=[2])["isError"] is False
    [poll] = call("list_polls")["structuredContent"]["items"]
    assert counts(poll) == [0, 1]
    assert call("vote", poll="Where to?", optionIds=[2])["isError"] is True


def test_the_admin_site_shows_numbers_and_no_voters(api, ask, ada, vera, client):
    path = ask(anonymous=True)
    vote(api(vera), path, 1)
    client.force_login(ada)
    page = client.get(f"/admin/polls/poll/{path.rpartition('/')[2]}/change/").content.decode()
    assert "Where to?" in page
    assert "Vera" not in page
    assert "&quot;votes&quot;: 1" in page


def test_a_page_of_changes_shows_no_more_votes_than_a_response_can_hold(
    api, ask, olga, ed, vera, monkeypatch
):
    monkeypatch.setattr("plugins.sync.changes.MAX_PARTS", 3)
    client = api(ed)
    cursor, pages, more = client.get("/api/changes").json()["cursor"], [], True
    for path in (ask(), ask(anonymous=True), ask(), ask()):
        for voter in (olga, ed, vera, vera):
            vote(api(voter), path, 1)
    while more:
        page = client.get(f"/api/changes?since={cursor}").json()
        cursor, more = page["cursor"], page["more"]
        pages.append([counts(change["state"])[0] for change in page["items"]])
    assert pages[:3] == [[3, 3], [3], [3]]
    assert max(map(len, pages)) == 2
