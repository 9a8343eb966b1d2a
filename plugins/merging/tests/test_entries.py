"""What entries of each kind say after a guest was merged."""

import tracemalloc

import pytest

from plugins.merging.tests.test_merges import merge
from splits.models import DeletedEntry, Settlement
from tests.factories import add_guest
from tests.splits.ledger import parts
from tests.splits.test_default_division import by_weight, divide
from tests.splits.test_default_division import spend as default_spend
from tests.splits.test_divisions import item, itemized
from tests.splits.test_offsets import assert_lawful, balances_by
from tests.splits.test_restoring import many_closings


def test_a_merge_puts_both_weights_together(ledger, trip, olga, ed):
    guest = add_guest(trip)
    divide(ledger, olga, **by_weight({olga: 1, guest: 2, ed: 3}))
    ledger.answer(olga, "post", f"guests/{guest.pk}/merge", {"userId": ed.pk})
    division = ledger.answer(olga, "get", ledger.url).json()["defaultDivision"]
    assert division == by_weight({olga: 1, ed: 5})
    assert parts(default_spend(ledger, olga).json()) == {olga.pk: 5, ed.pk: 25}


def test_items_name_the_account_that_takes_the_place_of_a_guest(ledger, trip, olga, ed):
    guest = add_guest(trip)
    name = f'"{guest.pk}": a trap, \\"{guest.pk}\\":'
    dinners = [
        ledger.answer(
            olga, "post", "expenses", itemized(9, [item(name, 9, {olga: 1, guest: 2})])
        ).json()
        for _time in range(2)
    ]
    ledger.delete(dinners[1], olga)
    merged = ledger.answer(olga, "post", f"guests/{guest.pk}/merge", {"userId": ed.pk})
    assert merged.status_code == 200, merged.content
    ledger.answer(olga, "post", f"expenses/{dinners[1]['id']}/restore")
    for dinner in dinners:
        [shown] = ledger.expense(dinner)["items"]
        assert shown == {"name": name, "amount": 9, "shares": {str(olga.pk): 1, str(ed.pk): 2}}


@pytest.mark.parametrize("deleted", [True, False])
def test_an_offset_between_two_who_become_one_is_dropped(ledger, trip, olga, ed, deleted):
    """Grandma owed Ed; the expense is gone, so nothing but the offset names both."""
    grandma = add_guest(trip, "Grandma")
    lunch = ledger.spend(ed, 10, grandma)
    ledger.spend(olga, 10, ed)
    path = f"settlements/{ledger.settle(olga, ed, 5)['id']}"
    ledger.settle(ed, olga, 5)
    closing = ledger.settle(grandma, olga, 10, by=olga)
    ledger.delete(lunch, ed)
    DeletedEntry.objects.all().delete()
    refund = ledger.settle(olga, ed, 10)
    assert balances_by(ledger, olga, ed, grandma) == [10, -20, 10]
    ledger.delete_settlement(refund, olga)
    DeletedEntry.objects.all().delete()
    if deleted:
        ledger.delete_settlement(closing, olga)
    merged = ledger.answer(olga, "post", f"guests/{grandma.pk}/merge", {"userId": ed.pk})
    assert merged.status_code == 200, merged.content
    assert_lawful(ledger)
    if deleted:
        restored = ledger.answer(olga, "post", f"settlements/{closing['id']}/restore")
        assert restored.status_code == 200
    assert not Settlement.with_offsets.filter(sender=ed.pk, receiver=ed.pk).exists()
    assert ledger.answer(olga, "get", path).status_code == 200


def test_a_guest_of_a_refund_is_merged(ledger, trip, olga, ed):
    guest = add_guest(trip)
    refund = ledger.spend(olga, -31, olga, guest)
    merged = ledger.answer(olga, "post", f"guests/{guest.pk}/merge", {"userId": ed.pk})
    assert merged.status_code == 200
    assert ledger.balance(ed) == -parts(refund)[guest.pk]


def test_what_settlements_closed_is_in_memory_for_a_few_of_them_only(api, trip, olga, ed):
    grandma, limit = add_guest(trip), many_closings(api, trip, olga, ed)
    tracemalloc.start()
    assert merge(api, trip, grandma, ed, by=olga).status_code == 200
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < limit
