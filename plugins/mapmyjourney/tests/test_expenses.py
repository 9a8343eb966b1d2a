"""Expenses as the client of MapMyJourney records, reads and deletes them."""

import pytest

from plugins.mapmyjourney.serializers import NewExpenseRequest
from splits.models import Expense, SplitType
from tests.document import problem_of
from tests.factories import spend
from tests.splits.test_sending_back import divided, paid
from tests.stored import everything_stored
from users.models import User

pytestmark = pytest.mark.either

ADDED = {"date", "payerId", "participants"}


def dinner(trip, payer, *others, **fields):
    """The body that the client sends; an ellipsis leaves a field out."""
    body = {
        "tripId": trip.pk,
        "payerId": payer.pk,
        "amount": 62.55,
        "description": "Dinner in Alfama",
        "category": "FOOD",
        "date": "2026-05-14",
        "participants": [user.pk for user in (payer, *others)],
    }
    return {key: value for key, value in (body | fields).items() if value is not ...}


def test_an_expense_is_divided_equally(api, app, trip, olga, ed, vera):
    # The client reads ids from the address of its page, so they may be text.
    body = dinner(trip, ed, vera, tripId=str(trip.pk), splitType="MANUAL", splitAmounts={})
    response = app(olga).post("/api/expenses", body)
    assert response.status_code == 201
    made = response.json()
    assert response["Location"] == f"/api/trips/{trip.pk}/expenses/{made['id']}"
    assert {key: made[key] for key in ADDED} == {
        "date": "2026-05-14",
        "payerId": ed.pk,
        "participants": [ed.pk, vera.pk],
    }
    plain = api(olga).get(response["Location"]).json()
    assert {key: value for key, value in made.items() if key not in ADDED} == plain
    assert (plain["splitType"], plain["category"]) == ("EQUAL", "FOOD")
    assert sorted(split["amount"] for split in plain["splits"]) == [31.27, 31.28]
    assert plain["payers"] == [{"user": plain["paidBy"], "amount": 62.55}]
    assert plain["paidBy"]["id"] == ed.pk


def test_the_list_also_has_content(api, app, trip, olga, ed, vera):
    spend(trip, 1000, paid_by=olga, among=[ed, vera])
    spend(trip, 900, paid_by=ed, among=[ed])
    url = f"/api/trips/{trip.pk}/expenses"
    for query in ("", "?search=Dinner&ordering=amount", "?pageSize=1&page=2"):
        shown, plain = (client.get(url + query).json() for client in (app(olga), api(olga)))
        assert shown["content"] == shown["items"]
        assert plain.keys() == shown.keys() - {"content"}
        for row, plain_row in zip(shown["items"], plain["items"], strict=True):
            assert row["payerId"] == row["paidBy"]["id"]
            assert row["date"] == row["expenseDate"]
            assert row["participants"] == [split["participant"]["id"] for split in row["splits"]]
            assert {key: row[key] for key in row if key not in ADDED} == plain_row


def test_an_expense_is_deleted_by_its_id_alone(app, trip, olga, ed):
    client = app(olga)
    expense = spend(trip, 1000, paid_by=olga, among=[ed])
    shown = client.get(f"/api/trips/{trip.pk}/expenses/{expense.pk}")
    url, stale = f"/api/expenses/{expense.pk}", {"If-Match": '"stale"'}
    problem_of(client.delete(url, headers=stale), 412, "precondition_failed")
    assert client.delete(url, headers={"If-Match": shown["ETag"]}).status_code == 204
    problem_of(client.delete(url), 404, "not_found")
    assert not Expense.objects.exists()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"tripId": ...}, "tripId"),
        ({"tripId": "x"}, "tripId"),
        ({"tripId": 1.5}, "tripId"),
        ({"amount": 0}, "amount"),
        ({"amount": ...}, "amount"),
        ({"description": ""}, "description"),
        ({"category": "food"}, "category"),
        ({"date": ...}, "date"),
        ({"date": "14.05.2026"}, "date"),
        ({"participants": ...}, "participants"),
        ({"participants": []}, "participants"),
        ({"participants": ["test-1"]}, "participants.0"),
        ({"participants": [2**62]}, "participants"),
        ({"payerId": "x"}, "payerId"),
        ({"payerId": 2**62}, "payerId"),
    ],
    ids=str,
)
def test_an_invalid_expense_is_refused_in_the_words_of_the_client(
    app, trip, olga, ed, fields, named
):
    client, before = app(olga), everything_stored()
    refused = client.post("/api/expenses", dinner(trip, olga, ed, **fields))
    assert list(problem_of(refused, 400, "invalid")["errors"]) == [named]
    assert everything_stored() == before


def test_a_trip_of_others_is_like_none(app, trip, sam, olga):
    client = app(sam)
    theirs, none = (
        client.post("/api/expenses", dinner(trip, olga, tripId=trip_id))
        for trip_id in (trip.pk, 2**62)
    )
    assert problem_of(theirs, 404, "not_found") == problem_of(none, 404, "not_found")
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    theirs, none = (client.delete(f"/api/expenses/{at}") for at in (expense.pk, 2**62))
    assert problem_of(theirs, 404, "not_found") == problem_of(none, 404, "not_found")


