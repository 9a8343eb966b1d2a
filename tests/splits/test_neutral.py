"""Whatever happened before, undoing a deletion changes nothing, and a guest takes nothing along.

Random histories over the API. In between, each entry is deleted and restored at once, and several
are deleted and restored in another order; in the end a guest is merged with a member or claimed by
an account, and the trip itself is deleted and restored.
"""

from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from splits.models import Debt, Expense, Split, debt, posting
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import add_guest
from tests.splits.undoing import KIND, STEP, History
from tests.trips.access import endpoints
from tests.walked import answers
from tripcompanion.compiled import CompiledQuery
from trips.models import Trip

#: Whether an app can merge guests.
CAN_MERGE = any(end.route.endswith("/merge") for end in endpoints())
#: `make soak` asks for more examples, of which each takes seconds.
EXAMPLES = 40 if settings.get_current_profile_name() == "soak" else 2


def undone(ledger, kind, row, by):
    """Delete it and restore it at once."""
    path = f"{kind}/{row['id']}"
    assert ledger.answer(by, "delete", path).status_code == 204
    assert ledger.answer(by, "post", f"{path}/restore").status_code == 200


def test_what_the_plan_closed_stays_closed_when_an_expense_is_restored(ledger, olga, ed, vera):
    """Ed owes Olga, Vera owes Ed, and Vera hands the money to Olga; then she owes Olga again."""
    first = ledger.spend(olga, 30, ed)
    ledger.spend(ed, 30, vera)
    closing = ledger.settle(vera, olga, 30)
    ledger.spend(olga, 5, vera)
    for kind, row in (("expenses", first), ("settlements", closing)):
        undone(ledger, kind, row, olga)
        assert (ledger.debt(ed), ledger.debt(vera)) == (0, 5)
        assert ledger.balances() == {olga.pk: 5, ed.pk: 0, vera.pk: -5}


def test_credit_covers_no_more_after_it_was_restored(ledger, olga, ed):
    dinner = ledger.spend(olga, 10, ed)
    paying = ledger.settle(ed, olga, 10)
    credit = ledger.settle(ed, olga, 4)
    ledger.delete_settlement(paying, olga)
    assert ledger.paid(dinner, ed) == (False, 0)
    undone(ledger, "settlements", credit, olga)
    assert ledger.paid(dinner, ed) == (False, 0)


def test_a_restored_settlement_covers_and_closes_what_is_left(ledger, olga, ed, vera):
    """What was paid meanwhile stays paid, and the rest of the money is credit."""
    first, second = ledger.spend(olga, 30, ed), ledger.spend(ed, 30, vera)
    closing = ledger.settle(vera, olga, 30)
    ledger.delete_settlement(closing, olga)
    ledger.settle(ed, olga, 10)
    ledger.delete(second, olga)
    assert ledger.answer(olga, "post", f"settlements/{closing['id']}/restore").status_code == 200
    assert ledger.paid(first, ed) == (True, 30)
    assert (ledger.debt(ed), ledger.debt(vera)) == (0, 0)


def test_what_something_else_covers_by_now_takes_nothing_of_a_restored_settlement(ledger, olga, ed):
    """It covered the dinner, and the lunch when the dinner was deleted."""
    dinner = ledger.spend(olga, 10, ed)
    payment = ledger.settle(ed, olga, 10)
    ledger.delete(dinner, olga)
    lunch = ledger.spend(olga, 10, ed)
    ledger.delete_settlement(payment, olga)
    assert ledger.answer(olga, "post", f"expenses/{dinner['id']}/restore").status_code == 200
    ledger.settle(ed, olga, 10)
    assert (ledger.paid(dinner, ed), ledger.paid(lunch, ed)) == ((True, 10), (False, 0))
    assert ledger.answer(olga, "post", f"settlements/{payment['id']}/restore").status_code == 200
    assert (ledger.paid(dinner, ed), ledger.paid(lunch, ed)) == ((True, 10), (True, 10))


