"""Expenses that are divided by items, or equally with more or less for some."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from splits.models import Expense
from tests.document import problem_of
from tests.splits.ledger import exact, parts

pytestmark = pytest.mark.either


def item(name, amount, shares):
    return {
        "name": name,
        "amount": amount,
        "shares": {str(user.pk): weight for user, weight in shares.items()},
    }


def itemized(amount, items, **fields):
    return {
        "description": "Dinner in Alfama",
        "amount": amount,
        "expenseDate": "2026-05-14",
        "splitType": "ITEMIZED",
        "items": items,
        **fields,
    }


def errors_of(response):
    return problem_of(response, 400)["errors"]


@pytest.fixture
def dinner(olga, ed, vera):
    items = [
        item("Wine", 24, {olga: 1, ed: 1}),
        item("Sardines", "36.00", {olga: 1, ed: 2, vera: 3}),
    ]
    return itemized(69, items, tax=6, tip=4.5, discount=1.5)


def test_items_are_shared_by_weights_and_the_rest_in_proportion(ledger, dinner, olga, ed, vera):
    """Of 60.00, Olga has 18, Ed 24 and Vera 18; 9.00 of tax, tip and discount come on top."""
    response = ledger.answer(olga, "post", "expenses", dinner)
    assert response.status_code == 201, response.content
    shown = exact(response)
    assert parts(shown) == {
        olga.pk: Decimal("20.7"),
        ed.pk: Decimal("27.6"),
        vera.pk: Decimal("20.7"),
    }
    assert shown["items"] == [
        {"name": "Wine", "amount": 24, "shares": {str(olga.pk): 1, str(ed.pk): 1}},
        {
            "name": "Sardines",
            "amount": 36,
            "shares": {str(olga.pk): 1, str(ed.pk): 2, str(vera.pk): 3},
        },
    ]
    assert (shown["tax"], shown["tip"], shown["discount"]) == (6, Decimal("4.5"), Decimal("1.5"))
    for path in (f"expenses/{shown['id']}", f"/api/trips/{ledger.trip.pk}/expenses"):
        found = exact(ledger.answer(vera, "get", path))
        assert (found["items"][0] if "total" in found else found) == shown
    assert parts(exact(ledger.answer(olga, "post", "expenses/preview", dinner))) == parts(shown)
    assert ledger.balances() == {olga.pk: 48.3, ed.pk: -27.6, vera.pk: -20.7}


def test_other_expenses_have_no_items(ledger, olga, ed):
    expense = ledger.spend(olga, 10, ed)
    assert [expense[name] for name in ("items", "tax", "tip", "discount")] == [None] * 4


@pytest.mark.parametrize(
    ("changes", "field", "text"),
    [
        ({"amount": 70}, "items", "69.00, not to 70.00"),
        ({"amount": 68}, "items", "69.00, not to 68.00"),
        ({"items": ...}, "items", "required"),
        ({"items": []}, "items", ""),
        ({"tip": -4.5, "amount": 60}, "tip", "negative"),
        ({"items.0.amount": -24, "amount": 21}, "items.0.amount", "negative"),
        ({"items.0.amount": None}, "items.0.amount", ""),
        ({"items.0.shares": {}}, "items.0.shares", "share"),
        ({"items.0.shares": {"x": 1}}, "items.0.shares", "x"),
        ({"items.0.shares": {"7777777": 1}}, "participantUserIds", "7777777"),
        ({"items.0.shares": [1]}, "items.0.shares", ""),
        ({"items.0.name": ""}, "items.0.name", ""),
        ({"items.0.name": "x" * 101}, "items.0.name", ""),
        ({"items.0": 7}, "items.0", ""),
        ({"splitType": "EQUAL", "participantUserIds": [1]}, "items", "ITEMIZED"),
        ({"splitType": ...}, "splitType", "required"),
        ({"splitAmounts": {"1": 5}}, "splitAmounts", "items"),
        ({"tax": "much"}, "tax", ""),
        ({"discount": 10**13}, "discount", ""),
    ],
)
def test_items_that_do_not_fit_are_refused(ledger, dinner, olga, changes, field, text):
    for path, value in changes.items():
        *parents, name = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = dinner
        for key in parents:
            place = place[key]
        if value is ...:
            del place[name]
        else:
            place[name] = value
    for path in ("expenses", "expenses/preview"):
        errors = errors_of(ledger.answer(olga, "post", path, dinner))
        found = [texts for name, texts in errors.items() if name.startswith(field)]
        assert found, errors
        assert text in str(found)
    assert not Expense.objects.exists()


def test_a_share_without_weight_is_refused(ledger, olga):
    for weight in (0, -1, "1.00001", 10**7, None, True):
        errors = errors_of(
            ledger.answer(olga, "post", "expenses", itemized(5, [item("Tea", 5, {olga: weight})]))
        )
        assert list(errors) == [f"items.0.shares.{olga.pk}"]


def test_items_without_a_price_cannot_be_divided(ledger, olga, ed):
    free = item("Bread", 0, {ed: 1})
    errors = errors_of(ledger.answer(olga, "post", "expenses", itemized(2, [free], tip=2)))
    assert list(errors) == ["items"]
    body = itemized(2, [free, item("Tea", 2, {olga: 1})])
    assert parts(exact(ledger.answer(olga, "post", "expenses", body))) == {ed.pk: 0, olga.pk: 2}


def test_there_is_a_limit_to_items_and_shares(ledger, olga, ed, monkeypatch):
    tea = item("Tea", 1, {olga: 1, ed: 1})
    assert "items" in errors_of(ledger.answer(olga, "post", "expenses", itemized(201, [tea] * 201)))
    monkeypatch.setattr("splits.serializers.expense.MAX_ITEM_SHARES", 3)
    assert "items" in errors_of(ledger.answer(olga, "post", "expenses", itemized(2, [tea] * 2)))


def test_participants_of_items_may_be_repeated_but_not_be_others(ledger, dinner, olga, ed, vera):
    everybody = [vera.pk, olga.pk, ed.pk]
    for people, status in ((everybody, 201), (everybody[:2], 400)):
        response = ledger.answer(olga, "post", "expenses", {**dinner, "participantUserIds": people})
        assert response.status_code == status
    assert list(errors_of(response)) == ["participantUserIds"]


def test_a_changed_amount_needs_its_items(ledger, dinner, olga, ed, vera):
    expense = ledger.answer(olga, "post", "expenses", dinner).json()
    path = f"expenses/{expense['id']}"
    for body in (
        {"amount": 70},
        {"tip": 5.5},
        {"amount": 70, "tip": 5.5},
        {"items": dinner["items"]},
    ):
        assert list(errors_of(ledger.answer(olga, "patch", path, body))) == ["items"]
    assert ledger.change(expense, olga, notes="Good.")["items"] == expense["items"]
    assert parts(ledger.expense(expense)) == parts(expense)
    changed = ledger.change(expense, olga, amount=61, items=dinner["items"], tip=1)
    assert (changed["tax"], changed["tip"], changed["discount"]) == (None, 1, None)
    [entry, *_others] = ledger.journal(expense_id=expense["id"])
    assert entry.changes["tax"] == {"old": 6, "new": None}
    equal = ledger.change(expense, olga, splitType="EQUAL")
    assert (equal["items"], equal["tip"]) == (None, None)
    assert set(parts(equal)) == {olga.pk, ed.pk, vera.pk}
    assert list(errors_of(ledger.answer(olga, "patch", path, {"splitType": "ITEMIZED"}))) == [
        "items"
    ]


def test_an_item_of_a_foreign_expense_is_in_its_currency(ledger, olga, ed):
    items = [item("Ramen", 1000, {olga: 1}), item("Tea", 500, {olga: 1, ed: 1})]
    body = itemized(1500, items, currency="JPY", exchangeRate="0.00611")
    expense = exact(ledger.answer(olga, "post", "expenses", body))
    assert expense["items"][0]["amount"] == 1000
    assert parts(expense) == {olga.pk: Decimal("7.64"), ed.pk: Decimal("1.53")}


def test_an_adjustment_is_more_or_less_than_the_equal_part(ledger, olga, ed, vera):
    adjusted = {"splitType": "ADJUSTMENT", "splitAmounts": {str(ed.pk): 5, str(vera.pk): "-2.00"}}
    expense = ledger.spend(olga, 33, olga, ed, vera, **adjusted)
    assert parts(expense) == {olga.pk: 10, ed.pk: 15, vera.pk: 8}
    assert parts(ledger.change(expense, olga, amount=36)) == {olga.pk: 11, ed.pk: 16, vera.pk: 9}
    assert parts(ledger.spend(olga, 10, olga, ed, splitType="ADJUSTMENT")) == {olga.pk: 5, ed.pk: 5}


def test_nobody_bears_less_than_nothing(ledger, olga, ed, vera):
    def send(**amounts):
        users = {"olga": olga, "ed": ed, "vera": vera}
        figures = {str(users[name].pk): amount for name, amount in amounts.items()}
        body = ledger.expense_body(10, olga, ed, splitType="ADJUSTMENT", splitAmounts=figures)
        return ledger.answer(olga, "post", "expenses", body)

    assert parts(send(ed=-10).json()) == {olga.pk: 10, ed.pk: 0}
    for refused in (send(ed=-10.01), send(ed=10.01), send(vera=1)):
        assert list(errors_of(refused)) == ["splitAmounts"]
    assert list(errors_of(send(ed="x"))) == [f"splitAmounts.{ed.pk}"]


def test_a_list_of_itemized_expenses_takes_no_more_queries(api, ledger, dinner, olga, ed):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert api(olga).get(f"{ledger.url}/expenses").status_code == 200
        return len(captured)

    ledger.spend(olga, 10, ed)
    before = queries()
    for _time in range(3):
        ledger.answer(olga, "post", "expenses", dinner)
    assert queries() == before
