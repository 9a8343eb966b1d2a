"""Recording, reading and deleting expenses, and who may do it."""

from decimal import Decimal

import pytest

from splits.models import Expense
from tests.splits.ledger import exact
from tests.trips.bodies import summary
from trips.models.journal import plain_fields

pytestmark = pytest.mark.either


def test_an_expense_is_recorded_as_it_was_sent(ledger, trip, olga, ed, vera):
    body = ledger.expense_body(
        61.2,
        ed,
        vera,
        category="FOOD",
        receiptUrl="/receipts/7.pdf",
        notes="With fado.",
        tags=["Lisbon by night", "fish"],
        paidByUserId=olga.pk,
    )
    assert plain_fields(Expense).keys() <= body.keys()
    response = ledger.answer(ed, "post", "expenses", body)
    assert response.status_code == 201
    expense = response.json()
    assert response["Location"] == f"{ledger.url}/expenses/{expense['id']}"
    assert ledger.answer(vera, "get", response["Location"]).json() == expense
    shown = {name: expense[name] for name in body if name in expense}
    assert shown == {name: body[name] for name in shown}
    assert expense["tripId"] == trip.pk
    assert expense["currency"] == "EUR"
    assert expense["paidBy"] == summary(olga)
    assert expense["payers"] == [{"user": summary(olga), "amount": 61.2}]
    assert [split["participant"] for split in expense["splits"]] == [summary(ed), summary(vera)]
    assert expense["createdAt"].endswith("Z")
    assert expense["updatedAt"].endswith("Z")


def test_a_split_shows_its_expense_and_its_state(ledger, olga, ed):
    expense = ledger.spend(olga, 60, ed)
    assert expense["splits"] == [
        {
            "id": expense["splits"][0]["id"],
            "expenseId": expense["id"],
            "participant": summary(ed),
            "amount": 60,
            "percentage": None,
            "paid": False,
            "paidAmount": 0,
            "paidAt": None,
        }
    ]


def test_optional_fields_have_defaults(ledger, ed):
    expense = ledger.spend(ed, 60, ed)
    assert expense["category"] == "OTHER"
    assert expense["receiptUrl"] is None
    assert expense["notes"] == ""
    assert expense["tags"] == []


def test_the_caller_paid_unless_somebody_is_named(ledger, olga, ed):
    assert ledger.spend(ed, 60, olga)["paidBy"]["id"] == ed.pk
    assert ledger.spend(ed, 60, olga, paidByUserId=olga.pk)["paidBy"]["id"] == olga.pk


def test_of_several_payers_the_first_is_paid_by(ledger, olga, ed, vera):
    payers = [{"userId": vera.pk, "amount": 40}, {"userId": olga.pk, "amount": 20.5}]
    expense = ledger.spend(ed, 60.5, ed, payers=payers)
    assert expense["paidBy"]["id"] == vera.pk
    paid_by_user = [(payer["user"]["id"], payer["amount"]) for payer in expense["payers"]]
    assert paid_by_user == [(vera.pk, 40), (olga.pk, 20.5)]


def test_texts_are_trimmed(ledger, olga):
    expense = ledger.spend(olga, 1, olga, description="  Tram 28 ", notes=" late\n")
    assert (expense["description"], expense["notes"]) == ("Tram 28", "late")


@pytest.mark.parametrize(
    ("sent", "recorded"),
    [
        ("12.34", "12.34"),
        (Decimal("33.333"), "33.33"),
        ("0.125", "0.13"),
        (Decimal("0.005"), "0.01"),
        ("10.00" + 38 * "9", "10.01"),
        ("10.004" + 37 * "9", "10.00"),
        ("1e3", "1000.00"),
        (10**12, "1000000000000.00"),
        ("999999999999.99", "999999999999.99"),
    ],
)
def test_amounts_are_exact_and_rounded_half_up_to_the_currency(ledger, olga, sent, recorded):
    expense = exact(ledger.answer(olga, "post", "expenses", ledger.expense_body(sent, olga)))
    assert expense["amount"] == Decimal(recorded)
    assert expense["splits"][0]["amount"] == Decimal(recorded)


def test_ids_may_come_as_strings_of_digits(ledger, olga, ed):
    expense = ledger.spend(
        olga, 60, participantUserIds=[str(olga.pk)], payers=[{"userId": str(ed.pk), "amount": 60}]
    )
    assert expense["paidBy"]["id"] == ed.pk


def test_an_admin_who_is_no_member_must_name_who_paid(ledger, ada, olga):
    assert ledger.answer(ada, "post", "expenses", ledger.expense_body(60, olga)).status_code == 400


def test_a_deleted_expense_is_gone_with_its_splits_and_its_part_in_the_balances(ledger, olga, ed):
    expense = ledger.spend(olga, 60, olga, ed)
    response = ledger.answer(olga, "delete", f"expenses/{expense['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert ledger.answer(olga, "get", f"expenses/{expense['id']}").status_code == 404
    split = expense["splits"][1]
    split_path = f"/api/expenses/{expense['id']}/splits/{split['id']}"
    assert ledger.answer(olga, "get", split_path).status_code == 404
    assert not any(ledger.balances().values())
    assert ledger.pending(ed) == []
    assert ledger.answer(olga, "delete", f"expenses/{expense['id']}").status_code == 404


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (["  Beach ", "fish"], ["Beach", "fish"]),
        (["by \n the\tsea"], ["by the sea"]),
        (["Fish", "beach", "FISH", "fish "], ["Fish", "beach"]),
        (["STRASSE", "straße"], ["STRASSE"]),
        (["x" * 40], ["x" * 40]),
    ],
)
def test_tags_are_trimmed_and_unique_in_the_order_in_which_they_were_entered(
    ledger, olga, sent, stored
):
    expense = ledger.spend(olga, 60, olga, tags=sent)
    assert expense["tags"] == ledger.expense(expense)["tags"] == stored


def test_journal_and_restore_know_tags(ledger, api, trip, olga):
    expense = ledger.spend(olga, 60, olga, tags=["fish"])
    ledger.change(expense, olga, tags=["fish", "beach"])
    path = f"{ledger.url}/expenses/{expense['id']}"
    client = api(olga)
    [changed] = ledger.journal(event="expense.changed")
    assert changed.changes == {"tags": {"old": ["fish"], "new": ["fish", "beach"]}}
    assert client.delete(path).status_code == 204
    assert client.post(f"{path}/restore").json()["tags"] == ["fish", "beach"]


def test_a_letter_has_few_accents(api, ledger, trip, ed):
    """T251: Texts that only a search would sort, in the square of their length, are refused."""
    path = f"/api/trips/{trip.pk}/expenses/{ledger.spend(ed, 60, ed)['id']}"
    kept, refused = ("a" + "\u0301\u0323" * count for count in (15, 16))
    assert api(ed).patch(path, {"notes": f"{kept} {kept}"}).status_code == 200
    answer = api(ed).patch(path, {"notes": refused})
    assert (answer.status_code, [*answer.json()["errors"]]) == (400, ["notes"])