@pytest.mark.parametrize("first", ["expense", "settlement"])
@pytest.mark.parametrize("restored_first", ["expense", "settlement"])
def test_what_was_deleted_together_is_restored_in_any_order(
    ledger, olga, ed, vera, first, restored_first
):
    """T186: Deleting an entry and restoring it changes no answer.

    One pair of entries covers, the other closes.
    """
    ledger.spend(ed, 30, vera)
    dinner, lunch = ledger.spend(olga, 30, ed), ledger.spend(olga, 8, ed)
    pairs = [(lunch, ledger.settle(ed, olga, 8)), (dinner, ledger.settle(vera, olga, 30))]
    for expense, payment in pairs:
        paths = {
            "expense": f"expenses/{expense['id']}",
            "settlement": f"settlements/{payment['id']}",
        }
        for kind in sorted(paths, key=lambda kind: kind != first):
            assert ledger.answer(olga, "delete", paths[kind]).status_code == 204
        for kind in sorted(paths, key=lambda kind: kind != restored_first):
            assert ledger.answer(olga, "post", f"{paths[kind]}/restore").status_code == 200
        assert (ledger.debt(ed), ledger.debt(vera)) == (0, 0)
        assert ledger.paid(lunch, ed) == (True, 8)
        assert ledger.paid(dinner, ed) == (True, 30)
        assert list(differences(ledger.trip.pk)) == []


def test_what_is_restored_is_as_old_as_it_was(ledger, olga, ed, vera):
    """A debt that gets smaller gives back first what covered it last."""
    paid = [{"userId": olga.pk, "amount": 20}, {"userId": vera.pk, "amount": 10}]
    dinner = ledger.spend(olga, 30, ed, payers=paid)
    first, last = ledger.settle(ed, olga, 15), ledger.settle(ed, olga, 5)
    undone(ledger, "settlements", first, olga)
    paid = [{"userId": olga.pk, "amount": 10}, {"userId": vera.pk, "amount": 20}]
    ledger.change(dinner, olga, payers=paid)
    ledger.delete_settlement(last, olga)
    assert ledger.debt(ed) == 20


def test_what_is_restored_was_paid_when_it_was(ledger, olga, ed):
    dinner = ledger.spend(olga, 10, ed)
    payment = ledger.settle(ed, olga, 10)
    paid_at = ledger.split(dinner, ed)["paidAt"]
    assert paid_at is not None
    for kind, row in (("expenses", dinner), ("settlements", payment)):
        undone(ledger, kind, row, olga)
        assert ledger.split(dinner, ed)["paidAt"] == paid_at


def test_no_more_is_put_back_than_a_debt_has(ledger, olga, ed):
    dinner = ledger.spend(olga, 30, ed)
    first = ledger.settle(ed, olga, 30)
    ledger.delete_settlement(first, olga)
    ledger.settle(ed, olga, 20)
    assert ledger.answer(olga, "post", f"settlements/{first['id']}/restore").status_code == 200
    assert ledger.paid(dinner, ed) == (True, 30)
    assert ledger.paid(ledger.spend(olga, 25, ed), ed) == (False, 20)


def test_no_more_is_put_back_than_a_settlement_has(ledger, olga, ed):
    """What covered the deleted expense covers another one by now."""
    dinner = ledger.spend(olga, 30, ed)
    ledger.settle(ed, olga, 30)
    ledger.delete(dinner, olga)
    lunch = ledger.spend(olga, 20, ed)
    assert ledger.answer(olga, "post", f"expenses/{dinner['id']}/restore").status_code == 200
    assert ledger.paid(lunch, ed) == (True, 20)
    assert ledger.paid(dinner, ed) == (False, 10)


