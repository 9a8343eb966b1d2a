"""Closing: a recorded settlement that brings every balance to zero leaves nobody in debt."""

import pytest

from splits.models import Settlement
from tests.factories import add_guest
from tests.splits.ledger import Json, paid_by


@pytest.fixture
def chain(ledger, olga, ed, vera):
    """Vera owes Ed 10, and Ed owes Olga 10: the plan sends 10 from Vera past Ed to Olga."""
    return ledger.spend(ed, 10, vera), ledger.spend(olga, 10, ed)


@pytest.fixture
def mutual(ledger, olga, ed, vera):
    """Vera owes Ed 10, and Ed owes Vera 10."""
    return ledger.spend(ed, 10, vera), ledger.spend(olga, 10, ed, paidByUserId=vera.pk)


def open_splits(ledger, *users):
    return [split_id for user in users for split_id in ledger.pending(user)]


def test_following_the_plan_pays_every_split_though_the_money_went_past_who_was_owed(
    ledger, chain, olga, ed, vera
):
    [transfer] = ledger.plan()
    assert (transfer["from"]["id"], transfer["to"]["id"]) == (vera.pk, olga.pk)
    ledger.settle(vera, olga, transfer["amount"])
    assert ledger.paid(chain[0], vera) == (True, 10)
    assert ledger.paid(chain[1], ed) == (True, 10)
    assert open_splits(ledger, ed, vera) == []
    assert (ledger.debt(ed), ledger.debt(vera)) == (0, 0)


def test_deleting_the_closing_settlement_opens_what_it_closed(ledger, chain, olga, ed, vera):
    ledger.delete_settlement(ledger.settle(vera, olga, 10), olga)
    assert ledger.paid(chain[0], vera) == (False, 0)
    assert ledger.paid(chain[1], ed) == (False, 0)
    assert ledger.balances() == {olga.pk: 10, ed.pk: 0, vera.pk: -10}


def test_an_offset_is_as_old_as_its_closing_also_after_a_restore(ledger, chain, olga, vera):
    closing = ledger.settle(vera, olga, 10)
    stored = Settlement.objects.get()

    def times():
        return set(Settlement.with_offsets.values_list("created_at", flat=True))

    assert times() == {stored.created_at}
    ledger.delete_settlement(closing, olga)
    ledger.answer(olga, "post", f"settlements/{stored.pk}/restore")
    assert times() == {stored.created_at}


def test_deleting_another_settlement_opens_only_what_that_one_covered(
    ledger, chain, olga, ed, vera
):
    expense = ledger.spend(olga, 7, vera)
    other = ledger.settle(vera, olga, 7)
    ledger.settle(vera, olga, 10)
    ledger.delete_settlement(other, olga)
    assert ledger.paid(expense, vera) == (False, 0)
    assert ledger.paid(chain[0], vera) == (True, 10)
    assert ledger.paid(chain[1], ed) == (True, 10)


def test_nothing_is_closed_while_two_others_are_not_settled(ledger, trip, olga, ed, vera):
    dinner, taxi = ledger.spend(olga, 10, add_guest(trip)), ledger.spend(ed, 10, vera)
    ledger.settle(vera, ed, 4)
    ledger.settle(vera, ed, 6)
    assert ledger.paid(taxi, vera) == (True, 10)
    assert ledger.paid(dinner, trip.members.guests().get().user) == (False, 0)


def test_pay_closes_as_well(ledger, mutual, olga, ed, vera):
    ledger.pay(ledger.split(ledger.spend(olga, 10, ed), ed), ed)
    assert ledger.paid(mutual[0], vera) == (True, 10)
    assert ledger.paid(mutual[1], ed) == (True, 10)
    assert len(ledger.settlements()) == 1


def test_unpaying_what_closed_the_trip_opens_it_again(ledger, mutual, olga, ed, vera):
    expense = ledger.spend(olga, 10, ed)
    ledger.unpay(ledger.pay(ledger.split(expense, ed), ed), ed)
    for opened, user in ((mutual[0], vera), (mutual[1], ed), (expense, ed)):
        assert ledger.paid(opened, user) == (False, 0)


