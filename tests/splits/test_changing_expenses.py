"""Changing expenses: what PUT and PATCH replace, and what is refused."""

import pytest

from tests.document import fields_in, problem_of
from tests.splits.ledger import parts

pytestmark = pytest.mark.either

FULL = {
    "category": "FOOD",
    "receiptUrl": "/receipts/7.pdf",
    "notes": "With fado.",
    "tags": ["fish"],
}


def without(expense, *names):
    return {name: value for name, value in expense.items() if name not in names}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", "Lunch"),
        ("expenseDate", "2026-05-15"),
        ("category", "TRANSPORT"),
        ("receiptUrl", None),
        ("receiptUrl", "https://example.com/7"),
        ("notes", ""),
        ("tags", ["by the sea"]),
        ("tags", []),
    ],
)
def test_patch_changes_the_fields_that_were_sent_and_no_other(ledger, olga, ed, field, value):
    expense = ledger.spend(olga, 60, olga, ed, **FULL)
    ledger.pay(expense["splits"][1], ed)
    before = ledger.expense(expense)
    changed = ledger.change(expense, olga, **{field: value})
    assert changed[field] == value
    assert without(changed, field, "updatedAt") == without(before, field, "updatedAt")
    assert changed["updatedAt"] > before["updatedAt"]
    assert ledger.expense(expense) == changed


def test_put_replaces_every_field_and_absent_ones_fall_back(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, olga, ed, **FULL)
    body = ledger.expense_body(90, vera, description="Lunch", expenseDate="2026-05-15")
    response = ledger.answer(olga, "put", f"expenses/{expense['id']}", body)
    assert response.status_code == 200
    changed = response.json()
    assert changed["description"] == "Lunch"
    assert changed["expenseDate"] == "2026-05-15"
    assert (changed["category"], changed["receiptUrl"], changed["notes"]) == ("OTHER", None, "")
    assert changed["tags"] == []
    assert parts(changed) == {vera.pk: 90}
    assert changed["payers"][0]["amount"] == 90


def test_put_without_a_payer_takes_the_caller(ledger, olga, ed):
    expense = ledger.spend(ed, 60, olga)
    body = ledger.expense_body(60, olga)
    changed = ledger.answer(olga, "put", f"expenses/{expense['id']}", body).json()
    assert changed["paidBy"]["id"] == olga.pk


def test_put_of_exact_amounts_needs_them_again(ledger, olga):
    amounts = {str(olga.pk): 60}
    expense = ledger.spend(olga, 60, olga, splitType="MANUAL", splitAmounts=amounts)
    body = ledger.expense_body(60, olga, splitType="MANUAL")
    response = ledger.answer(olga, "put", f"expenses/{expense['id']}", body)
    assert fields_in(response) == ["splitAmounts"]


def test_a_new_amount_is_divided_anew_and_paid_by_who_paid(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, ed, vera)
    changed = ledger.change(expense, olga, amount=80.5)
    assert parts(changed) == {ed.pk: 40.25, vera.pk: 40.25}
    assert changed["payers"] == [{**expense["payers"][0], "amount": 80.5}]
    assert ledger.balances() == {olga.pk: 80.5, ed.pk: -40.25, vera.pk: -40.25}


def test_percentages_and_weights_divide_a_new_amount_as_before(ledger, olga, ed):
    for split_type in ("PERCENTAGE", "SHARES"):
        amounts = {str(olga.pk): 25, str(ed.pk): 75}
        fields = {"splitType": split_type, "splitAmounts": amounts}
        expense = ledger.spend(olga, 60, olga, ed, **fields)
        assert parts(ledger.change(expense, olga, amount=100)) == {olga.pk: 25, ed.pk: 75}


