"""What each format leaves open or gets wrong, in small files of it, and what they are read as."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exchange import samples
from tests.exchange.reading import balances, claimed, entries, noted, read, skipped
from tripcompanion.exchange.description import DescribedSettlement, TripDescription, UnreadableFile
from tripcompanion.exchange.formats.reading import Numbers
from tripcompanion.exchange.formats.spliit_json import _fnv

pytestmark = pytest.mark.once

SPLITWISE = "Date,Description,Category,Cost,Currency"
SPLIIT_CSV = samples.SPLIIT_CSV.splitlines()[0].removesuffix('"Ana","Ben"')
SPLITPRO = samples.SPLITPRO_CSV.splitlines()[0]
SETTLE_UP = samples.SETTLE_UP.splitlines()[0]
BILLS = "what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat,categoryid"


def codes(trip: TripDescription) -> list[str]:
    """The notes of the whole file."""
    return [note.code for note in trip.notes]


def kinds(trip: TripDescription) -> list[str]:
    return [
        "payment" if isinstance(entry, DescribedSettlement) else entry.split_type
        for entry in entries(trip)
    ]


def refused(content: str, **choices: Any) -> str:
    with pytest.raises(UnreadableFile) as caught:
        list(read(content, **choices).entries)
    return caught.value.code


def changed(sample: str, *path: Any, **fields: Any) -> str:
    """The sample of JSON with other fields in the object at this path; None takes a field out."""
    content = json.loads(sample)
    within = content
    for name in path:
        within = within[name]
    within |= {name: value for name, value in fields.items() if value is not ...}
    for name in [name for name, value in fields.items() if value is ...]:
        within.pop(name, None)
    return json.dumps(content)


# -- All formats ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "path", "name"),
    [
        (samples.ABRECHNUNG, ("transactions", 0), "type"),
        (samples.IHATEMONEY_JSON, (0,), "bill_type"),
        (
            samples.TRICOUNT,
            ("Response", 0, "Registry", "all_registry_entry", 0, "RegistryEntry"),
            "type_transaction",
        ),
    ],
    ids=["abrechnung", "ihatemoney", "tricount"],
)
def test_a_row_of_an_unknown_type_is_skipped(sample: str, path: tuple[Any, ...], name: str) -> None:
    content = changed(sample, *path, **{name: "gift"})
    assert skipped(read(content, currency="EUR"))[1] == "unknown_kind"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("cost", "part"),
    [
        ("10.00", "5.00"),
        ("10.00", "'5.00"),
        ("10.00", "+5.00"),
        ("1\u00a0000,00", "5,00"),
        ("1\u202f000,00", "5,00"),
        ("1.000,00", "5,00"),
        ("1,000.00", "5.00"),
    ],
)
def test_numbers_and_delimiters_are_as_the_file_was_saved(
    delimiter: str, cost: str, part: str
) -> None:
    cells = ["2026-05-01", "Bus", "Bus", cost, "EUR", part, f"\u2212{part.strip(chr(39) + '+')}"]
    rows = [[*SPLITWISE.split(","), "Ana", "Ben"], [f'"{cell}"' for cell in cells]]
    trip = read("".join(delimiter.join(row) + "\n" for row in rows))
    assert balances(trip) == {("Ana", "EUR"): 500, ("Ben", "EUR"): -500}


def test_a_minus_may_stand_behind() -> None:
    trip = read(f"{SPLITWISE},Ana,Ben\n2026-05-01,Bus,Bus,10.00,EUR,5.00,5.00-\n")
    assert balances(trip) == {("Ana", "EUR"): 500, ("Ben", "EUR"): -500}


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2), st.sampled_from(",."))
@settings(deadline=None)
def test_numbers_are_read_in_every_way_of_writing(value: Decimal, mark: str) -> None:
    thousands = "." if mark == "," else ","
    text = f"{value:,.2f}".replace(",", "#").replace(".", mark).replace("#", thousands)
    spaced = f"{value:,.2f}".replace(",", "\u202f").replace(".", mark).replace("-", "\u2212")
    numbers = Numbers([(1, text), (2, spaced)])
    assert numbers(text) == numbers(spaced) == value


@pytest.mark.parametrize("name", ["Ana", " Ana ", "Ana\u0301"])
def test_names_are_trimmed_and_in_one_normal_form(name: str) -> None:
    trip = read(f"{SPLITWISE},{name},Ben\n2026-05-01,Bus,Bus,10.00,EUR,5.00,-5.00\n")
    assert trip.people[0].name in {"Ana", "An\u00e1"}


def test_a_name_like_that_of_a_second_person_is_a_third() -> None:
    trip = read(
        f"{SPLITWISE},Ana,Ana,Ana (2)\n2026-05-01,Bus,Bus,9.00,EUR,6.00,-3.00,-3.00\n"
        "2026-05-02,Total balance, , ,EUR,6.00,-3.00,-3.00\n"
    )
    assert len({person.key for person in trip.people}) == 3
    assert codes(trip) == ["same_names"]
    assert claimed(trip) == balances(trip)


def test_people_may_be_called_by_a_number() -> None:
    trip = read(f"{SPLITWISE},007,1.5\n2026-05-01,Bus,Bus,10.00,EUR,5.00,-5.00\n")
    assert balances(trip) == {("007", "EUR"): 500, ("1.5", "EUR"): -500}


@pytest.mark.parametrize("content", ["[]", "{}", " [\n]"])
def test_json_without_anything_is_an_empty_file(content: str) -> None:
    assert refused(content) == "empty_file"


@pytest.mark.parametrize(
    "content",
    [
        # Abrechnung's CSV does not quote anything, so its columns shift.
        "ID,Date,Payer,Name,Description,Currency Identifier,Currency Symbol,"
        "Currency Conversion Rate,Tags,Value,Ana,Ben\n"
        "1,2026-05-01,Ana,Shop,,EUR,€,1,,22.00,11.00,-11.00\n",
        # Tricount's, of which only some languages are known.
        "Titre,Montant,Payé par,Catégorie,Date & heure,Impacté à Ana,Impacté à Ben\n"
        "Hut,36.00,Ana,,01/05/2026 18:00,-7.00,-29.00\n",
    ],
    ids=["abrechnung", "tricount"],
)
def test_tables_that_nobody_can_rely_on_are_refused(content: str) -> None:
    assert refused(content) == "unknown_format"


# -- Splitwise, CSV -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "total", "payment"),
    [
        ("Datum,Beschreibung,Kategorie,Kosten,Währung", "Gesamtbilanz", "Zahlung"),
        ("Date,Description,Catégorie,Coût,Devise", "Solde total", "Paiement"),
        ("日付,説明,カテゴリー,費用,通貨", "合計残高", "支払い"),
        ("วันที่,รายละเอียด,หมวดหมู่,ราคา,สกุลเงิน", "ยอดรวม", "การชำระเงิน"),
    ],
)
@pytest.mark.parametrize("blank", ["\n", ",,,,,,\n", ""])
def test_every_language_of_splitwise_says_its_balances(
    labels: str, total: str, payment: str, blank: str
) -> None:
    trip = read(
        f"{labels},Ana,Борис\n{blank}2026-05-01,⛴,Bus,10.00,EUR,5.00,-5.00\n"
        f"2026-05-02,x,{payment},2.00,EUR,-2.00,2.00\n{blank}"
        f"2026-05-03,{total}, , ,EUR,3.00,-3.00\n{blank}"
    )
    assert kinds(trip) == ["EQUAL", "payment"]
    assert claimed(trip) == balances(trip) == {("Ana", "EUR"): 300, ("Борис", "EUR"): -300}


def test_a_payment_in_an_unknown_language_leaves_the_balances_right() -> None:
    trip = read(
        f"{SPLITWISE},Ana,Ben\n2026-05-01,Bus,Bus,10.00,EUR,5.00,-5.00\n"
        "2026-05-02,x,Greiðsla,2.00,EUR,-2.00,2.00\n2026-05-03,x, , ,EUR,3.00,-3.00\n"
    )
    assert claimed(trip) == balances(trip) == {("Ana", "EUR"): 300, ("Ben", "EUR"): -300}


def test_a_payment_of_several_is_an_expense() -> None:
    trip = read(f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,x,Payment,9.00,EUR,9.00,-4.50,-4.50\n")
    assert noted(trip) == {2: ["payment_of_several"]}
    assert balances(trip) == {("Ana", "EUR"): 900, ("Ben", "EUR"): -450, ("Cleo", "EUR"): -450}


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("alps-and-sea_2026-05-04_export.csv", "alps and sea"),
        ("alps_2026-05-04_export (1).csv", "alps"),
        ("_2026-05-04_export.csv", ""),
        ("ana-p-and-ben-q_2026-05-04_export.csv", "ana p and ben q"),
        ("other.csv", ""),
    ],
)
def test_only_the_name_of_the_file_has_that_of_the_group(name: str, title: str) -> None:
    assert read(samples.SPLITWISE_CSV, name).name == title


def test_cents_move_between_members_from_row_to_row() -> None:
    trip = read(
        f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,A,Bus,10.00,EUR,6.67,-3.33,-3.34\n"
        "2026-05-02,B,Bus,10.00,EUR,-3.33,6.66,-3.33\n2026-05-03,C,Bus,10.00,EUR,7,-4,-3\n"
        "2026-05-04,T, , ,EUR,10.34,-0.67,-9.67\n"
    )
    assert kinds(trip) == ["EQUAL", "EQUAL", "MANUAL"]
    assert claimed(trip) == balances(trip)


def test_dinars_of_splitwise_are_rounded_to_two_decimals() -> None:
    row = "2026-05-01,Bus,Bus,10.00,KWD,6.67,-3.33,-3.33"
    trip = read(f"{SPLITWISE},Ana,Ben,Cleo\n{row}\n")
    assert noted(trip) == {2: ["rounded_shares"]}
    assert balances(trip) == {
        ("Ana", "KWD"): 6660, ("Ben", "KWD"): -3330, ("Cleo", "KWD"): -3330
    }  # fmt: skip


def test_several_payers_of_splitwise_keep_their_balances() -> None:
    trip = read(
        f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,A,Bus,100.00,EUR,0.01,33.32,-33.33\n"
        "2026-05-02,T, , ,EUR,0.01,33.32,-33.33\n"
    )
    assert noted(trip) == {2: ["payers_unknown"]}
    assert claimed(trip) == balances(trip)


def test_descriptions_of_splitwise_may_have_lines_and_the_category_stands_in() -> None:
    row = '2026-05-01,"two\nlines, ""x"" 🙂",Food and drink - Other,4.00,EUR,2.00,-2.00\n'
    empty = "2026-05-02,,Dining out,4.00,EUR,2.00,-2.00\n"
    first, second = entries(read(f"{SPLITWISE},Ana,Ben\n{row}{empty}"))
    assert (first.description, first.category) == ('two\nlines, "x" 🙂', "FOOD")
    assert (second.description, second.category, second.line) == ("Dining out", "FOOD", 4)


def test_a_cost_below_zero_is_turned_around() -> None:
    trip = read(f"{SPLITWISE},Ana,Ben\n2026-05-01,Back,Bus,-10.00,EUR,-5.00,5.00\n")
    assert noted(trip) == {2: ["turned_around"]}
    assert balances(trip) == {("Ana", "EUR"): -500, ("Ben", "EUR"): 500}


# -- Splitwise, API -------------------------------------------------------------------------------

BILL = json.loads(samples.SPLITWISE_API)["expenses"][0]


def splitwise(*bills: dict[str, Any], **others: Any) -> str:
    return json.dumps(json.loads(samples.SPLITWISE_API) | {"expenses": [*bills]} | others)


@pytest.mark.parametrize(
    ("fields", "kind", "notes"),
    [
        ({"creation_method": "equal"}, "MANUAL", None),
        ({"repeat_interval": "weekly"}, "MANUAL", ["repeats"]),
        ({"repeat_interval": "never"}, "MANUAL", None),
        ({"payment": True}, "MANUAL", ["payment_of_several"]),
        ({"receipt": {"large": None}, "details": "Soup 3.20"}, "MANUAL", None),
    ],
)
def test_an_expense_of_splitwise_is_kept_exactly(
    fields: dict[str, Any], kind: str, notes: list[str] | None
) -> None:
    trip = read(splitwise(BILL | fields))
    assert (kinds(trip), noted(trip)) == ([kind], {1: notes} if notes else {})
    assert entries(trip)[0].notes_text == (fields.get("details") or "")
    assert claimed(trip) == balances(trip)


@pytest.mark.parametrize(("method", "kind"), [("equal", "EQUAL"), (None, "MANUAL")])
def test_only_what_was_called_equal_is(method: str | None, kind: str) -> None:
    users = [
        user | {"paid_share": paid, "owed_share": owed}
        for user, paid, owed in zip(BILL["users"], ("10.01", "0"), ("5.01", "5.0"), strict=True)
    ]
    trip = read(splitwise(BILL | {"cost": "10.01", "users": users, "creation_method": method}))
    assert kinds(trip) == [kind]
    assert balances(trip) == {("1", "EUR"): 500, ("2", "EUR"): -500}


@pytest.mark.parametrize(("currency", "minor"), [("JPY", 120), ("KWD", 120_000), ("EUR", 12_000)])
def test_amounts_of_splitwise_have_other_decimals_than_the_currency(
    currency: str, minor: int
) -> None:
    users = [
        user | {"paid_share": paid, "owed_share": owed}
        for user, paid, owed in zip(BILL["users"], ("120.0", "0.0"), ("0.0", "120.0"), strict=True)
    ]
    fields = {"cost": "120.0", "currency_code": currency, "users": users, "payment": True}
    (entry,) = entries(read(splitwise(BILL | fields)))
    assert (entry.sender, entry.receiver, entry.amount_minor) == ("1", "2", minor)


def test_an_instant_of_splitwise_has_its_date_where_the_caller_is() -> None:
    content = splitwise(BILL | {"date": "2026-05-01T23:30:00Z"})
    days = [
        entries(read(content, zone=ZoneInfo(zone)))[0].date.day for zone in ("UTC", "Asia/Tokyo")
    ]
    assert days == [1, 2]


def test_comments_of_splitwise_have_authors_besides_the_system() -> None:
    comments = [
        {"content": "Great", "user": {"id": 2}, "deleted_at": None},
        {"content": "Ana changed it", "user": {"id": 0, "first_name": "Splitwise"}},
        {"content": "Gone", "user": {"id": 2}, "deleted_at": "2026-05-02T00:00:00Z"},
    ]
    group = json.loads(samples.SPLITWISE_API)["groups"][0]
    content = json.dumps([{"expense": BILL | {"comments": comments}}, {"group": group}])
    trip = read(content)
    assert [(c.text, c.person) for c in entries(trip)[0].comments] == [("Great", "2")]
    assert [person.name for person in trip.people] == ["Ana", "Ben Q"]
    assert claimed(trip) == balances(trip)


@pytest.mark.parametrize(("count", "expected"), [(19, []), (20, ["perhaps_one_page"]), (21, [])])
def test_one_page_of_splitwise_may_not_be_everything(count: int, expected: list[str]) -> None:
    assert codes(read(splitwise(*(BILL | {"id": at} for at in range(count))))) == expected


def test_balances_of_splitwise_alone_become_payments() -> None:
    group = json.loads(samples.SPLITWISE_API)["groups"][0]
    debt = {"from": 2, "to": 1, "amount": "26.66", "currency_code": "EUR"}
    content = {"friends": [], "groups": [group | {"original_debts": [debt]}]}
    trip = read(json.dumps(content))
    assert (codes(trip), kinds(trip)) == (["balances_only"], ["payment"])
    assert claimed(trip) == balances(trip) == {("1", "EUR"): 2666, ("2", "EUR"): -2666}


# -- Spliit ---------------------------------------------------------------------------------------


def spliit(**fields: Any) -> str:
    return changed(samples.SPLIIT_JSON, "expenses", 0, originalAmount=None, **fields)


@pytest.mark.parametrize(
    ("code", "symbol", "minor"),
    [
        ("JPY", "¥", 1001),
        ("COP", "$", 100_100),
        ("IDR", "Rp", 100_100),
        ("EUR", "€", 1001),
        (None, "£", 1001),
        ("", "USD", 1001),
        (None, "🍺", 1001),
    ],
)
def test_spliit_has_decimals_of_its_own(code: str | None, symbol: str, minor: int) -> None:
    content = changed(spliit(splitMode="EVENLY"), currencyCode=code, currency=symbol)
    (entry,) = entries(read(content, currency="CHF"))
    assert entry.amount_minor == minor
    if symbol == "🍺":
        assert refused(content) == "currency_needed"


def test_an_original_amount_without_decimals_is_read_as_it_is() -> None:
    content = changed(
        samples.SPLIIT_JSON, "expenses", 0,
        originalAmount=1700, originalCurrency="JPY", conversionRate="0.00589",
    )  # fmt: skip
    (entry,) = entries(read(content))
    assert (entry.amount_minor, entry.currency, entry.converted_minor) == (1700, "JPY", 1001)


def test_the_odd_cents_of_spliit_fall_by_the_id() -> None:
    assert [_fnv(text) for text in ("", "a", "foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    people = [{"id": f"p{at}", "name": "Ana"} for at in range(1, 5)]
    shares = [{"participantId": f"p{at}", "shares": 100} for at in (3, 1, 2)]
    content = changed(spliit(id="foobar", amount=1000, paidFor=shares, splitMode="EVENLY"),
                      participants=people)  # fmt: skip
    trip = read(content)
    odd = ["p1", "p2", "p3"][0xBF9CF968 % 3]
    assert dict(entries(trip)[0].parts)[odd] == 334
    # Namesakes are different people, also one who has no expense.
    assert len(trip.people) == 4


@pytest.mark.parametrize("mode", ["BY_AMOUNT", "BY_PERCENTAGE"])
def test_parts_of_spliit_that_do_not_add_up_are_proportions(mode: str) -> None:
    assert noted(read(spliit(splitMode=mode))) == {1: ["shares_do_not_add_up"]}


def test_a_payment_of_spliit_to_several_is_several() -> None:
    paid_for = [{"participantId": key, "shares": 100} for key in ("p2", "p3")]
    people = [{"id": f"p{at}", "name": f"N{at}"} for at in (1, 2, 3)]
    content = spliit(isReimbursement=True, paidFor=paid_for, splitMode="EVENLY", amount=1000)
    trip = read(changed(content, participants=people))
    assert [(e.receiver, e.amount_minor, e.key) for e in entries(trip)] == [
        ("p2", 500, "e1/p2"),
        ("p3", 500, "e1/p3"),
    ]


def test_dates_of_spliit_are_never_converted() -> None:
    (entry,) = entries(read(samples.SPLIIT_JSON, zone=ZoneInfo("America/Lima")))
    assert (str(entry.date), entry.category) == ("2026-05-01", "ACCOMMODATION")


def test_expenses_of_spliit_may_repeat_and_have_no_category() -> None:
    content = spliit(recurrenceRule="WEEKLY", category=None, splitMode="EVENLY")
    assert noted(read(content)) == {1: ["repeats"]}
    assert entries(read(content))[0].category == "OTHER"


def spliit_csv(names: str, *rows: str) -> TripDescription:
    return read("\n".join([SPLIIT_CSV + names, *rows, ""]))


@pytest.mark.parametrize(
    ("cost", "mode", "cells", "expected", "notes"),
    [
        # An income has the opposite signs.
        ("-10.00", "Evenly", "-3.34,3.33,3.33", {"Ana": -666, "Ben": 333, "Cleo": 333}, {}),
        # Each part was rounded alone.
        ("10.00", "Evenly", "3.33,-3.33,-3.33", {"Ana": 666, "Ben": -333, "Cleo": -333},
         {2: ["rounded_shares"]}),
        # The label may be wrong; the cells count.
        ("10.00", "Evenly", "2,-7,-1", {"Ana": 800, "Ben": -700, "Cleo": -100}, {}),
        ("10.00", "Unevenly – By amount", "10,0,0", {}, {}),
    ],
)  # fmt: skip
def test_the_cells_of_spliit_say_who_bears_what(
    cost: str, mode: str, cells: str, expected: dict[str, int], notes: dict[int, list[str]]
) -> None:
    row = f'"2026-05-01","Hut","Hotel","EUR","{cost}",,,,"No","{mode}",{cells}'
    trip = spliit_csv('"Ana","Ben","Cleo"', row)
    assert (noted(trip), skipped(trip)) == (notes, {})
    assert balances(trip) == {(name, "EUR"): minor for name, minor in expected.items()}


@pytest.mark.parametrize(
    ("mode", "shares", "parts"),
    [("EVENLY", (100, 100), [200, 300]), ("BY_AMOUNT", (1, 4), [100, 400])],
)
def test_forints_of_spliit_are_divided_as_whole_ones(
    mode: str, shares: tuple[int, int], parts: list[int]
) -> None:
    paid = [{"participantId": f"p{at}", "shares": s} for at, s in enumerate(shares, start=1)]
    content = spliit(amount=5, paidFor=paid, splitMode=mode)
    trip = read(changed(content, currencyCode="HUF"))
    assert noted(trip) == {}
    assert sorted(minor for _person, minor in entries(trip)[0].parts) == parts


def test_forints_of_spliit_were_rounded_to_whole_ones() -> None:
    row = '"2026-05-01","Hut","Hotel","HUF","100",,,,"No","Evenly",33,-33,-33'
    trip = spliit_csv('"Ana","Ben","Cleo"', row)
    assert noted(trip) == {2: ["rounded_shares"]}
    assert balances(trip) == {
        ("Ana", "HUF"): 6600, ("Ben", "HUF"): -3300, ("Cleo", "HUF"): -3300
    }  # fmt: skip


def test_columns_of_namesakes_and_of_internal_names_are_found_out() -> None:
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


def test_only_a_guard_before_a_formula_is_taken_off_a_name() -> None:
    trip = spliit_csv('"\'=Ana","\'Ben"', '"2026-05-01","H","","EUR","4.00",,,,"No","Evenly",2,-2')
    assert [person.name for person in trip.people] == ["=Ana", "'Ben"]
    assert [(note.code, note.values) for note in trip.notes] == [
        ("guarded_names", {"names": "=Ana"})
    ]


# -- ihatemoney -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "minor", "notes"),
    [
        ({"amount": 10.005, "owers": ["Ana"]}, 1001, ["rounded"]),
        ({"amount": 1e3, "owers": ["Ana"]}, 100_000, None),
        ({"amount": 10.01, "currency": "JPY", "owers": ["Ana"]}, 10, ["rounded"]),
        ({"currency": "JPY", "amount": 10.0}, 10, ["weight_unknown"]),
    ],
)
def test_amounts_of_ihatemoney_are_read_as_they_are_written(
    fields: dict[str, Any], minor: int, notes: list[str] | None
) -> None:
    bill = json.loads(samples.IHATEMONEY_JSON)[0] | fields
    trip = read(json.dumps([bill]))
    assert noted(trip) == ({1: notes} if notes else {})
    assert entries(trip)[0].amount_minor == minor


def test_a_reimbursement_of_ihatemoney_goes_by_weight() -> None:
    bills = json.loads(samples.IHATEMONEY_JSON)
    back = bills[1] | {"payer_name": "Cleo", "owers": ["Ana", "Ben"], "amount": 9.0}
    trip = read(json.dumps([bills[0], bills[1] | {"payer_name": "Ben"}, back]))
    assert [(e.receiver, e.amount_minor) for e in entries(trip)[2:]] == [("Ana", 600), ("Ben", 300)]


def test_cells_of_ihatemoney_are_guarded_once() -> None:
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


def test_names_that_were_guarded_are_noted_once_in_json_too() -> None:
    bills = [{**json.loads(samples.IHATEMONEY_JSON)[0], "owers": ["'+Ben", "'@Cleo", "'Dan"]}] * 2
    trip = read(json.dumps(bills))
    assert [note.values for note in trip.notes] == [{"names": "+Ben, @Cleo"}]
    assert [person.name for person in trip.people] == ["Ana", "+Ben", "@Cleo", "'Dan"]
    assert not codes(read(samples.IHATEMONEY_JSON))


def test_a_guarded_name_with_a_comma_is_one() -> None:
    header = "what,amount,date,payer_name,payer_weight,owers\n"
    row = 'A,9,2026-05-01,"\'=Cleo, Jr",1.0,"{}"\n'
    names = ["'=Cleo, Jr, Ben", "Ben, =Cleo, Jr"]
    trip = read(header + "".join(map(row.format, names)), currency="EUR")
    assert [person.name for person in trip.people] == ["=Cleo, Jr", "Ben"]
    assert balances(trip) == {("=Cleo, Jr", "EUR"): 900, ("Ben", "EUR"): -900}


def test_names_with_commas_of_ihatemoney_are_found_if_they_paid() -> None:
    header = "what,amount,date,payer_name,payer_weight,owers\n"
    row = 'A,9,2026-05-01,"Cleo, Jr",1.0,"Cleo, Jr, Ben"\nB,9,2026-05-01,Ben,1.0,Ben\n'
    trip = read(header + row, currency="EUR")
    assert noted(trip) == {2: ["names_with_commas"]}
    assert balances(trip) == {("Cleo, Jr", "EUR"): 450, ("Ben", "EUR"): -450}


def test_weights_with_many_decimals_divide_exactly() -> None:
    bills = [
        {"what": "Hut", "amount": 1e6, "date": "2026-05-01", "owers": ["Ana", "Ben"]}
        | {"payer_name": name, "payer_weight": weight}
        for name, weight in (("Ana", 0.333333), ("Ben", 0.1), ("Ana", 0.333333))
    ]
    trip = read(json.dumps(bills), currency="EUR")
    # 333333 of 433333 each time.
    assert kinds(trip) == ["MANUAL"] * 3
    assert balances(trip) == {("Ana", "EUR"): -30769177, ("Ben", "EUR"): 30769177}


# -- Cospend --------------------------------------------------------------------------------------


def cospend(*bills: str, members: Iterable[str] = ('"Ana",1,1,"#1"', '"Ben",1,0,"#2"')) -> str:
    sections = [["name,weight,active,color", *members], [BILLS, *bills]]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def test_sections_of_cospend_are_known_by_their_names() -> None:
    trip = read(
        'color,active,weight,name\n"#1",1,2,"Ana"\n,,,\n'
        "owers,payer_name,payer_weight,amount,what,date,timestamp\n"
        '"Ana,Ben","Ana",2,3,Bus,2026-05-01,1777672800\n,,,\n'
        "exchange_rate,currencyname\n1,EUR\n"
    )
    assert balances(trip) == {("Ana", "EUR"): 100, ("Ben", "EUR"): -100}


@pytest.mark.parametrize("name", ['Zoé "Z"', 'A"b', '"', "Cleo, Jr", 'C, "D"'])
@pytest.mark.parametrize("is_saved_again", [False, True])
def test_quotes_in_names_of_cospend_are_not_doubled(name: str, is_saved_again: bool) -> None:
    doubled = name.replace('"', '""')
    members = ['"Ben",1,0,"#2"', f'"{doubled if is_saved_again else name}",2,1,"#1"']
    content = cospend(f'Bus,9,2026-05-01,,"Ben",1,1,"Ben,{doubled}",n,0', members=members)
    trip = read(content, currency="EUR")
    assert [person.name for person in trip.people] == ["Ben", name]
    assert balances(trip) == {("Ben", "EUR"): 600, (name, "EUR"): -600}


def test_a_backslash_escapes_nothing_in_cospend() -> None:
    row = '"C:\\",9,2026-05-01,,Ana,1,1,"Ana,Ben",n,0'
    quoted = '"a ""b""",9,2026-05-01,,Ana,1,1,"Ana,Ben",n,0'
    trip = read(cospend(row, quoted), currency="EUR")
    assert [entry.description for entry in entries(trip)] == ["C:\\", 'a "b"']


