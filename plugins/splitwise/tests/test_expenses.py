"""Expenses and payments through the API for Splitwise's clients."""

from decimal import Decimal

import pytest

from plugins.splitwise.entries import MAX_ROWS
from plugins.splitwise.notifications import MOST
from plugins.splitwise.tests.conftest import balances_of, shares
from splits.models import Expense, Settlement, Split
from splits.reports.audit import differences
from tests.factories import TripFactory, add_guest, join, settle, spend
from trips.models import JournalEntry
from trips.models.events import Event
from trips.roles import TripRole

pytestmark = pytest.mark.either


def test_an_expense_by_shares_is_read_back_as_it_was_sent(calling, trip, olga, ed):
    caller = calling(olga)
    sent = caller.spend(
        "25.00",
        {olga: "25"},
        {olga: "12.50", ed: "12.50"},
        group_id=trip.pk,
        date="2026-05-14T23:30:00-05:00",
        details="With wine",
        category_id=38,
        form=True,
    )
    read = caller.get(f"get_expense/{sent['id']}")["expense"]
    assert {**sent, "comments": []} == read
    assert (read["cost"], read["currency_code"]) == ("25.0", "EUR")
    assert (read["date"], read["details"]) == ("2026-05-14T12:00:00Z", "With wine")
    assert read["category"] == {"id": 38, "name": "Liquor"}
    assert read["repayments"] == [
        {"from": ed.pk, "to": olga.pk, "amount": "12.5", "currency_code": "EUR"}
    ]
    assert [part["net_balance"] for part in read["users"]] == ["12.5", "-12.5"]
    assert balances_of(trip) == {olga.pk: Decimal("12.50"), ed.pk: Decimal("-12.50")}
    assert Expense.objects.get().category == "FOOD"


def test_an_equal_expense_is_among_all_members_and_paid_by_the_caller(calling, trip, ed):
    body = {"cost": "10", "description": "Taxi", "group_id": trip.pk, "split_equally": True}
    expense = calling(ed).done("create_expense", **body)["expenses"][0]
    assert expense["creation_method"] == "equal"
    assert sorted(part["owed_share"] for part in expense["users"]) == ["3.33", "3.33", "3.34"]
    assert [part["user_id"] for part in expense["users"] if part["paid_share"] != "0.0"] == [ed.pk]


def test_a_payment_is_a_settlement(calling, trip, olga, ed):
    spend(trip, 3000, paid_by=olga, among=[olga, ed])
    caller = calling(ed)
    paid = caller.spend(
        "15.0", {ed: "15.0"}, {olga: "15.0"}, group_id=trip.pk, payment=True, details="By bank"
    )
    settlement = Settlement.objects.get()
    assert (settlement.sender_id, settlement.receiver_id) == (ed.pk, olga.pk)
    assert (paid["payment"], paid["details"], paid["description"]) == (True, "By bank", "Dinner")
    assert balances_of(trip) == {}
    assert caller.done(f"delete_expense/{paid['id']}") == {"success": True, "errors": {}}
    assert balances_of(trip)[ed.pk] == Decimal("-15.00")
    assert caller.get(f"get_expense/{paid['id']}")["expense"]["deleted_by"]["id"] == ed.pk
    caller.done(f"undelete_expense/{paid['id']}")
    assert caller.get(f"get_expense/{paid['id']}")["expense"]["deleted_at"] is None
    assert balances_of(trip) == {}


def test_what_was_deleted_before_is_refused_under_its_name(calling, trip, olga, sam):
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    path = f"delete_expense/{expense.pk}"
    assert calling(sam).refused(path) == {"expense": ["Not found."]}
    calling(olga).done(path)
    assert calling(olga).refused(path) == {"expense": ["Not found."]}
    assert calling(sam).refused(f"un{path}") == {"expense": ["Not found."]}


@pytest.mark.parametrize("form", [False, True])
def test_what_was_read_may_be_sent_back_and_changes_nothing(calling, trip, olga, ed, form):
    caller = calling(olga)
    body = {"cost": "10.01", "description": "Taxi", "group_id": trip.pk, "split_equally": True}
    expense = caller.done("create_expense", **body)["expenses"][0]
    echo = {key: value for key, value in expense.items() if isinstance(value, str | int)}
    echo["receipt"] = "<Receipt object at 0x7f>"
    for place, part in enumerate(expense["users"]):
        for key in ("user_id", "paid_share", "owed_share", "net_balance"):
            echo[f"users__{place}__{key}"] = part[key]
    if form:
        echo = {key: str(value) for key, value in echo.items()}
    rows = trip.journal.count()
    assert caller.done(f"update_expense/{expense['id']}", form=form, **echo)["expenses"] == [
        expense
    ]
    assert Expense.objects.get().split_type == "EQUAL"
    assert trip.journal.count() == rows


