"""A payment in another currency than the trip's: its rate is kept, sums are in the trip's."""

from datetime import date
from decimal import Decimal

import pytest
from django.utils import timezone

from splits.models import DailyRate, Rate
from tests.document import fields_in

pytestmark = pytest.mark.either

AMOUNTS = ("amount", "currency", "tripAmount", "tripCurrency", "exchangeRate", "rate")


@pytest.fixture(autouse=True)
def rates(db):
    """160 yen for a euro on the second of May, 200 on the twentieth."""
    for per_euro, day in ((160, date(2026, 5, 2)), (200, date(2026, 5, 20))):
        DailyRate.objects.create(currency="JPY", per_euro=Decimal(per_euro), day=day)
    Rate.objects.create(currency="JPY", per_euro=Decimal(200), day=date(2026, 5, 20))


def body(sender, receiver, amount=5000, **fields):
    people = {"fromUserId": sender.pk, "toUserId": receiver.pk}
    return {**people, "amount": amount, "currency": "JPY", "settledOn": "2026-05-14", **fields}


@pytest.fixture
def yen(ledger, olga, ed):
    """5,000 yen from Ed to Olga, who paid 40 euros for him."""
    ledger.spend(olga, 40, ed)
    recorded = ledger.answer(ed, "post", "settlements", body(ed, olga))
    assert recorded.status_code == 201
    return recorded.json()


def amounts(shown):
    return {name: shown[name] for name in AMOUNTS}


RATE_OF_MAY_2 = {
    "amount": 5000,
    "currency": "JPY",
    "tripAmount": 31.25,
    "tripCurrency": "EUR",
    "exchangeRate": 0.00625,
    "rate": {"value": 0.00625, "date": "2026-05-02", "source": "ecb"},
}


def test_it_is_shown_as_entered_and_in_the_trips_currency(yen, ledger, olga, ed):
    assert amounts(yen) == RATE_OF_MAY_2
    [listed] = ledger.settlements()
    assert listed == {name: value for name, value in yen.items() if name != "credit"}
    assert ledger.balance(ed) == -8.75
    assert ledger.debt(ed) == 8.75


def test_what_is_left_over_is_answered_as_credit(yen, ledger, olga, ed, vera):
    assert yen["credit"] == 0
    more = ledger.answer(ed, "post", "settlements", body(ed, olga, 4000)).json()
    assert (more["tripAmount"], more["credit"]) == (25, 16.25)
    other = ledger.answer(vera, "post", "settlements", body(vera, olga, 10, currency="EUR"))
    assert other.json()["credit"] == 10


def test_a_payment_that_closes_the_trip_leaves_nothing_over(ledger, olga, ed, vera):
    ledger.spend(olga, 40, ed)
    ledger.spend(ed, 40, vera)
    last = ledger.answer(vera, "post", "settlements", body(vera, olga, 40, currency="EUR"))
    assert last.json()["credit"] == 0


def test_a_rate_that_was_entered_wins(ledger, olga, ed):
    paid = ledger.answer(ed, "post", "settlements", body(ed, olga, 1000, exchangeRate="0.00613"))
    assert paid.json()["tripAmount"] == 6.13
    today = timezone.now().date().isoformat()
    assert paid.json()["rate"] == {"value": 0.00613, "date": today, "source": "given"}


@pytest.mark.parametrize("day", ["2026-05-20", "2031-07-06"])
def test_the_rate_is_that_of_its_date_also_of_one_ahead(ledger, olga, ed, day):
    """T213: Another currency is converted at its day's rate, never at par."""
    paid = ledger.answer(ed, "post", "settlements", body(ed, olga, settledOn=day)).json()
    assert (paid["tripAmount"], paid["rate"]["date"]) == (25, "2026-05-20")
    assert paid["settledOn"] == day


def test_a_new_rate_leaves_recorded_payments_alone(yen, ledger, olga):
    DailyRate.objects.update(per_euro=Decimal(100))
    assert amounts(ledger.settlements()[0]) == RATE_OF_MAY_2


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"exchangeRate": 0}, "exchangeRate"),
        ({"currency": "EUR", "exchangeRate": 2}, "exchangeRate"),
        ({"currency": None, "exchangeRate": 2}, "exchangeRate"),
        ({"currency": "yen"}, "currency"),
        ({"amount": "0.4"}, "amount"),
        ({"amount": 1, "exchangeRate": "0.001"}, "amount"),
        ({"amount": 10**12, "exchangeRate": 2}, "amount"),
    ],
)
def test_a_currency_or_rate_that_makes_no_sense_is_refused(ledger, olga, ed, fields, field):
    assert fields_in(ledger.answer(ed, "post", "settlements", body(ed, olga) | fields)) == [field]
    assert ledger.settlements() == []


def test_without_a_rate_the_payment_is_a_conflict(ledger, olga, ed):
    refused = ledger.answer(ed, "post", "settlements", body(ed, olga, currency="CHF"))
    assert (refused.status_code, refused.json()["code"]) == (409, "no_rate")
    assert ledger.settlements() == []


def test_the_journal_has_the_amount_as_it_was_entered(yen, ledger, olga):
    ledger.delete_settlement(yen, olga)
    _deleted, made = ledger.journal(event__startswith="settlement.")
    news = {name: pair["new"] for name, pair in made.changes.items()}
    assert (news["tripAmount"], news["exchangeRate"]) == (Decimal("31.25"), Decimal("0.00625"))
    assert news["exchangeRateDate"] == "2026-05-02"


def test_it_is_restored_as_it_was(yen, ledger, olga):
    before = ledger.settlements()
    DailyRate.objects.all().delete()
    ledger.delete_settlement(yen, olga)
    [deleted] = ledger.answer(olga, "get", "settlements?deleted=true").json()["items"]
    assert amounts(deleted) == RATE_OF_MAY_2
    restored = ledger.answer(olga, "post", f"settlements/{yen['id']}/restore")
    assert (restored.status_code, ledger.settlements()) == (200, before)
