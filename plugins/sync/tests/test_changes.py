"""What changed in all trips of an account since a cursor."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, transaction

from plugins.states import states_of
from plugins.sync import delivery, touched
from plugins.sync.tests.client import Replica, lists
from tests.factories import PASSWORD, TripFactory, add_guest, join, owned_trip, settle, spend
from tests.scoped import script_of
from tests.users.logins import bearer
from trips.models import JournalEntry
from trips.models.journal import Subject
from trips.roles import TripRole
from users.scopes import Scope


@pytest.fixture
def copy(api, trip, vera):
    """Vera's copy of her trips."""
    return Replica(api(vera))


def is_complete(copy):
    """Whether it has exactly what the lists show."""
    return copy.shown() == lists(copy.client, money=copy.money)


def kinds(changes):
    return [(c["event"], c["object"]["type"], c["state"] is not None) for c in changes]


def test_without_a_cursor_there_is_one_for_now(api, trip, olga):
    client = api(olga)
    spend(trip, 1000, paid_by=olga, among=[olga])
    first = client.get("/api/changes").json()
    assert (first["items"], first["more"]) == ([], False)
    again = client.get(f"/api/changes?since={first['cursor']}").json()
    assert (again["items"], again["more"]) == ([], False)


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_from_the_start_comes_all_that_there_is(api, trip, olga, vera, limit):
    other = TripFactory()
    for person, role in ((olga, TripRole.OWNER), (vera, TripRole.VIEWER)):
        join(other, person, role)
    for at in (trip, other, trip):
        spend(at, 1000, paid_by=olga, among=[olga])
    copy = Replica(api(vera))
    copy.objects, copy.people, copy.cursor = {}, {}, "start"
    copy.read(limit)
    copy.catch_up(limit)
    assert is_complete(copy)


def test_what_is_deleted_between_two_pages_from_the_start_hides_nothing(api, trip, olga, vera):
    """Of a list, the first row of the second page would move to the first, which was read."""
    first, *_others = [spend(trip, 1000, paid_by=olga, among=[olga]) for _number in range(3)]
    copy = Replica(api(vera))
    copy.objects, copy.people, copy.cursor = {}, {}, "start"
    copy.read(3)
    assert (trip.pk, "expense", first.pk) in copy.objects
    first.remove(by=olga)
    copy.catch_up()
    assert is_complete(copy)


# -- What changes without a row of its own ---------------------------------------------------------


