"""The history of a trip and of an expense, for programs and for people, and its sentences."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from splits.models import DailyRate
from tests.document import problem_of
from tests.factories import settle, spend
from tests.test_unknown_names import LENIENT
from tests.users.logins import bearer
from trips.deletion import delete_account
from trips.models import JournalEntry
from trips.models.events import Event
from trips.models.journal import Entry, write
from users.models import ScopedToken, User

pytestmark = pytest.mark.either


def history(ledger, user, query="", **headers):
    response = ledger.client(user).get(f"{ledger.url}/history{query}", **headers)
    assert response.status_code == 200, response.content
    return response.json()


def texts(ledger, user, language="en"):
    """The sentences, the oldest first."""
    found = history(ledger, user, "?pageSize=100", headers={"Accept-Language": language})
    return [row["text"] for row in reversed(found["items"])]


def test_an_entry_says_who_did_what_and_which_fields_changed(ledger, ed, vera):
    expense = ledger.spend(ed, "40.00", ed, vera, description="Dinner", paidByUserId=ed.pk)
    ledger.change(expense, ed, amount="45.00", notes="With tip.")
    [entry, created] = history(ledger, vera)["items"]
    assert created["event"] == "expense.created"
    assert (entry["number"], entry["tripId"], entry["via"]) == (2, ledger.trip.pk, "session")
    assert entry["event"] == "expense.changed"
    assert entry["object"] == {"type": "expense", "id": expense["id"]}
    assert entry["by"]["id"] == ed.pk
    assert entry["changes"]["amount"] == {"old": 40.0, "new": 45.0}
    assert entry["changes"]["notes"] == {"old": "", "new": "With tip."}
    assert set(entry["changes"]) == {"amount", "tripAmount", "payers", "splits", "notes"}
    what = "changed the amount from 40.00 to 45.00 and the notes"
    assert entry["text"] == f"Ed Editor {what} in “Dinner”."


def test_every_event_has_a_sentence_in_both_languages(ledger, olga, ed, vera):
    client = ledger.client(olga)
    client.patch(ledger.url, {"title": "Porto", "budget": "900"})
    client.put(f"{ledger.url}/members/{vera.pk}/role", {"role": "EDITOR"})
    guest = client.post(f"{ledger.url}/guests", {"name": "Grandma"}).json()["user"]["id"]
    client.put(f"{ledger.url}/guests/{guest}", {"name": "Granny"})
    client.delete(f"{ledger.url}/members/{guest}")
    expense = ledger.spend(olga, "62.50", olga, ed, description="Dinner", category="OTHER")
    ledger.pay(ledger.split(expense, ed), by=ed)
    ledger.settle(vera, olga, 4)
    ledger.change(expense, olga, expenseDate="2026-05-17", category="FOOD")
    client.delete(f"{ledger.url}/expenses/{expense['id']}")
    assert texts(ledger, vera) == [
        f"Olga Owner changed the title from {ledger.trip.title} to Porto and the budget to 900.00.",
        "Olga Owner changed the role of Vera Viewer from viewer to editor.",
        "Olga Owner added the guest Grandma.",
        "Olga Owner renamed the guest Grandma to Granny.",
        "Olga Owner removed Granny.",
        "Olga Owner recorded “Dinner”: 62.50 EUR.",
        "Ed Editor paid their part of “Dinner”.",
        "Ed Editor gave Olga Owner 31.25 EUR.",
        "Vera Viewer gave Olga Owner 4.00 EUR.",
        "Olga Owner changed the date from May 14, 2026 to May 17, 2026 and the category from "
        "other to food in “Dinner”.",
        "Olga Owner deleted “Dinner”.",
        "Olga Owner deleted the settlement of 31.25 EUR from Ed Editor to Olga Owner.",
    ]
    spanish = texts(ledger, vera, "es")
    assert spanish[5] == "Olga Owner registró «Dinner»: 62,50 EUR."
    assert spanish[1] == "Olga Owner cambió el rol de Vera Viewer de lector a editor."
    write(ledger.trip.pk, None, *(Entry(event, olga.pk, {}, 1) for event in Event))
    for language in ("en", "es"):
        latest = texts(ledger, vera, language)[-len(Event) :]
        assert not [text for text in latest if "%" in text or not text.endswith(".")]
        # What an event without a sentence is called.
        assert not [text for text in latest if "changed something" in text]


def test_the_filters_are_combined(ledger, olga, ed, vera):
    for payer in (olga, ed, olga):
        ledger.spend(payer, 10, olga, ed)
    ledger.settle(ed, olga, 1)
    third = history(ledger, vera)["items"][1]["at"]
    found = history(ledger, vera, f"?by={olga.pk}&event=expense.created&since={third}")
    assert [row["number"] for row in found["items"]] == [3]
    assert found["total"] == 1
    assert history(ledger, vera, f"?by={ed.pk}")["total"] == 2
    assert history(ledger, vera, "?event=trip.deleted")["items"] == []


def test_it_has_pages_without_gaps(ledger, olga, vera):
    write(ledger.trip.pk, olga, *(Entry(Event.CODE_RENEWED, 1) for _row in range(45)))
    pages = [history(ledger, vera, f"?page={page}") for page in (1, 2, 3, 4, 2**60)]
    assert [[row["number"] for row in page["items"]] for page in pages] == [
        list(range(45, 25, -1)),
        list(range(25, 5, -1)),
        list(range(5, 0, -1)),
        [],
        [],
    ]
    assert {page["total"] for page in pages} == {45}


def test_an_expense_has_its_own_history_even_once_it_is_deleted(ledger, olga, ed, vera):
    expense, _other = ledger.spend(olga, 10, olga, ed), ledger.spend(olga, 20, olga, ed)
    ledger.pay(ledger.split(expense, ed), by=ed)
    ledger.change(expense, olga, amount="12.00")
    path = f"expenses/{expense['id']}"
    assert ledger.answer(olga, "delete", path).status_code == 204
    rows = ledger.answer(vera, "get", f"{path}/history").json()["items"]
    assert [row["event"] for row in rows] == [
        "expense.deleted",
        "expense.changed",
        "split.paid",
        "expense.created",
    ]
    assert rows[1]["text"] == "Olga Owner changed the amount from 10.00 to 12.00."


@pytest.mark.parametrize("field", ["notes", "tags"])
def test_the_name_of_a_field_may_be_a_value(ledger, olga, ed, field):
    value: Any = ["description"] if field == "tags" else "description"
    expense = ledger.spend(olga, 10, olga, ed, description="Dinner", **{field: value})
    ledger.change(expense, olga, **{field: []} if field == "tags" else {field: "With tip."})
    ledger.change(expense, olga, description="Supper")
    [_renamed, changed, created] = texts(ledger, ed)[::-1]
    assert created == "Olga Owner recorded “Dinner”: 10.00 EUR."
    assert changed.startswith(f"Olga Owner changed the {field}")
    assert changed.endswith("“Dinner”.")


def test_an_expense_without_a_journal_has_an_empty_history(ledger, olga, vera):
    expense = spend(ledger.trip, 1000, paid_by=olga, among=[olga])
    JournalEntry.objects.all().delete()
    empty = ledger.answer(vera, "get", f"expenses/{expense.pk}/history")
    assert (empty.status_code, empty.json()["items"]) == (200, [])
    assert ledger.answer(vera, "get", f"expenses/{expense.pk + 1}/history").status_code == 404


def test_a_token_without_the_scope_of_expenses_sees_no_money(ledger, olga, ed):
    """T160: The history shows money to members and to tokens with the scope only."""
    ledger.client(olga).patch(ledger.url, {"title": "Porto"})
    ledger.spend(olga, 10, olga, ed)
    ledger.settle(ed, olga, 1)
    found = {}
    for scopes in (["trips:read"], ["trips:read", "expenses:read"]):
        token = ScopedToken.issue(ed, name="Import", scopes=scopes)
        page = bearer(token.token).get(f"{ledger.url}/history").json()
        found[len(scopes)] = (page["total"], [row["event"] for row in page["items"]])
    assert found == {
        1: (1, ["trip.changed"]),
        2: (3, ["settlement.created", "expense.created", "trip.changed"]),
    }


def test_a_sentence_has_the_names_of_its_moment(ledger, api, olga, ed, trip):
    guest = ledger.client(olga).post(f"{ledger.url}/guests", {"name": "Grandma"}).json()["user"]
    nana = User.objects.get(pk=guest["id"])
    dinner = ledger.spend(ed, "40.00", ed, nana, description="Dinner", paidByUserId=ed.pk)
    split = next(row for row in dinner["splits"] if row["participant"]["id"] == guest["id"])
    ledger.client(olga).put(f"/api/expenses/{dinner['id']}/splits/{split['id']}/pay")
    before = texts(ledger, olga)
    assert "Ed Editor recorded “Dinner”: 40.00 EUR." in before
    assert "Olga Owner marked the part of Grandma in “Dinner” as paid." in before
    api(ed).put(f"/api/users/{ed.pk}/profile", {"name": "Eduard"})
    api(olga).put(f"/api/users/{olga.pk}/profile", {"name": "Olga II"})
    ledger.client(olga).put(f"{ledger.url}/guests/{guest['id']}", {"name": "Nana"})
    ledger.change(dinner, ed, description="Supper")
    after = texts(ledger, olga)
    assert after[: len(before)] == before
    assert after[len(before) :] == [
        "Olga II renamed the guest Grandma to Nana.",
        "Eduard changed the description in “Supper”.",
    ]
    delete_account(ed, by=None)
    assert "Deleted user recorded “Dinner”: 40.00 EUR." in texts(ledger, olga)


def test_fields_that_are_no_single_values_are_named_only(ledger, olga):
    for fields, text in (
        ({"defaultDivision": {"splitType": "EQUAL"}}, "how expenses are split by default"),
        ({"categoryBudgets": {"FOOD": 200.5}}, "the budgets of categories"),
    ):
        assert ledger.answer(olga, "patch", ledger.url, fields).status_code == 200
        assert texts(ledger, olga)[-1] == f"Olga Owner changed {text}."
    ledger.change(ledger.spend(olga, 60, olga, tags=["fish"]), olga, tags=["fish", "beach"])
    assert texts(ledger, olga)[-1].startswith("Olga Owner changed the tags in ")


def test_what_follows_from_the_amount_is_not_named(ledger, olga, ed):
    items = [{"name": "Wine", "amount": 60, "shares": {str(olga.pk): 1, str(ed.pk): 1}}]
    added = {"tax": 6, "tip": 4.5, "discount": 1.5}
    dinner = ledger.spend(olga, 69, olga, ed, splitType="ITEMIZED", items=items, **added)
    ledger.change(dinner, olga, amount=61, items=items, tip=1)
    assert texts(ledger, olga)[-1].startswith(
        "Olga Owner changed the amount from 69.00 to 61.00, the tax, the tip from 4.50 to 1.00 "
        "and the discount in "
    )


def test_a_settlement_has_the_amount_as_it_was_entered(ledger, olga, ed):
    DailyRate.objects.create(currency="JPY", per_euro=Decimal(160), day=date(2026, 5, 2))
    ledger.spend(olga, 40, ed)
    body = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 5000, "currency": "JPY"}
    made = ledger.answer(ed, "post", "settlements", {**body, "settledOn": "2026-05-14"}).json()
    ledger.delete_settlement(made, olga)
    *_others, created, deleted = texts(ledger, olga)
    assert created == "Ed Editor gave Olga Owner 5,000 JPY."
    assert "5,000 JPY" in deleted


def test_amounts_stay_in_the_currency_of_their_time(api, trip, ledger, olga, ed):
    dinner = spend(trip, 3000, paid_by=olga, among=[ed])
    payment = settle(trip, ed, olga, 3000, by=olga)
    before = texts(ledger, olga)
    for path in (f"settlements/{payment.pk}", f"expenses/{dinner.pk}"):
        assert ledger.answer(olga, "delete", path).status_code == 204
    assert api(olga).patch(ledger.url, {"currency": "JPY"}).status_code == 200
    assert texts(ledger, olga)[: len(before)] == before


def test_an_unknown_event_is_a_general_sentence(api, olga, trip):
    spend(trip, 1000, paid_by=olga, among=[olga])
    rows = JournalEntry.objects.filter(trip=trip.pk)
    api(olga).post(f"/api/trips/{trip.pk}/guests", {"name": "Grandma"})
    rows.filter(event="guest.added").update(event="ferry.sunk", object_id=12)
    shown = api(olga).get(f"/api/trips/{trip.pk}/history").json()["items"][0]
    assert (shown["event"], shown["object"]) == ("ferry.sunk", {"type": "ferry", "id": 12})
    assert shown["text"] == "Olga Owner changed something in the trip."


def test_a_filter_is_sent_once_and_by_its_name(api, trip, olga):
    client, path = api(olga), f"/api/trips/{trip.pk}/history"
    [text] = problem_of(client.get(f"{path}?evnt=trip.created"), 400)["errors"]["evnt"]
    assert "did you mean event?" in text
    twice = f"{path}?event=trip.created&event=trip.changed"
    assert problem_of(client.get(twice), 400)["errors"] == {"event": ["Send this parameter once."]}
    assert client.get(twice, **LENIENT).status_code == 200
    since = problem_of(client.get(f"{path}?since=2026-02-30T00:00:00Z"), 400)
    assert "format" not in str(since["errors"])