def test_deleting_the_split_whose_pay_closed_the_trip_opens_it_again(
    ledger, mutual, olga, ed, vera
):
    ledger.delete_split(ledger.pay(ledger.split(ledger.spend(olga, 10, ed), ed), ed), olga)
    assert ledger.paid(mutual[0], vera) == (False, 0)


def test_neither_an_expense_nor_its_deletion_closes_a_trip(ledger, mutual, olga, ed, vera):
    assert not any(ledger.balances().values())
    assert ledger.plan() == []
    ledger.delete(ledger.spend(olga, 10, ed), olga)
    assert ledger.paid(mutual[0], vera) == (False, 0)
    assert ledger.paid(mutual[1], ed) == (False, 0)


def test_paying_out_of_credit_alone_closes_nothing(ledger, mutual, olga, ed, vera):
    first, second = ledger.spend(olga, 5, ed), ledger.spend(olga, 5, ed)
    ledger.settle(ed, olga, 5)
    ledger.delete(first, olga)
    assert not any(ledger.balances().values())
    assert ledger.pay(ledger.split(second, ed), ed)["paid"]
    assert ledger.paid(mutual[0], vera) == (False, 0)
    assert ledger.paid(mutual[1], ed) == (False, 0)


def test_a_split_that_was_closed_can_be_unpaid_by_itself(ledger, chain, olga, ed, vera):
    settlement = ledger.settle(vera, olga, 10)
    split = ledger.unpay(ledger.split(chain[0], vera), vera)
    assert (split["paid"], split["paidAmount"]) == (False, 0)
    assert ledger.paid(chain[1], ed) == (True, 10)
    assert ledger.settlements() == [settlement]
    assert not any(ledger.balances().values())


# -- Several closings, and what happens to closed rows one by one ---------------------------------


def closed_twice(ledger, olga, ed, vera):
    """Two expenses of Ed's for Vera, each with the settlement that closed it."""
    made: list[Json] = []
    for amount in (10, 6):
        expense = ledger.spend(ed, amount, vera)
        ledger.spend(olga, amount, ed)
        made += [expense, ledger.settle(vera, olga, amount)]
    return made[0], made[1], made[2], made[3]


def test_deleting_an_earlier_closing_opens_what_it_closed_and_nothing_later(ledger, olga, ed, vera):
    first, closing, second, _later = closed_twice(ledger, olga, ed, vera)
    ledger.delete_settlement(closing, olga)
    assert ledger.pending(vera) == [first["splits"][0]["id"]]
    assert ledger.debt(vera) == 10
    assert ledger.paid(second, vera) == (True, 6)


def test_closings_can_be_deleted_from_the_last_to_the_first(ledger, olga, ed, vera):
    first, closing, second, later = closed_twice(ledger, olga, ed, vera)
    ledger.delete_settlement(later, olga)
    assert ledger.pending(vera) == [second["splits"][0]["id"]]
    ledger.delete_settlement(closing, olga)
    assert ledger.pending(vera) == [first["splits"][0]["id"], second["splits"][0]["id"]]
    assert ledger.debt(vera) == 16


def test_credit_that_arises_after_a_closing_covers_what_comes(ledger, chain, olga, ed, vera):
    ledger.settle(vera, olga, 10)
    ledger.settle(ed, olga, 5)
    assert ledger.paid(ledger.spend(olga, 8, ed), ed) == (False, 5)


def test_money_for_a_part_of_a_closed_debt_opens_that_part_alone_when_it_is_deleted(
    ledger, chain, olga, ed, vera
):
    part = ledger.settle(vera, ed, 4)
    ledger.settle(vera, olga, 6)
    closing = ledger.settle(ed, olga, 4)
    ledger.delete_settlement(part, olga)
    assert ledger.paid(chain[0], vera) == (False, 6)
    assert ledger.paid(chain[1], ed) == (True, 10)
    ledger.delete_settlement(closing, olga)
    assert ledger.paid(chain[0], vera) == (False, 0)


