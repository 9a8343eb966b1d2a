"""A move to another trip keeps every figure of the expense, and when it was created."""

import pytest

from splits.models import Expense
from tests.splits.ledger import Json, parts

pytestmark = pytest.mark.either


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
