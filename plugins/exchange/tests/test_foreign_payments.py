"""A payment in another currency, in every file that has it."""

import csv
import io
import json
from datetime import date
from decimal import Decimal

import pytest

from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests import samples
from plugins.exchange.tests.copies import copied, file_of, forged
from plugins.exchange.tests.reading import changed
from splits.models import DailyRate, Expense, Settlement
from tests.factories import TripFactory, join
from trips.roles import TripRole

pytestmark = pytest.mark.either

MONEY = ("amount", "currency", "tripAmount", "exchangeRate", "rate", "settledOn")


@pytest.fixture
def paid(api, trip, olga, ed):
    """5,000 yen that Ed gave Olga, at 160 for a euro."""
    DailyRate.objects.create(currency="JPY", per_euro=Decimal(160), day=date(2026, 5, 2))
    people = {"fromUserId": ed.pk, "toUserId": olga.pk}
    body = {**people, "amount": 5000, "currency": "JPY", "settledOn": "2026-05-14"}
    recorded = api(ed).post(f"/api/trips/{trip.pk}/settlements", body)
    assert recorded.status_code == 201
    return recorded.json()


def money(shown):
    return [shown[name] for name in MONEY]


def test_tables_and_the_personal_export_have_both_amounts(paid, api, trip, olga, ed):
    [row] = json.loads(file_of(api, trip, olga))["settlements"]
    assert (row["amount"], row["foreign"], row["foreignCurrency"]) == (31.25, 5000, "JPY")
    table = api(olga).get(f"/api/trips/{trip.pk}/export?format=csv").content.decode("utf-8-sig")
    [row] = csv.DictReader(io.StringIO(table))
    assert (row["amount"], row["currency"], row["tripAmount"]) == ("5000", "JPY", "31.25")
    assert row["Olga Owner: part"] == "31.25"


def test_a_copy_of_our_file_keeps_it(paid, api, trip, olga):
    copy = copied(file_of(api, trip, olga), olga)
    [made] = api(olga).get(f"/api/trips/{copy.pk}/settlements").json()["items"]
    assert money(made) == money(paid)


@pytest.mark.parametrize(
    "fields",
    [
        {"foreignCurrency": "???"},
        {"foreignCurrency": ""},
        {"foreign": -5000},
        {"foreign": 4000},
        {"exchangeRate": None},
        {"exchangeRate": 2},
    ],
)
def test_a_file_in_which_amount_and_rate_contradict_each_other_is_refused(
    paid, api, trip, olga, fields
):
    content = forged(file_of(api, trip, olga), "settlements", 0, **fields)
    with pytest.raises(UnreadableFile):
        copied(content, olga)


def test_a_file_of_another_service_gets_the_rate_of_the_plan(api, olga, imported):
    content = (
        "Date,Description,Category,Cost,Currency,Ana,Ben\n"
        "2026-05-13,Dinner,Dining out,10.00,EUR,5.00,-5.00\n"
        "2026-05-14,Ben paid Ana,Payment,800,JPY,-800,800\n"
    )
    done = imported(content, currency="EUR", exchangeRates={"JPY": "0.00625"})
    planned = done["rows"][1]["object"]
    shown = (planned["amount"], planned["currency"], planned["exchangeRate"])
    assert shown == (800, "JPY", 0.00625)
    [made] = Settlement.objects.select_related("trip")
    assert (made.entered_minor, made.currency, made.amount_minor) == (800, "JPY", 500)


@pytest.mark.parametrize(
    "content",
    [
        changed(
            samples.SPLIIT_JSON, "expenses", 0, isReimbursement=True,
            splitMode="EVENLY", paidFor=[{"participantId": "p2", "shares": 100}],
        ),
        samples.SPLIIT_CSV.replace('"5.00",,,,', '"10.01","10.70","CHF","0.9355",').replace(
            ",0,-5", ",0,-10.01"
        ),
    ],
    ids=["json", "csv"],
)  # fmt: skip
def test_a_payment_of_spliit_is_kept_as_entered(content, imported):
    imported(content)
    [made] = Settlement.objects.select_related("trip")
    assert (made.entered_minor, made.currency, made.amount_minor) == (1070, "CHF", 1001)


def test_a_refund_of_spliit_is_kept_as_entered(imported):
    imported(changed(samples.SPLIIT_JSON, "expenses", 0, amount=-1001, originalAmount=-1070))
    [made] = Expense.objects.all()
    assert (made.entered_minor, made.currency, made.amount_minor) == (-1070, "CHF", -1001)


def test_a_trip_in_another_currency_gets_what_was_entered(api, trip, olga, ed, vera, imported):
    people = [olga.pk, ed.pk, vera.pk]
    common = {"expenseDate": "2026-05-14", "exchangeRate": 0.9, "participantUserIds": people}
    bodies = [
        {"amount": 100, "currency": "USD", "splitType": "EQUAL"},
        {"amount": 1000, "currency": "JPY", "splitType": "SHARES"},
        {"amount": 90, "currency": "USD", "splitType": "EQUAL"},
        {"amount": 8, "currency": "KPW", "splitType": "EQUAL"},
    ]
    bodies[1]["splitAmounts"] = {str(pk): 1 + (pk == ed.pk) for pk in people}
    url = f"/api/trips/{trip.pk}"
    for body in bodies:
        made = api(olga).post(f"{url}/expenses", {**common, **body, "description": "Hotel"})
        assert made.status_code == 201, made.json()
        if body["amount"] == 90:
            split, expense = made.json()["splits"][2]["id"], made.json()["id"]
            assert api(olga).delete(f"/api/expenses/{expense}/splits/{split}").status_code == 204
    sent = {"fromUserId": ed.pk, "toUserId": olga.pk, "settledOn": "2026-05-14"}
    sent |= {"amount": 50, "currency": "USD", "exchangeRate": 0.9}
    assert api(olga).post(f"{url}/settlements", sent).status_code == 201
    other = TripFactory(currency="USD")
    for user in (olga, ed, vera):
        join(other, user, TripRole.OWNER)
    mapping = {user.name: user.pk for user in (olga, ed, vera)}
    rates = {"JPY": 0.007, "EUR": 1.1}
    done = imported(file_of(api, trip, olga), tripId=other.pk, mapping=mapping, exchangeRates=rates)
    notes = [row["notes"] for row in done["rows"]]
    assert notes == [[], [], [], ["It was entered as 8.00 KPW."], []]
    rows = api(olga).get(f"/api/trips/{other.pk}/expenses?ordering=createdAt").json()["items"]
    shown = [[row[name] for name in MONEY[:4]] for row in rows]
    assert shown == [
        [100, "USD", 100, None],
        [1000, "JPY", 7, 0.007],
        [90, "USD", 90, None],
        [7.2, "EUR", 7.92, 1.1],
    ]
    assert [row["splitType"] for row in rows] == ["EQUAL", "SHARES", "MANUAL", "EQUAL"]
    assert sorted(rows[2]["splitAmounts"].values()) == [30, 60]
    assert rows[3]["notes"] == "8.00 KPW"
    [payment] = api(olga).get(f"/api/trips/{other.pk}/settlements").json()["items"]
    assert money(payment)[:4] == [50, "USD", 50, None]