def test_a_new_amount_for_exact_amounts_needs_new_ones(ledger, olga, ed):
    amounts = {str(olga.pk): 20, str(ed.pk): 40}
    expense = ledger.spend(olga, 60, olga, ed, splitType="MANUAL", splitAmounts=amounts)
    path = f"expenses/{expense['id']}"
    assert ledger.answer(olga, "patch", path, {"amount": 70}).status_code == 400
    assert ledger.expense(expense) == expense
    amounts[str(ed.pk)] = 50
    changed = ledger.change(expense, olga, amount=70, splitAmounts=amounts)
    assert parts(changed) == {olga.pk: 20, ed.pk: 50}


def test_a_new_amount_of_several_payers_needs_what_each_put_in(ledger, olga, ed):
    payers = [{"userId": olga.pk, "amount": 20}, {"userId": ed.pk, "amount": 40}]
    expense = ledger.spend(olga, 60, olga, payers=payers)
    response = ledger.answer(olga, "patch", f"expenses/{expense['id']}", {"amount": 70})
    assert fields_in(response) == ["payers"]
    payers[1]["amount"] = 50
    assert ledger.change(expense, olga, amount=70, payers=payers)["amount"] == 70


def test_another_split_type_needs_its_own_numbers(ledger, olga, ed):
    weights = {str(olga.pk): 1, str(ed.pk): 3}
    expense = ledger.spend(olga, 60, olga, ed, splitType="SHARES", splitAmounts=weights)
    path = f"expenses/{expense['id']}"
    assert ledger.answer(olga, "patch", path, {"splitType": "PERCENTAGE"}).status_code == 400
    assert parts(ledger.change(expense, olga, splitType="EQUAL")) == {olga.pk: 30, ed.pk: 30}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"splitType": "MANUAL"}, "splitAmounts"),
        ({"notes": "Good.", "expenseDate": "soon"}, "expenseDate"),
    ],
)
def test_a_refused_change_changes_nothing(ledger, olga, ed, fields, wrong):
    expense = ledger.spend(olga, 60, olga, ed)
    assert fields_in(ledger.answer(olga, "patch", f"expenses/{expense['id']}", fields)) == [wrong]
    assert ledger.expense(expense) == expense


def test_a_stranger_cannot_be_put_into_an_expense(ledger, olga, sam):
    expense = ledger.spend(olga, 60, olga)
    path = f"expenses/{expense['id']}"
    for fields in ({"participantUserIds": [sam.pk]}, {"paidByUserId": sam.pk}):
        assert fields_in(ledger.answer(olga, "patch", path, fields)) == list(fields)


def test_who_has_left_may_stay_in_an_expense_that_is_corrected(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, vera)
    ledger.pay(expense["splits"][0], vera)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    body = ledger.expense_body(60, vera, description="Lunch", paidByUserId=olga.pk)
    assert ledger.answer(olga, "put", f"expenses/{expense['id']}", body).status_code == 200
    assert ledger.paid(expense, vera) == (True, 60)


@pytest.mark.parametrize(
    ("split_type", "numbers"), [("EQUAL", None), ("SHARES", 3), ("PERCENTAGE", 50), ("MANUAL", 30)]
)
def test_an_expense_whose_splits_are_all_deleted_takes_a_new_amount_with_a_division_only(
    ledger, olga, ed, split_type, numbers
):
    amounts = {"splitAmounts": {str(olga.pk): numbers, str(ed.pk): numbers}} if numbers else {}
    expense = ledger.spend(olga, 60, olga, ed, splitType=split_type, **amounts)
    for split in expense["splits"]:
        ledger.delete_split(split, olga)
    path = f"expenses/{expense['id']}"
    problem_of(ledger.answer(olga, "patch", path, {"amount": 70}), 409, "divided_by_hand")
    body = {"amount": 70, "splitType": split_type, **amounts}
    assert ledger.answer(olga, "patch", path, body).status_code == 400
    assert ledger.expense(expense)["amount"] == 60
    assert ledger.change(expense, olga, notes="Mine.")["notes"] == "Mine."
