"""The file of a trip that is imported like any other: planned, then confirmed."""

import json
from decimal import Decimal

import pytest

from plugins.exchange.models import Import, ImportedRow
from plugins.exchange.tests.copies import answers, file_of, forged
from splits.models import Payer, SplitType
from splits.models.rate import ECB
from splits.reports.audit import differences
from tests.factories import owned_trip, spend
from trips.models import Member, Trip

pytestmark = pytest.mark.either


def test_another_trip_gets_what_is_new_once(api, plan, lived, olga, ed, other):
    content = file_of(api, lived, olga)
    for expected in (5, 0):
        planned = plan(content.decode(), tripId=other.pk).json()
        assert planned["format"] == "trip-companion"
        assert all(row["claimed"] == row["ours"] for row in planned["balances"])
        done = api(olga).post(f"/api/imports/{planned['id']}/confirm").json()
        assert "counts" in done, done
        assert done["counts"]["taken"] + done["counts"]["noted"] == expected
    shown = {row["user"]["name"]: row["balance"] for row in balances(api, other, olga)}
    assert shown == {row["user"]["name"]: row["balance"] for row in balances(api, lived, olga)}


def test_exact_amounts_in_a_third_currency_are_divided_as_in_the_trip(api, plan, trip, olga, ed):
    swiss = {"currency": "CHF", "exchange_rate": Decimal("0.95"), "split_type": SplitType.MANUAL}
    parts = {olga.pk: 6000, ed.pk: 4000}
    spend(trip, 10_000, paid_by=olga, among=[olga, ed], entered=parts, **swiss)
    other = owned_trip(olga, currency="USD")
    content = file_of(api, trip, olga).decode()
    path = plan(content, tripId=other.pk, exchangeRates={"EUR": 1.1})["Location"]
    done = api(olga).post(f"{path}/confirm")
    assert done.status_code == 200, done.json()
    expense = other.expenses.get()
    assert (expense.currency, expense.entered_minor, expense.amount_minor) == ("EUR", 9500, 10450)
    assert sorted(expense.splits.values_list("amount_minor", flat=True)) == [4180, 6270]


@pytest.mark.parametrize("category", ["SAUNA", 10**20])
def test_another_trip_gets_no_category_that_there_is_not(api, plan, lived, olga, category, other):
    content = forged(file_of(api, lived, olga), "expenses", 0, category=category)
    path = plan(content.decode(), tripId=other.pk)["Location"]
    assert api(olga).post(f"{path}/confirm").status_code == 200
    assert {*other.expenses.values_list("category", flat=True)} == {"OTHER"}


@pytest.mark.parametrize(
    ("table", "fields", "reason"),
    [
        ("trip", {"startDate": "soon"}, "bad_date"),
        ("trip", {"currency": "1e99"}, "unknown_currency"),
        ("people", {"email": {}}, "missing_field"),
        ("comments", {"expenseId": None}, "missing_field"),
        ("payers", 7, "not_an_object"),
    ],
)
def test_another_trip_gets_nothing_of_a_file_that_cannot_be_read(
    api, plan, lived, olga, table, fields, reason
):
    content = file_of(api, lived, olga)
    if isinstance(fields, dict):
        content = forged(content, table, 0, **fields)
    else:
        content = json.dumps({**json.loads(content), table: [fields]}).encode()
    answer = plan(content.decode(), tripId=lived.pk)
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    ("table", "fields", "reason"),
    [
        ("payers", {"entered": 0, "amount": 0}, "does_not_add_up"),
        ("payers", {"entered": 1}, "does_not_add_up"),
        ("splits", {"amount": 1_000_000}, "does_not_add_up"),
        ("expenses", {"receiptUrl": 7.5, "currency": "XYZ"}, "unknown_currency"),
    ],
)
def test_rows_of_a_file_that_do_not_fit_are_skipped(
    api, plan, lived, olga, table, fields, reason, other
):
    content = forged(file_of(api, lived, olga), table, 0, **fields)
    path = plan(content.decode(), tripId=other.pk)["Location"]
    rows = ImportedRow.objects.filter(outcome="skipped")
    assert [row.note_list[-1][0] for row in rows] == [reason]
    assert api(olga).post(f"{path}/confirm").status_code == 200
    # Nothing had happened in that trip before, not even in its history.
    assert api(olga).post(f"{path}/undo").status_code == 200


def balances(api, trip, reader):
    return api(reader).get(f"/api/trips/{trip.pk}/balances").json()


def test_a_confirmed_plan_of_our_own_file_makes_the_same_trip(api, plan, lived, olga, ed):
    content = file_of(api, lived, olga)
    planned = plan(content.decode(), asNewTrip=True).json()
    assert [row["userId"] for row in planned["people"]][:2] == [olga.pk, ed.pk]
    done = api(olga).post(f"/api/imports/{planned['id']}/confirm").json()
    copy = Trip.objects.get(pk=done["tripId"])
    assert answers(api, copy, olga) == answers(api, lived, olga)
    assert Member.objects.present().get(trip=copy, user=ed).role == "VIEWER"
    assert copy.expenses.filter(created_by=ed).exists()
    known = plan(content.decode(), tripId=copy.pk).json()["counts"]
    assert (known["known"], known["expense"]) == (5, 0)
    assert not list(differences(copy.pk))
    assert Import.objects.get(pk=planned["id"]).file is None


def test_a_confirmed_copy_can_be_undone(api, plan, lived, olga):
    planned = plan(file_of(api, lived, olga).decode(), asNewTrip=True).json()
    path = f"/api/imports/{planned['id']}"
    assert api(olga).post(f"{path}/confirm").status_code == 200
    assert api(olga).post(f"{path}/undo").status_code == 200
    assert [trip.pk for trip in Trip.objects.filter(deleted_at=None)] == [lived.pk]


def test_a_rate_of_the_bank_stays_one_in_another_trip(api, plan, trip, olga, other):
    spend(trip, 900, paid_by=olga, among=[olga])
    rate = {"currency": "CHF", "exchange_rate": Decimal("0.9"), "rate_source": ECB}
    trip.expenses.update(**rate, rate_day="2026-05-13", entered_minor=1000)
    Payer.objects.filter(trip=trip).update(entered_minor=1000)
    path = plan(file_of(api, trip, olga), tripId=other.pk)["Location"]
    assert api(olga).post(f"{path}/confirm").status_code == 200
    made = other.expenses.get()
    assert (made.rate_source, str(made.rate_day), made.entered_minor) == (ECB, "2026-05-13", 1000)


def test_who_was_mapped_to_somebody_who_left_is_shown_as_a_guest(api, plan, lived, olga, ed, sam):
    held = json.loads(file_of(api, lived, olga))
    [row] = [row for row in held["members"] if row["userId"] == ed.pk]
    row["leftAt"] = held["exportedAt"]
    path = plan(json.dumps(held), asNewTrip=True, mapping={str(ed.pk): ed.pk})["Location"]
    people = api(olga).post(f"{path}/confirm").json()["people"]
    assert {row["key"]: row["guest"] for row in people}[str(ed.pk)]