def test_no_command_leaves_more_open_debts_than_a_trip_may_have(
    ledger, olga, ed, vera, monkeypatch
):
    dinner = ledger.spend(olga, 30, ed, vera)
    paid = ledger.settle(ed, olga, 15)

    @CompiledQuery
    def third(trip):
        return Debt.objects.filter(trip=trip, open_minor__gt=0).order_by().values_list("pk")[2:3]

    monkeypatch.setattr(debt, "debt_above_limit", third)
    lunch = ledger.spend(olga, 30, vera)
    body = ledger.expense_body(9, vera)
    with monkeypatch.context() as patched:
        patched.setattr(posting, "FEW_DEBTS", 0)
        problem_of(ledger.answer(olga, "post", "expenses", body), 409, "too_many_debts")
    Trip.objects.filter(pk=ledger.trip.pk).update(expenses_recorded=debt.COUNT_EVERY)
    problem_of(ledger.answer(olga, "post", "expenses", body), 409, "too_many_debts")
    wider = {"participantUserIds": [ed.pk, vera.pk]}
    changed = ledger.answer(olga, "patch", f"expenses/{lunch['id']}", wider)
    problem_of(changed, 409, "too_many_debts")
    problem_of(ledger.answer(olga, "delete", f"settlements/{paid['id']}"), 409, "too_many_debts")
    split = ledger.split(dinner, ed)
    unpaid = ledger.answer(olga, "put", f"/api/expenses/{dinner['id']}/splits/{split['id']}/unpay")
    problem_of(unpaid, 409, "too_many_debts")
    assert ledger.paid(dinner, ed) == (True, 15)


@pytest.mark.either
def test_a_trip_may_have_as_many_open_debts_as_the_refusal_says(ledger, olga, vera):
    people = [add_guest(ledger.trip, f"Guest {number}") for number in range(201)]
    expense = Expense.objects.get(pk=ledger.spend(olga, 30, olga)["id"])
    splits = Split.objects.bulk_create(
        Split(trip=expense.trip, expense=expense, participant=person, amount_minor=1)
        for person in people
    )
    others = [(split, one) for split, one in product(splits, people) if split.participant != one]
    pairs = others[: debt.MAX_OPEN_DEBTS]

    def owe(some):
        Debt.objects.bulk_create(
            Debt(trip=expense.trip, split=split, debtor=split.participant, creditor=person,
                 amount_minor=1, open_minor=1)
            for split, person in some
        )  # fmt: skip

    def spend_counted(number):
        Trip.objects.filter(pk=expense.trip_id).update(expenses_recorded=number * debt.COUNT_EVERY)
        return ledger.answer(olga, "post", "expenses", ledger.expense_body(9, vera))

    owe(pairs[:-1])
    assert spend_counted(1).status_code == 201
    refused = problem_of(spend_counted(2), 409, "too_many_debts")
    assert "at most 40000 open debts" in refused["detail"]
    # What was inserted by hand makes no balances.
    Debt.objects.filter(split__in=splits).delete()
    Split.objects.filter(pk__in=[split.pk for split in splits]).delete()


@pytest.mark.slow
@pytest.mark.soak
@given(
    kinds=st.lists(KIND, min_size=2, max_size=2),
    steps=st.lists(st.lists(STEP, min_size=2, max_size=6), min_size=2, max_size=4),
    by_plan=st.lists(st.booleans(), min_size=4, max_size=4),
    order=st.randoms(use_true_random=False),
    guest=st.integers(0, 1),
    account=st.integers(0, 3),
)
@settings(
    max_examples=EXAMPLES,
    phases=[Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
def test_no_undone_deletion_and_no_merge_or_claim_changes_an_answer(
    api, olga, ed, vera, sam, ada, kinds, steps, by_plan, order, guest, account
):
    """T187: A merge or a claim changes no amount and opens nothing."""
    history = History(api, [olga, ed, vera], ada)
    history.spend(30, {0: 1, 3: 2}, {1: 1})
    for at, kind in enumerate(kinds):
        history.spend(20 + at, {0: 1, 1: 2, 3: 1}, {2: 1}, kind)
    for some, is_plan in zip(steps, by_plan, strict=False):
        for step in (*some[:2], ("close", is_plan), *some[2:]):
            history.play(step)
        history.undo_each_deletion()
        history.undo_several_deletions(order)
    if CAN_MERGE:
        # Without a way to claim, there is only a merge.
        takes_place = [olga, ed, *([sam, sam] if answers("claim") else [olga, ed])][account]
        history.replace(history.guests[guest], takes_place, claim=takes_place == sam)
        history.undo_each_deletion()
    history.undo_deletion_of_the_trip()
