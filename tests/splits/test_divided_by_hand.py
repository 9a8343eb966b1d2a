"""Splits that were added or deleted by hand stay until the expense is divided anew."""

from typing import Any

import pytest

from tests.splits.book import Book, Json, parts
from users.models import User


@pytest.fixture
def expense(book: Book, olga: User, ed: User, vera: User) -> Json:
    """100 that Olga paid; by hand, Ed has a part of 25, which is paid, and nobody else has one."""
    made = book.spend(olga, 100, olga, ed, notes="Mine.")
    for split in made["splits"]:
        book.delete_split(split, olga)
    book.pay(book.add_split(made, olga, ed, amount=25), ed)
    return book.expense(made)


def refusal(book: Book, expense: Json, by: User, body: Json) -> str:
    """The code of the 409 that leaves the expense as it is."""
    before = book.expense(expense)
    response = book.answer(by, "patch", f"expenses/{expense['id']}", body)
    assert response.status_code == 409, response.content
    assert book.expense(expense) == before
    return response.json()["code"]


@pytest.mark.parametrize(
    "same",
    [
        {"amount": 100},
        {"amount": "100.00", "currency": "EUR"},
        {"splitType": "EQUAL"},
        {"notes": "Ours.", "amount": 100, "splitType": "EQUAL"},
        {},
    ],
)
def test_a_change_that_changes_no_money_keeps_them(
    book: Book, expense: Json, olga: User, ed: User, same: Json
) -> None:
    changed = book.change(expense, olga, **same)
    assert changed["splits"] == expense["splits"]
    assert book.paid(expense, ed) == (True, 25)
    assert book.balance(ed) == 0


def test_the_same_payer_and_participants_keep_them(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    book.change(expense, olga, paidByUserId=olga.pk, participantUserIds=[ed.pk])
    book.change(expense, olga, payers=[{"userId": olga.pk, "amount": 100}])
    assert book.expense(expense)["splits"] == expense["splits"]


def test_a_put_of_what_was_read_keeps_them(book: Book, expense: Json, olga: User, ed: User) -> None:
    body = book.expense_body(100, ed, description="Lunch", paidByUserId=olga.pk)
    response = book.answer(olga, "put", f"expenses/{expense['id']}", body)
    assert response.status_code == 200
    assert response.json()["splits"] == expense["splits"]
    assert response.json()["description"] == "Lunch"


def test_other_money_without_a_division_is_refused_with_the_reason(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    bodies: list[dict[str, Any]] = [
        {"amount": 120},
        {"amount": 100, "currency": "USD", "exchangeRate": 0.9},
        {"paidByUserId": ed.pk},
        {"payers": [{"userId": olga.pk, "amount": 60}, {"userId": ed.pk, "amount": 40}]},
    ]
    for body in bodies:
        assert refusal(book, expense, olga, body) == "divided_by_hand"
    assert book.paid(expense, ed) == (True, 25)


def test_a_division_divides_it_anew(book: Book, expense: Json, olga: User, ed: User) -> None:
    changed = book.change(expense, olga, amount=120, participantUserIds=[olga.pk, ed.pk])
    assert parts(changed) == {olga.pk: 60, ed.pk: 60}
    assert parts(book.change(expense, olga, amount=90)) == {olga.pk: 45, ed.pk: 45}


def test_other_participants_divide_it_anew(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    changed = book.change(expense, olga, participantUserIds=[ed.pk, vera.pk])
    assert parts(changed) == {ed.pk: 50, vera.pk: 50}
