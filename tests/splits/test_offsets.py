"""After a closing, open debts and credit still make everybody's balance, whatever changes.

For each person: open debts owed to them, less those they owe, plus the credit they hold, less the
credit that others hold with them. `audit_ledger`, which runs after each test, compares it, too.
"""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from splits.models import Allocation, DeletedEntry, Settlement
from splits.offsets import offset_closings
from splits.reports.audit import differences
from tests.document import problem_of
from tests.splits.test_audit import audit


def assert_lawful(ledger):
    assert list(differences(ledger.trip.pk)) == []


def balances_by(ledger, *users):
    balances = ledger.balances()
    return [balances[user.pk] for user in users]


@pytest.fixture
def by_olga(ledger, olga, ed):
    return ledger.spend(olga, 30, ed)


@pytest.fixture
def by_ed(ledger, by_olga, olga, ed):
    return ledger.spend(ed, 20, olga)


@pytest.fixture
def closing(ledger, by_olga, by_ed, olga, ed):
    """Olga paid 30 for Ed, and Ed 20 for Olga: the plan is one payment of Ed's."""
    [transfer] = ledger.plan()
    assert (transfer["from"]["id"], transfer["to"]["id"]) == (ed.pk, olga.pk)
    payment = ledger.settle(ed, olga, transfer["amount"])
    assert (ledger.debt(olga), ledger.debt(ed)) == (0, 0)
    return payment


@pytest.mark.parametrize("first", [21, 5, 19.99])
def test_an_amount_that_is_corrected_after_a_closing_and_back_again_is_paid(
    ledger, closing, by_ed, olga, ed, first
):
    ledger.change(by_ed, ed, amount=first)
    assert_lawful(ledger)
    assert ledger.debt(olga) == max(0, first - 20)
    ledger.change(by_ed, ed, amount=20)
    assert balances_by(ledger, olga, ed) == [0, 0]
    assert (ledger.debt(olga), ledger.debt(ed)) == (0, 0)


def test_what_was_offset_against_a_deleted_expense_is_credit(ledger, closing, by_ed, olga, ed):
    ledger.delete(by_ed, ed)
    assert balances_by(ledger, olga, ed) == [20, -20]
    assert_lawful(ledger)
    assert ledger.paid(ledger.spend(ed, 25, olga), olga) == (False, 20)
    assert balances_by(ledger, olga, ed) == [-5, 5]


def test_offsets_are_no_payments(ledger, api, closing, olga, ed):
    [offset] = Settlement.with_offsets.filter(sender=olga.pk)
    assert (offset.receiver_id, offset.amount_minor, offset.closing_id) == (
        *(ed.pk, 2000),
        closing["id"],
    )
    assert [row["id"] for row in ledger.settlements()] == [closing["id"]]
    path = f"{ledger.url}/settlements/{offset.pk}"
    assert api(olga).get(path).status_code == 404
    assert api(olga).delete(path).status_code == 404
    rows = ledger.answer(olga, "get", "balances").json()
    sent = {row["user"]["id"]: (row["sent"], row["received"]) for row in rows}
    assert (sent[olga.pk], sent[ed.pk]) == ((0, 10), (10, 0))


def test_a_plan_payment_of_which_a_closing_used_up_the_rest_goes_after_it(ledger, olga, ed, vera):
    """Vera owes Ed 10, Ed owes Olga 10; she hands it to Olga in two payments."""
    ledger.spend(ed, 10, vera)
    ledger.spend(olga, 10, ed)
    first, last = ledger.settle(vera, olga, 4), ledger.settle(vera, olga, 6)
    refused = ledger.answer(olga, "delete", f"settlements/{first['id']}")
    assert problem_of(refused, 409, "closes_trip")["settlementId"] == last["id"]
    assert balances_by(ledger, olga, ed, vera) == [0, 0, 0]
    ledger.delete_settlement(last, olga)
    ledger.delete_settlement(first, olga)
    assert (ledger.debt(ed), ledger.debt(vera)) == (10, 10)


