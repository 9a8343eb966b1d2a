"""Closing: a recorded settlement that brings every balance to zero leaves nobody in debt."""

import pytest

from splits.models import Allocation, Debt, Settlement
from splits.models.period import reopen
from tests.splits.book import Book, Json
from trips.models import Trip
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


# -- Several closings, and what happens to closed rows one by one ---------------------------------


def closed_twice(book: Book, olga: User, ed: User, vera: User) -> tuple[Json, Json, Json, Json]:
    """Two expenses of Ed's for Vera, each with the settlement that closed it."""
    made: list[Json] = []
    for amount in (10, 6):
        expense = book.spend(ed, amount, vera)
        book.spend(olga, amount, ed)
        made += [expense, book.settle(vera, olga, amount)]
    return made[0], made[1], made[2], made[3]


def test_deleting_an_earlier_closing_opens_what_it_closed_and_nothing_later(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    first, closing, second, _later = closed_twice(book, olga, ed, vera)
    book.delete_settlement(closing, olga)
    assert book.pending(vera) == [first["splits"][0]["id"]]
    assert book.debt(vera) == 10
    assert book.paid(second, vera) == (True, 6)


def test_what_was_opened_again_is_closed_by_the_next_closing_and_opened_with_it(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    first, closing, second, _later = closed_twice(book, olga, ed, vera)
    book.delete_settlement(closing, olga)
    again = book.settle(vera, olga, 10)
    assert open_splits(book, ed, vera) == []
    book.delete_settlement(again, olga)
    assert book.paid(first, vera) == (False, 0)
    assert book.paid(second, vera) == (True, 6)


def test_closings_can_be_deleted_from_the_last_to_the_first(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    first, closing, second, later = closed_twice(book, olga, ed, vera)
    book.delete_settlement(later, olga)
    assert book.pending(vera) == [second["splits"][0]["id"]]
    book.delete_settlement(closing, olga)
    assert book.pending(vera) == [first["splits"][0]["id"], second["splits"][0]["id"]]
    assert book.debt(vera) == 16


def test_credit_that_arises_after_a_closing_covers_what_comes(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, olga, 10)
    book.settle(ed, olga, 5)
    expense = book.spend(olga, 8, ed)
    assert book.paid(expense, ed) == (False, 5)


def test_money_for_a_part_of_a_closed_debt_opens_that_part_alone_when_it_is_deleted(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    part = book.settle(vera, ed, 4)
    book.settle(vera, olga, 6)
    closing = book.settle(ed, olga, 4)
    book.delete_settlement(part, olga)
    assert book.paid(chain[0], vera) == (False, 6)
    assert book.paid(chain[1], ed) == (True, 10)
    book.delete_settlement(closing, olga)
    assert book.paid(chain[0], vera) == (False, 0)


def test_unpaying_gives_back_the_credit_that_covered_and_not_what_was_closed_of_it(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 2, vera)
    book.settle(vera, olga, 7)
    book.settle(vera, olga, 5)
    assert open_splits(book, ed, vera) == []
    book.unpay(book.split(expense, vera), vera)
    assert book.paid(book.spend(olga, 10, vera), vera) == (False, 2)


@pytest.fixture
def two_payers(book: Book, olga: User, ed: User, vera: User) -> Json:
    """100 of Vera's, of which Olga paid 60 and Ed 40."""
    return book.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))


def paid_by(first: User, amount: int, second: User, other_amount: int) -> list[Json]:
    return [
        {"userId": first.pk, "amount": amount},
        {"userId": second.pk, "amount": other_amount},
    ]


def test_a_closed_split_whose_payers_change_stays_closed_but_for_what_is_new(
    book: Book, two_payers: Json, olga: User, ed: User, vera: User
) -> None:
    """Vera hands all to Olga, so that her debt to Ed is closed and Ed's claim is left to Olga."""
    book.spend(ed, 40, olga, paidByUserId=olga.pk)
    book.spend(olga, 40, ed)
    book.settle(vera, olga, 60)
    closing = book.settle(vera, ed, 40)
    assert book.paid(two_payers, vera) == (True, 100)
    book.change(two_payers, olga, payers=paid_by(olga, 70, ed, 30))
    assert book.paid(two_payers, vera) == (False, 90)
    book.delete_settlement(closing, olga)
    assert book.paid(two_payers, vera) == (False, 60)


def test_a_closed_debt_that_gets_smaller_stays_closed(
    book: Book, two_payers: Json, olga: User, ed: User, vera: User
) -> None:
    """All 100 go to Olga: 40 of it are credit, and the debt to Ed is closed against it."""
    book.spend(ed, 40, olga, paidByUserId=ed.pk)
    book.spend(olga, 80, ed)
    closing = book.settle(vera, olga, 100)
    assert book.paid(two_payers, vera) == (True, 100)
    book.change(two_payers, olga, payers=paid_by(olga, 80, ed, 20))
    assert book.paid(two_payers, vera) == (False, 80)
    assert book.debt(vera) == 20
    book.change(two_payers, olga, payers=paid_by(olga, 50, ed, 50))
    assert book.paid(two_payers, vera) == (False, 70)
    # What the smaller debt sets free is credit; what was closed of the money is not.
    assert book.paid(book.spend(olga, 90, vera), vera) == (False, 10)
    book.delete_settlement(closing, olga)
    assert book.paid(two_payers, vera) == (False, 0)


def test_an_expense_that_was_closed_can_be_deleted_and_does_not_come_back(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    closing = book.settle(vera, olga, 10)
    book.delete(chain[0], olga)
    assert book.paid(chain[1], ed) == (True, 10)
    book.delete_settlement(closing, olga)
    assert open_splits(book, ed, vera) == [chain[1]["splits"][0]["id"]]
    assert (book.debt(ed), book.debt(vera)) == (10, 0)


def test_it_is_paid_since_it_was_closed_and_stays_so_when_it_is_taken_out(
    book: Book, chain: tuple[Json, Json], olga: User, ed: User, vera: User
) -> None:
    """Also once an allocation of its own says so: here because money of its is deleted."""
    part = book.settle(ed, olga, 3)
    book.settle(vera, olga, 7)
    book.settle(vera, ed, 3)
    paid_at = book.split(chain[1], ed)["paidAt"]
    assert paid_at is not None
    extra = book.settle(ed, olga, 3)
    book.delete_settlement(part, olga)
    assert book.paid(chain[1], ed) == (False, 7)
    book.pay(book.split(chain[1], ed), ed)
    assert book.paid(chain[1], ed) == (True, 10)
    assert extra in book.settlements()


def test_a_settlement_that_closed_by_allocations_opens_what_they_closed(
    book: Book, chain: tuple[Json, Json], trip: Trip, olga: User, ed: User, vera: User
) -> None:
    """As older versions wrote it: an allocation for each debt and each credit."""
    closing = book.settle(vera, olga, 10)
    Debt.objects.all().itemise()
    Settlement.objects.all().itemise()
    reopen(trip.pk, Settlement.objects.all())
    assert Allocation.objects.exclude(closed_by=None).count() == 3
    assert open_splits(book, ed, vera) == []
    book.delete_settlement(closing, olga)
    assert book.paid(chain[0], vera) == (False, 0)
    assert book.paid(chain[1], ed) == (False, 0)
    assert (book.debt(ed), book.debt(vera)) == (10, 10)
