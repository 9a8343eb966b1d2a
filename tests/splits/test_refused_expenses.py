"""Bodies of expenses that are refused, each with the field that is wrong, and nothing written."""

import pytest

from splits.models import Expense
from tests.document import problem_of
from tests.factories import UserFactory, join

pytestmark = pytest.mark.once


def fields_of(problem):
    """The fields that a problem document complains about, without their inner paths."""
    return {path.partition(".")[0] for path in problem["errors"]}


def refused(ledger, user, body):
    """The problem document of a body that is refused."""
    problem = problem_of(ledger.answer(user, "post", "expenses", body), 400, "invalid")
    assert not Expense.objects.exists()
    return problem


@pytest.mark.parametrize("value", ["0.004", "-0.004", "-1000000000000.01", "1000000000000.01"])
def test_an_amount_that_rounds_to_nothing_or_is_too_large_is_refused(ledger, olga, value):
    assert fields_of(refused(ledger, olga, ledger.expense_body(value, olga))) == {"amount"}
    payers = [{"userId": olga.pk, "amount": value}]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))
    assert set(problem["errors"]) == {"payers.0.amount"}


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
@pytest.mark.parametrize("value", [None, "", "five", "1,5", True, [], 0, "-0.01", "1e400"])
def test_what_a_participant_is_given_is_a_positive_number(ledger, olga, split_type, value):
    body = ledger.expense_body(60, olga, splitType=split_type, splitAmounts={str(olga.pk): value})
    assert fields_of(refused(ledger, olga, body)) == {"splitAmounts"}


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
def test_a_participant_without_a_number_is_named(ledger, olga, ed, split_type):
    body = ledger.expense_body(
        100, olga, ed, splitType=split_type, splitAmounts={str(olga.pk): 100}
    )
    problem = refused(ledger, olga, body)
    assert str(ed.pk) in problem["errors"]["splitAmounts"][0]


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
def test_a_number_for_somebody_who_is_no_participant_is_refused(ledger, olga, ed, split_type):
    amounts = {str(olga.pk): 50, str(ed.pk): 50}
    body = ledger.expense_body(100, olga, splitType=split_type, splitAmounts=amounts)
    problem = refused(ledger, olga, body)
    assert str(ed.pk) in problem["errors"]["splitAmounts"][0]


@pytest.mark.parametrize(("second", "difference"), [(29.99, "0.01"), (35, "-5.00")])
def test_exact_amounts_must_add_up_and_the_text_says_by_how_much_they_miss(
    ledger, olga, ed, second, difference
):
    """T100: If exact amounts do not add up, the error states the difference."""
    amounts = {str(olga.pk): 30, str(ed.pk): second}
    body = ledger.expense_body(60, olga, ed, splitType="MANUAL", splitAmounts=amounts)
    problem = refused(ledger, olga, body)
    assert difference in problem["errors"]["splitAmounts"][0]
    assert difference in problem["detail"] == problem["message"]


@pytest.mark.parametrize(("second", "difference"), [(29.99, "0.01"), (35, "-5.00")])
def test_what_the_payers_paid_by_user_must_add_up_and_the_text_says_by_how_much_it_misses(
    ledger, olga, ed, second, difference
):
    payers = [{"userId": olga.pk, "amount": 30}, {"userId": ed.pk, "amount": second}]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))
    assert difference in problem["errors"]["payers"][0]


@pytest.mark.parametrize(("second", "total"), [(50.01, "100.01"), ("49.9999", "99.9999")])
def test_percentages_must_add_up_to_a_hundred(ledger, olga, ed, second, total):
    """T99: Percentages must add up to 100."""
    percentages = {str(olga.pk): 50, str(ed.pk): second}
    body = ledger.expense_body(60, olga, ed, splitType="PERCENTAGE", splitAmounts=percentages)
    assert total in refused(ledger, olga, body)["errors"]["splitAmounts"][0]


@pytest.mark.parametrize("percentage", ["100.01", "33.33333", 101])
def test_a_percentage_is_at_most_a_hundred_and_has_at_most_four_decimals(ledger, olga, percentage):
    percentages = {str(olga.pk): percentage}
    body = ledger.expense_body(60, olga, splitType="PERCENTAGE", splitAmounts=percentages)
    assert fields_of(refused(ledger, olga, body)) == {"splitAmounts"}


@pytest.mark.parametrize("make", [int, str])
def test_no_participant_is_named_twice(ledger, olga, make):
    """T101: Participants are distinct ids."""
    body = ledger.expense_body(60, olga, participantUserIds=[olga.pk, make(olga.pk)])
    assert fields_of(refused(ledger, olga, body)) == {"participantUserIds"}


@pytest.mark.parametrize("each", [30, 60])
def test_no_payer_is_named_twice(ledger, olga, each):
    """Neither where both together are the amount, nor where one alone is."""
    payers = [{"userId": olga.pk, "amount": each}] * 2
    assert fields_of(refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))) == {
        "payers"
    }


def test_an_expense_has_at_most_twenty_payers(ledger, trip, olga):
    """Every participant may owe every payer, so that is what one expense can add to the ledger."""
    people = UserFactory.create_batch(21)
    for person in people:
        join(trip, person)
    payers = [{"userId": person.pk, "amount": 1} for person in people]
    refusal = refused(ledger, olga, ledger.expense_body(21, olga, payers=payers))
    assert fields_of(refusal) == {"payers"}
    assert ledger.spend(olga, 20, olga, payers=payers[:20])["payers"][19]["amount"] == 1


def test_paid_by_is_the_first_of_the_payers_if_both_are_given(ledger, olga, ed):
    payers = [{"userId": olga.pk, "amount": 30}, {"userId": ed.pk, "amount": 30}]
    body = ledger.expense_body(60, olga, payers=payers, paidByUserId=ed.pk)
    assert fields_of(refused(ledger, olga, body)) == {"paidByUserId"}


@pytest.mark.parametrize("who", ["a stranger", "a former member", "a deleted one", "nobody"])
@pytest.mark.parametrize("field", ["participantUserIds", "paidByUserId", "payers"])
def test_whoever_is_named_must_be_a_member(ledger, olga, ed, ada, vera, sam, field, who):
    """T102: Everyone named in a body is a current member."""
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    assert ledger.answer(ada, "delete", f"/api/users/{ed.pk}").status_code == 204
    ids = {"a stranger": sam.pk, "a former member": vera.pk, "a deleted one": ed.pk}
    user_id = ids.get(who, 2**63 - 1)
    value = {
        "participantUserIds": [olga.pk, user_id],
        "paidByUserId": user_id,
        "payers": [{"userId": olga.pk, "amount": 30}, {"userId": user_id, "amount": 30}],
    }[field]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, **{field: value}))
    assert fields_of(problem) == {field}
    assert str(user_id) in problem["detail"]


def test_every_wrong_field_is_named_at_once(ledger, olga):
    body = ledger.expense_body("x", olga, description="", category="PARROTS")
    assert fields_of(refused(ledger, olga, body)) == {"amount", "description", "category"}


@pytest.mark.parametrize(
    ("name", "item"), [("participantUserIds", 0), ("items", {}), ("payers", {}), ("tags", 1)]
)
def test_a_list_that_is_too_long_is_not_read(ledger, olga, name, item):
    """Each of its items would be a line of the answer, and a megabyte has half a million."""
    body = {"description": "Dinner", "amount": 9, "splitType": "ITEMIZED", name: [item] * 1001}
    answer = ledger.answer(olga, "post", f"{ledger.url}/expenses", body)
    assert answer.status_code == 400
    assert [key for key in answer.json()["errors"] if key.startswith(name)] == [name]
