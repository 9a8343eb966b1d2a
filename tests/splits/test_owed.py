"""What is kept of a member's open debts agrees with them after every command."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Sum

from splits.models import Debt
from tests.conftest import Api
from tests.factories import join
from tests.splits.book import Book, Json
from trips.models import Member, Trip
from users.models import User


class Watched(Book):
    """Compares the kept sum of every member with their open debts after every request."""

    def _done(self, user: User, method: str, path: str, body: Any = None) -> Any:
        done = super()._done(user, method, path, body)
        assert self.owed() == self.open()
        return done

    def owed(self) -> dict[int, int]:
        """By user, of those who owe something."""
        rows = Member.objects.filter(trip=self.trip, owed_minor__gt=0)
        return dict(rows.values_list("user", "owed_minor").order_by())

    def open(self) -> dict[int, int]:
        rows = Debt.objects.open().filter(trip=self.trip).order_by()
        return dict(rows.values_list("debtor").annotate(Sum("open_minor")))


@pytest.fixture
def book(book: Book, trip: Trip, api: Api, olga: User) -> Watched:
    """The book of the cast, watched; it is audited in the end."""
    return Watched(trip, api, olga)


@pytest.fixture
def two_payers(book: Watched, olga: User, ed: User, vera: User) -> Json:
    """100 of Vera's alone; Olga paid 60 of it and Ed 40."""
    return book.spend(olga, 100, vera, payers=pair(olga, 60, ed, 40))


def pair(first: User, first_amount: int, second: User, second_amount: int) -> list[Json]:
    return [
        {"userId": first.pk, "amount": first_amount},
        {"userId": second.pk, "amount": second_amount},
    ]


def test_it_follows_an_expense_from_its_creation_to_its_deletion(
    book: Watched, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 30, olga, ed, vera)
    assert book.owed() == {ed.pk: 1000, vera.pk: 1000}
    book.change(expense, olga, amount=60)
    assert book.owed() == {ed.pk: 2000, vera.pk: 2000}
    book.change(expense, olga, paidByUserId=ed.pk)
    assert book.owed() == {olga.pk: 2000, vera.pk: 2000}
    book.change(expense, olga, description="Supper")
    assert book.owed() == {olga.pk: 2000, vera.pk: 2000}
    book.delete(expense, olga)
    assert book.owed() == {}


def test_it_adds_up_over_several_creditors(
    book: Watched, two_payers: Json, ed: User, vera: User
) -> None:
    book.spend(ed, 5, vera)
    assert book.owed() == {vera.pk: 10500}
    book.pay(book.split(two_payers, vera), vera)
    assert book.owed() == {vera.pk: 500}


def test_it_follows_paying_and_unpaying(book: Watched, olga: User, ed: User, vera: User) -> None:
    expense = book.spend(olga, 20, ed, vera)
    book.settle(ed, olga, 4)
    split = book.pay(book.split(expense, ed), ed)
    assert book.owed() == {vera.pk: 1000}
    book.pay(split, ed)
    assert book.owed() == {vera.pk: 1000}
    book.unpay(split, ed)
    assert book.owed() == {ed.pk: 1000, vera.pk: 1000}


def test_a_paid_split_that_goes_or_starts_again_is_counted_once(
    book: Watched, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 20, ed, vera)
    book.pay(book.split(expense, ed), ed)
    book.change(expense, olga, amount=40)
    assert book.owed() == {ed.pk: 2000, vera.pk: 2000}
    book.pay(book.split(expense, ed), ed)
    book.delete_split(book.split(expense, ed), olga)
    assert book.owed() == {vera.pk: 2000}
    book.add_split(expense, olga, ed, amount=5)
    assert book.owed() == {ed.pk: 500, vera.pk: 2000}


def test_a_settlement_takes_off_what_it_covers_and_no_more(
    book: Watched, olga: User, ed: User
) -> None:
    book.spend(olga, 10, ed)
    part = book.settle(ed, olga, 4)
    assert book.owed() == {ed.pk: 600}
    above = book.settle(ed, olga, 8)
    assert book.owed() == {}
    book.spend(olga, 3, ed)
    assert book.owed() == {ed.pk: 100}
    book.delete_settlement(above, olga)
    assert book.owed() == {ed.pk: 900}
    book.delete_settlement(part, olga)
    assert book.owed() == {ed.pk: 1300}


def test_credit_covers_a_new_debt_whole(book: Watched, olga: User, ed: User) -> None:
    book.settle(ed, olga, 25)
    expense = book.spend(olga, 10, ed)
    assert book.owed() == {}
    book.change(expense, olga, amount=30)
    assert book.owed() == {ed.pk: 500}
    book.delete(expense, olga)
    book.pay(book.split(book.spend(olga, 40, ed), ed), ed)
    assert book.owed() == {}


def test_a_debt_of_a_kept_split_may_grow_and_shrink(
    book: Watched, two_payers: Json, olga: User, ed: User, vera: User
) -> None:
    book.settle(vera, olga, 40)
    book.settle(vera, olga, 20)
    assert book.owed() == {vera.pk: 4000}
    book.change(two_payers, olga, payers=pair(olga, 35, ed, 65))
    assert book.owed() == {vera.pk: 6500}
    book.change(two_payers, olga, payers=pair(olga, 70, ed, 30))
    assert book.owed() == {vera.pk: 3500 + 3000}


def test_closing_leaves_nobody_owing_and_taking_it_back_restores_all(
    book: Watched, olga: User, ed: User, vera: User
) -> None:
    book.spend(ed, 10, vera)
    book.spend(olga, 10, ed)
    book.settle(vera, olga, 4)
    assert book.owed() == {ed.pk: 1000, vera.pk: 1000}
    tag = book.answer(olga, "get", "settle-up")["ETag"].strip('"')
    assert book.answer(olga, "post", "settle-up", {"tag": tag}).status_code == 201
    assert book.owed() == {}
    book.delete_settlement(book.settlements()[-1], olga)
    assert book.owed() == {ed.pk: 1000, vera.pk: 1000}


def test_it_outlives_the_membership_and_comes_along_again(
    book: Watched, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    by_ed = book.spend(ed, 10, vera)
    book.spend(olga, 10, ed, paidByUserId=vera.pk)
    assert book.answer(vera, "post", "members/leave").status_code == 204
    assert book.owed() == {ed.pk: 1000, vera.pk: 1000}
    assert book.debt(vera) == 10
    book.change(by_ed, olga, amount=15)
    assert book.debt(vera) == 15
    trip.add_member(olga, role="VIEWER", user_id=vera.pk)
    book.pay(book.split(by_ed, vera), vera)
    assert book.debt(vera) == 0


def test_the_migration_fills_it_from_the_debts(
    book: Watched, trip: Trip, olga: User, ed: User, vera: User, sam: User
) -> None:
    join(trip, sam)
    for _time in range(2):
        book.spend(olga, 30, olga, ed, vera)
    book.settle(ed, olga, 15)
    Member.objects.update(owed_minor=7)
    import_module("splits.migrations.0002_owed_sums").fill(apps, None)
    assert book.owed() == book.open() == {ed.pk: 500, vera.pk: 2000}
