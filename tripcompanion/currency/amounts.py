"""ISO 4217 currencies and their minor units, from the `iso4217` package.

Their names are from the Unicode CLDR, which the `babel` package contains.
"""

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

import iso4217
import orjson
from babel import Locale
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

#: Decimals of each currency: EUR 2, JPY 0, KWD 3. Metals and test codes have none: excluded.
EXPONENTS: dict[str, int] = {
    currency.code: currency.exponent
    for currency in iso4217.Currency
    if currency.exponent is not None
}
CODES: tuple[str, ...] = tuple(sorted(EXPONENTS))
_ENDED = """
    ADP AFA ALK ANG AOK AON AOR ARA ARL ARM ARP ATS AZM BAD BAN BEC BEF BEL BGL BGM BGN BGO BOL BOP
    BRB BRC BRE BRN BRR BRZ BUK BYB BYR CLE CSD CSK CUC CYP DDM DEM ECS ECV EEK ESA ESB ESP FIM FRF
    GEK GHC GNS GQE GRD GWE GWP HRD HRK IEP ILP ILR ISJ ITL KRH KRO LTL LTT LUC LUF LUL LVL LVR MAF
    MCF MDC MGF MKN MLF MRO MTL MTP MVP MXP MZE MZM NIC NLG PEI PES PLZ PTE RHD ROL RUR SDD SDP SIT
    SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UYP VEB VEF VNN XEU YDD YUD YUM YUN YUR ZAL ZMK ZRN
    ZRZ ZWD ZWL ZWR
"""
#: Currencies that have ended: only files of other systems name them.
ENDED: frozenset[str] = frozenset(_ENDED.split()) - EXPONENTS.keys()
#: All of them had at most two decimals.
_DECIMALS = EXPONENTS | dict.fromkeys(ENDED, 2)

#: Enough digits for the longest amount, and for the largest times the longest rate, unrounded.
_WIDE = Context(prec=60)

#: The largest amount that can be entered, in major units.
MAX_AMOUNT = Decimal(10) ** 12


class Amount(NamedTuple):
    """An amount as entered: in major units, with the currency that the client assumed."""

    value: Decimal
    currency: str


def to_minor(amount: Decimal, currency: str) -> int:
    """`amount` in major units as a whole number of minor units, rounded half up."""
    scaled = _WIDE.scaleb(amount, _DECIMALS[currency])
    return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP, context=_WIDE))


def minor_units(path: str, amount: Decimal, currency: str, *, signed: bool = False) -> int:
    """Minor units of an entered `amount`, rounded half up.

    Raises `ValidationError` on the field at `path` if it rounds to zero or, unless it is `signed`,
    below.
    """
    amount_minor = to_minor(amount, currency)
    if signed and not amount_minor:
        raise ValidationError({path: [_("Must not be 0.")]})
    if amount_minor <= 0 and not signed:
        raise ValidationError({path: [_("Must be greater than 0.")]})
    return amount_minor


def convert(amount_minor: int, source: str, target: str, rate: Decimal) -> int:
    """Minor units of `target` for `amount_minor` of `source`, rounded half up.

    `rate` is how many units of `target` one unit of `source` is worth.
    """
    exact = _WIDE.multiply(to_major(amount_minor, source), rate)
    scaled = _WIDE.scaleb(exact, EXPONENTS[target])
    return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP, context=_WIDE))


def to_major(amount_minor: int, currency: str) -> Decimal:
    """The exact amount in major units, with all decimals of the currency (12.30, not 12.3)."""
    return Decimal(amount_minor).scaleb(-_DECIMALS[currency])


def all_to_major(amounts_minor: Iterable[int], currency: str) -> list[Decimal]:
    exponent = -EXPONENTS[currency]
    return [Decimal(amount_minor).scaleb(exponent) for amount_minor in amounts_minor]


@lru_cache(maxsize=8192)
def as_number(amount_minor: int, currency: str) -> orjson.Fragment:
    """`to_major` as the digits of a JSON number, cached."""
    return orjson.Fragment(format(to_major(amount_minor, currency), "f"))


@cache
def currency_names(language: str) -> Mapping[str, str]:
    """The name of each currency in `language`, or in English if the CLDR has none."""
    english = {currency.code: currency.currency_name for currency in iso4217.Currency}
    names = {**english, **Locale("en").currencies, **Locale(language).currencies}
    return MappingProxyType({code: capfirst(names[code]) for code in CODES})
