"""Currencies as files name them: by code or by sign, also those that have ended."""

from decimal import Decimal

from tripcompanion.currency.amounts import ENDED, EXPONENTS

#: Signs that only one currency has, and what others most likely mean.
_SIGNS = {
    "€": "EUR", "zł": "PLN", "₹": "INR", "kn": "HRK", "лв": "BGN", "лв.": "BGN", "₺": "TRY",
    "₩": "KRW", "₪": "ILS", "₽": "RUB", "₴": "UAH", "฿": "THB", "₫": "VND", "Kč": "CZK",
    "Ft": "HUF",
}  # fmt: skip
LIKELY_SIGNS = {"$": "USD", "£": "GBP", "¥": "JPY"}


#: Of the euro: Regulation (EC) No 2866/98 and those after it. Andorra and Monaco had others' money.
_EUROS = """
    ADP 166.386 ATS 13.7603 BEF 40.3399 BGN 1.95583 CYP 0.585274 DEM 1.95583 EEK 15.6466
    ESP 166.386 FIM 5.94573 FRF 6.55957 GRD 340.750 HRK 7.53450 IEP 0.787564 ITL 1936.27
    LTL 3.45280 LUF 40.3399 LVL 0.702804 MCF 6.55957 MTL 0.429300 NLG 2.20371 PTE 200.482
    SIT 239.640 SKK 30.1260
"""
#: Redenominations, and the currencies that they led to.
_OTHERS = """
    AFA AFN 1000 ANG XCG 1 AZM AZN 5000 BYR BYN 10000 CUC CUP 0.0416666666666667 GHC GHS 10000
    MGF MGA 5 MRO MRU 10 MZM MZN 1000 ROL RON 10000 SDD SDG 100 SLL SLE 1000 SRG SRD 1000
    STD STN 1000 TMM TMT 5000 TRL TRY 1000000 VEF VES 100000 ZMK ZMW 1000
"""
_PAIRS, _TRIPLES = iter(_EUROS.split()), iter(_OTHERS.split())
#: The currency that took the place of another, and how much of that other one unit of it is.
SUCCESSORS: dict[str, tuple[str, Decimal]] = {
    **{code: ("EUR", Decimal(units)) for code, units in zip(_PAIRS, _PAIRS, strict=True)},
    **{
        code: (successor, Decimal(units))
        for code, successor, units in zip(_TRIPLES, _TRIPLES, _TRIPLES, strict=True)
    },
}


def in_use(currency: str) -> str | None:
    """The currency itself, or the one that took its place; None if none did at a fixed rate."""
    if currency in EXPONENTS:
        return currency
    return SUCCESSORS[currency][0] if currency in SUCCESSORS else None


def known_code(text: str) -> str | None:
    """The code of the currency that a file calls so, in use or not; None if there is none."""
    plain = text.strip()
    code = _SIGNS.get(plain, plain.upper())
    return code if code in EXPONENTS or code in ENDED else None
