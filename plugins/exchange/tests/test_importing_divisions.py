"""Importing items, adjustments and refunds of our own file: they stay what was entered."""

import json
from decimal import Decimal

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.copies import file_of
from splits.models import Expense, Split
from tests.factories import add_guest, join, owned_trip, spend
from tests.splits.ledger import exact
from trips.roles import TripRole

pytestmark = pytest.mark.either

SKIPPED = {
    "Only one person can receive a refund.": lambda held: (
        held["payers"][2].update(amount=-20, entered=-20),
        held["payers"].append({**held["payers"][2], "userId": held["people"][1]["id"]}),
        held["payers"][3].update(amount=-10.01, entered=-10.01),
    ),
    "The parts do not add up to the amount.": lambda held: held["expenses"][2]["items"].update(
        tip=-3
    ),
}


@pytest.fixture
def content(api, trip, olga, ed, vera):
    """The file of a trip with a dinner by items, one with adjustments, and a refund by items."""
    client, url, people = api(olga), f"/api/trips/{trip.pk}/expenses", [olga.pk, ed.pk, vera.pk]
    common = {"description": "Dinner", "expenseDate": "2026-05-14"}
    shares = dict.fromkeys(map(str, people), 1)
    items = [{"name": "Fish", "amount": 10, "shares": shares}]
    adjusted = {"participantUserIds": people, "splitAmounts": {str(ed.pk): -1, str(olga.pk): 2}}
    back = [{"name": "Deposit", "amount": -30.01, "shares": shares}]
    for body in (
        {"amount": 10.01, "splitType": "ITEMIZED", "items": items, "tip": 0.01},
        {"amount": 10.01, "splitType": "ADJUSTMENT", **adjusted},
        {"amount": -30.01, "splitType": "ITEMIZED", "items": back},
    ):
        assert client.post(url, {**common, **body}).status_code == 201
    return file_of(api, trip, olga)


def entered(api, trip_id, by):
    """What was entered and each one's part, by name."""
    answer = exact(api(by).get(f"/api/trips/{trip_id}/expenses?ordering=createdAt"))
    adjusted = dict(Split.objects.filter(trip=trip_id).values_list("pk", "entered_minor"))
    shown = []
    for row in answer["items"]:
        parts = [{**part, "name": part["participant"]["name"]} for part in row["splits"]]
        names = {str(part["participant"]["id"]): part["name"] for part in parts}
        items = [
            {**item, "shares": {names[pk]: weight for pk, weight in item["shares"].items()}}
            for item in row["items"] or []
        ]
        each = sorted((part["name"], part["amount"], adjusted[part["id"]]) for part in parts)
        shown.append(
            [row["amount"], row["splitType"], row["paidBy"]["name"], row["tip"], items, each]
        )
    return shown


@pytest.mark.parametrize("is_new", [True, False])
def test_everything_stays_as_entered(api, trip, olga, content, plan, imported, is_new, other):
    # Odd cents would fall to somebody else.
    spend(other, 100, paid_by=olga, among=[olga])
    where = {"asNewTrip": True} if is_new else {"tripId": other.pk}
    planned = exact(plan(content, **where))
    assert (planned["counts"]["skipped"], planned["counts"]["expense"]) == (0, 3)
    assert planned["balances"]
    assert all(row["ours"] == row["claimed"] for row in planned["balances"])
    rows = entered(api, imported(content, **where)["tripId"], olga)
    assert rows[0 if is_new else 1 :] == entered(api, trip.pk, olga)


def test_a_trip_in_another_currency_gets_converted_items(api, olga, content, plan, imported):
    other = owned_trip(olga, currency="JPY")
    done = imported(content, tripId=other.pk, exchangeRates={"EUR": 163})
    rows = exact(api(olga).get(f"/api/trips/{done['tripId']}/expenses?ordering=createdAt"))["items"]
    assert [row["splitType"] for row in rows] == ["ITEMIZED", "ADJUSTMENT", "ITEMIZED"]
    assert [row["tripAmount"] for row in rows] == [1632, 1632, -4892]


