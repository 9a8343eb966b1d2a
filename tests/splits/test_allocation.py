"""Which money covers which split: oldest first, in part, as credit, and back again."""


def test_a_settlement_covers_the_oldest_splits_first(ledger, olga, ed):
    oldest, middle, latest = (ledger.spend(olga, amount, ed) for amount in (10, 20, 30))
    ledger.settle(ed, olga, 25)
    assert ledger.paid(oldest, ed) == (True, 10)
    assert ledger.paid(middle, ed) == (False, 15)
    assert ledger.paid(latest, ed) == (False, 0)
    assert ledger.debt(ed) == 35
    assert ledger.pending(ed) == [split["splits"][0]["id"] for split in (middle, latest)]


def test_oldest_is_by_the_split_and_not_by_the_date_of_the_expense(ledger, olga, ed):
    first = ledger.spend(olga, 10, ed, expenseDate="2026-05-18")
    second = ledger.spend(olga, 10, ed, expenseDate="2026-05-14")
    ledger.settle(ed, olga, 10)
    assert ledger.paid(first, ed) == (True, 10)
    assert ledger.paid(second, ed) == (False, 0)


def test_it_covers_nothing_in_another_trip(ledger, ledger_in, olga, ed):
    other = ledger_in("EUR")
    expense = other.spend(olga, 10, ed)
    ledger.settle(ed, olga, 10)
    assert other.paid(expense, ed) == (False, 0)


def test_money_in_the_other_direction_covers_nothing(ledger, olga, ed):
    expense = ledger.spend(olga, 10, ed)
    ledger.settle(olga, ed, 10)
    assert ledger.paid(expense, ed) == (False, 0)
    assert ledger.balance(ed) == -20


def test_what_is_left_over_covers_the_next_split_between_the_two(ledger, olga, ed):
    ledger.spend(olga, 10, ed)
    ledger.settle(ed, olga, 25)
    second, third = ledger.spend(olga, 8, ed), ledger.spend(olga, 8, ed)
    assert ledger.paid(second, ed) == (True, 8)
    assert ledger.paid(third, ed) == (False, 7)
    assert ledger.balance(ed) == -1


def test_credit_covers_a_split_that_is_added_by_itself(ledger, olga, ed):
    ledger.settle(ed, olga, 10)
    expense = ledger.spend(olga, 20, olga)
    ledger.delete_split(expense["splits"][0], olga)
    assert ledger.add_split(expense, olga, ed, amount=10)["paid"]


def test_credit_is_used_oldest_first(ledger, olga, ed):
    first, second = ledger.settle(ed, olga, 10), ledger.settle(ed, olga, 10)
    expense = ledger.spend(olga, 10, ed)
    ledger.delete_settlement(second, olga)
    assert ledger.paid(expense, ed) == (True, 10)
    ledger.delete_settlement(first, olga)
    assert ledger.paid(expense, ed) == (False, 0)


def test_credit_that_comes_free_does_not_cover_an_earlier_split(ledger, olga, ed):
    first, second = ledger.spend(olga, 10, ed), ledger.spend(olga, 10, ed)
    ledger.settle(ed, olga, 10)
    ledger.delete(first, olga)
    assert ledger.paid(second, ed) == (False, 0)
    assert ledger.balance(ed) == 0
    third = ledger.spend(olga, 10, ed)
    assert ledger.paid(second, ed) == (False, 0)
    assert ledger.paid(third, ed) == (True, 10)


def test_a_later_settlement_does_not_draw_on_earlier_credit(ledger, olga, ed):
    first, second = ledger.spend(olga, 10, ed), ledger.spend(olga, 10, ed)
    ledger.settle(ed, olga, 10)
    ledger.delete(first, olga)
    ledger.settle(ed, olga, 4)
    assert ledger.paid(second, ed) == (False, 4)


def test_pay_uses_credit_first_and_records_only_the_rest(ledger, olga, ed):
    first, second = ledger.spend(olga, 10, ed), ledger.spend(olga, 25, ed)
    credit = ledger.settle(ed, olga, 10)
    ledger.delete(first, olga)
    assert ledger.pay(ledger.split(second, ed), ed)["paid"]
    kept, recorded = ledger.settlements()
    assert kept == credit
    assert recorded["amount"] == 15
    assert ledger.balance(ed) == 0
    assert ledger.paid(ledger.spend(olga, 1, ed), ed) == (False, 0)


def test_pay_records_nothing_where_credit_is_enough(ledger, olga, ed):
    first, second = ledger.spend(olga, 10, ed), ledger.spend(olga, 8, ed)
    credit = ledger.settle(ed, olga, 10)
    ledger.delete(first, olga)
    assert ledger.pay(ledger.split(second, ed), ed)["paid"]
    assert ledger.settlements() == [credit]
    assert ledger.paid(ledger.spend(olga, 2, ed), ed) == (True, 2)


def test_unpay_gives_back_as_credit_what_pay_did_not_record(ledger, olga, ed):
    expense = ledger.spend(olga, 10, ed)
    entered = ledger.settle(ed, olga, 4)
    ledger.pay(ledger.split(expense, ed), ed)
    ledger.unpay(ledger.split(expense, ed), ed)
    assert ledger.paid(expense, ed) == (False, 0)
    assert ledger.settlements() == [entered]
    assert ledger.balance(ed) == -6
    assert ledger.paid(ledger.spend(olga, 5, ed), ed) == (False, 4)


def test_a_split_that_is_covered_in_the_end_is_paid_since_then(ledger, olga, ed):
    expense = ledger.spend(olga, 10, ed)
    ledger.settle(ed, olga, 4)
    assert ledger.split(expense, ed)["paidAt"] is None
    ledger.settle(ed, olga, 6)
    paid_at = ledger.split(expense, ed)["paidAt"]
    ledger.settle(ed, olga, 6)
    assert ledger.split(expense, ed)["paidAt"] == paid_at
