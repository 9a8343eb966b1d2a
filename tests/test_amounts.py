"""Amounts as people enter them, in minor units and back."""

from decimal import Decimal

import pytest
from rest_framework.exceptions import ValidationError

from tripcompanion.currency.amounts import all_to_major, minor_units, to_major

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [("12.345", "EUR", 1235), ("12.344", "EUR", 1234), ("0.005", "EUR", 1), ("0.5", "JPY", 1)],
)
def test_an_entered_amount_is_rounded_half_up(amount, currency, minor):
    assert minor_units("amount", Decimal(amount), currency) == minor
    assert minor_units("amount", -Decimal(amount), currency, signed=True) == -minor


@pytest.mark.parametrize(
    ("amount", "signed", "text"),
    [
        ("0.004", False, "Must be greater than 0."),
        ("-0.01", False, "Must be greater than 0."),
        ("0.004", True, "Must not be 0."),
        ("-0.004", True, "Must not be 0."),
    ],
)
def test_what_rounds_to_nothing_or_below_is_refused(amount, signed, text):
    with pytest.raises(ValidationError) as refused:
        minor_units("items.0.amount", Decimal(amount), "EUR", signed=signed)
    assert refused.value.detail == {"items.0.amount": [text]}


@pytest.mark.parametrize(
    ("currency", "shown"), [("EUR", "-1.20"), ("JPY", "-120"), ("KWD", "-0.120")]
)
def test_all_decimals_of_a_currency_are_shown(currency, shown):
    assert [str(one) for one in all_to_major([-120], currency)] == [shown]
    assert str(to_major(-120, currency)) == shown
