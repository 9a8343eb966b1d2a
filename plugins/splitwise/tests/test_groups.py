"""Groups, friends, and what is shared outside of groups."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from plugins.invitations.models import Invitation
from plugins.splitwise.tests.conftest import balances_of, shares
from splits.models import DeletedEntry, Expense
from tests.factories import UserFactory, add_guest, settle, spend
from tests.stored import everything_stored
from trips.models import Trip
from trips.roles import TripRole
from users.models import Mail, User

pytestmark = pytest.mark.either


def test_a_group_is_a_trip(calling, olga, ed):
    caller = calling(olga)
    body = {
        "name": "Flat",
        "group_type": "apartment",
        "simplify_by_default": "false",
        "whiteboard": "Rules",
        "users__0__user_id": olga.pk,
        "users__3__email": "ED@example.com",
        "users__12__first_name": "Grandma",
        "users__12__last_name": "Duck",
    }
    group = caller.done("create_group", form=True, **body)["group"]
    trip = Trip.objects.get()
    assert (group["id"], group["name"], trip.currency) == (trip.pk, "Flat", olga.currency)
    assert trip.start_date == trip.end_date == timezone.localdate()
    assert (group["group_type"], group["simplify_by_default"]) == ("apartment", False)
    assert group["whiteboard"] == "Rules"
    states = [(one["first_name"], one["registration_status"]) for one in group["members"]]
    assert states == [("Olga", "confirmed"), ("Ed", "confirmed"), ("Grandma", "dummy")]
    assert [one["email"] for one in group["members"]][1:] == [
        "ed@example.com",
        f"guest-{group['members'][2]['id']}@guests.invalid",
    ]
    assert caller.get(f"get_group/{group['id']}")["group"] == group
    # Ed may record expenses, as everybody may there.
    assert trip.members.get(user=ed).role == TripRole.EDITOR
    calling(ed).spend("5", {ed: "5"}, {olga: "5"}, group_id=trip.pk)
    answer = caller.refused("remove_user_from_group", group_id=trip.pk, user_id=ed.pk)
    assert "5.00 EUR" in str(answer)


def test_groups_show_balances_and_debts(calling, trip, olga, ed, vera):
    spend(trip, 3000, paid_by=olga, among=[olga, ed, vera])
    settle(trip, ed, olga, 1500)
    groups = calling(ed).get("get_groups")["groups"]
    assert [one["id"] for one in groups] == [0, trip.pk]
    group = groups[1]
    balances = {one["id"]: one["balance"] for one in group["members"]}
    assert balances[ed.pk] == [{"currency_code": "EUR", "amount": "5.0"}]
    # Ed has paid too much: Olga owes him.
    assert {(one["from"], one["to"], one["amount"]) for one in group["original_debts"]} == {
        (vera.pk, olga.pk, "10.0"),
        (olga.pk, ed.pk, "5.0"),
    }
    assert sum(Decimal(one["amount"]) for one in group["simplified_debts"]) == 10
    friends = {one["id"]: one for one in calling(olga).get("get_friends")["friends"]}
    assert friends[ed.pk]["balance"] == [{"currency_code": "EUR", "amount": "-5.0"}]
    assert friends[vera.pk]["groups"] == [
        {"group_id": trip.pk, "balance": [{"currency_code": "EUR", "amount": "10.0"}]}
    ]


def test_a_group_is_deleted_and_comes_back(calling, trip, olga, ed):
    assert "permission" in str(calling(ed).refused(f"delete_group/{trip.pk}"))
    caller = calling(olga)
    caller.done(f"delete_group/{trip.pk}")
    assert [one["id"] for one in caller.get("get_groups")["groups"]] == [0]
    caller.refused(f"delete_group/{trip.pk}")
    caller.done(f"undelete_group/{trip.pk}")
    caller.refused(f"undelete_group/{trip.pk}")
    assert [one["id"] for one in caller.get("get_groups")["groups"]] == [0, trip.pk]


def test_what_was_deleted_comes_back_within_its_days_only(calling, trip, olga):
    caller, long_ago = calling(olga), timezone.now() - timedelta(days=31)
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    caller.done(f"delete_expense/{expense.pk}")
    DeletedEntry.objects.update(deleted_at=long_ago)
    call_command("prune")
    caller.refused(f"undelete_expense/{expense.pk}")
    caller.done(f"delete_group/{trip.pk}")
    Trip.objects.update(deleted_at=long_ago)
    caller.refused(f"undelete_group/{trip.pk}")


def test_a_guest_is_invited_while_an_invitation_is_open(calling, trip, olga):
    caller = calling(olga)
    body = {"first_name": "New", "last_name": "One", "email": "new@example.com"}
    pk = caller.done("add_user_to_group", group_id=trip.pk, **body)["user"]["id"]

    def states():
        found = caller.get(f"get_user/{pk}")["user"], caller.get(f"get_friend/{pk}")["friend"]
        return [one["registration_status"] for one in found]

    assert states() == ["invited", "invited"]
    Invitation.objects.update(revoked_at=timezone.now())
    assert states() == ["dummy", "dummy"]


def test_people_are_added_and_removed(calling, trip, olga, ed, vera, sam):
    caller = calling(olga)
    assert "share no group" in str(
        caller.refused("add_user_to_group", group_id=trip.pk, user_id=sam.pk)
    )
    body = {"first_name": "Sam", "last_name": None, "email": "sam@example.com"}
    added = caller.done("add_user_to_group", group_id=trip.pk, **body)
    assert (added["user"]["id"], added["user"]["balance"]) == (sam.pk, [])
    assert caller.refused("add_user_to_group", group_id=trip.pk, **body)
    body = {"first_name": "New", "last_name": "One", "email": "new@example.com"}
    guest = caller.done("add_user_to_group", group_id=trip.pk, **body)["user"]
    assert guest["registration_status"] == "invited"
    invitation = Invitation.objects.get()
    members = caller.get(f"get_group/{trip.pk}")["group"]["members"]
    assert [one["registration_status"] for one in members][-1] == "invited"
    assert (invitation.guest_id, invitation.email) == (guest["id"], "new@example.com")
    assert Mail.objects.filter(object_id=invitation.pk).exists()
    other = caller.done("create_group", name="Other")["group"]
    assert "one group only" in str(
        caller.refused("add_user_to_group", group_id=other["id"], user_id=guest["id"])
    )
    caller.done("add_user_to_group", group_id=other["id"], user_id=vera.pk, email="x@example.com")
    for user_id in (sam.pk, guest["id"]):
        caller.done("remove_user_from_group", group_id=trip.pk, user_id=user_id)
    assert "permission" in str(
        calling(ed).refused("remove_user_from_group", group_id=trip.pk, user_id=vera.pk)
    )
    calling(ed).done("remove_user_from_group", group_id=trip.pk, user_id=ed.pk)


def test_friends_share_what_is_in_no_group(calling, api, olga, ed):
    caller = calling(olga)
    friend = caller.done(
        "create_friend", user_email="ed@example.com", user_first_name="E", form=True
    )["friend"]
    assert (friend["id"], friend["groups"]) == (ed.pk, [{"group_id": 0, "balance": []}])
    expense = caller.spend("9", {olga: "9"}, {olga: "4.5", ed: "4.5"})
    assert expense["group_id"] is None
    again = calling(ed).spend("1", {ed: "1"}, {olga: "1"}, group_id=0)
    assert Expense.objects.values("trip").distinct().count() == 1
    trip = Trip.objects.get()
    assert [one["id"] for one in api(ed).get("/api/trips").json()["items"]] == [trip.pk]
    assert set(trip.members.values_list("role", flat=True)) == {TripRole.OWNER}
    assert balances_of(trip) == {olga.pk: Decimal("3.50"), ed.pk: Decimal("-3.50")}
    assert caller.get(f"get_friend/{ed.pk}")["friend"]["balance"] == [
        {"currency_code": "EUR", "amount": "3.5"}
    ]
    assert [one["id"] for one in caller.get("get_group/0")["group"]["members"]] == [olga.pk, ed.pk]
    assert [one["id"] for one in caller.get("get_groups")["groups"]] == [0]
    found = caller.get("get_expenses", group_id=0)["expenses"]
    assert {one["id"] for one in found} == {expense["id"], again["id"]}
    assert "balance" in str(caller.refused(f"delete_friend/{ed.pk}"))
    caller.spend("3.5", {ed: "3.5"}, {olga: "3.5"}, payment=1)
    caller.done(f"delete_friend/{ed.pk}")
    assert caller.get("get_friends")["friends"] == []
    caller.refused(f"delete_friend/{ed.pk}")


def test_an_address_without_an_account_is_one_friend(calling, olga, sam):
    caller = calling(olga)
    body = {"cost": "9", "description": "Dinner"}
    body |= {"users__0__user_id": olga.pk, "users__0__paid_share": "9"}
    body |= {"users__1__email": "new@example.com", "users__1__owed_share": "9"}
    caller.done("create_expense", **body)
    caller.done("create_expense", **{**body, "users__1__email": "NEW@example.com"})
    caller.done("create_friend", user_email="new@example.com", user_first_name="Nina")
    assert [one["balance"] for one in caller.get("get_friends")["friends"]] == [
        [{"currency_code": "EUR", "amount": "18.0"}]
    ]
    [trip] = Trip.objects.all()
    [invitation] = Invitation.objects.all()
    assert Mail.objects.count() == 1
    assert set(trip.members.values_list("user", flat=True)) == {olga.pk, invitation.guest_id}
    # The friend of somebody else, or of the same name, is another one.
    calling(sam).done("create_friend", user_email="new@example.com")
    caller.done("create_friend", user_first_name="Nina")
    caller.done("create_friend", user_first_name="Nina")
    assert Trip.objects.count() == 4


def test_an_address_without_an_account_is_a_member_of_a_group(calling, olga):
    caller = calling(olga)
    new = {"users__0__email": "new@example.com", "users__0__first_name": "Nina"}
    group = caller.done("create_group", name="Alps", **new)["group"]["id"]
    body = {"group_id": group, "cost": "9", "description": "Dinner"}
    body |= {"users__0__user_id": olga.pk, "users__0__paid_share": "9"}
    body |= {"users__1__email": "New@example.com", "users__1__owed_share": "9"}
    caller.done("create_expense", **body)
    [split] = Expense.objects.get().splits.all()
    assert split.participant_id == Invitation.objects.get().guest_id
    for other in ("other@example.com", "new", ""):
        caller.refused("create_expense", **{**body, "users__1__email": other})


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({"user_first_name": "N", "user_email": "nina@example.com"}, "nina"),
        ({"user_first_name": "N", "user_email": "n@example.com"}, "n@example.com"),
        ({"user_first_name": "N", "user_last_name": "O"}, "N"),
        ({"user_email": "n@example.com"}, "n@example.com"),
    ],
)
def test_a_guest_with_a_short_name_is_called_by_the_address(calling, olga, named, shown):
    assert calling(olga).done("create_friend", **named)["friend"]["first_name"] == shown
    assert not User.objects.filter(is_guest=True, name="N").exists()


def test_a_name_that_is_refused_is_named_as_it_was_sent(calling, olga):
    caller = calling(olga)
    for name in ("N", "", "N" * 51):
        assert list(caller.refused("create_friend", user_first_name=name)) == ["first_name"]
    assert list(caller.refused("update_user", first_name="N", last_name="")) == ["first_name"]
    assert "name" in caller.refused("create_group", name="N" * 101)


def test_another_currency_outside_of_groups_is_another_trip(calling, olga, ed):
    caller = calling(olga)
    caller.done("create_friend", user_email="ed@example.com")
    caller.spend("9", {olga: "9"}, {ed: "9"})
    caller.spend("7", {olga: "7"}, {ed: "7"}, currency_code="USD")
    assert [one["balance"] for one in caller.get("get_friends")["friends"]] == [
        [{"currency_code": "EUR", "amount": "9.0"}, {"currency_code": "USD", "amount": "7.0"}]
    ]
    assert "currency_code" in caller.refused(
        "create_expense",
        cost="1",
        description="x",
        currency_code="XXX",
        **shares({olga: "1"}, {ed: "1"}),
    )


def test_outside_of_groups_there_are_two_people(calling, trip, olga, ed, vera):
    body = {"cost": "9", "description": "x", **shares({olga: "9"}, {ed: "4", vera: "5"})}
    assert "one other person" in str(calling(olga).refused("create_expense", **body))
    assert Trip.objects.count() == 1


@pytest.mark.parametrize("ends", [False, True])
def test_what_two_people_share_is_in_no_trip_that_a_stranger_made(
    calling, api, olga, ed, sam, ends
):
    calling(sam).done("create_friend", user_email="olga@example.com")
    trip = Trip.objects.get()
    api(sam).post(f"/api/trips/{trip.pk}/members", {"email": "ed@example.com", "role": "OWNER"})
    if ends:
        assert api(sam).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    olgas = calling(olga)
    body = {"cost": "9", "description": "Secret", "users__1__email": "ed@example.com"}
    body |= {"users__0__user_id": olga.pk, "users__0__paid_share": "9", "users__1__owed_share": "9"}
    [expense] = olgas.done("create_expense", **body)["expenses"]
    assert expense["group_id"] is None
    assert not trip.expenses.exists()
    assert [one["id"] for one in olgas.get("get_groups")["groups"]] == [0, trip.pk]


@pytest.mark.parametrize("email", ["ed@example.com", "new@example.com"])
@pytest.mark.parametrize(
    "wrong", [{"cost": "nine"}, {"users__1__owed_share": "8"}, {"payment": "1", "cost": "8"}]
)
def test_a_refused_expense_leaves_no_friendship(calling, olga, ed, email, wrong):
    body = {"cost": "9", "description": "Dinner", "users__1__email": email}
    body |= {"users__0__user_id": olga.pk, "users__0__paid_share": "9", "users__1__owed_share": "9"}
    caller, before = calling(olga), everything_stored()
    caller.refused("create_expense", **{**body, **wrong})
    assert everything_stored() == before


def test_guests_are_friends_too(calling, trip, olga):
    guest = add_guest(trip)
    caller = calling(olga)
    body = {"cost": "1", "description": "x", **shares({olga: "1"}, {guest: "1"})}
    assert "one group only" in str(caller.refused("create_expense", **body))
    friends = {
        "friends__0__first_name": "Tick",
        "users__1__first_name": "Trick",
        "friends__2__user_first_name": "Track",
    }
    made = caller.done("create_friends", **friends)["users"]
    assert [one["first_name"] for one in made] == ["Tick", "Trick", "Track"]
    tick = UserFactory.build(pk=made[0]["id"])
    caller.spend("4", {olga: "4"}, {tick: "4"})
    caller.refused(f"delete_friend/{tick.pk}")
    caller.done(f"delete_friend/{made[1]['id']}")
    assert "group" in str(caller.refused(f"delete_friend/{guest.pk}"))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("create_group", {"name": ""}),
        ("create_group", {"name": "x" * 101}),
        ("create_group", {"name": "Flat", "group_type": "castle"}),
        ("create_group", {"name": "Flat", "users__0__user_id": 10**12}),
        ("create_group", {"name": "Flat", "users__0__email": "nobody"}),
        ("create_group", {"name": "Flat", "users__0__first_name": ""}),
        ("create_friend", {"user_email": "nobody"}),
        ("create_friend", {"user_email": "olga@example.com"}),
        ("create_friend", {}),
        ("create_friends", {}),
        ("create_friends", {"users__0__first_name": "Tick", "users__1__email": "nobody"}),
    ],
)
def test_a_refused_group_or_friend_leaves_nothing(calling, olga, path, body):
    answer = calling(olga).post(path, **body)
    assert answer["errors"]
    if path == "create_group":
        assert answer["group"]["id"] is None
        assert answer["group"]["errors"] == answer["errors"]
    assert not Trip.objects.exists()


def test_nobody_is_without_an_address(calling, trip, olga, ed, sam):
    User.objects.filter(pk=sam.pk).update(is_unanswered=True)
    calling(olga).done("add_user_to_group", group_id=trip.pk, email=sam.email)
    members = calling(ed).get(f"get_group/{trip.pk}")["group"]["members"]
    [shown] = [one["email"] for one in members if one["id"] == sam.pk]
    assert shown == f"user-{sam.pk}@hidden.invalid"


def test_friends_who_have_not_answered_are_friends_everywhere(calling, api, olga, trip):
    nora = UserFactory(name="Nora")
    body = {"userId": nora.pk, "role": "EDITOR"}
    assert api(olga).post(f"/api/trips/{trip.pk}/members", body).status_code == 201
    caller = calling(olga)
    assert nora.pk in [one["id"] for one in caller.get("get_friends")["friends"]]
    assert caller.get(f"get_friend/{nora.pk}")["friend"]["id"] == nora.pk
    # Their address is still nobody's business.
    assert caller.get(f"get_user/{nora.pk}")["user"]["email"].endswith(".invalid")
    assert caller.spend("10", {olga: "10"}, {olga: "5", nora: "5"}, group_id=0)["cost"] == "10.0"


def test_only_what_friends_owe_by_pairs_is_said_to_be_so(calling, olga):
    caller = calling(olga)
    group = caller.done("create_group", name="Flat", simplify_by_default="true")["group"]
    assert group["simplify_by_default"] is False
    assert caller.get(f"get_group/{group['id']}")["group"]["simplify_by_default"] is False


def test_errors_of_a_friend_who_stays_are_a_list(calling, trip, olga):
    caller = calling(olga)
    [other] = [one["id"] for one in caller.get("get_friends")["friends"]][:1]
    refused = caller.post(f"delete_friend/{other}")
    assert (refused["success"], len(refused["errors"])) == (False, 1)
    assert "leave the group" in refused["errors"][0]
    friend = caller.done("create_friend", user_first_name="Grandma")["friend"]
    gone = caller.post(f"delete_friend/{friend['id']}")
    assert gone == {"success": True, "error": None, "errors": []}
