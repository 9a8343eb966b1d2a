"""Which splits keep their state when an expense is changed, and which start again."""

import pytest

from tests.splits.ledger import paid_by

pytestmark = pytest.mark.either


@pytest.fixture
def expense(ledger, olga, ed, vera):
    """60 that Olga paid for the three of them."""
    return ledger.spend(olga, 60, olga, ed, vera)


def test_a_split_whose_amount_did_not_change_keeps_its_state(ledger, expense, olga, ed, vera):
    paid = ledger.pay(ledger.split(expense, ed), ed)
    amounts = {str(olga.pk): 10, str(ed.pk): 20, str(vera.pk): 30}
    ledger.change(expense, olga, splitType="MANUAL", splitAmounts=amounts)
    assert ledger.split(expense, ed) == paid
    assert ledger.split(expense, vera)["id"] != expense["splits"][2]["id"]


def test_a_split_whose_amount_changed_starts_again(ledger, expense, olga, ed):
    old = ledger.pay(ledger.split(expense, ed), ed)
    ledger.change(expense, olga, amount=90)
    new = ledger.split(expense, ed)
    assert new["id"] != old["id"]
    assert (new["amount"], new["paid"], new["paidAmount"]) == (30, False, 0)
    assert ledger.settlements() == []
    assert ledger.balance(ed) == -30


def test_money_that_was_entered_covers_the_split_that_starts_again(ledger, expense, olga, ed):
    entered = ledger.settle(ed, olga, 20)
    ledger.change(expense, olga, amount=90)
    assert ledger.paid(expense, ed) == (False, 20)
    ledger.change(expense, olga, amount=30)
    assert ledger.paid(expense, ed) == (True, 10)
    assert ledger.settlements() == [entered]
    assert ledger.paid(ledger.spend(olga, 12, ed), ed) == (False, 10)


def test_a_split_that_is_owed_to_somebody_else_starts_again(ledger, expense, olga, ed, vera):
    ledger.pay(ledger.split(expense, vera), vera)
    ledger.change(expense, olga, paidByUserId=ed.pk)
    assert ledger.paid(expense, vera) == (False, 0)
    assert ledger.settlements() == []
    assert ledger.balances() == {olga.pk: -20, ed.pk: 40, vera.pk: -20}


def test_who_is_no_payer_any_more_owes_the_own_split(ledger, expense, olga, ed):
    ledger.change(expense, olga, paidByUserId=ed.pk)
    assert ledger.paid(expense, olga) == (False, 0)
    assert ledger.paid(expense, ed) == (True, 20)


def test_a_participant_who_is_taken_out_takes_what_pay_recorded_along(
    ledger, expense, olga, ed, vera
):
    ledger.pay(ledger.split(expense, ed), ed)
    amounts = {str(olga.pk): 40, str(vera.pk): 20}
    changed = ledger.change(
        expense,
        olga,
        participantUserIds=[olga.pk, vera.pk],
        splitType="MANUAL",
        splitAmounts=amounts,
    )
    assert changed["splits"][0]["id"] == expense["splits"][2]["id"]
    assert ledger.settlements() == []
    assert ledger.balances() == {olga.pk: 20, ed.pk: 0, vera.pk: -20}


def test_fields_without_money_keep_everything(ledger, expense, olga, ed):
    paid = ledger.pay(ledger.split(expense, ed), ed)
    body = ledger.expense_body(60, participantUserIds=participants(expense), description="Lunch")
    body["paidByUserId"] = olga.pk
    assert ledger.answer(olga, "put", f"expenses/{expense['id']}", body).status_code == 200
    assert ledger.split(expense, ed) == paid


def participants(expense):
    return [split["participant"]["id"] for split in expense["splits"]]


def test_the_same_people_in_another_order_keep_everything(ledger, olga, ed, vera, bert):
    payers = [{"userId": user.pk, "amount": 0.01} for user in (olga, ed)]
    expense = ledger.spend(olga, 0.02, vera, bert, payers=payers)
    for user in (vera, bert):
        ledger.pay(ledger.split(expense, user), user)
    before = ledger.expense(expense)
    ledger.change(expense, olga, participantUserIds=[bert.pk, vera.pk])
    assert ledger.expense(expense)["splits"] == before["splits"]


