"""Closing: a recorded settlement that brings every balance to zero leaves nobody in debt."""

import pytest

from tests.splits.book import Book, Json
from users.models import User


@pytest.fixture
def chain(book: Book, olga: User, ed: User, vera: User) -> tuple[Json, Json]:
    """Vera owes Ed 10, and Ed owes Olga 10: the plan sends 10 from Vera past Ed to Olga."""
    return book.spend(ed, 10, vera), book.spend(olga, 10, ed)


@pytest.fixture
def mutual(book: Book, olga: User, ed: User, vera: User) -> tuple[Json, Json]:
    """Vera owes Ed 10, and Ed owes Vera 10."""
    return book.spend(ed, 10, vera), book.spend(olga, 10, ed, paidByUserId=vera.pk)


def open_splits(book: Book, *users: User) -> list[int]:
    return [split_id for user in users for split_id in book.pending(user)]


def test_following_the_plan_pays_every_split_though_the_money_went_past_who_was_owed(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    [transfer] = book.plan()
    assert (transfer["from"]["id"], transfer["to"]["id"]) == (vera.pk, olga.pk)
    book.settle(vera, olga, transfer["amount"])
    assert book.paid(chain[0], vera) == (True, 10)
    assert book.paid(chain[1], ed) == (True, 10)
    assert open_splits(book, ed, vera) == []
    assert (book.debt(ed), book.debt(vera)) == (0, 0)


def test_deleting_the_closing_settlement_opens_what_it_closed(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    settlement = book.settle(vera, olga, 10)
    book.delete_settlement(settlement, olga)
    assert book.paid(chain[0], vera) == (False, 0)
    assert book.paid(chain[1], ed) == (False, 0)
    assert book.balances() == {olga.pk: 10, ed.pk: 0, vera.pk: -10}


def test_closing_uses_up_every_credit(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, olga, 4)
    book.settle(vera, olga, 6)
    assert not any(book.balances().values())
    expense = book.spend(olga, 10, vera)
    assert book.paid(expense, vera) == (False, 0)


def test_deleting_the_closing_settlement_makes_the_other_money_credit_again(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, olga, 4)
    book.delete_settlement(book.settle(vera, olga, 6), olga)
    expense = book.spend(olga, 10, vera)
    assert book.paid(expense, vera) == (False, 4)


def test_deleting_another_settlement_opens_only_what_that_one_covered(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 7, vera)
    other = book.settle(vera, olga, 7)
    book.settle(vera, olga, 10)
    book.delete_settlement(other, olga)
    assert book.paid(expense, vera) == (False, 0)
    assert book.paid(chain[0], vera) == (True, 10)
    assert book.paid(chain[1], ed) == (True, 10)


def test_short_of_zero_nothing_is_closed(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, olga, 9.99)
    assert book.paid(chain[0], vera) == (False, 0)
    assert book.paid(chain[1], ed) == (False, 0)


def test_pay_closes_as_well(
    book: Book, mutual: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 10, ed)
    book.pay(book.split(expense, ed), ed)
    assert book.paid(mutual[0], vera) == (True, 10)
    assert book.paid(mutual[1], ed) == (True, 10)
    assert len(book.settlements()) == 1


def test_unpaying_what_closed_the_trip_opens_it_again(
    book: Book, mutual: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 10, ed)
    split = book.pay(book.split(expense, ed), ed)
    book.unpay(split, ed)
    for opened, user in ((mutual[0], vera), (mutual[1], ed), (expense, ed)):
        assert book.paid(opened, user) == (False, 0)


def test_deleting_the_split_whose_pay_closed_the_trip_opens_it_again(
    book: Book, mutual: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 10, ed)
    book.delete_split(book.pay(book.split(expense, ed), ed), olga)
    assert book.paid(mutual[0], vera) == (False, 0)


def test_neither_an_expense_nor_its_deletion_closes_a_trip(
    book: Book, mutual: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    assert not any(book.balances().values())
    assert book.plan() == []
    extra = book.spend(olga, 10, ed)
    book.delete(extra, olga)
    assert book.paid(mutual[0], vera) == (False, 0)
    assert book.paid(mutual[1], ed) == (False, 0)


def test_paying_out_of_credit_alone_closes_nothing(
    book: Book, mutual: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    first, second = book.spend(olga, 5, ed), book.spend(olga, 5, ed)
    book.settle(ed, olga, 5)
    book.delete(first, olga)
    assert not any(book.balances().values())
    assert book.pay(book.split(second, ed), ed)["paid"]
    assert book.paid(mutual[0], vera) == (False, 0)
    assert book.paid(mutual[1], ed) == (False, 0)


def test_a_split_that_was_closed_can_be_unpaid_by_itself(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    settlement = book.settle(vera, olga, 10)
    split = book.unpay(book.split(chain[0], vera), vera)
    assert (split["paid"], split["paidAmount"]) == (False, 0)
    assert book.paid(chain[1], ed) == (True, 10)
    assert book.settlements() == [settlement]
    assert not any(book.balances().values())


def test_a_new_expense_after_closing_is_owed_as_ever(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, olga, 10)
    expense = book.spend(olga, 6, ed, vera)
    assert open_splits(book, ed, vera) == [split["id"] for split in expense["splits"]]
    assert book.balances() == {olga.pk: 6, ed.pk: -3, vera.pk: -3}


def test_who_followed_the_plan_may_leave(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    response = book.answer(vera, "post", "members/leave")
    assert (response.status_code, response.json()["code"]) == (409, "balance_open")
    assert "-10.00" in response.json()["detail"]
    book.settle(vera, olga, 10)
    assert book.answer(vera, "post", "members/leave").status_code == 204
