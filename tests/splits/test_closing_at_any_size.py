"""Closing a trip and opening it again costs the same with 50 open debts and with thousands."""

import sqlite3

import pytest
from django.db import connection

from benchmarks.open_debts import DEBT_MINOR, Size, fill
from splits.models import Allocation, Debt, Split
from tests.trips.bodies import dinner
from trips.models import Member

FEW, MANY = 50, 5_000


class Cost:
    """The statements of a request: how many, and how many values are sent with them."""

    def __init__(self):
        self.statements = self.values = 0
        self._last = ""

    def note(self, execute, sql, values, many, context):
        # Large deletions are made in batches of 20,000 rows.
        if sql == self._last and sql.startswith("DELETE"):
            return execute(sql, values, many, context)
        self._last = sql
        self.statements += 1
        self.values += sum(len(v) if isinstance(v, list) else 1 for v in values or ())
        return execute(sql, values, many, context)


class Closable:
    """A trip with so many open debts, in which a settlement there and back closes everything."""

    def __init__(self, api, debts):
        self.trip, self.size = fill(debts), Size.of(debts)
        members = self.trip.members.order_by("user_id").select_related("user")
        self.first, *_others, self.last = (member.user for member in members)
        self.client, self.url = api(self.first), f"/api/trips/{self.trip.pk}"
        self.debtor = api(self.last)

    def settle(self, sender, receiver):
        body = {"fromUserId": sender.pk, "toUserId": receiver.pk, "amount": DEBT_MINOR / 100}
        response = self.client.post(f"{self.url}/settlements", body)
        assert response.status_code == 201
        return response.json()

    def close(self):
        return self.settle(self.last, self.first)

    def opened(self, settlement):
        """The cost of deleting the settlement that closed the trip."""
        with connection.cursor() as cursor:
            # Rows that are not committed are not counted by PostgreSQL itself. If it takes the
            # tables for empty, it compares each row with each.
            cursor.execute("ANALYZE")
        return cost_of(lambda: self.delete(settlement))

    def delete(self, settlement):
        response = self.client.delete(f"{self.url}/settlements/{settlement['id']}")
        assert response.status_code == 204

    def pending(self, client, user):
        return client.get(f"/api/users/{user.pk}/pending-debts").json()


def cost_of(act):
    cost = Cost()
    with connection.execute_wrapper(cost.note):
        done = act()
    return (cost.statements, cost.values), done


@pytest.fixture
def few_and_many(api, db):
    return [Closable(api, FEW), Closable(api, MANY)]


def test_there_are_as_many_debts_as_were_asked_for(few_and_many):
    few, many = (Debt.objects.open().filter(trip=closable.trip) for closable in few_and_many)
    assert few.count() == FEW
    assert many.count() >= MANY


def test_closing_and_opening_again_send_as_much_for_few_debts_as_for_many(few_and_many):
    """As many statements and values: what is written for each debt, the database makes."""
    costs = []
    for closable in few_and_many:
        closable.settle(closable.first, closable.last)
        close, settlement = cost_of(closable.close)
        assert not Debt.objects.open().filter(trip=closable.trip).exists()
        pending, found = cost_of(lambda c=closable: c.pending(c.debtor, c.last))
        assert found == []
        opening, _done = closable.opened(settlement)
        costs.append((close, pending, opening))
        # The other settlement covers one of them.
        assert Debt.objects.open().filter(trip=closable.trip).count() == closable.size.debts - 1
    assert costs[0] == costs[1]


def test_everybody_owes_again_what_was_closed(few_and_many):
    for closable in few_and_many:
        members = Member.objects.filter(trip=closable.trip).order_by("pk")
        before = list(members.values_list("owed_minor", flat=True))
        there = closable.settle(closable.first, closable.last)
        back = closable.close()
        assert not any(members.values_list("owed_minor", flat=True))
        closable.opened(back)
        closable.delete(there)
        assert list(members.values_list("owed_minor", flat=True)) == before
    assert not Allocation.objects.exists()


def test_a_settlement_that_leaves_nothing_open_closes_nothing(api, trip, olga, ed):
    client = api(olga)
    assert client.post(f"/api/trips/{trip.pk}/expenses", dinner(ed, amount=7)).status_code == 201
    body = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 7}
    assert client.post(f"/api/trips/{trip.pk}/settlements", body).status_code == 201
    assert Allocation.objects.get().closed_by is None


@pytest.mark.slow
def test_the_largest_expense_is_recorded_and_deleted_also_when_it_is_closed(api, db):
    """3,600 debts, on an SQLite that takes as many values at once as it does by default."""
    if connection.vendor == "sqlite":
        connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
    closable = Closable(api, MANY)
    members = closable.trip.members.order_by("user_id").select_related("user")
    people = [member.user for member in members]
    payers = [{"userId": user.pk, "amount": 200} for user in people[:20]]
    body = dinner(*people, amount=4_000, payers=payers)
    expenses = f"{closable.url}/expenses"
    made = closable.client.post(expenses, body)
    assert made.status_code == 201
    splits = Split.objects.filter(expense=made.json()["id"])
    assert Debt.objects.filter(split__in=splits).count() == 20 * 180
    assert closable.client.delete(f"{expenses}/{made.json()['id']}").status_code == 204
    closable.settle(closable.first, closable.last)
    closable.close()
    closed = closable.trip.expenses.earliest("id")
    assert closable.client.delete(f"{expenses}/{closed.pk}").status_code == 204
    assert not Debt.objects.open().filter(trip=closable.trip).exists()