def test_an_expense_that_is_sent_twice_is_recorded_once(app, trip, olga, ed):
    client, key = app(olga), {"Idempotency-Key": "dinner"}
    first, again = (
        client.post("/api/expenses", dinner(trip, olga, ed), headers=key) for _time in range(2)
    )
    assert (first.status_code, again.status_code) == (201, 201)
    assert again["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    assert Expense.objects.count() == 1
    other = client.post("/api/expenses", dinner(trip, olga, ed, amount=1), headers=key)
    problem_of(other, 422, "idempotency_mismatch")


def test_a_replay_takes_a_member(app, trip, olga, ed):
    client, key = app(ed), {"Idempotency-Key": "dinner"}
    assert client.post("/api/expenses", dinner(trip, ed), headers=key).status_code == 201
    assert app(olga).delete(f"/api/trips/{trip.pk}/members/{ed.pk}").status_code == 204
    problem_of(client.post("/api/expenses", dinner(trip, ed), headers=key), 404, "not_found")


def test_an_expense_is_read_and_changed_by_its_id_alone(app, trip, olga, ed, vera):
    client = app(olga)
    expense = spend(trip, 1000, paid_by=ed, among=[ed, vera])
    url = f"/api/expenses/{expense.pk}"
    shown = client.get(url)
    assert shown.json() == client.get(f"/api/trips/{trip.pk}/expenses/{expense.pk}").json()
    changed = client.put(url, {"description": "Supper", "participants": [olga.pk, vera.pk]}).json()
    assert (changed["description"], changed["participants"]) == ("Supper", [vera.pk, olga.pk])
    assert (changed["amount"], changed["payerId"]) == (10, ed.pk)
    problem_of(client.put(url, {"amount": 1}, headers={"If-Match": shown["ETag"]}), 412)
    assert problem_of(client.put(url, {"payerId": 10**9}), 400)["errors"].keys() == {"payerId"}


@pytest.mark.parametrize("split_type", SplitType.values)
def test_another_description_changes_neither_division_nor_payers(
    app, ledger, olga, ed, vera, split_type
):
    client, division = app(olga), divided(olga, ed, vera)[split_type]
    for payers in paid(olga, ed):
        body = ledger.expense_body(100, olga, ed, vera) | {"splitType": split_type} | payers
        if split_type == "ITEMIZED":
            del body["participantUserIds"]
        expense = ledger.answer(olga, "post", "expenses", body | division).json()
        ledger.pay(ledger.split(expense, vera), olga)
        url = f"/api/expenses/{expense['id']}"
        shown = client.get(url).json()
        six = {name: shown[name] for name in NewExpenseRequest.FIELDS}
        six |= {"participants": [str(pk) for pk in reversed(six["participants"])]}
        for sent in (shown, six):
            changed = client.put(url, {**sent, "description": "Supper"}).json()
            assert changed == shown | {"description": "Supper", "updatedAt": changed["updatedAt"]}
        before = everything_stored()
        refused = [("participants", [olga.pk, ed.pk])] if split_type != "EQUAL" else []
        refused += [("payerId", vera.pk)] if "payers" in payers else []
        for name, value in refused:
            assert problem_of(client.put(url, {**six, name: value}), 400)["errors"].keys() == {name}
        assert everything_stored() == before


def test_splits_that_were_made_by_hand_stay(app, ledger, olga, ed, vera):
    expense = ledger.spend(olga, 90, olga, ed, vera)
    client, url = app(olga), f"/api/expenses/{expense['id']}"
    for person in (vera, ed, olga):
        ledger.delete_split(ledger.split(expense, person), olga)
        shown = client.get(url).json()
        changed = client.put(url, {**shown, "description": person.name}).json()
        assert (changed["description"], changed["splits"]) == (person.name, shown["splits"])
    refused = client.put(url, {"participants": [olga.pk]})
    assert problem_of(refused, 400)["errors"].keys() == {"participants"}


def test_paid_pays_what_the_caller_may_pay(app, trip, olga, ed, vera):
    expense = spend(trip, 900, paid_by=olga, among=[olga, ed, vera])
    url = f"/api/expenses/{expense.pk}/paid"
    paid = app(vera).patch(url, {}).json()["splits"]
    assert [split["paid"] for split in paid] == [True, False, True]
    assert all(split["paid"] for split in app(olga).patch(url, {}).json()["splits"])
    others = spend(trip, 900, paid_by=olga, among=[ed])
    client, before = app(vera), everything_stored()
    problem_of(client.patch(f"/api/expenses/{others.pk}/paid", {}), 403)
    assert everything_stored() == before


def test_the_plan_and_the_balances_have_names(app, trip, olga, ed, vera):
    spend(trip, 1000, paid_by=olga, among=[ed, vera])
    client = app(olga)
    plan = client.get(f"/api/expenses/settlements/{trip.pk}").json()
    assert [(row["from"], row["to"], row["amount"]) for row in plan] == [
        (ed.name, olga.name, 5),
        (vera.name, olga.name, 5),
    ]
    assert [row["fromUserId"] for row in plan] == [ed.pk, vera.pk]
    summary = client.get(f"/api/expenses/summary/{trip.pk}").json()
    assert summary == {olga.name: 10, ed.name: -5, vera.name: -5}
    User.objects.filter(pk=vera.pk).update(name=ed.name)
    summary = client.get(f"/api/expenses/summary/{trip.pk}").json()
    assert summary == {olga.name: 10, ed.name: -5, f"{ed.name} ({vera.pk})": -5}
