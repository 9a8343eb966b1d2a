"""Paying and unpaying a split, both as often as one likes."""

from datetime import timedelta
from itertools import product

import pytest
import time_machine
from django.utils import timezone

from tests.splits.book import Book, Json, split_url
from trips.roles import Can, Reach, TripRole, reach
from users.models import User

ROLES = list(TripRole)


@pytest.fixture
def expense(book: Book, olga: User, ed: User, vera: User) -> Json:
    """60 that Olga paid for the three of them."""
    return book.spend(olga, 60, olga, ed, vera)


def test_paying_records_a_settlement_of_what_is_open(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    paid = book.pay(book.split(expense, ed), ed)
    assert (paid["paid"], paid["paidAmount"]) == (True, 20)
    assert paid["paidAt"].endswith("Z")
    [settlement] = book.settlements()
    assert settlement["from"]["id"] == ed.pk
    assert settlement["to"]["id"] == olga.pk
    assert settlement["amount"] == 20
    assert book.balance(ed) == 0
    assert book.balance(olga) == 20
    assert book.pending(ed) == []


def test_paying_leaves_the_splits_of_others_open(
    book: Book, expense: Json, ed: User, vera: User
) -> None:
    book.pay(book.split(expense, ed), ed)
    assert book.paid(expense, vera) == (False, 0)


def test_paying_twice_changes_nothing(book: Book, expense: Json, ed: User) -> None:
    split = book.split(expense, ed)
    first = book.pay(split, ed)
    settlements, balances = book.settlements(), book.balances()
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert book.pay(split, ed) == first
    assert (book.settlements(), book.balances()) == (settlements, balances)


def test_unpaying_takes_it_all_back(book: Book, expense: Json, ed: User) -> None:
    split = book.split(expense, ed)
    balances = book.balances()
    book.pay(split, ed)
    assert book.unpay(split, ed) == split
    assert book.settlements() == []
    assert book.balances() == balances
    assert book.pending(ed) == [split["id"]]


def test_unpaying_what_is_unpaid_changes_nothing(book: Book, expense: Json, ed: User) -> None:
    split = book.split(expense, ed)
    assert book.unpay(split, ed) == split
    book.pay(split, ed)
    book.unpay(split, ed)
    assert book.unpay(split, ed) == split


def test_what_was_unpaid_can_be_paid_again(book: Book, expense: Json, ed: User) -> None:
    split = book.split(expense, ed)
    for _time in range(2):
        assert book.pay(split, ed)["paid"]
        assert not book.unpay(split, ed)["paid"]
    assert book.pay(split, ed)["paid"]
    assert len(book.settlements()) == 1


def test_the_own_split_of_who_paid_stays_paid_whatever_one_does(
    book: Book, expense: Json, olga: User
) -> None:
    own = book.split(expense, olga)
    assert book.pay(own, olga) == own
    assert book.unpay(own, olga) == own
    assert book.settlements() == []


@pytest.mark.parametrize(
    ("role", "side", "action"),
    list(product(ROLES, ["debtor", "creditor", "neither"], ["pay", "unpay"])),
)
def test_who_may_pay_and_unpay(
    book: Book,
    olga: User,
    ed: User,
    vera: User,
    bert: User,
    role: TripRole,
    side: str,
    action: str,
) -> None:
    user = dict(zip(ROLES, (olga, ed, vera), strict=True))[role]
    other = bert if user == olga else olga
    debtor, creditor = {
        "debtor": (user, bert),
        "creditor": (bert, user),
        "neither": (other, bert) if other != bert else (vera, bert),
    }[side]
    split = book.spend(olga, 60, debtor, paidByUserId=creditor.pk)["splits"][0]
    if action == "unpay":
        book.pay(split, olga)
    reached = reach(role, Can.SETTLE)
    allowed = reached is Reach.ANY or (reached is Reach.OWN and side != "neither")
    response = book.answer(user, "put", f"{split_url(split)}/{action}")
    assert response.status_code == (200 if allowed else 403)
    paid = book.answer(olga, "get", split_url(split)).json()["paid"]
    assert paid == ((action == "pay") == allowed)


def test_one_of_several_who_are_owed_may_pay_it_off(
    book: Book, olga: User, ed: User, vera: User, bert: User
) -> None:
    payers = [{"userId": olga.pk, "amount": 30}, {"userId": vera.pk, "amount": 30}]
    split = book.spend(olga, 60, bert, payers=payers)["splits"][0]
    assert book.answer(ed, "put", f"{split_url(split)}/pay").status_code == 403
    assert book.pay(split, vera)["paid"]


def test_whoever_recorded_the_expense_is_no_side_of_its_splits(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    split = book.spend(ed, 60, vera, paidByUserId=olga.pk)["splits"][0]
    assert book.answer(ed, "put", f"{split_url(split)}/pay").status_code == 403


def test_an_admin_may_pay_any_split(book: Book, expense: Json, ada: User, ed: User) -> None:
    assert book.pay(book.split(expense, ed), ada)["paid"]


def test_paying_one_of_two_splits_between_the_same_two_leaves_the_other_open(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    second = book.spend(olga, 40, olga, ed)
    book.pay(book.split(second, ed), ed)
    assert book.paid(expense, ed) == (False, 0)
    assert book.paid(second, ed) == (True, 20)


def test_paying_takes_no_body_into_account(book: Book, expense: Json, ed: User, sam: User) -> None:
    path = f"{split_url(book.split(expense, ed))}/pay"
    body = {"amount": 1, "paid": False, "participantUserId": sam.pk}
    paid = book.answer(ed, "put", path, body).json()
    assert (paid["paid"], paid["paidAmount"]) == (True, 20)


def test_deleting_a_paid_split_takes_its_settlement_along(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    paid = book.pay(book.split(expense, ed), ed)
    book.delete_split(paid, olga)
    assert book.settlements() == []
    assert book.balances() == {olga.pk: 20, ed.pk: 0, vera.pk: -20}


def test_deleting_an_expense_takes_the_settlements_of_its_paid_splits_along(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    book.pay(book.split(expense, ed), ed)
    book.pay(book.split(expense, vera), vera)
    book.delete(expense, olga)
    assert book.settlements() == []
    assert book.balances() == {olga.pk: 0, ed.pk: 0, vera.pk: 0}
