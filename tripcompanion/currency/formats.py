"""Amounts as people read and type them, in the active language."""

from django.db.models import BigIntegerField, Case, F, Q, When
from django.db.models.expressions import Combinable
from django.utils.formats import number_format

from tripcompanion.currency.amounts import EXPONENTS, to_major

_DECIMALS = sorted(set(EXPONENTS.values()))
_CODES = {
    decimals: [code for code, exponent in EXPONENTS.items() if exponent == decimals]
    for decimals in _DECIMALS
}


def format_amount(amount_minor: int | None, currency: str) -> str:
    """Major units with separators and the currency (`1,234.50 EUR`), or a dash for None."""
    if amount_minor is None:
        return "-"
    value = to_major(amount_minor, currency)
    digits = number_format(value, EXPONENTS[currency], use_l10n=True, force_grouping=True)
    return f"{digits}\N{NO-BREAK SPACE}{currency}"


def in_order(field: str, currency: str) -> Combinable:
    """An expression that sorts amounts in minor units by their values in major units."""
    scales = [
        When(Q((f"{currency}__in", codes)), then=10 ** (_DECIMALS[-1] - decimals))
        for decimals, codes in _CODES.items()
    ]
    return F(field) * Case(*scales, default=1, output_field=BigIntegerField())