@pytest.mark.parametrize(
    ("amount", "minor", "notes"),
    [("1.0E+2", 10_000, None), ("33.333333333333", 3333, ["rounded"]), ("0.005", 1, ["rounded"])],
)
def test_numbers_of_cospend_are_those_of_php(
    amount: str, minor: int, notes: list[str] | None
) -> None:
    trip = read(cospend(f"Bus,{amount},2026-05-01,,Ana,1,1,Ben,n,0"), currency="EUR")
    assert noted(trip) == ({6: notes} if notes else {})
    assert entries(trip)[0].amount_minor == minor


def test_bills_of_cospend_for_one_person_each_may_be_one_expense() -> None:
    bills = [f"Hut,{n},2026-05-01,,Ana,1,1,{who},n,0" for n, who in ((3, "Ana"), (4, "Ben"))]
    trip = read(cospend(*bills, "Bus,3,2026-05-01,,Ana,1,1,Ben,m,-12"), currency="EUR")
    assert noted(trip) == {
        6: ["perhaps_one_expense"],
        7: ["perhaps_one_expense"],
        8: ["repeats"],
    }
    assert entries(trip)[2].category == "FOOD"


def test_a_project_of_cospend_has_notes_categories_and_rates_of_today() -> None:
    trip = read(samples.COSPEND_CSV)
    (entry,) = entries(trip)
    assert (codes(trip), noted(trip)) == (["rates_of_today"], {6: ["repeats"]})
    assert (entry.notes_text, entry.category) == ("two nights, cash\nLodging", "ACCOMMODATION")
    assert entry.description == "Hut (250 CZK)"
    assert refused(cospend("Bus,9,2026-05-01,,Ana,1,1,Ben,n,0")) == "currency_needed"


