"""JSON and CSV of ihatemoney: what a file leaves open or gets wrong, and what it is read as."""

import json

import pytest

from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import (
    balances,
    check,
    codes,
    entries,
    kinds,
    noted,
    read,
    skipped,
)

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("fields", "minor", "notes"),
    [
        ({"amount": 10.005, "owers": ["Ana"]}, 1001, ["rounded"]),
        ({"amount": 1e3, "owers": ["Ana"]}, 100_000, None),
        ({"amount": 10.01, "currency": "JPY", "owers": ["Ana"]}, 10, ["rounded"]),
        ({"currency": "JPY", "amount": 10.0}, 10, ["weight_unknown"]),
    ],
)
def test_amounts_of_ihatemoney_are_read_as_they_are_written(fields, minor, notes):
    bill = json.loads(samples.IHATEMONEY_JSON)[0] | fields
    trip = read(json.dumps([bill]))
    assert noted(trip) == ({1: notes} if notes else {})
    assert entries(trip)[0].amount_minor == minor


def test_files_of_ihatemoney_6_have_no_types_and_no_currency():
    bill = {"what": "refund", "amount": 13.33, "date": "2017-01-01", "payer_name": "tata"}
    content = json.dumps([bill | {"payer_weight": 1.0, "owers": ["fred"]}])
    check(content, refused="currency_needed")
    check(content, currency="EUR", owed={"tata": 1333, "fred": -1333})


def test_what_is_no_single_export_of_bills_is_refused():
    content = json.loads(samples.IHATEMONEY_JSON)
    content[1] |= {"payer_name": "Ana"}
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(content))
    assert (caught.value.code, caught.value.line) == ("two_weights", 2)
    plan = [{"ower": "Ana", "receiver": "Ben", "amount": 5.0, "currency": "EUR"}]
    check(json.dumps(plan), refused="is_settlement_plan")


def test_weights_of_payers_divide():
    check(samples.IHATEMONEY_JSON, kinds=["SHARES", "payment"])
    assert entries(read(samples.IHATEMONEY_JSON))[0].entered == (("Ana", 20_000), ("Ben", 10_000))


def test_a_reimbursement_of_ihatemoney_goes_by_weight():
    bills = json.loads(samples.IHATEMONEY_JSON)
    back = bills[1] | {"payer_name": "Cleo", "owers": ["Ana", "Ben"], "amount": 9.0}
    trip = read(json.dumps([bills[0], bills[1] | {"payer_name": "Ben"}, back]))
    assert [(e.receiver, e.amount_minor) for e in entries(trip)[2:]] == [("Ana", 600), ("Ben", 300)]


def test_cells_of_ihatemoney_are_guarded_once():
    trip = read(
        "what,bill_type,amount,currency,date,payer_name,payer_weight,owers\r\n"
        "'=1,Expense,6.0,EUR,2026-05-01,'=Ana,1.0,\"'=Ana, Ben\"\r\n"
        '-,Expense,4.0,EUR,2026-05-01,Ben,1.0,"Ben, =Ana"\r\n'
    )
    assert [person.name for person in trip.people] == ["=Ana", "Ben"]
    assert [(note.code, note.values) for note in trip.notes] == [
        ("guarded_names", {"names": "=Ana"})
    ]
    assert balances(trip) == {("=Ana", "EUR"): 100, ("Ben", "EUR"): -100}


def test_names_that_were_guarded_are_noted_once_in_json_too():
    bills = [{**json.loads(samples.IHATEMONEY_JSON)[0], "owers": ["'+Ben", "'@Cleo", "'Dan"]}] * 2
    trip = read(json.dumps(bills))
    assert [note.values for note in trip.notes] == [{"names": "+Ben, @Cleo"}]
    assert [person.name for person in trip.people] == ["Ana", "+Ben", "@Cleo", "'Dan"]
    assert not codes(read(samples.IHATEMONEY_JSON))


def test_a_guarded_name_with_a_comma_is_one():
    header = "what,amount,date,payer_name,payer_weight,owers\n"
    row = 'A,9,2026-05-01,"\'=Cleo, Jr",1.0,"{}"\n'
    names = ["'=Cleo, Jr, Ben", "Ben, =Cleo, Jr"]
    trip = read(header + "".join(map(row.format, names)), currency="EUR")
    assert [person.name for person in trip.people] == ["=Cleo, Jr", "Ben"]
    assert balances(trip) == {("=Cleo, Jr", "EUR"): 900, ("Ben", "EUR"): -900}
    assert all("names_with_commas" in noted(trip)[line] for line in (2, 3))


def test_a_comma_at_the_end_of_the_list_is_doubtful():
    """It may be that of a name, which nobody knows."""
    header = "what,amount,date,payer_name,payer_weight,owers\n"
    trip = read(header + 'A,9,2026-05-01,Ana,1.0,"Ben,"\n', currency="EUR")
    assert "names_with_commas" in noted(trip)[2]
    trip = read(header + 'A,9,2026-05-01,Ana,1.0,","\n', currency="EUR")
    assert skipped(trip) == {2: "nobody_takes_part"}


def test_weights_with_many_decimals_divide_exactly():
    bills = [
        {"what": "Hut", "amount": 1e6, "date": "2026-05-01", "owers": ["Ana", "Ben"]}
        | {"payer_name": name, "payer_weight": weight}
        for name, weight in (("Ana", 0.333333), ("Ben", 0.1), ("Ana", 0.333333))
    ]
    trip = read(json.dumps(bills), currency="EUR")
    # 333333 of 433333 each time.
    assert kinds(trip) == ["MANUAL"] * 3
    assert balances(trip) == {("Ana", "EUR"): -30769177, ("Ben", "EUR"): 30769177}


def test_an_unknown_currency_of_ihatemoney_is_not_that_of_the_group():
    bills = json.loads(samples.IHATEMONEY_JSON)
    bills.append(bills[0] | {"currency": "BTC"})
    bills[0]["currency"], bills[1]["currency"] = "EUR", ""
    trip = read(json.dumps(bills), currency="EUR")
    assert skipped(trip) == {3: "unknown_currency"}
    assert [entry.currency for entry in entries(trip)] == ["EUR", "EUR"]
    # A whole project in a currency that has no code any more: the caller says which one it is.
    trip = read(json.dumps([bill | {"currency": "ECU"} for bill in bills]), currency="EUR")
    assert [entry.currency for entry in entries(trip)] == ["EUR", "EUR", "EUR"]
