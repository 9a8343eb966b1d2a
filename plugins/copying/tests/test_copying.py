"""Expenses that go to another trip."""

import pytest

from plugins.copying import views
from splits.models import Expense
from tests.document import problem_of
from tests.factories import TripFactory, join, owned_trip
from tests.splits.ledger import Json, parts
from tests.trips.test_answers_to_changes import remove_after
from trips.roles import TripRole

pytestmark = pytest.mark.either


def other(*people, currency="EUR"):
    trip = TripFactory(currency=currency)
    for user in people:
        join(trip, user, TripRole.OWNER)
    return trip


def send(ledger, user, expense, word, trip):
    return ledger.answer(user, "post", f"expenses/{expense['id']}/{word}", {"tripId": trip.pk})


def alike(expense, copy):
    names = ("description", "amount", "tags", "splitType", "payers", "notes", "expenseDate")
    return all(expense[name] == copy[name] for name in names)


def test_a_copy_starts_unpaid(ledger, olga, ed):
    amounts = {str(olga.pk): 20, str(ed.pk): 40}
    fields = {"splitType": "MANUAL", "splitAmounts": amounts, "tags": ["x"], "notes": "n"}
    expense = ledger.spend(olga, 60, olga, ed, **fields)
    ledger.pay(expense["splits"][1], ed)
    target = other(olga, ed)
    response = send(ledger, olga, expense, "copy", target)
    assert response.status_code == 201
    copy = response.json()
    assert response["Location"] == f"/api/trips/{target.pk}/expenses/{copy['id']}"
    assert alike(expense, copy)
    assert copy["tripId"] == target.pk
    assert [split["amount"] for split in copy["splits"]] == [20, 40]
    assert [split["paid"] for split in copy["splits"]] == [True, False]
    assert ledger.expense(expense)["splits"][1]["paid"]


@pytest.mark.parametrize("word", ["copy", "move"])
def test_what_was_unpaid_stays_unpaid_where_another_one_arrives(ledger, ledger_in, olga, ed, word):
    there = ledger_in("EUR")
    unpaid = there.spend(olga, 60, olga, ed)
    there.settle(ed, olga, 20)
    there.unpay(there.split(unpaid, ed), olga)
    arrived = send(ledger, olga, ledger.spend(olga, 20, olga, ed), word, there.trip).json()
    assert there.paid(unpaid, ed) == (False, 0)
    assert there.paid(arrived, ed) == (True, 10)


def test_a_moved_expense_is_there_and_no_longer_here(ledger, olga, ed):
    expense = ledger.spend(ed, 100, olga, ed, currency="USD", exchangeRate=0.5)
    moved = send(ledger, ed, expense, "move", other(olga, ed)).json()
    assert alike(expense, moved)
    for name in ("tripAmount", "exchangeRate", "exchangeRateSource", "exchangeRateDate"):
        assert moved[name] == expense[name]
    assert ledger.answer(ed, "get", f"expenses/{expense['id']}").status_code == 404


def test_what_was_paid_stays(ledger, olga, ed):
    expense = ledger.spend(olga, 60, olga, ed)
    ledger.pay(expense["splits"][1], ed)
    problem_of(send(ledger, olga, expense, "move", other(olga, ed)), 409, "paid_already")


@pytest.mark.parametrize("word", ["copy", "move"])
def test_what_was_divided_by_hand_stays(ledger, olga, ed, word):
    expense = ledger.spend(olga, 60, olga, ed)
    ledger.delete_split(expense["splits"][1], olga)
    problem_of(send(ledger, olga, expense, word, other(olga, ed)), 409, "divided_by_hand")


@pytest.mark.parametrize("word", ["copy", "move"])
def test_where_an_expense_cannot_go(ledger, trip, olga, ed, sam, word):
    expense = ledger.spend(olga, 60, olga, ed)
    before = Expense.objects.count()
    for target, status in (
        (trip, 400),
        (other(olga), 400),
        (other(olga, ed, currency="JPY"), 409),
        (other(sam, ed), 404),
    ):
        assert send(ledger, olga, expense, word, target).status_code == status
    as_viewer = owned_trip(ed)
    join(as_viewer, olga, TripRole.VIEWER)
    assert send(ledger, olga, expense, word, as_viewer).status_code == 403
    for value in (None, "x", 0, 1.5):
        path = f"expenses/{expense['id']}/{word}"
        assert ledger.answer(olga, "post", path, {"tripId": value}).status_code == 400
    assert Expense.objects.count() == before
    assert ledger.expense(expense) == expense


@pytest.mark.django_db(transaction=True)
def test_whoever_copied_is_answered_the_copy_even_if_removed_at_that_instant(
    ledger, olga, ed, monkeypatch
):
    target = other(olga, ed)
    expense = ledger.spend(olga, 60, olga, ed)
    with monkeypatch.context() as patched:
        remove_after(patched, views, "copy_expense", olga)
        assert send(ledger, olga, expense, "copy", target).status_code == 201
    assert target.expenses.count() == 1
    olga.memberships.update(left_at=None)


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_move_keeps_every_part_and_payment(ledger, ledger_in, olga, ed, vera, before):
    other = ledger_in("EUR")
    for _ in range(before):
        other.spend(olga, 1, olga)
    everybody = (olga, ed, vera)
    payers = [{"userId": user.pk, "amount": "33.34"} for user in (olga, ed)]
    payers.append({"userId": vera.pk, "amount": "33.32"})
    weights = {str(user.pk): 1 for user in everybody}
    bodies: list[Json] = [
        {"currency": "USD", "exchangeRate": "0.333", "payers": payers},
        {"splitType": "SHARES", "splitAmounts": weights},
    ]
    for fields in bodies:
        expense = ledger.spend(olga, 100, *everybody, **fields)
        path = f"expenses/{expense['id']}/move"
        moved = ledger.answer(olga, "post", path, {"tripId": other.trip.pk})
        assert moved.status_code == 201, moved.json()
        assert parts(moved.json()) == parts(expense)
        names = ("amount", "tripAmount", "rate", "payers", "splitType", "createdAt")
        assert [moved.json()[name] for name in names] == [expense[name] for name in names]
        of_moved = Expense.objects.get(pk=moved.json()["id"])
        paid = list(of_moved.payers.order_by("id").values_list("amount_minor", flat=True))
        assert sum(paid) == of_moved.amount_minor
    assert other.imbalance() == 0