def test_old_files_of_cospend_are_no_bills_of_ihatemoney() -> None:
    header = "what,amount,date,payer_name,payer_weight,{}owers\n"
    rows = 'deleteMeIfYouWant,1,1970-01-01,Cleo,1,{}Cleo\nBus,9,2017-01-01,Ana,1,{}"Ana,Ben"\n'
    table = "\ncategoryname,categoryid,icon,color\n"
    for extra, cell, name in (("payer_active,", "1,", "cospend"), ("", "", "ihatemoney")):
        trip = read(header.format(extra) + rows.format(cell, cell) + table, currency="EUR")
        assert trip.format == name
        assert {person.name for person in trip.people} == {"Ana", "Ben", "Cleo"}
        assert [entry.description for entry in entries(trip)] == ["Bus"]


# -- Abrechnung -----------------------------------------------------------------------------------


def abrechnung(sample: str = samples.ABRECHNUNG, **fields: Any) -> TripDescription:
    return read(changed(sample, "transactions", 0, **fields))


ITEM = json.loads(samples.ABRECHNUNG)["transactions"][0]["positions"][0]


@pytest.mark.parametrize(
    ("fields", "notes", "expected"),
    [
        # Files of version 1.5 do not say how.
        ({"split_mode": ...}, [], 1150),
        ({"value": 22.004}, ["rounded"], 1150),
        ({"positions": [ITEM | {"price": 24.0}]}, ["items_exceed"], 1700),
        ({"positions": [], "files": [{"filename": "a", "content": "QQ=="}]}, ["files_left_out"],
         1100),
        ({"positions": [], "split_mode": "absolute", "debitor_shares": {"2": 22.0}},
         ["rate_not_applied"], 2200),
    ],
)  # fmt: skip
def test_transactions_of_abrechnung_are_exact(
    fields: dict[str, Any], notes: list[str], expected: int
) -> None:
    trip = abrechnung(**fields)
    assert noted(trip) == ({1: notes} if notes else {})
    assert codes(trip) == ["deleted_come_back"]
    assert balances(trip) == {("1", "CHF"): expected, ("2", "CHF"): -expected}
    (entry,) = entries(trip)
    assert (entry.rate, entry.tags) == (Decimal("0.96"), ("food",) + entry.tags[1:])