@pytest.fixture
def pay_with_rest(ledger, olga, ed, vera):
    """A split that Vera paid by `pay`, of which a part is credit, and what used that up."""
    payers = [{"userId": olga.pk, "amount": 20}, {"userId": ed.pk, "amount": 10}]
    dinner = ledger.spend(olga, 30, vera, payers=payers)
    ledger.pay(ledger.split(dinner, vera), vera)
    payers = [{"userId": olga.pk, "amount": 15}, {"userId": ed.pk, "amount": 15}]
    ledger.change(dinner, olga, payers=payers)
    assert ledger.debt(vera) == 5
    closing = ledger.settle(olga, ed, 5)
    assert balances_by(ledger, olga, ed, vera) == [0, 0, 0]
    assert ledger.debt(vera) == 0
    return dinner, ledger.split(dinner, vera), closing


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("put", "/api/expenses/{expense}/splits/{split}/unpay", None),
        ("delete", "/api/expenses/{expense}/splits/{split}", None),
        ("delete", "expenses/{expense}", None),
        ("patch", "expenses/{expense}", {"amount": 40, "payers": None}),
    ],
)
def test_no_way_of_deleting_a_payment_takes_away_what_a_closing_used(
    ledger, pay_with_rest, olga, ed, vera, method, path, body
):
    """T204: Debts and credit are the balance, whatever follows a closing."""
    dinner, split, closing = pay_with_rest
    path = path.format(expense=dinner["id"], split=split["id"])
    if body and "payers" in body:
        body = {"amount": 40, "payers": [{"userId": olga.pk, "amount": 40}]}
    before = ledger.expense(dinner)
    refused = ledger.answer(olga, method, path, body)
    assert problem_of(refused, 409, "closes_trip")["settlementId"] == closing["id"]
    assert ledger.expense(dinner) == before
    ledger.delete_settlement(closing, olga)
    assert ledger.answer(olga, method, path, body).status_code in {200, 204}


def test_a_closing_goes_after_one_that_used_what_it_left(ledger, closing, by_ed, olga, ed):
    ledger.delete(by_ed, ed)
    later = ledger.settle(ed, olga, 20)
    assert not Settlement.with_offsets.filter(credit_minor__gt=0).exists()
    refused = ledger.answer(olga, "delete", f"settlements/{closing['id']}")
    assert problem_of(refused, 409, "closes_trip")["settlementId"] == later["id"]
    ledger.delete_settlement(later, olga)
    ledger.delete_settlement(closing, olga)
    assert (ledger.debt(olga), ledger.debt(ed)) == (0, 30)
    assert not Settlement.with_offsets.exists()


@pytest.mark.parametrize("first", ["earlier", "later"])
def test_two_closings_are_restored_in_any_order(ledger, closing, by_ed, olga, ed, first):
    ledger.delete(by_ed, ed)
    later = ledger.settle(ed, olga, 20)
    for payment in (later, closing):
        ledger.delete_settlement(payment, olga)
    order = [closing, later] if first == "earlier" else [later, closing]
    for payment in order:
        path = f"settlements/{payment['id']}/restore"
        assert ledger.answer(olga, "post", path).status_code == 200
        assert_lawful(ledger)
    assert not Settlement.with_offsets.filter(credit_minor__gt=0).exists()
    refused = ledger.answer(olga, "delete", f"settlements/{closing['id']}")
    assert problem_of(refused, 409, "closes_trip")["settlementId"] == later["id"]


