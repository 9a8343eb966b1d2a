"""An expense in another currency than the trip's: its rate is frozen, its parts add up."""

from datetime import date
from decimal import Decimal

import pytest
from django.utils import timezone

from splits.models import DailyRate, Rate
from tests.document import fields_in, problem_of

pytestmark = pytest.mark.either


@pytest.fixture
def rates(db):
    """Two units of dollar or 160 of yen for a euro."""
    for model in (DailyRate, Rate):
        model.objects.create(currency="USD", per_euro=Decimal(2), day=date(2026, 5, 1))
        model.objects.create(currency="JPY", per_euro=Decimal(160), day=date(2026, 5, 2))


@pytest.fixture
def dollars(rates, ledger, olga, ed):
    """25.01 dollars of Olga, with Ed."""
    return ledger.spend(olga, 25.01, olga, ed, currency="USD")


def test_both_amounts_are_shown_with_the_rate_its_source_and_day(dollars):
    shown = {name: dollars[name] for name in ("amount", "currency", "tripAmount", "tripCurrency")}
    assert shown == {"amount": 25.01, "currency": "USD", "tripAmount": 12.51, "tripCurrency": "EUR"}
    assert dollars["exchangeRate"] == 0.5
    assert dollars["exchangeRateSource"] == "ECB"
    assert dollars["exchangeRateDate"] == "2026-05-01"
    assert dollars["rate"] == {"value": 0.5, "date": "2026-05-01", "source": "ecb"}


def test_the_splits_are_in_the_trips_currency_and_add_up(dollars):
    amounts = [split["amount"] for split in dollars["splits"]]
    assert sorted(amounts) == [6.25, 6.26]
    assert dollars["payers"][0]["amount"] == 25.01


def test_an_expense_in_the_trips_currency_has_no_rate(ledger, olga, ed):
    expense = ledger.spend(olga, 10, ed, currency="EUR")
    assert expense["exchangeRate"] is None
    assert expense["exchangeRateDate"] is None
    assert expense["rate"] is None
    assert (expense["amount"], expense["tripAmount"]) == (10, 10)


def test_a_rate_that_was_entered_wins_over_the_stored_one(rates, ledger, olga, ed):
    expense = ledger.spend(olga, 1000, ed, currency="JPY", exchangeRate="0.00613")
    assert expense["tripAmount"] == 6.13
    assert expense["exchangeRate"] == 0.00613
    assert expense["exchangeRateSource"] == "ENTERED"
    today = timezone.now().date().isoformat()
    assert expense["rate"] == {"value": 0.00613, "date": today, "source": "given"}


def test_a_new_stored_rate_leaves_old_expenses_alone(dollars, ledger, olga):
    DailyRate.objects.filter(currency="USD").update(per_euro=Decimal(4))
    changed = ledger.change(dollars, olga, amount=50)
    assert (changed["tripAmount"], changed["exchangeRate"]) == (25, 0.5)


def test_another_currency_takes_a_new_rate(dollars, ledger, olga):
    changed = ledger.change(dollars, olga, currency="JPY", amount=1600)
    assert (changed["tripAmount"], changed["currency"]) == (10, "JPY")
    assert changed["exchangeRateDate"] == "2026-05-02"
    back = ledger.change(dollars, olga, currency="EUR", amount=16)
    assert (back["tripAmount"], back["exchangeRate"]) == (16, None)


def test_another_currency_needs_its_amount(dollars, ledger, olga):
    refused = ledger.answer(olga, "patch", f"expenses/{dollars['id']}", {"currency": "JPY"})
    assert fields_in(refused) == ["amount"]
    assert ledger.expense(dollars) == dollars


@pytest.mark.parametrize("per_euro", ["0.000003", "3", "184.83", "987654.3"])
def test_an_expense_is_sent_back_with_a_rate_of_any_length(rates, ledger, olga, ed, per_euro):
    DailyRate.objects.filter(currency="JPY").delete()
    DailyRate.objects.create(currency="JPY", per_euro=per_euro, day=date(2026, 5, 1))
    read = ledger.spend(olga, 10**6, ed, currency="JPY")
    assert ledger.change(read, olga, **read) == read
    changed = ledger.change(read, olga, exchangeRate=read["exchangeRate"], amount=2 * 10**6)
    assert changed["rate"] == read["rate"]


def test_a_rate_crosses_the_euro(rates, ledger_in, olga, ed):
    expense = ledger_in("JPY").spend(olga, 10, ed, currency="USD")
    assert (expense["tripAmount"], expense["exchangeRate"]) == (800, 80)
    assert expense["exchangeRateDate"] == "2026-05-01"