def test_an_item_of_nobody_is_refused() -> None:
    item = ITEM | {"usages": {}, "communist_shares": 0.0}
    assert skipped(abrechnung(positions=[item])) == {1: "item_of_nobody"}
    assert skipped(abrechnung(debitor_shares={"9": 1.0})) == {1: "unknown_person"}


@pytest.mark.parametrize(("second", "is_refused"), [(0.75, False), (0.7501, False), (0.74, True)])
def test_percentages_of_abrechnung_add_up(second: float, is_refused: bool) -> None:
    shares = {"1": 0.25, "2": second}
    trip = abrechnung(split_mode="percent", debitor_shares=shares, positions=[])
    assert skipped(trip) == ({1: "does_not_add_up"} if is_refused else {})


def test_events_pass_on_to_events_and_name_a_tag() -> None:
    content = json.loads(samples.ABRECHNUNG)
    content["events"] += [{"id": 4, "name": "Alps", "clearing_shares": {"3": 1, "2": 1}}]
    trip = abrechnung(json.dumps(content), debitor_shares={"4": 1.0}, positions=[])
    assert balances(trip) == {("1", "CHF"): 1650, ("2", "CHF"): -1650}
    assert entries(trip)[0].tags == ("food", "Alps")
    # An event can also have paid.
    trip = abrechnung(creditor_shares={"3": 1.0}, debitor_shares={"2": 1.0}, positions=[])
    assert balances(trip) == {("1", "CHF"): 1100, ("2", "CHF"): -1100}


