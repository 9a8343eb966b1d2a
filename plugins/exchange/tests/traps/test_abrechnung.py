"""JSON of Abrechnung: what a file leaves open or gets wrong, and what it is read as."""

import json
from decimal import Decimal

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import (
    balances,
    changed,
    check,
    codes,
    entries,
    kinds,
    noted,
    read,
    skipped,
)

pytestmark = pytest.mark.once


def abrechnung(sample=samples.ABRECHNUNG, **fields):
    return read(changed(sample, "transactions", 0, **fields))


ITEM = json.loads(samples.ABRECHNUNG)["transactions"][0]["positions"][0]


@pytest.mark.parametrize(
    ("fields", "notes", "expected"),
    [
        # Files of version 1.5 do not say how.
        ({"split_mode": ...}, [], 1150),
        ({"value": 22.004}, ["rounded"], 1150),
        ({"debitor_shares": {"1": 1.0, "2": 1.0}}, [], 1150),
        # The odd cent is Ana's.
        ({"value": 22.01, "positions": []}, [], 1100),
        ({"positions": [ITEM | {"price": 22.0}]}, [], 1650),
        ({"positions": [ITEM | {"price": 24.0}]}, ["items_exceed"], 1700),
        ({"positions": [], "files": [{"filename": "a", "content": "QQ=="}]}, ["files_left_out"],
         1100),
        ({"positions": [], "split_mode": "absolute", "debitor_shares": {"2": 22.0}},
         ["rate_not_applied"], 2200),
    ],
)  # fmt: skip
def test_transactions_of_abrechnung_are_exact(fields, notes, expected):
    trip = abrechnung(**fields)
    assert noted(trip) == ({1: notes} if notes else {})
    assert codes(trip) == ["deleted_come_back"]
    assert balances(trip) == {("1", "CHF"): expected, ("2", "CHF"): -expected}
    (entry,) = entries(trip)
    assert (entry.rate, entry.fields["tags"]) == (
        Decimal("0.96"),
        ("food",) + entry.fields["tags"][1:],
    )


def test_an_item_of_nobody_is_refused():
    item = ITEM | {"usages": {}, "communist_shares": 0.0}
    assert skipped(abrechnung(positions=[item])) == {1: "item_of_nobody"}
    assert skipped(abrechnung(debitor_shares={"9": 1.0})) == {1: "unknown_person"}
    item = ITEM | {"price": 23.0, "communist_shares": 0.0}
    assert skipped(abrechnung(positions=[item], debitor_shares={"1": 1.0})) == {1: "negative_part"}


@pytest.mark.parametrize(("second", "is_refused"), [(0.75, False), (0.7501, False), (0.74, True)])
def test_percentages_of_abrechnung_add_up(second, is_refused):
    trip = abrechnung(split_mode="percent", debitor_shares={"1": 0.25, "2": second}, positions=[])
    assert skipped(trip) == ({1: "does_not_add_up"} if is_refused else {})


def test_payments_of_abrechnung_are_told_from_expenses():
    plain = {"positions": [], "currency_conversion_rate": 1, "debitor_shares": {"2": 1}}
    trip = abrechnung(type="transfer", **plain)
    assert (kinds(trip), noted(trip)) == (["payment"], {})
    assert balances(trip) == {("1", "CHF"): 2200, ("2", "CHF"): -2200}
    assert kinds(abrechnung(value=-22.0, **plain)) == ["EQUAL"]
    # What cannot be recorded with a negative amount is turned around.
    back = abrechnung(type="transfer", value=-22.0, **plain)
    assert (kinds(back), noted(back)) == (["payment"], {1: ["turned_around"]})
    assert balances(back) == {("1", "CHF"): -2200, ("2", "CHF"): 2200}
    both = abrechnung(type="mimo", value=-22.0, creditor_shares={"1": 1, "2": 1}, **plain)
    assert (entries(both)[0].payers, noted(both)) == ((("2", 2200),), {1: ["turned_around"]})


def test_events_that_pass_on_to_each_other_are_refused():
    events = [{"id": at, "name": "A", "clearing_shares": {7 - at: 1}} for at in (3, 4)]
    check(changed(samples.ABRECHNUNG, events=events), refused="circular_events")


def test_events_pass_on_to_events_and_name_a_tag():
    content = json.loads(samples.ABRECHNUNG)
    content["events"] += [{"id": 4, "name": "Alps", "clearing_shares": {"3": 1, "2": 1}}]
    trip = abrechnung(json.dumps(content), debitor_shares={"4": 1.0}, positions=[])
    assert balances(trip) == {("1", "CHF"): 1650, ("2", "CHF"): -1650}
    assert entries(trip)[0].fields["tags"] == ("food", "Alps")
    # An event can also have paid.
    trip = abrechnung(creditor_shares={"3": 1.0}, debitor_shares={"2": 1.0}, positions=[])
    assert balances(trip) == {("1", "CHF"): 1100, ("2", "CHF"): -1100}
