"""A user who doubts a balance can follow it, entry by entry."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import spend
from tests.test_costs import remaining

pytestmark = pytest.mark.either


def lines(ledger, reader, user, query="pageSize=100"):
    return ledger.answer(reader, "get", f"balances/{user.pk}?{query}").json()["items"]


def test_the_entries_stand_in_the_order_recorded_with_the_running_sum(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 30, olga, ed, vera, expenseDate="2026-05-17")
    ledger.settle(ed, olga, 4)
    ledger.spend(ed, 10, vera, expenseDate="2026-05-14")
    ledger.pay(ledger.split(expense, ed), by=ed)
    shown = [
        (line["kind"], line["paid"], line["share"], line["sent"], line["received"])
        for line in lines(ledger, vera, ed)
    ]
    assert shown == [
        ("EXPENSE", 0, 10, 0, 0),
        ("SETTLEMENT", 0, 0, 4, 0),
        ("EXPENSE", 10, 0, 0, 0),
        ("SETTLEMENT", 0, 0, 6, 0),
    ]
    assert [line["change"] for line in lines(ledger, vera, ed)] == [-10, 4, 10, 6]
    assert [line["balance"] for line in lines(ledger, vera, ed)] == [-10, -6, 4, 10]


def test_the_last_line_is_the_balance_of_everybody(ledger, olga, ed, vera):
    ledger.spend(olga, 100, olga, ed, vera)
    ledger.spend(
        ed,
        1000.01,
        olga,
        vera,
        payers=[{"userId": ed.pk, "amount": 900}, {"userId": vera.pk, "amount": 100.01}],
    )
    ledger.settle(vera, olga, 3.33)
    for user, balance in ledger.balances().items():
        [*_before, last] = ledger.answer(olga, "get", f"balances/{user}?pageSize=100").json()[
            "items"
        ]
        assert last["balance"] == balance


def test_what_no_split_covers_is_in_the_share_of_who_paid(ledger, olga, ed):
    ledger.delete_split(ledger.split(ledger.spend(olga, 30, olga, ed), ed), olga)
    [line] = lines(ledger, olga, olga)
    assert (line["paid"], line["share"], line["balance"]) == (30, 30, 0)


def test_pages_go_on_where_the_last_one_ended(ledger, olga, ed):
    for _number in range(3):
        ledger.spend(olga, 10, ed)
    assert [line["balance"] for line in lines(ledger, olga, olga, "pageSize=2&page=2")] == [30]


def test_a_member_without_entries_has_no_lines_and_a_stranger_is_404(ledger, olga, vera, sam):
    assert lines(ledger, olga, vera) == []
    assert ledger.answer(olga, "get", f"balances/{sam.pk}").status_code == 404


def test_no_items_are_read(ledger, olga, ed):
    ledger.spend(olga, 10, ed)
    with CaptureQueriesContext(connection) as queries:
        assert len(lines(ledger, olga, ed)) == 1
    assert "stored_items" not in str(queries.captured_queries)


def test_each_100_entries_count_as_one_more(ledger, trip, olga, ed, limits):
    limits(user="10/min")
    for _expense in range(200):
        spend(trip, 100, paid_by=olga, among=[ed])
    client = ledger.client(olga)
    assert client.get(f"{ledger.url}/balances/{olga.pk}?pageSize=1").status_code == 200
    assert remaining(client.get("/api/users/me")) == 6


def test_a_refund_is_below_zero(ledger, olga, ed):
    ledger.spend(olga, -30, olga, ed)
    [line] = lines(ledger, olga, olga)
    assert (line["paid"], line["share"]) == (-30, -15)


def test_what_is_offset_is_no_entry(ledger, olga, ed):
    """Ed owes Olga 30, she owes him 20, and one payment of 10 closes both."""
    ledger.spend(olga, 30, ed)
    ledger.spend(ed, 20, olga)
    ledger.settle(ed, olga, 10)
    assert [line["kind"] for line in lines(ledger, ed, ed)] == ["EXPENSE", "EXPENSE", "SETTLEMENT"]


def test_money_in_another_currency_counts_in_that_of_the_trip(ledger, olga, ed):
    sides = {"fromUserId": ed.pk, "toUserId": olga.pk, "settledOn": "2026-05-14"}
    yen = {**sides, "amount": 5000, "currency": "JPY", "exchangeRate": "0.00625"}
    assert ledger.answer(ed, "post", "settlements", yen).status_code == 201
    assert lines(ledger, ed, ed)[0]["sent"] == 31.25
