"""Rates are stored as they are used, so that the audit converts as the service did."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from splits.models import DailyRate, Expense, Rate
from tests.factories import spend
from tests.splits.test_audit import audit


@pytest.fixture
def expense(trip, olga):
    """Any row that a rate can be stored in."""
    return spend(trip, 100, paid_by=olga, among=[olga])


def assert_stored_as_used(expense, rate):
    Expense.objects.filter(pk=expense.pk).update(exchange_rate=rate)
    expense.refresh_from_db(fields=["exchange_rate"])
    assert (rate > 0, expense.exchange_rate) == (True, rate)


per_euro = st.decimals(Decimal("0.000001"), Decimal(10**5), places=6)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(per_euro, per_euro)
def test_any_two_rates_make_one_that_is_stored_as_it_is_used(expense, source, target):
    for currency, worth in (("USD", source), ("JPY", target)):
        values = {"per_euro": worth, "day": date(2026, 5, 1)}
        Rate.objects.update_or_create(currency=currency, defaults=values)
    rate = Rate.objects.latest_to("JPY", ["USD"])["USD"].rate
    if rate < 10**9:  # the column holds no larger one
        assert_stored_as_used(expense, rate)


def test_the_audit_agrees_with_the_largest_amount_of_a_currency_of_little_worth(
    ledger_in, olga, ed
):
    # One lira is 0.0516384839650146 dollars; without the last digit it is a cent more in all.
    for currency, worth in (("AUD", "1.7712"), ("TRY", "34.3")):
        DailyRate.objects.create(currency=currency, per_euro=Decimal(worth), day=date(2026, 5, 1))
    expense = ledger_in("AUD").spend(olga, 10**12, olga, ed, currency="TRY")
    assert expense["tripAmount"] == 51638483965.02
    assert audit() == ""