# -- SplitPro -------------------------------------------------------------------------------------


def splitpro(*rows: str, name: str = "") -> TripDescription:
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
def test_the_sign_of_small_shares_of_splitpro_was_cut_off(
    cell: str, currency: str, minor: int
) -> None:
    digits = "100" if currency == "JPY" else "100,00" if "," in cell else "100.00"
    trip = splitpro(f'You,Gum,general,"{digits}",EXACT,2026-05-01 20:15:00,{currency},"{cell}",,0')
    assert dict(entries(trip)[0].parts)["Friend"] == minor


def test_half_of_a_conversion_of_splitpro_is_skipped() -> None:
    row = "You,X,currency,10.00,CURRENCY_CONVERSION,2026-05-01 20:15:00,EUR,10.00,0,0"
    assert skipped(splitpro(row)) == {2: "half_a_conversion"}


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
def test_quotes_in_names_of_splitpro_are_not_doubled(cell: str, title: str) -> None:
    """Unless another program saved the file again."""
    row = f'Cleo "C",{cell},hotel,"60,00",EQUAL,2026-05-01 20:15:00,EUR,0,"30,00",0'
    trip = splitpro(row, row)
    assert balances(trip) == {('Cleo "C"', "EUR"): 6000, ("You", "EUR"): -6000}
    assert [(entry.category, entry.description) for entry in entries(trip)] == [
        ("ACCOMMODATION", title)
    ] * 2


