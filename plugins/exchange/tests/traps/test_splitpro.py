"""JSON and CSV of SplitPro: what a file leaves open or gets wrong, and what it is read as."""

import json
from datetime import date

import pytest

from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import (
    balances,
    changed,
    codes,
    entries,
    kinds,
    noted,
    read,
    skipped,
)

pytestmark = pytest.mark.once

SPLITPRO = samples.SPLITPRO_CSV.splitlines()[0]


def splitpro(*rows, name=""):
    return read("\n".join([SPLITPRO, *rows, ""]), name)


@pytest.mark.parametrize(
    ("cell", "currency", "minor"),
    [
        ("0.5", "EUR", 5),
        ("0.50", "EUR", 50),
        ("0,5", "EUR", 5),
        ("5", "JPY", 5),
        # With three decimals, up to 99 units are too large.
        ("0.50", "KWD", 50),
        ("0.500", "KWD", 500),
    ],
)
def test_the_sign_of_small_shares_of_splitpro_was_cut_off(cell, currency, minor):
    digits = "100" if currency == "JPY" else "100,00" if "," in cell else "100.00"
    trip = splitpro(f'You,Gum,general,"{digits}",EXACT,2026-05-01 20:15:00,{currency},"{cell}",,0')
    assert dict(entries(trip)[0].parts)["Friend"] == minor


@pytest.mark.parametrize(
    ("cost", "share", "kind", "notes"),
    [
        ("10.01", "5.00", "EQUAL", {}),
        ("10.01", "5.01", "EQUAL", {}),
        ("10.01", "3.34", "MANUAL", {2: ["more_people"]}),
        ("10.00", "4.99", "MANUAL", {2: ["more_people"]}),
    ],
)
def test_equal_parts_of_splitpro_may_be_those_of_more_people(cost, share, kind, notes):
    trip = splitpro(f"You,Hut,hotel,{cost},EQUAL,2026-05-01 20:15:00,EUR,{share},0,0")
    assert (kinds(trip), noted(trip)) == ([kind], notes)


def test_three_decimals_of_splitpro_are_no_thousands():
    trip = splitpro("You,Hut,hotel,2.468,EQUAL,2026-05-01 20:15:00,KWD,1.234,0,0")
    assert balances(trip) == {("You", "KWD"): 1234, ("Friend", "KWD"): -1234}


@pytest.mark.parametrize("caller", [1, 3])
def test_debts_outside_of_groups_of_splitpro_are_what_those_leave(caller):
    trip = read(samples.SPLITPRO_JSON.replace('Id":1', f'Id":{caller}'), group="0")
    assert balances(trip) == {(str(caller), "EUR"): 1000, ("2", "EUR"): -1000}
    # They have no date, so it is today's.
    assert [type(entry.date) for entry in entries(trip)] == [date]


@pytest.mark.parametrize(
    ("kind", "reason"), [("CURRENCY_CONVERSION", "half_a_conversion"), ("SETTLEMENT", "no_amount")]
)
def test_half_of_a_conversion_or_a_payment_of_nothing_is_skipped(kind, reason):
    row = f"You,X,currency,10.00,{kind},2026-05-01 20:15:00,EUR,10.00,0,0"
    assert skipped(splitpro(row)) == {2: reason}


@pytest.mark.parametrize(
    ("cell", "title"),
    [
        ('"Say "hi", all"', 'Say "hi", all'),
        ('"Hut', '"Hut'),
        ('12" pizza', '12" pizza'),
        ('"", y"', '", y'),
        ('"a"b, c, d"', 'a"b, c, d'),
        ('"Hut,\nnight "1""', 'Hut,\nnight "1"'),
        ('"Say ""hi"""', 'Say "hi"'),
    ],
)
def test_quotes_in_names_of_splitpro_are_not_doubled(cell, title):
    """Unless another program saved the file again."""
    row = f'Cleo "C",{cell},hotel,"60,00",EQUAL,2026-05-01 20:15:00,EUR,0,"30,00",0'
    trip = splitpro(row, row)
    assert balances(trip) == {('Cleo "C"', "EUR"): 6000, ("You", "EUR"): -6000}
    assert [(entry.fields["category"], entry.title) for entry in entries(trip)] == [
        ("ACCOMMODATION", title)
    ] * 2


def test_a_short_row_of_splitpro_at_the_end_is_skipped():
    row = "You,A,general,60.00,EQUAL,2026-05-01 20:15:00,EUR,30.00,0,0"
    assert skipped(splitpro(row, "You,B,general")) == {3: "missing_field"}


def test_cells_that_a_spreadsheet_adds_to_rows_of_splitpro_are_no_part_of_a_name():
    row = "You,A,general,60.00,EQUAL,2026-05-01 20:15:00,EUR,30.00,0,0"
    trip = splitpro(f"{row},,")
    assert balances(trip) == {("You", "EUR"): 3000, ("Friend", "EUR"): -3000}
    assert entries(trip)[0].title == "A"


def test_a_friend_who_paid_nothing_has_the_name_of_the_file():
    row = "You,A,general,60.00,EQUAL,2026-05-01 20:15:00,EUR,30.00,0,0"
    for name in ("Ben", "Dr. Ben"):
        assert [person.name for person in splitpro(row, name=f"{name}.csv").people][1] == name


def test_a_pair_of_splitpro_stands_twice_and_strangers_have_no_name():
    trip = read(samples.SPLITPRO_JSON)
    assert (trip.currency, codes(trip), kinds(trip)) == ("EUR", ["balances_only"], ["payment"])
    assert [(p.name, p.is_caller) for p in trip.people] == [("#1", True), ("Ben", False)]
    yen = [
        {"userId": user, "friendId": friend, "currency": "JPY", "amount": amount}
        for user, friend, amount in ((1, 2, "-500"), (2, 1, "500"), (1, 2, "0"))
    ]
    trip = read(changed(samples.SPLITPRO_JSON, "groups", 0, groupBalances=yen))
    assert balances(trip) == {("1", "JPY"): -500, ("2", "JPY"): 500}


def test_a_group_of_splitpro_without_a_proper_name_is_not_the_chosen_one():
    file = changed(samples.SPLITPRO_JSON, "groups", 0, name=["Alps"])
    with pytest.raises(UnreadableFile) as caught:
        read(file, group="Alps")
    assert caught.value.code == "several_groups"
    assert read(file, group="5").people


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"amount": "many"}, "bad_number"),
        ({"amount": None}, "bad_number"),
        ({"currency": "?"}, "unknown_currency"),
        ({"friendId": None}, "missing_field"),
    ],
)
def test_a_balance_of_splitpro_that_cannot_be_read_is_a_row(fields, reason):
    content = json.loads(samples.SPLITPRO_JSON)
    first, second = content["groups"][0]["groupBalances"]
    second |= fields
    content["groups"][0]["groupBalances"] = [second]
    assert [*skipped(read(json.dumps(content), currency="EUR")).values()] == [reason]
    # The other half of the pair says the same.
    content["groups"][0]["groupBalances"] = [second, first]
    assert balances(read(json.dumps(content))) == {("1", "EUR"): 2000, ("2", "EUR"): -2000}
    content["groups"][0]["groupBalances"] = []
    content["friends"]["2"]["balances"] = [{"currency": "EUR", "amount": "3000"}, fields]
    outside = read(json.dumps(content), group="0")
    assert len(entries(outside)) == 1
    assert len(skipped(outside)) == 1
