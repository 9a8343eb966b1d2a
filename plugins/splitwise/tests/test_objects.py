"""The objects have every key that clients fail without, and say the same as our own API."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.comments.models import Comment
from plugins.splitwise.categories import NAMES, TREE, our_category
from plugins.splitwise.models import GivenCategory
from plugins.splitwise.parsing import Fields
from plugins.splitwise.tests.conftest import BASE, balances_of
from splits.models import Expense
from splits.reports.audit import differences
from tests.factories import add_guest, owned_trip, settle, spend
from tests.splits.histories import HISTORIES


def test_objects_have_every_key(calling, trip, olga, ed, vera):
    guest, caller = add_guest(trip), calling(olga)
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed, guest])
    settle(trip, vera, olga, 5)
    spend(trip, 1000, paid_by=ed, among=[vera]).remove(olga)
    caller.done(f"update_expense/{expense.pk}", description="<b>Lunch</b>")
    Comment.write(expense, ed, "Nice <b>one</b>")
    caller.done("create_friend", user_email=ed.email)
    caller.spend("5", {olga: "5"}, {ed: "5"})
    caller.get("get_current_user")
    caller.get(f"get_user/{guest.pk}")
    assert len(caller.get("get_groups")["groups"]) == 2
    assert len(caller.get("get_friends")["friends"]) == 3
    assert caller.get(f"get_friend/{ed.pk}")["friend"]["id"] == ed.pk
    expenses = caller.get("get_expenses")
    assert len(expenses["expenses"]) == 4
    for one in expenses["expenses"]:
        shown = caller.get(f"get_expense/{one['id']}")
        assert {**one, "comments": shown["expense"]["comments"]} == shown["expense"]
        total = sum(Decimal(part["paid_share"]) for part in one["users"])
        assert total == sum(Decimal(part["owed_share"]) for part in one["users"])
        assert total == Decimal(one["cost"])
    assert len(caller.get("get_comments", expense_id=expense.pk)["comments"]) == 1
    notifications = caller.get("get_notifications")
    assert {one["type"] for one in notifications["notifications"]} >= {0, 1, 2, 3, 4}
    assert "<b>" not in str(notifications)
    assert len(caller.get("get_notifications", limit=2)["notifications"]) == 2
    assert len(caller.get("get_currencies")["currencies"]) > 100
    assert len(caller.get("get_categories")["categories"]) == 7


def test_comments_come_and_go(calling, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    made = calling(ed).done("create_comment", form=True, expense_id=expense.pk, content="Nice")
    assert calling(olga).get(f"get_expense/{expense.pk}")["expense"]["comments_count"] == 1
    assert calling(ed).done(f"delete_comment/{made['comment']['id']}")["comment"]["deleted_at"]
    assert calling(ed).get("get_comments", expense_id=expense.pk) == {"comments": []}
    empty = calling(ed).post("create_comment", expense_id=expense.pk, content=" ")
    assert empty["comment"] == {}
    assert list(empty["errors"]) == ["content"]


@pytest.mark.either
def test_every_category_is_read_back_unchanged(calling, trip, olga):
    caller = calling(olga)
    for category_id, name in NAMES.items():
        made = caller.spend(
            "1", {olga: "1"}, {olga: "1"}, group_id=trip.pk, category_id=category_id
        )
        assert made["category"] == {"id": category_id, "name": name}
        assert Expense.objects.get(pk=made["id"]).category == our_category(category_id)


@pytest.mark.either
@pytest.mark.parametrize("category_id", [min(NAMES), max(NAMES)])
def test_a_category_outlives_a_restore_and_a_change_of_something_else(
    calling, trip, olga, category_id
):
    caller = calling(olga)
    made = caller.spend("1", {olga: "1"}, {olga: "1"}, group_id=trip.pk, category_id=category_id)
    caller.done(f"delete_expense/{made['id']}")
    caller.done(f"undelete_expense/{made['id']}")
    caller.done(f"update_expense/{made['id']}", description="Other")
    category = caller.get(f"get_expense/{made['id']}")["expense"]["category"]
    assert category == {"id": category_id, "name": NAMES[category_id]}
    expense = Expense.objects.get()
    assert expense.category == our_category(category_id)
    other = "FOOD" if expense.category != "FOOD" else "TRANSPORT"
    expense.change(olga, category=other)
    assert caller.get(f"get_expense/{made['id']}")["expense"]["category"]["id"] != category_id


def test_a_moved_expense_keeps_its_category(api, trip, olga):
    other = owned_trip(olga)
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    GivenCategory.objects.create(trip=trip, expense_id=expense.pk, category_id=13)
    moved = api(olga).post(f"/api/trips/{trip.pk}/expenses/{expense.pk}/move", {"tripId": other.pk})
    assert moved.status_code == 201, moved.content
    assert GivenCategory.objects.get(trip=other, expense_id=moved.json()["id"]).category_id == 13


def test_the_ids_of_categories_are_distinct():
    parents = [pk for pk, _name in TREE]
    assert len({*parents, *NAMES}) == len(parents) + len(NAMES) == 50


def test_an_expense_in_another_currency_is_shown_in_that_of_its_group(calling, trip, olga, ed):
    expense = spend(
        trip, 1000, paid_by=olga, among=[olga, ed], currency="USD", exchange_rate=Decimal("0.9")
    )
    caller = calling(olga)
    shown = caller.get(f"get_expense/{expense.pk}")["expense"]
    assert (shown["cost"], shown["currency_code"]) == ("9.0", "EUR")
    caller.done(f"update_expense/{expense.pk}", cost="9.0", description="Lunch")
    assert "USD" in str(caller.refused(f"update_expense/{expense.pk}", cost="8"))


def test_a_test_request_says_who_asks(calling, olga):
    answer = calling(olga).get("test", x="1")
    assert (answer["params"], answer["token"]) == ({"x": "1"}, {"user_id": olga.pk})


CENTS = st.integers(min_value=0, max_value=10**6)


@HISTORIES
@given(st.lists(st.tuples(st.lists(CENTS, min_size=3, max_size=3), st.integers(0, 2)), max_size=4))
def test_what_is_written_here_reads_the_same_in_our_own_api(
    calling, api, trip, olga, ed, vera, entries
):
    caller, cast = calling(olga), (olga, ed, vera)
    for parts, payer in entries:
        total = sum(parts)
        if not total:
            continue
        owed = {user: f"{part / 100:.2f}" for user, part in zip(cast, parts, strict=True)}
        cost = f"{total / 100:.2f}"
        made = caller.spend(cost, {cast[payer]: cost}, owed, group_id=trip.pk)
        ours = api(olga).get(f"/api/trips/{trip.pk}/expenses/{made['id']}").json()
        assert Decimal(str(ours["amount"])) == Decimal(made["cost"])
        theirs = {
            part["user_id"]: Decimal(part["owed_share"])
            for part in made["users"]
            if part["owed_share"] != "0.0"
        }
        assert theirs == {
            split["participant"]["id"]: Decimal(str(split["amount"])) for split in ours["splits"]
        }
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    ours = {row["user"]["id"]: Decimal(str(row["balance"])) for row in rows if row["balance"]}
    [group] = [one for one in caller.get("get_groups")["groups"] if one["id"] == trip.pk]
    theirs = {
        one["id"]: Decimal(one["balance"][0]["amount"])
        for one in group["members"]
        if one["balance"]
    }
    assert ours == theirs == balances_of(trip)
    owed = dict.fromkeys(theirs, Decimal())
    for debt in group["original_debts"]:
        owed[debt["from"]] -= Decimal(debt["amount"])
        owed[debt["to"]] += Decimal(debt["amount"])
    assert owed == theirs
    assert not list(differences())


def test_rows_are_read_in_the_order_of_their_indexes():
    rows = Fields({"users__10__id": 3, "users__2__id": 2, "users__0__id": 1}).rows()
    assert [row.id("user_id") for row in rows] == [1, 2, 3]


def test_paths_have_ids_of_64_bits(calling, olga):
    caller = calling(olga)
    for path in ("get_group", "get_expense", "get_user", "get_friend", "delete_expense"):
        for wrong in (0 if path != "get_group" else -1, 2**63, "x", "1.5", "01"):
            method = caller.http.post if path.startswith("delete") else caller.http.get
            assert method(f"{BASE}/{path}/{wrong}").status_code == 404


def test_an_address_may_end_with_a_slash(calling, trip, olga):
    caller = calling(olga)
    assert caller.get("get_groups/") == caller.get("get_groups")
    assert caller.get(f"get_group/{trip.pk}/") == caller.get(f"get_group/{trip.pk}")
    assert caller.get("get_group/0/") == caller.get("get_group/0")
    sent = {"first_name": "Olga", "last_name": "Owner"}
    assert caller.http.put(f"{BASE}/update_user/{olga.pk}", sent).json()["errors"] == {}


def test_ids_beyond_those_of_rows_are_not_found(calling, olga):
    caller = calling(olga)
    for big in (2**52, 2**53 + 5, 2**63 - 1):
        caller.get(f"get_expense/{big}", 404)
        caller.refused(f"delete_expense/{big}")
        caller.refused(f"undelete_expense/{big}")