def test_exact_amounts_and_payers_are_entered_in_the_expenses_currency(
    rates, ledger, olga, ed, vera
):
    expense = ledger.spend(
        olga,
        "0.03",
        olga,
        ed,
        vera,
        currency="USD",
        splitType="MANUAL",
        splitAmounts={str(user.pk): 0.01 for user in (olga, ed, vera)},
        payers=[{"userId": olga.pk, "amount": 0.02}, {"userId": ed.pk, "amount": 0.01}],
    )
    assert expense["tripAmount"] == 0.02
    assert sorted(split["amount"] for split in expense["splits"]) == [0, 0.01, 0.01]
    assert [payer["amount"] for payer in expense["payers"]] == [0.02, 0.01]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"currency": "USD", "exchangeRate": 0}, "exchangeRate"),
        ({"currency": "USD", "exchangeRate": -1}, "exchangeRate"),
        ({"currency": "USD", "exchangeRate": "1e9"}, "exchangeRate"),
        ({"currency": "USD", "exchangeRate": "0.0000000000000001"}, "exchangeRate"),
        ({"currency": "USD", "exchangeRate": "1234.567890123456"}, "exchangeRate"),
        ({"currency": "EUR", "exchangeRate": 2}, "exchangeRate"),
        ({"exchangeRate": 2}, "exchangeRate"),
        ({"currency": "XXX"}, "currency"),
        ({"currency": "usd"}, "currency"),
        ({"currency": "JPY", "amount": 1, "exchangeRate": "0.001"}, "amount"),
        ({"currency": "USD", "amount": 10**12, "exchangeRate": 2}, "amount"),
    ],
)
def test_a_currency_or_rate_that_makes_no_sense_is_refused(rates, ledger, olga, ed, fields, field):
    body = ledger.expense_body(10, ed) | fields
    assert fields_in(ledger.answer(olga, "post", "expenses", body)) == [field]


def test_without_a_rate_the_expense_is_a_conflict(ledger, olga, ed):
    refused = ledger.answer(olga, "post", "expenses", ledger.expense_body(10, ed, currency="CHF"))
    assert (refused.status_code, refused.json()["code"]) == (409, "no_rate")
    assert "CHF" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("day", "rate", "published"),
    [
        ("2026-04-30", 0.25, "2026-04-24"),
        ("2026-05-01", 0.5, "2026-05-01"),
        ("2026-05-03", 0.5, "2026-05-01"),
        ("2027-08-01", 0.5, "2026-05-01"),
    ],
)
def test_the_rate_is_the_last_one_up_to_the_day_of_the_expense(
    rates, ledger, olga, ed, day, rate, published
):
    DailyRate.objects.create(currency="USD", per_euro=4, day=date(2026, 4, 24))
    body = ledger.expense_body(10, ed, currency="USD", expenseDate=day)
    preview = ledger.answer(olga, "post", "expenses/preview", body).json()
    expense = ledger.spend(olga, 10, ed, currency="USD", expenseDate=day)
    wanted = {"value": rate, "date": published, "source": "ecb"}
    assert [preview["rate"], expense["rate"]] == [wanted, wanted]


def test_before_the_first_rate_the_expense_brings_its_own(rates, ledger, olga, ed):
    body = ledger.expense_body(10, ed, currency="USD", expenseDate="2026-04-30")
    problem_of(ledger.answer(olga, "post", "expenses", body), 409, "no_rate")
    assert ledger.answer(olga, "post", "expenses", body | {"exchangeRate": 2}).status_code == 201


def test_a_currency_whose_rates_have_ended_has_none(rates, ledger, olga, ed):
    DailyRate.objects.create(currency="RUB", per_euro=117, day=date(2022, 3, 1))
    ended = ledger.expense_body(1000, ed, currency="RUB")
    assert ledger.answer(olga, "post", "expenses", ended).status_code == 409
    in_time = ended | {"expenseDate": "2022-03-05"}
    assert ledger.answer(olga, "post", "expenses", in_time).json()["rate"]["date"] == "2022-03-01"


def test_another_date_keeps_the_rate_until_it_is_cleared(rates, ledger, olga, ed):
    DailyRate.objects.create(currency="USD", per_euro=4, day=date(2026, 5, 20))
    expense = ledger.spend(olga, 10, ed, currency="USD")
    later = ledger.change(expense, olga, expenseDate="2026-05-21")
    assert (later["rate"], later["tripAmount"]) == (expense["rate"], 5)
    cleared = ledger.change(later, olga, exchangeRate=None)
    assert (cleared["rate"]["date"], cleared["tripAmount"]) == ("2026-05-20", 2.5)