def test_a_short_row_of_splitpro_at_the_end_is_skipped() -> None:
    row = "You,A,general,60.00,EQUAL,2026-05-01 20:15:00,EUR,30.00,0,0"
    assert skipped(splitpro(row, "You,B,general")) == {3: "missing_field"}


def test_dinars_of_splitpro_have_three_decimals() -> None:
    row = "You,A,general,1.234,EXACT,2026-05-01 20:15:00,KWD,1.234,0,0"
    assert balances(splitpro(row)) == {("You", "KWD"): 1234, ("Friend", "KWD"): -1234}


def test_a_friend_who_paid_nothing_has_the_name_of_the_file() -> None:
    row = "You,A,general,60.00,EQUAL,2026-05-01 20:15:00,EUR,30.00,0,0"
    for name in ("Ben", "Dr. Ben"):
        assert [person.name for person in splitpro(row, name=f"{name}.csv").people][1] == name


def test_a_pair_of_splitpro_stands_twice_and_strangers_have_no_name() -> None:
    trip = read(samples.SPLITPRO_JSON)
    assert (codes(trip), kinds(trip)) == (["balances_only"], ["payment"])
    assert [(p.name, p.is_caller) for p in trip.people] == [("#1", True), ("Ben", False)]
    yen = [
        {"userId": user, "friendId": friend, "currency": "JPY", "amount": amount}
        for user, friend, amount in ((1, 2, "-500"), (2, 1, "500"), (1, 2, "0"))
    ]
    trip = read(changed(samples.SPLITPRO_JSON, "groups", 0, groupBalances=yen))
    assert balances(trip) == {("1", "JPY"): -500, ("2", "JPY"): 500}


