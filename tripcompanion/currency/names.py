"""The names of currencies, from the Unicode CLDR, which the `babel` package contains."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import iso4217
from babel import Locale
from django.utils.text import capfirst

from tripcompanion.currency.amounts import CODES


@cache
def currency_names(language: str) -> Mapping[str, str]:
    """The name of each currency in `language`, or in English if the CLDR has none."""
    english = {currency.code: currency.currency_name for currency in iso4217.Currency}
    names = {**english, **Locale("en").currencies, **Locale(language).currencies}
    return MappingProxyType({code: capfirst(names[code]) for code in CODES})