def test_an_expense_is_sent_as_it_is_now(copy, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    expense.change(by=olga, description="Supper")
    [change] = copy.catch_up()
    assert change["tripId"] == trip.pk
    assert change["event"] == "expense.created"
    assert change["object"] == {"type": "expense", "id": expense.pk}
    assert change["state"]["description"] == "Supper"
    assert is_complete(copy)
    expense.remove(by=olga)
    assert kinds(copy.catch_up()) == [("expense.deleted", "expense", False)]
    assert is_complete(copy)


def test_a_settlement_comes_with_the_expenses_that_it_pays(copy, trip, olga, ed):
    paid, other = (spend(trip, 1000, paid_by=olga, among=[ed]) for _expense in range(2))
    copy.catch_up()
    settlement = settle(trip, ed, olga, 1000)
    changes = copy.catch_up()
    assert [change["object"] for change in changes] == [
        {"type": "settlement", "id": settlement.pk},
        {"type": "expense", "id": paid.pk},
    ]
    assert is_complete(copy)
    settlement.remove(by=ed)
    assert copy.catch_up()[-1]["object"] == {"type": "expense", "id": other.pk}
    assert is_complete(copy)


@pytest.mark.parametrize("limit", [1, 50])
def test_closing_a_trip_sends_its_expenses_again(api, copy, trip, olga, ed, vera, limit):
    """Ed owes Vera and Vera owes Olga; what Ed gives Olga pays both."""
    spend(trip, 1000, paid_by=vera, among=[ed])
    spend(trip, 1000, paid_by=olga, among=[vera])
    copy.catch_up()
    closing = settle(trip, ed, olga, 1000)
    copy.catch_up(limit)
    assert [e["splits"][0]["paid"] for k, e in copy.shown().items() if k[1] == "expense"] == [
        True, True,
    ]  # fmt: skip
    assert is_complete(copy)
    closing.remove(by=ed)
    copy.catch_up(limit)
    assert is_complete(copy)
    assert api(ed).post(f"/api/trips/{trip.pk}/settlements/{closing.pk}/restore").status_code == 200
    copy.catch_up(limit)
    assert is_complete(copy)


def test_what_a_restored_settlement_closes_is_sent(api, copy, trip, olga, ed, vera):
    spend(trip, 1000, paid_by=vera, among=[ed])
    spend(trip, 1000, paid_by=olga, among=[vera])
    closing = settle(trip, ed, olga, 1000)
    copy.catch_up()
    assert is_complete(copy)
    closing.remove(by=olga)
    copy.catch_up()
    assert is_complete(copy)
    path = f"/api/trips/{trip.pk}/settlements/{closing.pk}/restore"
    assert api(olga).post(path).status_code == 200
    copy.catch_up()
    assert is_complete(copy)


def test_comments_come_back_with_their_expense(api, copy, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[ed])
    api(ed).post(f"/api/expenses/{expense.pk}/comments", {"text": "Tasty."})
    expense.remove(by=olga)
    copy.catch_up()
    assert is_complete(copy)
    assert api(olga).post(f"/api/trips/{trip.pk}/expenses/{expense.pk}/restore").status_code == 200
    copy.catch_up()
    assert is_complete(copy)


def test_too_many_touched_expenses_are_all_sent_again(copy, trip, olga, ed, monkeypatch):
    monkeypatch.setattr(touched, "MAX_TOUCHED", 2)
    for _expense in range(4):
        spend(trip, 1000, paid_by=olga, among=[ed])
    copy.catch_up()
    settlement = settle(trip, ed, olga, 3500)
    copy.catch_up(3)
    assert is_complete(copy)
    settlement.remove(by=ed)
    copy.catch_up(3)
    assert is_complete(copy)


def test_comments_of_a_deleted_account_are_emptied(api, copy, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    api(ed).post(f"/api/expenses/{expense.pk}/comments", {"text": "I was there."})
    copy.catch_up()
    trip.members.get(user=ed).leave(by=ed)
    assert api(ed).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert [change["event"] for change in copy.catch_up()] == ["member.left", "comment.changed"]
    assert "I was there." not in str(copy.objects)
    assert [c for c in copy.shown() if c[1] == "comment"]


def test_invitations_follow_the_rights_of_who_made_them(api, copy, trip, olga, ed):
    api(ed).post(f"/api/trips/{trip.pk}/invitations", {"role": "EDITOR"})
    copy.catch_up()
    trip.members.get(user=ed).change_role(TripRole.VIEWER, by=olga)
    [_member, change] = copy.catch_up()
    assert (change["object"]["type"], change["state"]["state"]) == ("invitation", "revoked")
    assert is_complete(copy)


# -- Trips that are gained and lost ----------------------------------------------------------------


def test_a_guest_who_is_merged_makes_the_trip_new(api, copy, trip, olga, ed):
    guest = add_guest(trip)
    api(olga).post(f"/api/trips/{trip.pk}/invitations", {"guestUserId": guest.pk})
    spend(trip, 1000, paid_by=olga, among=[guest])
    copy.start()
    path = f"/api/trips/{trip.pk}/guests/{guest.pk}/merge"
    assert api(olga).post(path, {"userId": ed.pk}).status_code == 200
    changes = copy.catch_up(2)
    assert kinds(changes)[2:4] == [("guest.merged", "trip", False), ("guest.merged", "trip", True)]
    assert is_complete(copy)


def test_ones_own_role_is_in_the_trip(copy, trip, olga, vera):
    trip.members.get(user=vera).change_role(TripRole.EDITOR, by=olga)
    assert kinds(copy.catch_up()) == [
        ("member.role_changed", "member", True),
        ("member.role_changed", "trip", True),
    ]
    assert copy.objects[trip.pk, "trip", trip.pk]["currentUserRole"] == "EDITOR"


def test_a_member_who_is_removed_loses_the_trip_and_learns_nothing_more(copy, trip, olga, vera):
    trip.members.get(user=vera).remove(by=olga)
    spend(trip, 1000, paid_by=olga, among=[olga])
    trip.remove(by=olga)
    changes = copy.catch_up()
    assert kinds(changes) == [("member.removed", "trip", False)]
    assert changes[0]["object"] == {"type": "trip", "id": trip.pk}
    assert copy.objects == {}
    assert copy.catch_up() == []


def test_a_trip_that_is_deleted_is_gone(copy, trip, olga):
    spend(trip, 1000, paid_by=olga, among=[olga])
    trip.remove(by=olga)
    assert kinds(copy.catch_up()) == [("trip.deleted", "trip", False)]
    assert copy.objects == {}


def test_who_leaves_and_joins_again_gets_what_happened_meanwhile(api, copy, trip, olga, vera):
    trip.members.get(user=vera).leave(by=vera)
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert api(vera).post("/api/trips/join", {"tripCode": trip.code}).status_code == 201
    copy.catch_up(1)
    assert is_complete(copy)


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_a_new_trip_is_sent_whole(api, copy, olga, vera, limit, monkeypatch):
    monkeypatch.setattr(delivery, "_SEARCHED", 2)
    other = owned_trip(olga)
    for _expense in range(5):
        expense = spend(other, 1000, paid_by=olga, among=[olga])
    for _comment in range(3):
        api(olga).post(f"/api/expenses/{expense.pk}/comments", {"text": "Tasty."})
    api(olga).post(f"/api/trips/{other.pk}/invitations", {})
    guest = add_guest(other)
    for amount in (1, 2, 3):
        settle(other, guest, olga, amount, by=olga)
    join(other, vera)
    changes = copy.catch_up(limit)
    assert kinds(changes)[:2] == [("member.joined", "trip", False), ("member.joined", "trip", True)]
    assert len(changes) == 2 + 5 + 3 + 3 + 1
    assert is_complete(copy)


def test_a_trip_that_is_lost_while_it_is_sent_is_gone(copy, olga, vera):
    other = owned_trip(olga)
    join(other, vera)
    for _expense in range(3):
        spend(other, 1000, paid_by=olga, among=[olga])
    assert copy.read(3)
    other.members.get(user=vera).remove(by=olga)
    copy.catch_up()
    assert is_complete(copy)


# -- Scoped tokens ---------------------------------------------------------------------------------


def test_a_row_whose_objects_do_not_fit_goes_on_in_the_next_page(copy, trip, olga, ed):
    for _expense in range(5):
        spend(trip, 1000, paid_by=olga, among=[ed])
    copy.catch_up()
    settle(trip, ed, olga, 4500)
    assert len(copy.catch_up(2)) == 6
    assert is_complete(copy)


def test_a_token_without_the_scope_of_expenses_sees_no_money(api, trip, olga, vera):
    copy = Replica(bearer(script_of(vera, "trips:read").token), money=False)
    expense = spend(trip, 1000, paid_by=olga, among=[vera])
    settle(trip, vera, olga, 1000)
    api(olga).post(f"/api/expenses/{expense.pk}/comments", {"text": "Tasty."})
    expense.remove(by=olga)
    trip.change(by=olga, title="Porto")
    other = owned_trip(olga)
    spend(other, 1000, paid_by=olga, among=[olga])
    join(other, vera)
    assert {change["object"]["type"] for change in copy.catch_up(1)} == {"trip"}
    assert is_complete(copy)


def test_a_token_for_one_trip_sees_no_other(trip, olga, vera):
    other = TripFactory()
    for user in (olga, vera):
        join(other, user, TripRole.OWNER)
    copy = Replica(bearer(script_of(vera, *Scope, trip=trip).token))
    for each in (trip, other):
        spend(each, 1000, paid_by=olga, among=[vera])
    assert {change["tripId"] for change in copy.catch_up()} == {trip.pk}
    assert is_complete(copy)


def test_only_members_get_the_changes_of_a_trip(api, trip, olga, sam, ada):
    """T172: Nobody gets changes of a trip that they are not a member of."""
    copies = [Replica(api(user)) for user in (sam, ada)]
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert [copy.catch_up() for copy in copies] == [[], []]


# -- The order of transactions ---------------------------------------------------------------------


# -- States ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_a_command_that_ends_late_is_not_lost(api, trip, olga, ed):
    """It wrote its row before that of another trip, which was read first."""
    other = TripFactory()
    for user in (olga, ed):
        join(other, user, TripRole.OWNER)
    copy = Replica(api(olga))
    has_written, may_end = Event(), Event()

    def change_slowly():
        try:
            with transaction.atomic():
                trip.change(by=olga, title="Slow")
                has_written.set()
                may_end.wait(10)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(change_slowly)
        assert has_written.wait(10)
        other.change(by=olga, title="Fast")
        assert [change["tripId"] for change in copy.catch_up()] == [other.pk]
        may_end.set()
        slow.result(10)
    assert [change["tripId"] for change in copy.catch_up()] == [trip.pk]
    assert is_complete(copy)


def test_what_a_reader_may_not_see_is_not_shown(trip, olga, vera, sam):
    other = TripFactory()
    join(other, vera)
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    wanted = [(trip.pk, Subject("trip", trip.pk)), (trip.pk, Subject("expense", expense.pk))]
    assert set(states_of(vera, wanted)) == set(wanted)
    assert states_of(sam, wanted) == {}
    assert states_of(vera, [(other.pk, Subject("expense", expense.pk))]) == {}


def test_an_event_of_a_newer_release_has_no_state(api, olga, trip):
    cursor = api(olga).get("/api/changes").json()["cursor"]
    api(olga).post(f"/api/trips/{trip.pk}/guests", {"name": "Grandma"})
    rows = JournalEntry.objects.filter(trip=trip.pk, event="guest.added")
    rows.update(event="poll.closed", object_id=12)
    [change] = api(olga).get(f"/api/changes?since={cursor}").json()["items"]
    assert (change["event"], change["state"]) == ("poll.closed", None)
