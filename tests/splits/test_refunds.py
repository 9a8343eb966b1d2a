"""Refunds: negative expenses, which undo debts as others make them."""

from decimal import Decimal

import pytest
from rest_framework.exceptions import ValidationError

from splits.models.division import Division, Money
from splits.reports.audit import differences
from tests.document import fields_in, problem_of
from tests.factories import spend
from tests.splits.ledger import exact, parts
from tests.stored import rolled_back


def test_who_received_a_refund_owes_it(ledger, olga, ed, vera):
    refund = ledger.spend(olga, -30, olga, ed, vera)
    assert (refund["amount"], parts(refund)) == (-30, {olga.pk: -10, ed.pk: -10, vera.pk: -10})
    assert refund["payers"][0]["amount"] == -30
    assert ledger.balances() == {olga.pk: -20, ed.pk: 10, vera.pk: 10}
    assert (ledger.debt(olga), ledger.debt(ed), ledger.debt(vera)) == (20, 0, 0)
    others = [ledger.split(refund, user)["id"] for user in (ed, vera)]
    assert ledger.pending(olga) == others
    assert (ledger.pending(ed), ledger.paid(refund, olga)) == ([], (True, -10))
    assert [row["from"]["id"] for row in ledger.plan()] == [olga.pk, olga.pk]
    preview = ledger.answer(olga, "post", "expenses/preview", ledger.expense_body(-9, ed, vera))
    assert {row["to"]["id"]: row["amount"] for row in preview.json()["debts"]}.keys() == {
        ed.pk,
        vera.pk,
    }


def test_balances_list_who_has_left_with_a_refund(ledger, olga, ed, vera):
    ledger.spend(olga, -30, vera)
    returned = ledger.settle(olga, vera, 30)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    ledger.delete_settlement(returned, olga)
    assert ledger.balances() == {olga.pk: -30, ed.pk: 0, vera.pk: 30}


@pytest.mark.parametrize("by", ["olga", "ed"])
def test_a_part_of_a_refund_is_paid_and_unpaid(ledger, olga, ed, vera, by):
    """By the one who received it, or by the one to whom it is owed."""
    user = {"olga": olga, "ed": ed}[by]
    refund = ledger.spend(olga, -30, olga, ed, vera)
    paid = ledger.pay(ledger.split(refund, ed), user)
    assert (paid["paid"], paid["paidAmount"]) == (True, -10)
    [settlement] = ledger.settlements()
    assert (settlement["from"]["id"], settlement["to"]["id"]) == (olga.pk, ed.pk)
    assert settlement["amount"] == 10
    assert ledger.balances() == {olga.pk: -10, ed.pk: 0, vera.pk: 10}
    assert ledger.pay(paid, user) == paid
    unpaid = ledger.unpay(paid, user)
    assert (unpaid["paid"], unpaid["paidAmount"], unpaid["paidAt"]) == (False, 0, None)
    assert ledger.settlements() == []
    stranger = f"/api/expenses/{refund['id']}/splits/{paid['id']}/pay"
    assert ledger.answer(vera, "put", stranger).status_code == 403
    ledger.settle(olga, ed, 4)
    assert ledger.paid(refund, ed) == (False, -4)


def test_settling_and_restoring_a_refund(ledger, olga, ed, vera):
    refund = ledger.spend(olga, -30, olga, ed, vera)
    ledger.pay(ledger.split(refund, ed), ed)
    ledger.settle(olga, vera, 10)
    before = ledger.expense(refund)
    assert {split["paid"] for split in before["splits"]} == {True}
    ledger.delete(refund, olga)
    assert ledger.balances()[olga.pk] == 10
    assert ledger.answer(olga, "post", f"expenses/{refund['id']}/restore").status_code == 200
    assert ledger.expense(refund) == before
    assert ledger.debt(olga) == 0


def test_a_refund_is_divided_in_each_way(ledger, olga, ed):
    def divided(amount, split_type, own, eds):
        figures = {str(olga.pk): own, str(ed.pk): eds}
        fields = {"splitType": split_type, "splitAmounts": figures}
        return ledger.answer(
            olga, "post", "expenses", ledger.expense_body(amount, olga, ed, **fields)
        )

    def of(*shares):
        return {olga.pk: Decimal(str(shares[0])), ed.pk: Decimal(str(shares[1]))}

    assert parts(exact(divided(-9, "MANUAL", -2.5, -6.5))) == of(-2.5, -6.5)
    assert parts(exact(divided(-9, "PERCENTAGE", 75, 25))) == of(-6.75, -2.25)
    assert parts(exact(divided(-9, "SHARES", 1, 2))) == of(-3, -6)
    assert parts(exact(divided(-9, "ADJUSTMENT", 0, -5))) == of(-2, -7)
    for refused in (divided(-9, "MANUAL", 1, -10), divided(9, "MANUAL", -1, 10)):
        assert problem_of(refused, 400)["errors"].keys() <= {
            f"splitAmounts.{olga.pk}",
            f"splitAmounts.{ed.pk}",
        }
    assert divided(-9, "ADJUSTMENT", 0, 9.01).status_code == 400
    assert divided(-9, "MANUAL", 0, -9).status_code == 400
    items = [{"name": "Deposit", "amount": -4, "shares": {str(ed.pk): 1}}]
    body = ledger.expense_body(-5, ed, splitType="ITEMIZED", items=items, tip=-1)
    assert parts(ledger.answer(olga, "post", "expenses", body).json()) == {ed.pk: -5}
    wrong = ledger.answer(olga, "post", "expenses", {**body, "tip": 1, "amount": -3})
    assert fields_in(wrong) == ["tip"]


