"""JSON and CSV of Spliit: what a file leaves open or gets wrong, and what it is read as."""

from zoneinfo import ZoneInfo

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import (
    balances,
    changed,
    codes,
    entries,
    noted,
    read,
    refused,
    skipped,
)

pytestmark = pytest.mark.once

SPLIIT_CSV = samples.SPLIIT_CSV.splitlines()[0].removesuffix('"Ana","Ben"')


def spliit(**fields):
    return changed(samples.SPLIIT_JSON, "expenses", 0, originalAmount=None, **fields)


@pytest.mark.parametrize(
    ("code", "symbol", "minor"),
    [
        ("JPY", "¥", 1001),
        ("COP", "$", 100_100),
        ("HUF", "Ft", 100_100),
        ("IDR", "Rp", 100_100),
        ("EUR", "€", 1001),
        (None, "£", 1001),
        ("", "USD", 1001),
        (None, "🍺", 1001),
    ],
)
def test_spliit_has_decimals_of_its_own(code, symbol, minor):
    content = changed(spliit(splitMode="EVENLY"), currencyCode=code, currency=symbol)
    (entry,) = entries(read(content, currency="CHF"))
    assert entry.amount_minor == minor
    if symbol == "🍺":
        assert refused(content) == "currency_needed"


@pytest.mark.parametrize(
    ("fields", "amount"),
    [
        ({}, (1070, "CHF", "0.9355", 1001)),
        # In major units, as on instances that were not migrated.
        ({"originalAmount": 11, "amount": 1029}, (1100, "CHF", "0.9355", 1029)),
        ({"originalAmount": 1700, "originalCurrency": "JPY", "conversionRate": "0.00589"},
         (1700, "JPY", "0.00589", 1001)),
    ],
)  # fmt: skip
def test_a_foreign_amount_of_spliit_keeps_its_currency_and_rate(fields, amount):
    (entry,) = entries(read(changed(samples.SPLIIT_JSON, "expenses", 0, **fields)))
    found = (entry.amount_minor, entry.currency, str(entry.rate), entry.converted_minor)
    assert found == amount
    assert (entry.split_type, entry.entered) == ("SHARES", (("p1", 10_000), ("p2", 30_000)))


def test_older_files_of_spliit_have_fewer_names():
    gone = dict.fromkeys(("id", "notes", "recurrenceRule", "originalAmount", "conversionRate"), ...)
    content = changed(samples.SPLIIT_JSON, "expenses", 0, **gone)
    trip = read(changed(content, information=..., currencyCode=..., activities=...))
    assert (trip.currency, entries(trip)[0].key) == ("EUR", None)


def test_what_was_deleted_in_spliit_is_named():
    gone = [{"activityType": "DELETE_EXPENSE", "data": title} for title in ("Sauna", None)]
    rows = [*gone, {"activityType": "UPDATE_GROUP"}, 7]
    trip = read(changed(samples.SPLIIT_JSON, activities=rows))
    assert [(note.code, note.values) for note in trip.notes] == [
        ("deleted_elsewhere", {"count": 2, "titles": "Sauna, ?"})
    ]


def parts_of(trip):
    (entry,) = entries(trip)
    return [part for _person, part in entry.parts]


@pytest.mark.parametrize(
    ("code", "fields", "parts"),
    [
        ("EUR", {"id": ..., "amount": 1000}, [334, 333, 333]),
        ("EUR", {"id": "e1", "amount": 1000}, [333, 333, 334]),
        ("EUR", {"id": "e2", "amount": 1001}, [333, 334, 334]),
        ("EUR", {"id": "e3", "amount": -1000}, [-334, -333, -333]),
        ("HUF", {"id": "e1", "amount": 1000}, [33_300, 33_300, 33_400]),
    ],
)
def test_odd_cents_of_spliit_fall_to_whom_its_hash_of_the_id_says(code, fields, parts):
    people = [{"id": f"p{at}", "name": f"N{at}"} for at in (1, 2, 3)]
    paid_for = [{"participantId": person["id"], "shares": 100} for person in people]
    content = spliit(splitMode="EVENLY", paidFor=paid_for, **fields)
    assert parts_of(read(changed(content, participants=people, currencyCode=code))) == parts


@pytest.mark.parametrize("mode", ["BY_AMOUNT", "BY_PERCENTAGE"])
def test_parts_of_spliit_that_do_not_add_up_are_proportions(mode):
    assert noted(read(spliit(splitMode=mode))) == {1: ["shares_do_not_add_up"]}


