"""What GET answered is sent back by PUT, and changes nothing."""

from datetime import date
from decimal import Decimal
from itertools import product

import pytest

from splits.models import DailyRate, Split
from tests.splits.ledger import Json
from trips.models import JournalEntry

pytestmark = pytest.mark.either


@pytest.fixture(autouse=True)
def rates(db):
    DailyRate.objects.create(currency="USD", per_euro=Decimal("1.0837"), day=date(2026, 5, 1))


def divided(olga, ed, vera):
    """Every way in which 100 is divided; the parts leave odd cents."""
    everybody = {"participantUserIds": [vera.pk, ed.pk, olga.pk]}

    def by(split_type, *figures):
        named = zip((olga, ed, vera), figures, strict=False)
        amounts = {str(user.pk): figure for user, figure in named}
        return {**everybody, "splitType": split_type, "splitAmounts": amounts}

    items = [
        {"name": "Fish", "amount": 70, "shares": {str(olga.pk): 1, str(ed.pk): 1.5}},
        {"name": "Wine", "amount": 21, "shares": {str(vera.pk): 1}},
    ]
    extras = {"tax": 4, "tip": 6.5, "discount": 1.5}
    return {
        "EQUAL": {**everybody, "splitType": "EQUAL"},
        "MANUAL": by("MANUAL", 33.35, 33.33, 33.32),
        "PERCENTAGE": by("PERCENTAGE", 33.3333, 33.3333, 33.3334),
        "SHARES": by("SHARES", 1, 2.5, 3),
        "ADJUSTMENT": by("ADJUSTMENT", 5.01, -2),
        "ITEMIZED": {"splitType": "ITEMIZED", "items": items, **extras},
    }


def paid(olga, ed):
    """Every way in which 100 is paid."""
    two = [{"userId": ed.pk, "amount": 66.67}, {"userId": olga.pk, "amount": 33.33}]
    return [{}, {"paidByUserId": ed.pk}, {"payers": two}]


CURRENCIES: list[Json] = [{}, {"currency": "USD"}, {"currency": "USD", "exchangeRate": "0.91"}]


def put(ledger, by, expense, body):
    """The answer to a PUT, which has changed nothing, not even the journal."""
    path, rows = f"expenses/{expense['id']}", JournalEntry.objects.filter(trip=ledger.trip)
    before, count = ledger.answer(by, "get", path), rows.count()
    states = list(Split.objects.order_by("pk").values_list("pk", "amount_minor"))
    answer = ledger.answer(by, "put", path, body)
    assert answer.status_code == 200, answer.json()
    assert answer.json() == before.json() == ledger.expense(expense)
    assert (answer["ETag"], rows.count()) == (before["ETag"], count)
    assert list(Split.objects.order_by("pk").values_list("pk", "amount_minor")) == states
    return answer.json()


@pytest.mark.parametrize(
    "split_type", ["EQUAL", "MANUAL", "PERCENTAGE", "SHARES", "ADJUSTMENT", "ITEMIZED"]
)
def test_what_was_read_and_what_was_posted_change_nothing(ledger, olga, ed, vera, split_type):
    division = divided(olga, ed, vera)[split_type]
    for payers, money in product(paid(olga, ed), CURRENCIES):
        body = ledger.expense_body(100, notes="Fado.", tags=["fish"], receiptUrl="/7.pdf")
        del body["participantUserIds"]
        body |= {**division, **payers, **money}
        posted = ledger.answer(olga, "post", "expenses", body)
        assert posted.status_code == 201, posted.json()
        expense = posted.json()
        assert expense["splitAmounts"] == division.get("splitAmounts")
        if "participantUserIds" in division:
            assert expense["participantUserIds"] == division["participantUserIds"]
        put(ledger, olga, expense, expense)
        ledger.pay(ledger.split(expense, vera), olga)
        read = ledger.expense(expense)
        put(ledger, olga, expense, read)
        assert ledger.change(expense, olga, **read) == read
        put(ledger, olga, expense, body)


def test_a_rate_of_the_bank_that_is_sent_back_stays_the_banks(ledger, olga, ed):
    expense = ledger.spend(olga, 100, ed, currency="USD")
    DailyRate.objects.update(per_euro=Decimal(2))
    assert put(ledger, olga, expense, expense)["rate"]["source"] == "ecb"


def test_without_a_rate_put_takes_that_of_the_date_and_patch_keeps_it(ledger, olga, ed):
    DailyRate.objects.create(currency="USD", per_euro=Decimal(2), day=date(2026, 5, 20))
    body = ledger.expense_body(100, ed, currency="USD", exchangeRate="0.91")
    expense = ledger.answer(olga, "post", "expenses", body).json()
    kept = ledger.change(expense, olga, expenseDate="2026-05-21")
    assert (kept["rate"], kept["tripAmount"]) == (expense["rate"], 91)
    path = f"expenses/{expense['id']}"
    put_body = {**body, "expenseDate": "2026-05-21"}
    del put_body["exchangeRate"]
    taken = ledger.answer(olga, "put", path, put_body).json()
    assert (taken["rate"]["date"], taken["rate"]["source"]) == ("2026-05-20", "ecb")
    assert taken["tripAmount"] == 50


@pytest.mark.parametrize("split_type", ["EQUAL", "PERCENTAGE", "ITEMIZED"])
@pytest.mark.parametrize("money", CURRENCIES)
def test_splits_that_were_made_by_hand_stay(ledger, olga, ed, vera, split_type, money):
    body = ledger.expense_body(100) | divided(olga, ed, vera)[split_type] | money
    if split_type == "ITEMIZED":
        del body["participantUserIds"]
    expense = ledger.answer(olga, "post", "expenses", body).json()
    ledger.delete_split(ledger.split(expense, vera), olga)
    by_hand = ledger.expense(expense)
    assert (by_hand["participantUserIds"], by_hand["splitAmounts"]) == (None, None)
    put(ledger, olga, expense, by_hand)
    assert ledger.change(expense, olga, **by_hand) == by_hand
    path = f"expenses/{expense['id']}"
    refused = ledger.answer(olga, "put", path, {**by_hand, "amount": 90, "payers": None})
    assert (refused.status_code, refused.json()["code"]) == (409, "divided_by_hand")
    assert ledger.expense(expense) == by_hand


def test_a_refund_and_a_default_division_are_sent_back(ledger, olga, ed, vera):
    refund = ledger.spend(olga, -10, olga, ed, vera)
    put(ledger, olga, refund, refund)
    figures = {str(olga.pk): 1, str(ed.pk): 2}
    default = {"splitType": "SHARES", "participantUserIds": [olga.pk, ed.pk]}
    default |= {"splitAmounts": figures}
    assert ledger.answer(olga, "patch", ledger.url, {"defaultDivision": default}).status_code == 200
    body = ledger.expense_body(90)
    for name in ("splitType", "participantUserIds"):
        del body[name]
    expense = ledger.answer(olga, "post", "expenses", body).json()
    assert expense["splitAmounts"] == figures
    put(ledger, olga, expense, body)
    put(ledger, olga, expense, expense)