def test_one_person_receives_a_refund(ledger, olga, ed):
    def send(*amounts):
        payers = [
            {"userId": user.pk, "amount": a} for user, a in zip((olga, ed), amounts, strict=False)
        ]
        return ledger.answer(
            olga, "post", "expenses", ledger.expense_body(-9, olga, ed, payers=payers)
        )

    assert send(-9).status_code == 201
    for refused in (send(-4, -5), send(-10, 1), send(9)):
        assert "payers" in str(problem_of(refused, 400)["errors"])
    mixed = ledger.expense_body(
        9, olga, payers=[{"userId": olga.pk, "amount": 10}, {"userId": ed.pk, "amount": -1}]
    )
    refused = problem_of(ledger.answer(olga, "post", "expenses", mixed), 400)
    assert list(refused["errors"]) == ["payers.1.amount"]


@pytest.mark.parametrize("paid", [{1: 30_00, 2: -10_00}, {1: 20_00, 2: 0}])
def test_payments_have_the_sign_of_the_amount_whoever_divides(paid):
    """The fields of a request refuse this before; what divides must not depend on them."""
    money = Money(20_00, 20_00, "EUR")
    with pytest.raises(ValidationError) as refused:
        Division("EQUAL", (1, 2)).payments_and_parts(money, paid, 0, {}, "payers")
    assert refused.value.detail == {"payers": ["Must have the sign of the amount."]}


def test_zero_is_neither(ledger, olga):
    for amount in (0, "0.00", "-0.001", "-1000000000000.01"):
        refused = ledger.answer(olga, "post", "expenses", ledger.expense_body(amount, olga))
        assert fields_in(refused) == ["amount"]


def test_an_expense_becomes_a_refund_and_back(ledger, olga, ed):
    expense = ledger.spend(olga, 30, olga, ed)
    ledger.settle(ed, olga, 15)
    assert parts(ledger.change(expense, olga, amount=-30)) == {olga.pk: -15, ed.pk: -15}
    assert (ledger.balance(olga), ledger.balance(ed)) == (-30, 30)
    assert ledger.debt(olga) == 15
    assert parts(ledger.change(expense, olga, amount=30)) == {olga.pk: 15, ed.pk: 15}
    assert set(ledger.balances().values()) == {0}


def test_splits_of_a_refund_are_added_and_deleted_one_by_one(ledger, olga, ed, vera):
    refund = ledger.spend(olga, -30, olga)
    path = f"/api/expenses/{refund['id']}/splits"
    ledger.delete_split(ledger.split(refund, olga), olga)
    assert ledger.add_split(refund, olga, ed, amount=-12)["amount"] == -12
    assert ledger.add_split(refund, olga, vera, percentage=10)["amount"] == -3
    assert ledger.balances() == {olga.pk: -15, ed.pk: 12, vera.pk: 3}
    assert ledger.debt(olga) == 15
    for amount, status in ((5, 400), (0, 400), (-15.01, 409)):
        body = {"participantUserId": olga.pk, "amount": amount}
        assert ledger.answer(olga, "post", path, body).status_code == status


def test_a_refund_in_another_currency(ledger, olga, ed):
    body = ledger.expense_body(-1001, olga, ed, currency="JPY", exchangeRate="0.0061")
    refund = exact(ledger.answer(olga, "post", "expenses", body))
    assert refund["tripAmount"] == Decimal("-6.11")
    assert sum(parts(refund).values()) == Decimal("-6.11")


def test_the_audit_finds_a_split_of_the_other_sign(trip, olga, ed):
    refund = spend(trip, -100, paid_by=olga, among=[olga, ed])
    with rolled_back():
        refund.splits.filter(participant=ed).update(amount_minor=50)
        refund.splits.filter(participant=olga).update(amount_minor=-150)
        assert any("sign" in found.text for found in differences(trip.pk))
