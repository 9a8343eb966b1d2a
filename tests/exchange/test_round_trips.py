"""What a small writer of a format writes is read again as it was, whatever it is."""

from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.exchange.reading import balances, claimed, read, skipped
from tests.exchange.writers import IDS, expenses, nets, settle_up, spliit, splitwise, sums_of
from tripcompanion.exchange.formats.reading import Numbers

#: On a busy machine, too.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(st.lists(expenses(payers=3), min_size=1, max_size=8))
@PATIENT
def test_every_balance_of_splitwise_is_right(rows: list[dict[str, Any]]) -> None:
    trip = read(splitwise(rows))
    assert trip.format == "splitwise_csv"
    # Who paid exactly their own part paid somebody's part of which the file says nothing.
    silent = [row for row in rows if not any(nets(row).values())]
    assert list(skipped(trip).values()) == ["payer_unknown"] * len(silent)
    assert balances(trip) == claimed(trip) == sums_of(rows)


@given(st.lists(expenses(payers=4), min_size=1, max_size=8))
@PATIENT
def test_everything_in_settle_up_is_exact(rows: list[dict[str, Any]]) -> None:
    trip = read(settle_up(rows).encode("utf-16"))
    assert not skipped(trip)
    assert balances(trip) == sums_of(rows)


@given(
    st.lists(expenses(), min_size=1, max_size=8),
    st.sampled_from(["BY_AMOUNT", "BY_SHARES", "EVENLY"]),
    st.booleans(),
)
@PATIENT
def test_everything_in_spliit_adds_up(
    rows: list[dict[str, Any]], mode: str, is_income: bool
) -> None:
    sign = -1 if is_income else 1
    trip = read(spliit(rows, mode, sign))
    assert not skipped(trip)
    if mode == "BY_AMOUNT":
        euros = [row | {"currency": "EUR"} for row in rows]
        expected = {(IDS[p], c): sign * minor for (p, c), minor in sums_of(euros).items()}
        assert balances(trip) == expected
    else:
        assert sum(balances(trip).values()) == 0


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2), st.sampled_from(",."))
@PATIENT
def test_numbers_are_read_in_every_way_of_writing(value: Decimal, mark: str) -> None:
    thousands = "." if mark == "," else ","
    text = f"{value:,.2f}".replace(",", "#").replace(".", mark).replace("#", thousands)
    spaced = f"{value:,.2f}".replace(",", "\u202f").replace(".", mark).replace("-", "\u2212")
    numbers = Numbers([(1, text), (2, spaced)])
    assert numbers(text) == numbers(spaced) == value