def test_allocations_above_a_changed_debt_become_credit(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))
    ledger.settle(vera, olga, 60)
    split = ledger.split(expense, vera)
    ledger.change(expense, olga, payers=paid_by(olga, 45, ed, 55))
    changed = ledger.split(expense, vera)
    assert changed["id"] == split["id"]
    assert (changed["paid"], changed["paidAmount"]) == (False, 45)
    assert ledger.balances() == {olga.pk: -15, ed.pk: 55, vera.pk: -40}
    assert ledger.paid(ledger.spend(olga, 20, vera), vera) == (False, 15)


def test_the_latest_allocation_becomes_credit_first(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))
    first, latest = ledger.settle(vera, olga, 40), ledger.settle(vera, olga, 20)
    ledger.change(expense, olga, payers=paid_by(olga, 40, ed, 60))
    ledger.delete_settlement(latest, olga)
    assert ledger.paid(expense, vera) == (False, 40)
    ledger.delete_settlement(first, olga)
    assert ledger.paid(expense, vera) == (False, 0)


def test_a_grown_debt_of_a_kept_split_is_open_again(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))
    first_paid_at = ledger.pay(ledger.split(expense, vera), vera)["paidAt"]
    ledger.change(expense, olga, payers=paid_by(olga, 70, ed, 30))
    split = ledger.split(expense, vera)
    assert (split["paid"], split["paidAmount"], split["paidAt"]) == (False, 90, None)
    assert ledger.debt(vera) == 10
    # It is due to Olga. What Ed gets was covered before, and stays so.
    assert ledger.pay(split, vera)["paidAt"] > first_paid_at
    assert sorted(row["amount"] for row in ledger.settlements()) == [10, 40, 60]


@pytest.mark.parametrize("is_closed", [False, True])
def test_credit_covers_what_a_debt_of_a_kept_split_grows_by(ledger, olga, ed, vera, is_closed):
    """So payers that are changed and changed back leave everything paid."""
    expense = ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))
    if is_closed:
        ledger.settle(vera, olga, 100)
        ledger.settle(olga, ed, 40)
    else:
        ledger.pay(ledger.split(expense, vera), vera)
    for payers in (paid_by(olga, 45, ed, 55), paid_by(olga, 60, ed, 40)):
        ledger.change(expense, olga, payers=payers)
    assert ledger.paid(expense, vera) == (True, 100)
    assert ledger.debt(vera) == 0


def test_what_was_unpaid_stays_open_when_its_debt_grows(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))
    ledger.settle(vera, olga, 60)
    ledger.unpay(ledger.split(expense, vera), vera)
    ledger.change(expense, olga, payers=paid_by(olga, 70, ed, 30))
    assert ledger.paid(expense, vera) == (False, 10)


def test_unpaying_takes_money_that_pay_recorded_and_that_covers_something_else_by_now(
    ledger, olga, ed, vera
):
    expense = ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))
    ledger.pay(ledger.split(expense, vera), vera)
    ledger.change(expense, olga, payers=paid_by(olga, 70, ed, 30))
    later = ledger.spend(ed, 10, vera)
    assert ledger.paid(later, vera) == (True, 10)
    ledger.unpay(ledger.split(expense, vera), vera)
    assert ledger.paid(later, vera) == (False, 0)
    assert ledger.settlements() == []


def test_a_changed_split_elsewhere_in_the_expense_keeps_the_others(ledger, expense, olga, ed, vera):
    paid = ledger.pay(ledger.split(expense, ed), ed)
    ledger.delete_split(ledger.split(expense, vera), olga)
    assert ledger.split(expense, ed) == paid
    added = ledger.add_split(expense, olga, vera, amount=5)
    assert ledger.split(expense, ed) == paid
    assert added["id"] != expense["splits"][2]["id"]


def test_a_deleted_split_turns_the_debts_of_the_others(ledger, olga, ed, vera, bert):
    expense = ledger.spend(olga, 90, olga, vera, bert, payers=paid_by(olga, 60, ed, 30))
    ledger.settle(bert, olga, 15)
    assert ledger.paid(expense, bert) == (False, 15)
    ledger.delete_split(ledger.split(expense, olga), olga)
    assert ledger.balances() == {olga.pk: 40 - 15, ed.pk: 20, vera.pk: -30, bert.pk: -30 + 15}
    assert ledger.paid(expense, bert) == (False, 15)
    ledger.pay(ledger.split(expense, bert), bert)
    assert sorted(row["amount"] for row in ledger.settlements()) == [5, 10, 15]
