"""A user who doubts a balance can follow it, entry by entry."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.splits.book import Book
from users.models import User


def lines(book: Book, reader: User, user: User, query: str = "pageSize=100") -> list[dict]:
    return book.answer(reader, "get", f"balances/{user.pk}?{query}").json()["items"]


def test_the_entries_stand_in_the_order_recorded_with_the_running_sum(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 30, olga, ed, vera, expenseDate="2026-05-17")
    book.settle(ed, olga, 4)
    book.spend(ed, 10, vera, expenseDate="2026-05-14")
    book.pay(book.split(expense, ed), by=ed)
    shown = [
        (line["kind"], line["paid"], line["share"], line["sent"], line["received"])
        for line in lines(book, vera, ed)
    ]
    assert shown == [
        ("EXPENSE", 0, 10, 0, 0),
        ("SETTLEMENT", 0, 0, 4, 0),
        ("EXPENSE", 10, 0, 0, 0),
        ("SETTLEMENT", 0, 0, 6, 0),
    ]
    assert [line["change"] for line in lines(book, vera, ed)] == [-10, 4, 10, 6]
    assert [line["balance"] for line in lines(book, vera, ed)] == [-10, -6, 4, 10]


def test_the_last_line_is_the_balance_of_everybody(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    book.spend(olga, 100, olga, ed, vera)
    book.spend(
        ed,
        1000.01,
        olga,
        vera,
        payers=[
            {"userId": ed.pk, "amount": 900},
            {"userId": vera.pk, "amount": 100.01},
        ],
    )
    book.settle(vera, olga, 3.33)
    for user, balance in book.balances().items():
        [*_before, last] = book.answer(olga, "get", f"balances/{user}?pageSize=100").json()["items"]
        assert last["balance"] == balance


def test_what_no_split_covers_is_in_the_share_of_who_paid(book: Book, olga: User, ed: User) -> None:
    expense = book.spend(olga, 30, olga, ed)
    book.delete_split(book.split(expense, ed), olga)
    [line] = lines(book, olga, olga)
    assert (line["paid"], line["share"], line["balance"]) == (30, 30, 0)


def test_pages_go_on_where_the_last_one_ended(book: Book, olga: User, ed: User) -> None:
    for _number in range(3):
        book.spend(olga, 10, ed)
    assert [line["balance"] for line in lines(book, olga, olga, "pageSize=2&page=2")] == [30]


def test_a_member_without_entries_has_no_lines_and_a_stranger_is_404(
    book: Book, olga: User, vera: User, sam: User
) -> None:
    assert lines(book, olga, vera) == []
    assert book.answer(olga, "get", f"balances/{sam.pk}").status_code == 404
    assert book.answer(sam, "get", f"balances/{olga.pk}").status_code == 404


@pytest.mark.parametrize("entries", [2, 40])
def test_the_query_count_does_not_grow(
    book: Book,
    olga: User,
    ed: User,
    entries: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _number in range(entries):
        book.spend(olga, 10, ed)
        book.settle(ed, olga, 1)
    book.client(olga)
    with django_assert_num_queries(5):
        assert len(lines(book, olga, ed)) == 2 * entries