def test_a_payment_of_spliit_to_several_is_several():
    paid_for = [{"participantId": key, "shares": 100} for key in ("p2", "p3")]
    people = [{"id": f"p{at}", "name": f"N{at}"} for at in (1, 2, 3)]
    content = spliit(isReimbursement=True, paidFor=paid_for, splitMode="EVENLY", amount=1000)
    content = changed(content, "expenses", 0, originalAmount=1070)
    trip = read(changed(content, participants=people))
    rows = [(e.receiver, e.amount_minor, e.converted_minor, e.key) for e in entries(trip)]
    assert rows == [("p2", 535, 500, "e1/p2"), ("p3", 535, 500, "e1/p3")]


def test_dates_of_spliit_are_never_converted():
    (entry,) = entries(read(samples.SPLIIT_JSON, zone=ZoneInfo("America/Lima")))
    assert (str(entry.date), entry.fields["category"]) == ("2026-05-01", "ACCOMMODATION")


def test_expenses_of_spliit_may_repeat_and_have_no_category():
    content = spliit(recurrenceRule="WEEKLY", category=None, splitMode="EVENLY")
    assert noted(read(content)) == {1: ["repeats"]}
    assert entries(read(content))[0].fields["category"] == "OTHER"


def spliit_csv(names, *rows):
    return read("\n".join([SPLIIT_CSV + names, *rows, ""]))


def test_columns_of_namesakes_and_of_internal_names_are_found_out():
    row = '"2026-05-01","Hut","Hotel","EUR","{}",,,,"No","Evenly",{}'
    # Both columns have the value of the second one.
    trip = spliit_csv('"Ana","Ana"', row.format("10.00", "-7,-7"), row.format("10.00", "3,-6"))
    assert skipped(trip) == {2: "payer_unknown", 3: "does_not_add_up"}
    assert codes(trip) == ["same_names"]
    # The cost was overwritten by the part of somebody who is called "amount".
    trip = spliit_csv('"Ana","amount"', row.format("-4", "6,-4"))
    assert skipped(trip) == {2: "does_not_add_up"}
    # A name like that of another column is a name.
    trip = spliit_csv('"Ana","Date"', row.format("10.00", "6,-4"))
    assert balances(trip) == {("Ana", "EUR"): 400, ("Date", "EUR"): -400}


@pytest.mark.parametrize(
    ("code", "cost", "cells", "parts"),
    [
        ("EUR", "10.00", "3.33,-3.33,-3.33", [334, 333, 333]),
        ("EUR", "-10.00", "-3.33,3.33,3.33", [-334, -333, -333]),
        # Each is rounded to a whole forint.
        ("HUF", "1000", "331,-333,-333", [33_400, 33_300, 33_300]),
    ],
)
def test_what_the_rounded_parts_of_older_tables_of_spliit_lack_is_the_payers(
    code, cost, cells, parts
):
    row = f'"2026-05-01","Hut","Hotel","{code}","{cost}",,,,"No","Evenly",{cells}'
    trip = spliit_csv('"Ana","Ben","Cleo"', row)
    assert (noted(trip), parts_of(trip)) == ({2: ["rounded_shares"]}, parts)


def test_the_csv_of_spliit_may_not_say_who_paid():
    row = '"2026-05-02","Payback","Payment","EUR","5.00",,,,"Yes","Evenly",0,-5,0'
    cent = row.replace("5.00", "0.01").replace("0,-5,0", "0.01,0,0")
    trip = spliit_csv('"Ana","Ben","Cleo"', row, row.replace("0,-5,0", "0,-2.5,-2.5"), cent)
    assert skipped(trip) == {2: "payer_unknown", 3: "payer_unknown"}
    assert (codes(trip), parts_of(trip)) == (["better_as_json"], [1])
    # Of two people, it is the other one.
    two = spliit_csv('"Ana","Ben"', row.removesuffix(",0"))
    assert balances(two) == {("Ana", "EUR"): 500, ("Ben", "EUR"): -500}


def test_only_a_guard_before_a_formula_is_taken_off_and_once():
    row = '"2026-05-01","\'=1+1","","EUR","4.00",,,,"No","Evenly",2,-2'
    trip = spliit_csv('"\'=Ana","\'Ben"', row)
    assert entries(trip)[0].title == "=1+1"
    assert [person.name for person in trip.people] == ["=Ana", "'Ben"]
    assert [(note.code, note.values) for note in trip.notes] == [
        ("guarded_names", {"names": "=Ana"})
    ]
