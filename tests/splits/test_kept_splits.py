"""Which splits keep their state when an expense is changed, and which start again."""

from typing import Any

import pytest

from tests.splits.book import Book, Json
from users.models import User


def pair(first: User, first_amount: float, second: User, second_amount: float) -> list[Json]:
    return [
        {"userId": first.pk, "amount": first_amount},
        {"userId": second.pk, "amount": second_amount},
    ]


@pytest.fixture
def expense(book: Book, olga: User, ed: User, vera: User) -> Json:
    """60 that Olga paid for the three of them."""
    return book.spend(olga, 60, olga, ed, vera)


def test_a_split_whose_amount_did_not_change_keeps_its_state(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    paid = book.pay(book.split(expense, ed), ed)
    amounts = {str(olga.pk): 10, str(ed.pk): 20, str(vera.pk): 30}
    book.change(expense, olga, splitType="MANUAL", splitAmounts=amounts)
    assert book.split(expense, ed) == paid
    assert book.split(expense, vera)["id"] != expense["splits"][2]["id"]


def test_a_split_whose_amount_changed_starts_again(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    old = book.pay(book.split(expense, ed), ed)
    book.change(expense, olga, amount=90)
    new = book.split(expense, ed)
    assert new["id"] != old["id"]
    assert (new["amount"], new["paid"], new["paidAmount"]) == (30, False, 0)
    assert book.settlements() == []
    assert book.balance(ed) == -30


def test_money_that_was_entered_covers_the_split_that_starts_again(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    entered = book.settle(ed, olga, 20)
    book.change(expense, olga, amount=90)
    assert book.paid(expense, ed) == (False, 20)
    book.change(expense, olga, amount=30)
    assert book.paid(expense, ed) == (True, 10)
    assert book.settlements() == [entered]
    assert book.paid(book.spend(olga, 12, ed), ed) == (False, 10)


def test_a_split_that_is_owed_to_somebody_else_starts_again(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    book.pay(book.split(expense, vera), vera)
    book.change(expense, olga, paidByUserId=ed.pk)
    assert book.paid(expense, vera) == (False, 0)
    assert book.settlements() == []
    assert book.balances() == {olga.pk: -20, ed.pk: 40, vera.pk: -20}


def test_who_is_no_payer_any_more_owes_the_own_split(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    book.change(expense, olga, paidByUserId=ed.pk)
    assert book.paid(expense, olga) == (False, 0)
    assert book.paid(expense, ed) == (True, 20)


def test_a_participant_who_is_taken_out_takes_what_pay_recorded_along(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    book.pay(book.split(expense, ed), ed)
    amounts = {str(olga.pk): 40, str(vera.pk): 20}
    changed = book.change(
        expense,
        olga,
        participantUserIds=[olga.pk, vera.pk],
        splitType="MANUAL",
        splitAmounts=amounts,
    )
    assert changed["splits"][0]["id"] == expense["splits"][2]["id"]
    assert book.settlements() == []
    assert book.balances() == {olga.pk: 20, ed.pk: 0, vera.pk: -20}


def test_fields_without_money_keep_everything(
    book: Book, expense: Json, olga: User, ed: User
) -> None:
    paid = book.pay(book.split(expense, ed), ed)
    body = book.expense_body(60, participantUserIds=participants(expense), description="Lunch")
    body["paidByUserId"] = olga.pk
    assert book.answer(olga, "put", f"expenses/{expense['id']}", body).status_code == 200
    assert book.split(expense, ed) == paid


def participants(expense: Json) -> list[Any]:
    return [split["participant"]["id"] for split in expense["splits"]]


def test_the_same_people_in_another_order_keep_everything(
    book: Book, olga: User, ed: User, vera: User, bert: User
) -> None:
    payers = [{"userId": user.pk, "amount": 0.01} for user in (olga, ed)]
    expense = book.spend(olga, 0.02, vera, bert, payers=payers)
    for user in (vera, bert):
        book.pay(book.split(expense, user), user)
    before = book.expense(expense)
    book.change(expense, olga, participantUserIds=[bert.pk, vera.pk])
    assert book.expense(expense)["splits"] == before["splits"]


def test_allocations_above_a_changed_debt_become_credit(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 100, vera, payers=pair(olga, 60, ed, 40))
    book.settle(vera, olga, 60)
    split = book.split(expense, vera)
    book.change(expense, olga, payers=pair(olga, 45, ed, 55))
    changed = book.split(expense, vera)
    assert changed["id"] == split["id"]
    assert (changed["paid"], changed["paidAmount"]) == (False, 45)
    assert book.balances() == {olga.pk: -15, ed.pk: 55, vera.pk: -40}
    assert book.paid(book.spend(olga, 20, vera), vera) == (False, 15)


def test_the_latest_allocation_becomes_credit_first(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 100, vera, payers=pair(olga, 60, ed, 40))
    first, latest = book.settle(vera, olga, 40), book.settle(vera, olga, 20)
    book.change(expense, olga, payers=pair(olga, 40, ed, 60))
    book.delete_settlement(latest, olga)
    assert book.paid(expense, vera) == (False, 40)
    book.delete_settlement(first, olga)
    assert book.paid(expense, vera) == (False, 0)


def test_a_grown_debt_of_a_kept_split_is_open_again(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 100, vera, payers=pair(olga, 60, ed, 40))
    book.pay(book.split(expense, vera), vera)
    book.change(expense, olga, payers=pair(olga, 70, ed, 30))
    split = book.split(expense, vera)
    assert (split["paid"], split["paidAmount"], split["paidAt"]) == (False, 90, None)
    assert book.debt(vera) == 10
    book.pay(split, vera)
    assert sorted(row["amount"] for row in book.settlements()) == [10, 40, 60]


def test_unpaying_takes_money_that_pay_recorded_and_that_covers_something_else_by_now(
    book: Book, olga: User, ed: User, vera: User
) -> None:
    expense = book.spend(olga, 100, vera, payers=pair(olga, 60, ed, 40))
    book.pay(book.split(expense, vera), vera)
    book.change(expense, olga, payers=pair(olga, 70, ed, 30))
    later = book.spend(ed, 10, vera)
    assert book.paid(later, vera) == (True, 10)
    book.unpay(book.split(expense, vera), vera)
    assert book.paid(later, vera) == (False, 0)
    assert book.settlements() == []


def test_a_changed_split_elsewhere_in_the_expense_keeps_the_others(
    book: Book, expense: Json, olga: User, ed: User, vera: User
) -> None:
    paid = book.pay(book.split(expense, ed), ed)
    book.delete_split(book.split(expense, vera), olga)
    assert book.split(expense, ed) == paid
    added = book.add_split(expense, olga, vera, amount=5)
    assert book.split(expense, ed) == paid
    assert added["id"] != expense["splits"][2]["id"]


def test_a_deleted_split_turns_the_debts_of_the_others(
    book: Book, olga: User, ed: User, vera: User, bert: User
) -> None:
    expense = book.spend(olga, 90, olga, vera, bert, payers=pair(olga, 60, ed, 30))
    book.settle(bert, olga, 15)
    assert book.paid(expense, bert) == (False, 15)
    book.delete_split(book.split(expense, olga), olga)
    assert book.balances() == {olga.pk: 40 - 15, ed.pk: 20, vera.pk: -30, bert.pk: -30 + 15}
    assert book.paid(expense, bert) == (False, 15)
    book.pay(book.split(expense, bert), bert)
    assert sorted(row["amount"] for row in book.settlements()) == [5, 10, 15]
