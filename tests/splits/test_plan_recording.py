"""The whole settle-up plan is recorded at once, if it is still the one that was read."""

from tests.splits.book import Book
from users.models import User


def read_tag(book: Book, user: User) -> str:
    return book.answer(user, "get", "settle-up")["ETag"].strip('"')


def test_the_recorded_plan_brings_every_balance_to_zero_and_frees_of_debts(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    book.spend(olga, 90, olga, ed, vera)
    book.spend(ed, 30, vera)
    tag, plan = read_tag(book, vera), book.plan()
    recorded = book.answer(olga, "post", "settle-up", {"tag": tag})
    assert recorded.status_code == 201
    assert [(row["from"], row["to"], row["amount"]) for row in recorded.json()] == [
        (row["from"], row["to"], row["amount"]) for row in plan
    ]
    assert set(book.balances().values()) == {0}
    assert book.plan() == []
    for user in (olga, ed, vera):
        assert book.pending(user) == []
        assert book.debt(user) == 0


def test_a_plan_that_has_changed_is_refused_and_changes_nothing(
    book: Book, olga: User, ed: User
) -> None:
    book.spend(olga, 90, ed)
    tag = read_tag(book, olga)
    book.spend(olga, 1, ed)
    refused = book.answer(olga, "post", "settle-up", {"tag": tag})
    assert (refused.status_code, refused.json()["code"]) == (409, "plan_changed")
    assert book.settlements() == []
    assert book.balance(ed) == -91


def test_a_plan_is_recorded_once(book: Book, olga: User, ed: User) -> None:
    book.spend(olga, 90, ed)
    tag = read_tag(book, olga)
    assert book.answer(olga, "post", "settle-up", {"tag": tag}).status_code == 201
    assert book.answer(olga, "post", "settle-up", {"tag": tag}).status_code == 409
    assert len(book.settlements()) == 1


def test_the_tag_stays_as_long_as_the_plan_does(book: Book, olga: User, ed: User) -> None:
    book.spend(olga, 90, ed)
    before = read_tag(book, olga)
    book.spend(olga, 5, olga)
    assert read_tag(book, ed) == before


def test_who_is_no_side_of_every_payment_may_not_record_the_plan(
    book: Book, olga: User, ed: User, vera: User, sam: User
) -> None:
    book.spend(olga, 90, ed, vera)
    tag = read_tag(book, ed)
    assert book.answer(ed, "post", "settle-up", {"tag": tag}).status_code == 403
    assert book.answer(vera, "post", "settle-up", {"tag": tag}).status_code == 403
    assert book.answer(sam, "post", "settle-up", {"tag": tag}).status_code == 404
    book.settle(vera, olga, 45)
    assert book.answer(ed, "post", "settle-up", {"tag": read_tag(book, ed)}).status_code == 201


def test_a_plan_reaches_former_members_too(book: Book, olga: User, ed: User, vera: User) -> None:
    expense = book.spend(olga, 30, ed, vera)
    book.settle(vera, olga, 15)
    assert book.answer(vera, "post", "members/leave").status_code == 204
    book.change(expense, olga, amount=40)
    assert book.balances() == {olga.pk: 25, ed.pk: -20, vera.pk: -5}
    by_hand = {"fromUserId": vera.pk, "toUserId": olga.pk, "amount": 5}
    assert book.answer(olga, "post", "settlements", by_hand).status_code == 400
    recorded = book.answer(olga, "post", "settle-up", {"tag": read_tag(book, olga)})
    assert recorded.status_code == 201
    assert set(book.balances().values()) == {0}


def test_the_tag_is_required(book: Book, olga: User) -> None:
    for body in ({}, {"tag": None}, {"tag": ""}, {"tag": 7}):
        refused = book.answer(olga, "post", "settle-up", body)
        assert refused.status_code == 400
        assert list(refused.json()["errors"]) == ["tag"]
