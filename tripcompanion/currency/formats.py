"""Amounts as people read them, in the active language."""

from django.utils.formats import number_format

from tripcompanion.currency.amounts import EXPONENTS, to_major


def format_amount(amount_minor: int | None, currency: str) -> str:
    """Major units with separators and the currency (`1,234.50 EUR`), or a dash for None."""
    if amount_minor is None:
        return "-"
    value = to_major(amount_minor, currency)
    digits = number_format(value, EXPONENTS[currency], use_l10n=True, force_grouping=True)
    return f"{digits}\N{NO-BREAK SPACE}{currency}"