def test_rows_replace_all_shares(calling, trip, olga, ed, vera):
    caller = calling(olga)
    expense = caller.spend("30", {olga: "30"}, {olga: "10", ed: "20"}, group_id=trip.pk)
    path = f"update_expense/{expense['id']}"
    caller.done(path, **shares({ed: "30"}, {vera: "30"}))
    assert balances_of(trip) == {ed.pk: Decimal("30.00"), vera.pk: Decimal("-30.00")}
    caller.done(path, cost="12", description="Lunch", **shares({ed: "12"}, {vera: "12"}))
    assert balances_of(trip) == {ed.pk: Decimal("12.00"), vera.pk: Decimal("-12.00")}
    assert "12.00" in str(caller.refused(path, cost="13"))
    assert not list(differences())


def test_whose_share_changes_has_it_to_pay_again(calling, trip, olga, ed, vera):
    caller = calling(olga)
    expense = caller.spend("30", {olga: "30"}, {ed: "10", vera: "20"}, group_id=trip.pk)
    splits = {split.participant_id: split for split in Split.objects.all()}
    for user in (ed, vera):
        splits[user.pk].pay(by=user)
    path = f"update_expense/{expense['id']}"
    caller.done(path, cost="31", **shares({olga: "31"}, {ed: "10", vera: "21"}))
    assert balances_of(trip) == {olga.pk: Decimal("21.00"), vera.pk: Decimal("-21.00")}


def test_who_has_no_share_is_left_out(calling, trip, olga, ed, vera):
    body = {"cost": "5", "description": "x", "group_id": trip.pk}
    rows = shares({olga: "5"}, {ed: "5", vera: "0"})
    [made] = calling(olga).done("create_expense", **body, **rows)["expenses"]
    assert {part["user_id"] for part in made["users"]} == {olga.pk, ed.pk}


