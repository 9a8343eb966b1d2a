"""The whole settle-up plan is recorded at once, if it is still the one that was read."""

import pytest

from tests.document import fields_in, problem_of

pytestmark = pytest.mark.either


def read_tag(ledger, user):
    return ledger.answer(user, "get", "settle-up")["ETag"].strip('"')


def test_the_recorded_plan_brings_every_balance_to_zero_and_frees_of_debts(ledger, olga, ed, vera):
    ledger.spend(olga, 90, olga, ed, vera)
    ledger.spend(ed, 30, vera)
    tag, plan = read_tag(ledger, vera), ledger.plan()
    recorded = ledger.answer(olga, "post", "settle-up", {"tag": tag})
    assert recorded.status_code == 201
    assert [(row["from"], row["to"], row["amount"]) for row in recorded.json()] == [
        (row["from"], row["to"], row["amount"]) for row in plan
    ]
    assert set(ledger.balances().values()) == {0}
    assert ledger.plan() == []
    for user in (olga, ed, vera):
        assert ledger.pending(user) == []
        assert ledger.debt(user) == 0


def test_a_plan_that_has_changed_is_refused_and_changes_nothing(ledger, olga, ed):
    ledger.spend(olga, 90, ed)
    tag = read_tag(ledger, olga)
    ledger.spend(olga, 1, ed)
    problem_of(ledger.answer(olga, "post", "settle-up", {"tag": tag}), 409, "plan_changed")
    assert ledger.settlements() == []
    assert ledger.balance(ed) == -91


def test_the_tag_stays_as_long_as_the_plan_does(ledger, olga, ed):
    ledger.spend(olga, 90, ed)
    before = read_tag(ledger, olga)
    ledger.spend(olga, 5, olga)
    assert read_tag(ledger, ed) == before


def test_a_plan_reaches_former_members_too(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 30, ed, vera)
    ledger.settle(vera, olga, 15)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    ledger.change(expense, olga, amount=40)
    assert ledger.balances() == {olga.pk: 25, ed.pk: -20, vera.pk: -5}
    by_hand = {"fromUserId": vera.pk, "toUserId": olga.pk, "amount": 5}
    assert ledger.answer(olga, "post", "settlements", by_hand).status_code == 400
    recorded = ledger.answer(olga, "post", "settle-up", {"tag": read_tag(ledger, olga)})
    assert recorded.status_code == 201
    assert set(ledger.balances().values()) == {0}


@pytest.mark.parametrize("form", ["{}", '"{}"', 'W/"{}"'])
def test_the_tag_may_have_its_quotes(ledger, olga, ed, form):
    ledger.spend(olga, 90, ed)
    tag = form.format(read_tag(ledger, olga))
    assert ledger.answer(olga, "post", "settle-up", {"tag": tag}).status_code == 201
    problem_of(ledger.answer(olga, "post", "settle-up", {"tag": tag}), 409, "plan_changed")


def test_the_tag_may_be_the_precondition_of_the_request(api, ledger, olga, ed):
    url = f"/api/trips/{ledger.trip.pk}/settle-up"
    ledger.spend(olga, 90, ed)
    old = api(olga).get(url)["ETag"]
    ledger.spend(olga, 1, ed)
    refused = api(olga).post(url, {}, headers={"If-Match": old})
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    assert refused["ETag"] == api(olga).get(url)["ETag"]
    assert ledger.settlements() == []
    both = api(olga).post(url, {"tag": old}, headers={"If-Match": refused["ETag"]})
    assert (both.status_code, both.json()["code"]) == (409, "plan_changed")
    assert api(olga).post(url, headers={"If-Match": refused["ETag"]}).status_code == 201
    assert set(ledger.balances().values()) == {0}


def test_any_plan_is_no_plan_that_was_read(api, ledger, olga, ed):
    ledger.spend(olga, 90, ed)
    url = f"/api/trips/{ledger.trip.pk}/settle-up"
    assert fields_in(api(olga).post(url, {}, headers={"If-Match": "*"})) == ["tag"]
    assert ledger.settlements() == []


def test_the_tag_is_required(ledger, olga):
    for body in ({}, {"tag": None}, {"tag": ""}, {"tag": 7}):
        assert fields_in(ledger.answer(olga, "post", "settle-up", body)) == ["tag"]