def test_unpaying_gives_back_the_credit_that_covered_and_not_what_was_closed_of_it(
    ledger, chain, olga, ed, vera
):
    expense = ledger.spend(olga, 2, vera)
    ledger.settle(vera, olga, 7)
    ledger.settle(vera, olga, 5)
    assert open_splits(ledger, ed, vera) == []
    ledger.unpay(ledger.split(expense, vera), vera)
    assert ledger.paid(ledger.spend(olga, 10, vera), vera) == (False, 2)


@pytest.fixture
def two_payers(ledger, olga, ed, vera):
    """100 of Vera's, of which Olga paid 60 and Ed 40."""
    return ledger.spend(olga, 100, vera, payers=paid_by(olga, 60, ed, 40))


def test_a_closed_split_whose_payers_change_stays_closed_but_for_what_is_new(
    ledger, two_payers, olga, ed, vera
):
    """Vera hands all to Olga, so that her debt to Ed is closed and Ed's claim is left to Olga."""
    ledger.spend(ed, 40, olga, paidByUserId=olga.pk)
    ledger.spend(olga, 40, ed)
    ledger.settle(vera, olga, 60)
    closing = ledger.settle(vera, ed, 40)
    assert ledger.paid(two_payers, vera) == (True, 100)
    ledger.change(two_payers, olga, payers=paid_by(olga, 70, ed, 30))
    assert ledger.paid(two_payers, vera) == (False, 90)
    ledger.delete_settlement(closing, olga)
    assert ledger.paid(two_payers, vera) == (False, 60)


def test_a_closed_debt_that_gets_smaller_stays_closed(ledger, two_payers, olga, ed, vera):
    """All 100 go to Olga: 40 of it are credit, and the debt to Ed is closed against it."""
    ledger.spend(ed, 40, olga, paidByUserId=ed.pk)
    ledger.spend(olga, 80, ed)
    closing = ledger.settle(vera, olga, 100)
    assert ledger.paid(two_payers, vera) == (True, 100)
    ledger.change(two_payers, olga, payers=paid_by(olga, 80, ed, 20))
    assert ledger.paid(two_payers, vera) == (False, 80)
    assert ledger.debt(vera) == 20
    ledger.change(two_payers, olga, payers=paid_by(olga, 50, ed, 50))
    assert ledger.paid(two_payers, vera) == (False, 90)
    # What the smaller debt sets free is credit; what was closed of the money is not.
    assert ledger.paid(ledger.spend(olga, 90, vera), vera) == (False, 10)
    ledger.delete_settlement(closing, olga)
    assert ledger.paid(two_payers, vera) == (False, 0)


def test_an_expense_that_was_closed_can_be_deleted_and_does_not_come_back(
    ledger, chain, olga, ed, vera
):
    closing = ledger.settle(vera, olga, 10)
    ledger.delete(chain[0], olga)
    assert ledger.paid(chain[1], ed) == (True, 10)
    ledger.delete_settlement(closing, olga)
    assert open_splits(ledger, ed, vera) == [chain[1]["splits"][0]["id"]]
    assert (ledger.debt(ed), ledger.debt(vera)) == (10, 0)


def test_it_is_paid_since_it_was_closed_and_stays_so_when_it_is_taken_out(
    ledger, chain, olga, ed, vera
):
    """Also once an allocation of its own says so: here because money of its is deleted."""
    part = ledger.settle(ed, olga, 3)
    ledger.settle(vera, olga, 7)
    ledger.settle(vera, ed, 3)
    assert ledger.split(chain[1], ed)["paidAt"] is not None
    extra = ledger.settle(ed, olga, 3)
    ledger.delete_settlement(part, olga)
    assert ledger.paid(chain[1], ed) == (False, 7)
    ledger.pay(ledger.split(chain[1], ed), ed)
    assert ledger.paid(chain[1], ed) == (True, 10)
    assert extra in ledger.settlements()