@pytest.mark.parametrize(("meanwhile", "left"), [(0, 4), (4, 0)])
def test_a_closing_whose_credit_is_gone_closes_anew_only_if_all_balances_are_zero(
    ledger, olga, ed, vera, meanwhile, left
):
    ledger.spend(ed, 10, vera)
    dinner = ledger.spend(olga, 10, ed)
    first, last = ledger.settle(vera, olga, 4), ledger.settle(vera, olga, 6)
    ledger.delete_settlement(last, olga)
    ledger.delete_settlement(first, olga)
    DeletedEntry.objects.filter(object_id=first["id"]).delete()
    if meanwhile:
        ledger.settle(vera, olga, meanwhile)
    assert ledger.answer(olga, "post", f"settlements/{last['id']}/restore").status_code == 200
    assert balances_by(ledger, olga, ed, vera) == [left, 0, -left]
    assert (ledger.debt(ed), ledger.debt(vera)) == ((10, 10) if left else (0, 0))
    assert ledger.paid(dinner, ed) == ((False, 0) if left else (True, 10))


# -- Closed by an older release -------------------------------------------------------------------


def as_before(trip):
    """The closings of a trip as they were: allocations that name only the debt."""
    for row in Allocation.objects.filter(trip=trip, settlement__closing__isnull=False):
        assert row.settlement is not None
        sides = {"settlement": None, "closed_by": row.settlement.closing_id}
        Allocation.objects.filter(pk=row.pk).update(**sides)
    Settlement.with_offsets.filter(closing__isnull=False).delete()


def test_closings_of_before_get_offsets(ledger, closing, by_olga, by_ed, olga, ed):
    pairs = ("closing", "sender", "receiver", "amount_minor", "credit_minor", "settled_on")
    offsets = Settlement.with_offsets.filter(closing__isnull=False).order_by("sender")
    before = list(offsets.values_list(*pairs))
    as_before(ledger.trip)
    for _run in range(2):
        offset_closings(connection, ledger.trip.pk)
        assert list(offsets.values_list(*pairs)) == before
    ledger.delete(by_ed, ed)
    assert_lawful(ledger)
    ledger.delete_settlement(closing, olga)
    assert ledger.debt(ed) == 30


@pytest.mark.parametrize("deleted", [True, False])
def test_an_operator_sees_and_mends_what_an_older_release_closes_beside_this_one(
    ledger, closing, trip, olga, deleted
):
    as_before(trip)
    if deleted:
        assert ledger.answer(olga, "delete", ledger.url).status_code == 204
    named = f"trip {trip.pk}: closing {closing['id']}: an older release left it without offsets"
    [difference] = audit().splitlines()
    assert difference.startswith(named)
    assert audit("--trip", str(trip.pk)) == audit()
    out = StringIO()
    for _run in range(2):
        call_command("audit_ledger", "--mend", stdout=out)
    mended, *clean = out.getvalue().splitlines()
    assert mended == f"trip {trip.pk}: its closings have offsets now"
    assert clean == ["1 trips, no difference."] * 2
    assert Settlement.with_offsets.filter(closing=closing["id"]).count() == 2
    if deleted:
        assert ledger.answer(olga, "post", f"{ledger.url}/restore").status_code == 200
        assert_lawful(ledger)


def test_what_an_older_release_has_lost_of_a_closing_is_credit(ledger, closing, by_ed, olga, ed):
    as_before(ledger.trip)
    ledger.delete(by_ed, ed)
    assert any("it leaves user" in str(found) for found in differences(ledger.trip.pk))
    offset_closings(connection, ledger.trip.pk)
    assert_lawful(ledger)
    assert ledger.answer(ed, "post", f"expenses/{by_ed['id']}/restore").status_code == 200
    assert ledger.debt(olga) == 0


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_closing_that_an_older_release_deleted_closes_anew_and_not_in_part(
    ledger, closing, by_ed, olga, ed, is_whole
):
    as_before(ledger.trip)
    ledger.delete_settlement(closing, olga)
    assert (ledger.debt(olga), ledger.debt(ed)) == (20, 30)
    if not is_whole:
        ledger.delete(by_ed, ed)
    assert ledger.answer(olga, "post", f"settlements/{closing['id']}/restore").status_code == 200
    assert (ledger.debt(olga), ledger.debt(ed)) == (0, 0 if is_whole else 20)