def test_a_division_by_hand_is_planned_as_it_is_recorded(
    api, trip, olga, ed, vera, plan, imported, other
):
    boat = spend(trip, 9000, paid_by=olga, among=[olga, ed, vera])
    split = boat.splits.get(participant=vera)
    assert api(olga).delete(f"/api/expenses/{boat.pk}/splits/{split.pk}").status_code == 204
    for user in (ed, vera):
        join(other, user, TripRole.OWNER)
    where = {"tripId": other.pk, "mapping": {user.name: user.pk for user in (olga, ed, vera)}}
    [row] = plan(file_of(api, trip, olga), **where).json()["rows"]
    imported(file_of(api, trip, olga), **where)
    [made] = api(olga).get(f"/api/trips/{other.pk}/expenses").json()["items"]
    parts = ["MANUAL", {str(olga.pk): 60, str(ed.pk): 30}]
    assert [made["splitType"], made["splitAmounts"]] == parts
    assert [row["object"]["splitType"], row["object"]["splitAmounts"]] == parts


@pytest.mark.parametrize("at", range(2))
def test_odd_cents_stay_where_they_were(api, trip, olga, ed, vera, imported, at, other):
    """Those of several payers in another currency, and of a guest whose place somebody took."""
    for _number in range(at):
        spend(trip, 100, paid_by=vera, among=[vera])
    guest, url = add_guest(trip), f"/api/trips/{trip.pk}"
    both = dict.fromkeys((guest.pk, ed.pk), 7)
    boat = spend(trip, 14, paid_by=olga, among=[guest, vera], paid_by_user=both)
    foreign = {"currency": "USD", "exchange_rate": Decimal("0.5007")}
    half = {ed.pk: 1000, vera.pk: 1000}
    spend(trip, 2000, paid_by=olga, among=[olga], paid_by_user=half, **foreign)
    part = boat.splits.get(participant=guest)
    assert api(olga).delete(f"/api/expenses/{boat.pk}/splits/{part.pk}").status_code == 204
    merged = api(olga).post(f"{url}/guests/{guest.pk}/merge", {"userId": olga.pk})
    assert merged.status_code == 200, merged.json()
    for user in (ed, vera):
        join(other, user, TripRole.OWNER)
    # Without the file's parts, odd cents would fall to somebody else.
    spend(other, 100, paid_by=olga, among=[olga])
    mapping = {user.name: user.pk for user in (olga, ed, vera)}
    imported(file_of(api, trip, olga), tripId=other.pk, mapping=mapping)
    assert sums_in(other, ed, vera) == sums_in(trip, ed, vera)


def sums_in(trip, *people):
    """What these people paid and bear."""
    rows = {row.user_id: (row.paid_minor, row.share_minor) for row in trip.members.all()}
    return [rows[user.pk] for user in people]


@pytest.mark.parametrize("reason", SKIPPED)
def test_what_cannot_be_recorded_is_skipped(api, olga, content, plan, reason, other):
    held = json.loads(content)
    SKIPPED[reason](held)
    answer = plan(json.dumps(held), tripId=other.pk)
    rows = api(olga).get(f"{answer['Location']}/rows?outcome=skipped").json()["items"]
    assert [row["notes"] for row in rows] == [[reason]]


#: What makes an income of the first entry of each sample.
INCOMES = {
    "SPLITWISE_CSV": [
        ("90.00,EUR,60.00,-30.00,-30.00", "-30.00,EUR,10.00,10.00,-20.00"),
        ("56.67,6.66,-63.33", "6.67,46.66,-53.33"),
    ],
    "SPLIIT_JSON": [('"amount":1001', '"amount":-1001')],
    "IHATEMONEY_JSON": [("33.4", "-33.4")],
    "TRICOUNT": [('"NORMAL"', '"INCOME"')],
    "ABRECHNUNG": [('"value":22.0', '"value":-22.0'), ('"price":2.0', '"price":-2.0')],
    "SETTLE_UP": [("Ana;Ben,60;40", "Ana,-100"), ("33.34;33.33;33.33", "-33.34;-33.33;-33.33")],
}


@pytest.mark.parametrize("name", INCOMES)
def test_an_income_is_recorded_as_a_refund(name, imported):
    content = getattr(samples, name)
    for old, new in INCOMES[name]:
        assert old in content
        content = content.replace(old, new)
    done = imported(content, exchangeRates={"CHF": 0.95})
    assert done["counts"]["skipped"] == 0
    refund = Expense.objects.get(amount_minor__lt=0)
    assert [payer.entered_minor for payer in refund.payers.all()] == [refund.entered_minor]
    assert all(row["ours"] == row["claimed"] for row in done["balances"] if row["claimed"])
