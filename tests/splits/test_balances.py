"""Balances and the settle-up plan: where everybody stands, and how to get to zero."""

from django.utils import timezone

from tests.splits.ledger import exact
from tests.trips.bodies import summary
from tripcompanion.api.serializers import MAX_INTEGER


def test_a_balance_is_paid_less_share_plus_sent_less_received(ledger, olga, ed, vera):
    ledger.spend(olga, 60, olga, ed, vera)
    ledger.spend(ed, 10.5, vera)
    ledger.settle(ed, olga, 4)
    ledger.settle(olga, vera, 1.25)
    rows = ledger.answer(vera, "get", "balances").json()
    sums = {row["user"]["id"]: [row[name] for name in row if name != "user"] for row in rows}
    assert list(rows[0]) == ["user", "paid", "share", "sent", "received", "balance"]
    assert sums == {
        olga.pk: [60, 20, 1.25, 4, 37.25],
        ed.pk: [10.5, 20, 4, 0, -5.5],
        vera.pk: [0, 30.5, 0, 1.25, -31.75],
    }


def test_a_member_without_entries_is_listed_with_zero(ledger, olga, ed):
    rows = ledger.answer(ed, "get", "balances").json()
    assert [row["user"]["name"] for row in rows] == ["Olga Owner", "Ed Editor", "Vera Viewer"]
    assert all(row["balance"] == 0 for row in rows)
    assert rows[0]["user"] == summary(olga)


def test_who_has_left_is_listed_as_long_as_they_have_an_entry(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, vera)
    ledger.pay(expense["splits"][0], vera)
    for user in (vera, ed):
        assert ledger.answer(user, "post", "members/leave").status_code == 204
    assert ledger.balances() == {olga.pk: 0, vera.pk: 0}
    ledger.delete(expense, olga)
    assert ledger.balances() == {olga.pk: 0}


def test_a_sum_beyond_64_bits_is_refused_and_never_rounded(ledger_in, olga, ed):
    ledger = ledger_in("CLF")
    nearly_full = 2**63 - 10**15
    ledger.trip.members.filter(user=olga).update(paid_minor=nearly_full)
    response = ledger.answer(olga, "post", "expenses", ledger.expense_body(10**12, ed))
    assert response.status_code in {400, 409}
    assert ledger.trip.members.get(user=olga).paid_minor == nearly_full
    assert ledger.trip.members.get(user=ed).share_minor == 0


def test_the_plan_has_the_fewest_transfers(ledger, olga, ed, vera, bert):
    ledger.spend(olga, 30, ed)
    ledger.spend(ed, 30, vera)
    ledger.spend(bert, 7, olga, paidByUserId=bert.pk)
    plan = [
        (transfer["from"]["id"], transfer["to"]["id"], transfer["amount"])
        for transfer in ledger.plan()
    ]
    assert plan == [(vera.pk, olga.pk, 23), (vera.pk, bert.pk, 7)]
    assert ledger.plan() == ledger.plan()


def test_settle_up_answers_for_all_sums_in_range(api, trip, olga, ed, vera):
    """PostgreSQL refuses sums in between that do not fit into 64 bits."""
    full = dict.fromkeys(("paid_minor", "share_minor", "received_minor"), MAX_INTEGER)
    trip.members.filter(user=olga).update(**full)
    trip.members.filter(user=ed).update(sent_minor=MAX_INTEGER)
    url = f"/api/trips/{trip.pk}"
    [transfer] = exact(api(olga).get(f"{url}/settle-up"))
    assert transfer["amount"] * 100 == MAX_INTEGER
    body = {"fromUserId": olga.pk, "toUserId": vera.pk, "amount": 1}
    assert api(olga).post(f"{url}/settlements", body).status_code == 201


def test_of_a_trip_that_everybody_has_left_an_admin_sees_that_nobody_stands_anywhere(
    api, trip, olga, ada, sam
):
    trip.members.update(left_at=timezone.now())
    for path in ("balances", "settle-up"):
        assert api(ada).get(f"/api/trips/{trip.pk}/{path}").json() == []
        for stranger in (olga, sam):
            assert api(stranger).get(f"/api/trips/{trip.pk}/{path}").status_code == 404