def test_a_group_of_splitpro_without_a_proper_name_is_not_the_chosen_one() -> None:
    file = changed(samples.SPLITPRO_JSON, "groups", 0, name=["Alps"])
    with pytest.raises(UnreadableFile) as caught:
        read(file, group="Alps")
    assert caught.value.code == "several_groups"
    assert read(file, group="5").people


# -- Settle Up ------------------------------------------------------------------------------------


def settle_up(*rows: str, header: str = SETTLE_UP) -> TripDescription:
    return read("\n".join([header, *rows, ""]))


OWN = "Ben,10,EUR,Ana;Ben,5;5,Bus,,2026-05-02 09:00:00,Europe/Berlin,1,10,expense,"


@pytest.mark.parametrize("kind", ["expense", "transfer"])
def test_an_amount_of_settle_up_keeps_its_currency_and_rate(kind: str) -> None:
    foreign = f"Ana,250,CZK,Ben,250,Hut,,2026-05-02 09:00:00,Europe/Berlin,24.4,10.25,{kind},"
    trip = settle_up(OWN, foreign)
    assert trip.currency == "EUR"
    own, entry = entries(trip)
    assert (own.rate, entry.amount_minor, entry.currency) == (None, 25_000, "CZK")
    assert entry.rate * 250 == Decimal("10.25")


