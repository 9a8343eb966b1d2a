"""CSV of Cospend: what a file leaves open or gets wrong, and what it is read as."""

from zoneinfo import ZoneInfo

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import (
    balances,
    check,
    codes,
    entries,
    noted,
    read,
    refused,
    skipped,
)

pytestmark = pytest.mark.once

BILLS = "what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat,categoryid"


def cospend(*bills, members=('"Ana",1,1,"#1"', '"Ben",1,0,"#2"')):
    sections = [["name,weight,active,color", *members], [BILLS, *bills]]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def test_sections_of_cospend_are_known_by_their_names():
    trip = read(
        'color,active,weight,name\n"#1",1,2,"Ana"\n,,,\n'
        "owers,payer_name,payer_weight,amount,what,date,timestamp\n"
        '"Ana,Ben","Ana",2,3,Bus,2026-05-01,1777672800\n,,,\n'
        "exchange_rate,currencyname\n1,EUR\n"
    )
    assert balances(trip) == {("Ana", "EUR"): 100, ("Ben", "EUR"): -100}


@pytest.mark.parametrize("name", ['Zoé "Z"', 'A"b', '"', "Cleo, Jr", 'C, "D"'])
@pytest.mark.parametrize("is_saved_again", [False, True])
def test_quotes_in_names_of_cospend_are_not_doubled(name, is_saved_again):
    doubled = name.replace('"', '""')
    members = ['"Ben",1,0,"#2"', f'"{doubled if is_saved_again else name}",2,1,"#1"']
    content = cospend(f'Bus,9,2026-05-01,,"Ben",1,1,"Ben,{doubled}",n,0', members=members)
    trip = read(content, currency="EUR")
    assert [person.name for person in trip.people] == ["Ben", name]
    assert balances(trip) == {("Ben", "EUR"): 600, (name, "EUR"): -600}


def test_a_backslash_escapes_nothing_in_cospend():
    row = '"C:\\",9,2026-05-01,,Ana,1,1,"Ana,Ben",n,0'
    quoted = '"a ""b""",9,2026-05-01,,Ana,1,1,"Ana,Ben",n,0'
    trip = read(cospend(row, quoted), currency="EUR")
    assert [entry.title for entry in entries(trip)] == ["C:\\", 'a "b"']


@pytest.mark.parametrize(
    ("amount", "minor", "notes"),
    [("1.0E+2", 10_000, None), ("33.333333333333", 3333, ["rounded"]), ("0.005", 1, ["rounded"])],
)
def test_numbers_of_cospend_are_those_of_php(amount, minor, notes):
    trip = read(cospend(f"Bus,{amount},2026-05-01,,Ana,1,1,Ben,n,0"), currency="EUR")
    assert noted(trip) == ({6: notes} if notes else {})
    assert entries(trip)[0].amount_minor == minor


def test_bills_of_cospend_for_one_person_each_may_be_one_expense():
    bills = [f"Hut,{n},2026-05-01,,Ana,1,1,{who},n,0" for n, who in ((3, "Ana"), (4, "Ben"))]
    trip = read(cospend(*bills, "Bus,3,2026-05-01,,Ana,1,1,Ben,m,-12"), currency="EUR")
    assert noted(trip) == {6: ["perhaps_one_expense"], 7: ["perhaps_one_expense"], 8: ["repeats"]}
    assert entries(trip)[2].fields["category"] == "FOOD"


def test_a_project_of_cospend_has_notes_categories_and_rates_of_today():
    trip = read(samples.COSPEND_CSV)
    (entry,) = entries(trip)
    assert (codes(trip), noted(trip)) == (["rates_of_today"], {6: ["repeats"]})
    assert (entry.fields["notes"], entry.fields["category"]) == (
        "two nights, cash\nLodging",
        "ACCOMMODATION",
    )
    assert entry.title == "Hut (250 CZK)"
    assert refused(cospend("Bus,9,2026-05-01,,Ana,1,1,Ben,n,0")) == "currency_needed"
    check(samples.COSPEND_CSV.replace('cash",0', 'cash",1'), skipped={6: "deleted_in_source"})


def test_old_files_of_cospend_are_no_bills_of_ihatemoney():
    header = "what,amount,date,payer_name,payer_weight,{}owers\n"
    rows = 'deleteMeIfYouWant,1,1970-01-01,Cleo,1,{}Cleo\nBus,9,2017-01-01,Ana,1,{}"Ana,Ben"\n'
    table = "\ncategoryname,categoryid,icon,color\n"
    for extra, cell, name in (("payer_active,", "1,", "cospend"), ("", "", "ihatemoney")):
        trip = read(header.format(extra) + rows.format(cell, cell) + table, currency="EUR")
        assert trip.format == name
        assert {person.name for person in trip.people} == {"Ana", "Ben", "Cleo"}
        assert [entry.title for entry in entries(trip)] == ["Bus"]


def test_a_moment_of_cospend_has_its_date_where_the_caller_is():
    content = cospend("Late,9,2026-05-02,1777687200,Ana,1,1,Ana,n,0")
    check(content, currency="EUR", zone=ZoneInfo("America/Lima"), days=["2026-05-01"])


def test_a_reimbursement_and_a_declaration_of_cospend():
    rows = (
        "deleteMeIfYouWant,1,2026-05-01,1777672800,Cleo,1,1,Cleo,n,0",
        "Back,33.333,2026-05-01,1777672800,Ana,1,1,Ben,n,-11",
    )
    facts = {"kinds": ["payment"], "noted": {7: ["rounded"]}, "people": ["Ana", "Ben", "Cleo"]}
    check(cospend(*rows), currency="EUR", owed={"Ana": 3333, "Ben": -3333}, **facts)
    # Somebody may have called a real bill that.
    real = rows[0].replace("Cleo,n,0", "Ana,n,0")
    check(cospend(real, rows[1]), currency="EUR", titles=["deleteMeIfYouWant", "Back"])


@pytest.mark.parametrize("moment", ["-90000000000", "99999999999999", "1e40"])
def test_a_moment_of_cospend_that_no_calendar_has_is_skipped(moment):
    row = f"A,1,2026-01-01,{moment},Ann,1,1,Ben"
    assert [*skipped(read(f"{BILLS}\n{row}", currency="EUR")).values()] == ["bad_date"]