@pytest.mark.parametrize("change", [{"group_id": "other"}, {"currency_code": "USD"}])
def test_an_expense_stays_in_its_group_and_currency(calling, trip, olga, change):
    caller = calling(olga)
    other = caller.done("create_group", name="Other")["group"]["id"]
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    change = {"group_id": other} if "group_id" in change else change
    assert set(caller.refused(f"update_expense/{expense.pk}", **change)) == set(change)
    expense.refresh_from_db()
    assert (expense.trip_id, expense.currency) == (trip.pk, "EUR")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"users__0__paid_share": "24"}, "base"),
        ({"users__1__owed_share": "24"}, "base"),
        ({"users__1__owed_share": "24", "payment": True}, "base"),
        ({"users__0__paid_share": "x"}, "users"),
        ({"users__0__paid_share": "NaN"}, "users"),
        ({"users__0__paid_share": "1e999999"}, "users"),
        ({"users__0__user_id": 10**17}, "base"),
        ({"users__0__user_id": "0"}, "user_id"),
        ({"cost": ""}, "cost"),
        ({"cost": "-25"}, "users"),
        ({"cost": "0"}, "cost"),
        ({"cost": "twenty"}, "cost"),
        ({"cost": {"a": 1}}, "cost"),
        ({"description": ""}, "description"),
        ({"description": ["x"]}, "description"),
        ({"currency_code": "USD"}, "currency_code"),
        ({"category_id": 25}, "category_id"),
        ({"category_id": 10**9}, "category_id"),
        ({"date": "yesterday"}, "date"),
        ({"date": "2026-02-30"}, "date"),
        ({"date": "10000-01-01"}, "date"),
        ({"date": "2026-W20"}, "date"),
        ({"repeat_interval": "monthly"}, "repeat_interval"),
        ({"email_reminder": "1"}, "email_reminder"),
        ({"payment": "perhaps"}, "payment"),
        ({"split_equally": True}, "split_equally"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_reason(calling, trip, olga, ed, change, field):
    body = {"cost": "25", "description": "Dinner", "group_id": trip.pk}
    body |= {**shares({olga: "25"}, {ed: "25"}), **change}
    answer = calling(olga).post("create_expense", **body)
    assert answer["expenses"] == []
    assert set(answer["errors"]) == {field}
    assert not Expense.objects.exists()


def test_a_payment_is_between_two_people(calling, trip, olga, ed):
    body = {"cost": "10", "description": "x", "group_id": trip.pk, "payment": True}
    caller = calling(olga)
    for wrong in (
        shares({olga: "10"}, {olga: "10"}),
        shares({olga: "10"}, {olga: "5", ed: "5"}),
        shares({olga: "10"}, {ed: "9"}),
        shares({}, {ed: "10"}),
    ):
        caller.refused("create_expense", **body, **wrong)
    paid = caller.spend("10", {olga: "10"}, {ed: "10"}, group_id=trip.pk, payment=True)
    path = f"update_expense/{paid['id']}"
    caller.refused(path, cost="11")
    caller.refused(path, payment=False)
    caller.done(path, cost="10.0", description="Dinner")
    caller.refused("create_comment", expense_id=paid["id"], content="x")
    assert caller.get("get_comments", expense_id=paid["id"]) == {"comments": []}


def test_expenses_are_listed_with_deleted_ones_and_paged(calling, trip, olga, ed):
    caller = calling(olga)
    for day in range(1, 8):
        spend(trip, 100 * day, paid_by=olga, among=[ed], expense_date=f"2026-05-0{day}")
    settle(trip, ed, olga, 250, settled_on="2026-05-04")
    expenses = caller.get("get_expenses")["expenses"]
    assert len(expenses) == 8
    assert [one["date"] for one in expenses] == sorted(one["date"] for one in expenses)[::-1]
    before = caller.http.get("/api/health") and expenses[0]["updated_at"]
    caller.done(f"delete_expense/{expenses[2]['id']}")
    [payment] = [one for one in expenses if one["payment"]]
    caller.done(f"delete_expense/{payment['id']}")
    again = caller.get("get_expenses")["expenses"]
    assert [one["id"] for one in again] == [one["id"] for one in expenses]
    gone = {one["id"] for one in again if one["deleted_at"]}
    assert gone == {expenses[2]["id"], payment["id"]}
    kept = caller.get("get_expenses", visible="true")["expenses"]
    assert gone.isdisjoint(one["id"] for one in kept)
    paged = [
        one
        for offset in range(0, 10, 3)
        for one in caller.get("get_expenses", limit=3, offset=offset)["expenses"]
    ]
    assert [one["id"] for one in paged] == [one["id"] for one in expenses]
    assert len(caller.get("get_expenses", limit=0)["expenses"]) == 8
    dated = caller.get("get_expenses", dated_after="2026-05-03", dated_before="2026-05-05")
    assert len(dated["expenses"]) == 4
    assert before


def test_updated_after_sees_changes_deletion_and_return(calling, trip, olga, ed):
    caller = calling(olga)
    spent = [spend(trip, 100, paid_by=olga, among=[ed]) for _time in range(3)]
    Expense.objects.update(updated_at="2026-01-01T00:00:00Z")
    paid = settle(trip, ed, olga, 5)
    Settlement.objects.update(created_at="2026-01-01T00:00:00Z")

    def seen():
        found = caller.get("get_expenses", updated_after="2026-01-02T00:00:00Z")["expenses"]
        assert all(one["updated_at"] > "2026-01-02" for one in found)
        return {one["id"] for one in found}

    assert seen() == set()
    first, payment = spent[0].pk, 2**52 + paid.pk
    for path in (f"delete_expense/{first}", f"delete_expense/{payment}"):
        caller.done(path)
    assert seen() == {first, payment}
    for path in (f"undelete_expense/{first}", f"undelete_expense/{payment}"):
        caller.done(path)
    assert seen() == {first, payment}
    caller.done(f"update_expense/{spent[1].pk}", description="Other")
    assert seen() == {first, payment, spent[1].pk}
    old = caller.get("get_expenses", updated_before="2026-01-02T00:00:00Z")["expenses"]
    assert [one["id"] for one in old] == [spent[2].pk]


def test_friend_id_finds_what_names_them(calling, trip, olga, ed, vera):
    with_ed = spend(trip, 100, paid_by=olga, among=[ed])
    spend(trip, 100, paid_by=olga, among=[vera])
    paid = settle(trip, ed, olga, 5)
    found = calling(olga).get("get_expenses", friend_id=ed.pk)["expenses"]
    assert {one["id"] for one in found} == {with_ed.pk, 2**52 + paid.pk}
    assert (
        len(calling(olga).get("get_expenses", friend_id=ed.pk, group_id=trip.pk)["expenses"]) == 3
    )
    calling(olga).done(f"delete_expense/{with_ed.pk}")
    found = calling(olga).get("get_expenses", friend_id=ed.pk)["expenses"]
    assert [one["id"] for one in found] == [2**52 + paid.pk]


def test_lists_take_a_constant_number_of_statements(
    calling, trip, olga, ed, django_assert_max_num_queries
):
    caller = calling(olga)
    guest = add_guest(trip)
    for _time in range(6):
        spend(trip, 100, paid_by=olga, among=[ed, guest])
        settle(trip, ed, olga, 5)
    for one in caller.get("get_expenses")["expenses"][:4]:
        caller.done(f"delete_expense/{one['id']}")
    caller.get("get_expenses")
    for path, most in (
        ("get_expenses", 17),
        ("get_groups", 11),
        ("get_friends", 11),
        ("get_notifications", 10),
    ):
        with django_assert_max_num_queries(most):
            caller.get(path)


def test_a_list_ends_before_it_names_too_many_people(calling, trip, olga, ed, vera, monkeypatch):
    for _time in range(4):
        spend(trip, 100, paid_by=olga, among=[ed, vera])
    everything = calling(olga).get("get_expenses", limit=0)["expenses"]
    monkeypatch.setattr("plugins.splitwise.entries.MAX_PEOPLE", 7)
    assert calling(olga).get("get_expenses", limit=0)["expenses"] == everything[:2]
    assert calling(olga).get("get_expenses", limit=0, offset=2)["expenses"] == everything[2:]
    monkeypatch.setattr("plugins.splitwise.entries.MAX_PEOPLE", 1)
    assert calling(olga).get("get_expenses", limit=0)["expenses"] == everything[:1]


def test_a_list_has_at_most_so_many_rows(calling, trip, olga, ed, monkeypatch):
    assert (MAX_ROWS, MOST) == (1000, 200)
    for _time in range(4):
        spend(trip, 100, paid_by=olga, among=[ed])
    monkeypatch.setattr("plugins.splitwise.views.expenses.MAX_ROWS", 3)
    monkeypatch.setattr("plugins.splitwise.notifications.MOST", 3)
    for limit in (0, 4):
        assert len(calling(olga).get("get_expenses", limit=limit)["expenses"]) == 3
        assert len(calling(olga).get("get_notifications", limit=limit)["notifications"]) == 3


def test_notifications_are_the_newest_of_all_trips(calling, olga):
    trips = [TripFactory() for _trip in range(4)]
    for trip in trips:
        join(trip, olga, TripRole.OWNER)
    for at in (0, 1, 1, 2, 1, 3, 0):
        spend(trips[at], 100, paid_by=olga, among=[olga])
    rows = JournalEntry.objects.filter(event=Event.EXPENSE_CREATED).order_by("-at", "-id")
    newest = [row.pk for row in rows]
    assert len(newest) == 7
    for limit in range(1, 8):
        found = calling(olga).get("get_notifications", limit=limit)["notifications"]
        assert [one["id"] for one in found] == newest[:limit]
    found = calling(olga).get("get_notifications", limit=2, updated_after=rows[3].at.isoformat())
    assert [one["id"] for one in found["notifications"]] == newest[:2]


@pytest.mark.parametrize(
    "query", [{"limit": "-1"}, {"limit": "x"}, {"offset": "1.5"}, {"updated_after": "now"}]
)
def test_a_query_that_means_nothing_is_a_400(calling, olga, query):
    assert set(calling(olga).get("get_expenses", 400, **query)["errors"]) == set(query)


def test_a_parameter_that_is_sent_twice_is_a_400(calling, olga):
    answered = calling(olga).get("get_expenses?limit=1&limit=2", 400)
    assert answered["errors"] == {"base": ["The same field is sent twice."]}


@pytest.mark.parametrize("amount", ["1e30", "-1e30", "1000000000000.01"])
@pytest.mark.parametrize("field", ["cost", "users__0__paid_share", "users__1__owed_share"])
def test_an_amount_beyond_all_amounts_is_refused(calling, trip, olga, ed, field, amount):
    rows = shares({olga: "25"}, {ed: "25"})
    spent = calling(olga).spend("25", {olga: "25"}, {ed: "25"}, group_id=trip.pk)
    calling(olga).refused(f"update_expense/{spent['id']}", **{"cost": "26", **rows, field: amount})
    paid = {"description": "Cash", "group_id": trip.pk, "payment": True}
    calling(olga).refused("create_expense", **{**paid, "cost": "25", **rows, field: amount})
    assert balances_of(trip) == {olga.pk: 25, ed.pk: -25}