def test_columns_of_settle_up_are_read_by_their_names() -> None:
    names, cells = SETTLE_UP.split(","), OWN.split(",")
    for order in (range(len(names) - 1, -1, -1), [at for at in range(len(names)) if at != 8]):
        header, row = (",".join(values[at] for at in order) for values in (names, cells))
        trip = settle_up(row, header=header)
        assert balances(trip) == {("Ben", "EUR"): 500, ("Ana", "EUR"): -500}


def test_rows_of_settle_up_have_links_emoji_and_several_payers() -> None:
    link = "https://example.com/r.jpg"
    row = f"A;B,6;4,EUR,A;B;C,3.33;3.33;3.33,,🍕,2026-05-01 18:00:00,Europe/Berlin,1,10,{{}},{link}"
    trip = settle_up(row.format("expense"), row.format("transfer"))
    assert noted(trip) == {2: ["rounded_shares"], 3: ["rounded_shares", "payment_of_several"]}
    first = entries(trip)[0]
    assert (first.receipt_url, first.category, first.description) == (link, "FOOD", "🍕")
    assert first.payers == (("A", 600), ("B", 400))
    assert skipped(settle_up(OWN.replace("Ana;Ben", "Ana;Ana"))) == {2: "named_twice"}


# -- Tricount -------------------------------------------------------------------------------------

ENTRY = ("Response", 0, "Registry", "all_registry_entry", 0, "RegistryEntry")


def test_either_amount_of_tricount_is_that_of_the_group() -> None:
    content = json.loads(samples.TRICOUNT)
    entry = content["Response"][0]["Registry"]["all_registry_entry"][0]["RegistryEntry"]
    for part in (entry, *entry["allocations"]):
        value = part["amount"]["value"]
        part["amount_local"] = part["amount"]
        part["amount"] = {"currency": "CHF", "value": f"{float(value) * 2:.2f}"}
    swapped = json.loads(json.dumps(content).replace('"amount_local"', '"x"'))
    for part in (swapped["Response"][0]["Registry"]["all_registry_entry"][0]["RegistryEntry"],):
        for one in (part, *part["allocations"]):
            one["amount_local"], one["amount"] = one.pop("amount"), one.pop("x")
    for found in (content, swapped):
        trip = read(json.dumps(found))
        assert noted(trip) == {1: ["original_amount"]}
        assert balances(trip) == {("m1", "EUR"): 2900, ("m2", "EUR"): -2900}


def test_members_of_tricount_who_left_stay_and_may_share_a_name() -> None:
    content = json.loads(samples.TRICOUNT.replace('"Ben"', '"Ana"'))
    registry = content["Response"][0]["Registry"]
    registry["memberships"][1]["RegistryMembershipNonUser"]["status"] = "DELETED"
    for found in (content, {"Registry": registry}, registry):
        trip = read(json.dumps(found))
        assert [person.key for person in trip.people] == ["m1", "m2"]
        assert balances(trip) == {("m1", "EUR"): 2900, ("m2", "EUR"): -2900}


def test_entries_of_tricount_have_categories_of_their_own() -> None:
    content = changed(
        samples.TRICOUNT, *ENTRY, category="OTHER", category_custom="Bar", description=""
    )
    (entry,) = entries(read(content))
    assert (entry.description, entry.category) == ("Bar", "FOOD")


@pytest.mark.parametrize("moment", ["-90000000000", "99999999999999", "1e40"])
def test_a_moment_of_cospend_that_no_calendar_has_is_skipped(moment: str) -> None:
    row = f"A,1,2026-01-01,{moment},Ann,1,1,Ben"
    assert [*skipped(read(f"{BILLS}\n{row}", currency="EUR")).values()] == ["bad_date"]


def test_an_unknown_currency_of_ihatemoney_is_not_that_of_the_group() -> None:
    bills = json.loads(samples.IHATEMONEY_JSON)
    bills.append(bills[0] | {"currency": "BTC"})
    bills[0]["currency"], bills[1]["currency"] = "EUR", ""
    trip = read(json.dumps(bills), currency="EUR")
    assert skipped(trip) == {3: "unknown_currency"}
    assert [entry.currency for entry in entries(trip)] == ["EUR", "EUR"]
    # A whole project in a currency that has no code any more: the caller says which one it is.
    trip = read(json.dumps([bill | {"currency": "HRK"} for bill in bills]), currency="EUR")
    assert [entry.currency for entry in entries(trip)] == ["EUR", "EUR", "EUR"]
