"""Expenses that several people put money into: who owes whom, and what paying records."""

import pytest

from tests.splits.book import Book, Json
from users.models import User


def payers(**put_in: tuple[User, float]) -> list[Json]:
    return [{"userId": user.pk, "amount": amount} for user, amount in put_in.values()]


def transfers(book: Book) -> set[tuple[int, int, float]]:
    return {(row["from"]["id"], row["to"]["id"], row["amount"]) for row in book.settlements()}


@pytest.fixture
def dinner(book: Book, olga: User, ed: User, vera: User) -> Json:
    """120 for three: Olga put in 30 and Ed 10 more than their own 40, and Vera nothing."""
    return book.spend(olga, 120, olga, ed, vera, payers=payers(olga=(olga, 70), ed=(ed, 50)))


def test_own_money_covers_the_own_split_first(
    book: Book, dinner: Json, olga: User, ed: User, vera: User
) -> None:
    assert book.paid(dinner, olga) == (True, 40)
    assert book.paid(dinner, ed) == (True, 40)
    assert book.paid(dinner, vera) == (False, 0)
    assert book.balances() == {olga.pk: 30, ed.pk: 10, vera.pk: -40}


def test_the_rest_is_owed_to_those_who_put_in_too_much_in_proportion(
    book: Book, dinner: Json, olga: User, ed: User, vera: User
) -> None:
    book.pay(book.split(dinner, vera), vera)
    assert transfers(book) == {(vera.pk, olga.pk, 30), (vera.pk, ed.pk, 10)}
    assert not any(book.balances().values())


def test_unpaying_takes_back_what_all_of_them_got(
    book: Book, dinner: Json, olga: User, ed: User, vera: User
) -> None:
    split = book.split(dinner, vera)
    book.pay(split, vera)
    assert book.unpay(split, vera) == split
    assert book.settlements() == []


def test_a_settlement_with_one_of_them_covers_their_part(
    book: Book, dinner: Json, olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, ed, 15)
    assert book.paid(dinner, vera) == (False, 10)
    book.settle(vera, olga, 30)
    assert book.paid(dinner, vera) == (True, 40)
    assert book.balances() == {olga.pk: 0, ed.pk: -5, vera.pk: 5}


def test_who_put_in_too_little_owes_the_rest_of_the_own_split(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 90, olga, ed, vera, payers=payers(olga=(olga, 80), ed=(ed, 10)))
    assert book.paid(expense, ed) == (False, 10)
    assert book.debt(ed) == 20
    book.pay(book.split(expense, ed), ed)
    book.pay(book.split(expense, vera), vera)
    assert transfers(book) == {(ed.pk, olga.pk, 20), (vera.pk, olga.pk, 30)}


def test_who_put_in_exactly_the_own_split_neither_owes_nor_is_owed(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 90, olga, ed, vera, payers=payers(ed=(ed, 30), olga=(olga, 60)))
    assert book.paid(expense, ed) == (True, 30)
    book.pay(book.split(expense, vera), vera)
    assert transfers(book) == {(vera.pk, olga.pk, 30)}


def test_what_no_split_covers_falls_to_the_payers_in_proportion(
    book: Book, dinner: Json, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 100, vera, payers=payers(olga=(olga, 75), ed=(ed, 25)))
    book.delete(dinner, olga)
    book.delete_split(expense["splits"][0], olga)
    assert book.balances() == {olga.pk: 0, ed.pk: 0, vera.pk: 0}
    split = book.add_split(expense, olga, vera, amount=60)
    assert book.balances() == {olga.pk: 45, ed.pk: 15, vera.pk: -60}
    book.pay(split, vera)
    assert transfers(book) == {(vera.pk, olga.pk, 45), (vera.pk, ed.pk, 15)}


def test_the_odd_cent_is_owed_to_one_of_them(book: Book, olga: User, ed: User, vera: User) -> None:
    expense = book.spend(olga, 0.02, vera, payers=payers(olga=(olga, 0.01), ed=(ed, 0.01)))
    book.delete_split(expense["splits"][0], olga)
    split = book.add_split(expense, olga, vera, amount=0.01)
    book.pay(split, vera)
    [(_sender, _receiver, amount)] = transfers(book)
    assert amount == 0.01
    assert not any(book.balances().values())


def test_all_splits_together_are_owed_to_the_last_cent(
    book: Book, olga: User, ed: User, vera: User, bert: User
) -> None:
    expense = book.spend(
        olga, 100.01, vera, bert, payers=payers(olga=(olga, 33.34), ed=(ed, 66.67))
    )
    for user in (vera, bert):
        book.pay(book.split(expense, user), user)
    assert not any(book.balances().values())
    assert book.settlements()
