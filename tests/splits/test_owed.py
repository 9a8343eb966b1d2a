"""What is kept of a member's open debts agrees with them after every command."""

from typing import Any

import pytest
from django.db.models import Sum

from splits.models import Debt
from tests.cast import Api
from tests.splits.ledger import Json, Ledger
from trips.models import Member, Trip
from users.models import User


class Watched(Ledger):
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
def ledger(ledger: Ledger, trip: Trip, api: Api, olga: User) -> Watched:
    """The ledger of the cast, watched; it is audited in the end."""
    return Watched(trip, api, olga)


@pytest.fixture
def two_payers(ledger: Watched, olga: User, ed: User, vera: User) -> Json:
    """100 of Vera's alone; Olga paid 60 of it and Ed 40."""
    return ledger.spend(olga, 100, vera, payers=pair(olga, 60, ed, 40))


def pair(first: User, first_amount: int, second: User, second_amount: int) -> list[Json]:
    return [
        {"userId": first.pk, "amount": first_amount},
        {"userId": second.pk, "amount": second_amount},
    ]


def test_it_follows_an_expense_from_its_creation_to_its_deletion(
    ledger: Watched, olga: User, ed: User, vera: User
) -> None:
    expense = ledger.spend(olga, 30, olga, ed, vera)
    assert ledger.owed() == {ed.pk: 1000, vera.pk: 1000}
    ledger.change(expense, olga, amount=60)
    assert ledger.owed() == {ed.pk: 2000, vera.pk: 2000}
    ledger.change(expense, olga, paidByUserId=ed.pk)
    assert ledger.owed() == {olga.pk: 2000, vera.pk: 2000}
    ledger.change(expense, olga, description="Supper")
    assert ledger.owed() == {olga.pk: 2000, vera.pk: 2000}
    ledger.delete(expense, olga)
    assert ledger.owed() == {}


def test_it_adds_up_over_several_creditors(
    ledger: Watched, two_payers: Json, ed: User, vera: User
) -> None:
    ledger.spend(ed, 5, vera)
    assert ledger.owed() == {vera.pk: 10500}
    ledger.pay(ledger.split(two_payers, vera), vera)
    assert ledger.owed() == {vera.pk: 500}


def test_it_follows_paying_and_unpaying(ledger: Watched, olga: User, ed: User, vera: User) -> None:
    expense = ledger.spend(olga, 20, ed, vera)
    ledger.settle(ed, olga, 4)
    split = ledger.pay(ledger.split(expense, ed), ed)
    assert ledger.owed() == {vera.pk: 1000}
    ledger.pay(split, ed)
    assert ledger.owed() == {vera.pk: 1000}
    ledger.unpay(split, ed)
    assert ledger.owed() == {ed.pk: 1000, vera.pk: 1000}


def test_a_paid_split_that_goes_or_starts_again_is_counted_once(
    ledger: Watched, olga: User, ed: User, vera: User
) -> None:
    expense = ledger.spend(olga, 20, ed, vera)
    ledger.pay(ledger.split(expense, ed), ed)
    ledger.change(expense, olga, amount=40)
    assert ledger.owed() == {ed.pk: 2000, vera.pk: 2000}
    ledger.pay(ledger.split(expense, ed), ed)
    ledger.delete_split(ledger.split(expense, ed), olga)
    assert ledger.owed() == {vera.pk: 2000}
    ledger.add_split(expense, olga, ed, amount=5)
    assert ledger.owed() == {ed.pk: 500, vera.pk: 2000}


def test_a_settlement_takes_off_what_it_covers_and_no_more(
    ledger: Watched, olga: User, ed: User
) -> None:
    ledger.spend(olga, 10, ed)
    part = ledger.settle(ed, olga, 4)
    assert ledger.owed() == {ed.pk: 600}
    above = ledger.settle(ed, olga, 8)
    assert ledger.owed() == {}
    ledger.spend(olga, 3, ed)
    assert ledger.owed() == {ed.pk: 100}
    ledger.delete_settlement(above, olga)
    assert ledger.owed() == {ed.pk: 900}
    ledger.delete_settlement(part, olga)
    assert ledger.owed() == {ed.pk: 1300}


def test_credit_covers_a_new_debt_whole(ledger: Watched, olga: User, ed: User) -> None:
    ledger.settle(ed, olga, 25)
    expense = ledger.spend(olga, 10, ed)
    assert ledger.owed() == {}
    ledger.change(expense, olga, amount=30)
    assert ledger.owed() == {ed.pk: 500}
    ledger.delete(expense, olga)
    ledger.pay(ledger.split(ledger.spend(olga, 40, ed), ed), ed)
    assert ledger.owed() == {}


def test_a_debt_of_a_kept_split_may_grow_and_shrink(
    ledger: Watched, two_payers: Json, olga: User, ed: User, vera: User
) -> None:
    ledger.settle(vera, olga, 40)
    ledger.settle(vera, olga, 20)
    assert ledger.owed() == {vera.pk: 4000}
    ledger.change(two_payers, olga, payers=pair(olga, 35, ed, 65))
    assert ledger.owed() == {vera.pk: 6500}
    ledger.change(two_payers, olga, payers=pair(olga, 70, ed, 30))
    assert ledger.owed() == {vera.pk: 3500 + 3000}


def test_closing_leaves_nobody_owing_and_taking_it_back_restores_all(
    ledger: Watched, olga: User, ed: User, vera: User
) -> None:
    ledger.spend(ed, 10, vera)
    ledger.spend(olga, 10, ed)
    ledger.settle(vera, olga, 4)
    assert ledger.owed() == {ed.pk: 1000, vera.pk: 1000}
    tag = ledger.answer(olga, "get", "settle-up")["ETag"].strip('"')
    assert ledger.answer(olga, "post", "settle-up", {"tag": tag}).status_code == 201
    assert ledger.owed() == {}
    ledger.delete_settlement(ledger.settlements()[-1], olga)
    assert ledger.owed() == {ed.pk: 1000, vera.pk: 1000}


def test_it_outlives_the_membership_and_comes_along_again(
    ledger: Watched, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    by_ed = ledger.spend(ed, 10, vera)
    ledger.spend(olga, 10, ed, paidByUserId=vera.pk)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    assert ledger.owed() == {ed.pk: 1000, vera.pk: 1000}
    assert ledger.debt(vera) == 10
    ledger.change(by_ed, olga, amount=15)
    assert ledger.debt(vera) == 15
    Member.add(trip, olga, role="VIEWER", user_id=vera.pk)
    ledger.pay(ledger.split(by_ed, vera), vera)
    assert ledger.debt(vera) == 0
