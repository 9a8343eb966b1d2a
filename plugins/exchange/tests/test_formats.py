"""What the readers of formats make of small files, and of the traps in them."""

import json
from zoneinfo import ZoneInfo

import pytest

from plugins.exchange.description import DescribedExpense, DescribedSettlement, UnreadableFile
from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import balances, claimed, entries, noted, read, skipped
from plugins.exchange.tests.samples import SAMPLES

pytestmark = pytest.mark.once

SPLITWISE = "Date,Description,Category,Cost,Currency"
SPLIIT = json.loads(samples.SPLIIT_JSON)
COSPEND_BILLS = (
    "what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat,categoryid\n"
)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_balances_follow_from_the_file(name: str) -> None:
    content, expected = SAMPLES[name]
    trip = read(content)
    assert trip.format == name
    assert not skipped(trip)
    if name not in {"spliit_json", "spliit_csv", "ihatemoney"}:
        assert balances(trip) == expected
    if trip.claimed:
        assert claimed(trip) == balances(trip)


# -- Splitwise, CSV -------------------------------------------------------------------------------


def test_labels_of_splitwise_are_in_any_language() -> None:
    trip = read(
        "Fecha,Descripción,Categoría,Coste,Moneda,Ana,Ben\n\n"
        "2026-05-01,Barco,Transporte,10.00,EUR,5.00,-5.00\n"
        "2026-05-02,Ben pagó a Ana,Pago,5.00,EUR,-5.00,5.00\n\n"
        "2026-05-03,Saldo total, , ,EUR,0.00,0.00\n"
    )
    assert trip.format == "splitwise_csv"
    assert [type(entry) for entry in entries(trip)] == [DescribedExpense, DescribedSettlement]


def test_a_file_saved_again_has_semicolons_and_decimal_commas() -> None:
    rows = "2026-05-01;Bus;Bus;1.234,50;EUR;617,25;-617,25\n2026-05-02;Tea;Food;4,00;EUR;2,00;-2,00"
    trip = read(f"{SPLITWISE.replace(',', ';')};Ana;Ben\n{rows}\n")
    assert balances(trip) == {("Ana", "EUR"): 61925, ("Ben", "EUR"): -61925}


def test_it_may_be_unclear_what_a_number_is() -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(f"{SPLITWISE.replace(',', ';')};Ana;Ben\n2026-05-01;Bus;Bus;1.234;EUR;1.234;-1.234\n")
    assert (caught.value.code, caught.value.line) == ("unclear_decimal_mark", 2)
    with pytest.raises(UnreadableFile) as caught:
        read(f"{SPLITWISE};Ana;Ben\n".replace(",", ";") + "2026-05-01;B;B;1,50;EUR;1.5;-1.5\n")
    assert (caught.value.code, caught.value.line) == ("two_decimal_marks", 2)


def test_people_with_one_name_are_two() -> None:
    trip = read(f"{SPLITWISE},Ana,Ana,Ben\n2026-05-01,Bus,Bus,9.00,EUR,6.00,-3.00,-3.00\n")
    assert [person.key for person in trip.people] == ["Ana", "Ana (2)", "Ben"]
    assert balances(trip) == {("Ana", "EUR"): 600, ("Ana (2)", "EUR"): -300, ("Ben", "EUR"): -300}


def test_rows_of_splitwise_that_say_too_little_are_skipped() -> None:
    trip = read(
        f"{SPLITWISE},Ana,Ben\n"
        "2026-05-01,Own,Food,5.00,EUR,0.00,0.00\n"
        "2026-05-01,None,Food,0.00,EUR,0.00,0.00\n"
        "2026-05-01,Odd,Food,5.00,EUR,9.00,-9.00\n"
        "2026-13-01,Date,Food,5.00,EUR,1.00,-1.00\n"
        "2026-05-01,Money,Food,5.00,XYZ,1.00,-1.00\n"
        "2026-05-01,Columns,Food,5.00,EUR,1.00,-1.00,0.00\n"
    )
    assert skipped(trip) == {
        2: "payer_unknown",
        3: "no_amount",
        4: "does_not_add_up",
        5: "bad_date",
        6: "unknown_currency",
        7: "other_columns",
    }


def test_each_currency_of_splitwise_has_its_balances() -> None:
    trip = read(
        f"{SPLITWISE},Ana,Ben\n"
        "2026-05-01,Bus,Bus,10.00,EUR,5.00,-5.00\n"
        "2026-05-02,Train,Bus,900.00,JPY,-450.00,450.00\n\n"
        "2026-05-04,Total balance, , ,EUR,5.00,-5.00\n"
        "2026-05-04,Total balance, , ,JPY,-450.00,450.00\n"
    )
    assert (
        claimed(trip)
        == balances(trip)
        == {("Ana", "EUR"): 500, ("Ben", "EUR"): -500, ("Ana", "JPY"): -450, ("Ben", "JPY"): 450}
    )


def test_cents_that_were_lost_by_rounding_are_found() -> None:
    trip = read(f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,Bus,Bus,10.00,EUR,6.67,-3.33,-3.33\n")
    assert noted(trip) == {2: ["rounded_shares"]}
    assert balances(trip) == {("Ana", "EUR"): 666, ("Ben", "EUR"): -333, ("Cleo", "EUR"): -333}


def test_a_note_may_precede_the_header() -> None:
    assert read("This excludes groups.\n\n" + samples.SPLITWISE_CSV).format == "splitwise_csv"


# -- Splitwise, API -------------------------------------------------------------------------------


def test_pages_of_splitwise_that_repeat_an_expense_count_it_once() -> None:
    page = json.loads(samples.SPLITWISE_API)
    older = json.loads(samples.SPLITWISE_API)
    older["expenses"][0] |= {"updated_at": "2026-05-01T17:00:00Z", "cost": "90.0"}
    trip = read(json.dumps([older, page]))
    assert [entry.amount_minor for entry in entries(trip)] == [10000]
    assert list(skipped(trip).values()) == ["repeated"]


def test_deleted_expenses_of_splitwise_are_skipped() -> None:
    page = json.loads(samples.SPLITWISE_API)
    page["expenses"][0]["deleted_at"] = "2026-05-02T00:00:00Z"
    assert skipped(read(json.dumps(page))) == {1: "deleted_in_source"}


def test_what_was_deleted_elsewhere_is_named() -> None:
    bills = COSPEND_BILLS.replace("\n", ",deleted\n")
    trip = read(f"{bills}Hut,10,2026-05-01,1777672800,Ana,1,1,Ben,n,0,1\n", currency="EUR")
    assert [entry.title for entry in trip.entries] == ["Hut"]
    assert skipped(trip) == {2: "deleted_in_source"}
    trip = read(samples.TRICOUNT.replace('"NORMAL","status":"ACTIVE"', '"NORMAL","status":"GONE"'))
    assert [entry.title for entry in trip.entries] == ["Hut"]
    assert skipped(trip) == {1: "deleted_in_source"}
    gone = [{"activityType": "DELETE_EXPENSE", "data": title} for title in ("Sauna", None)]
    trip = read(json.dumps(SPLIIT | {"activities": [*gone, {"activityType": "UPDATE_GROUP"}, 7]}))
    assert [(note.code, note.values) for note in trip.notes] == [
        ("deleted_elsewhere", {"count": 2, "titles": "Sauna, ?"})
    ]


def test_one_of_several_groups_has_to_be_chosen() -> None:
    page = json.loads(samples.SPLITWISE_API)
    page["expenses"].append(page["expenses"][0] | {"id": 8, "group_id": None})
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(page))
    assert caught.value.code == "several_groups"
    assert caught.value.values == {"groups": "Alps (3), (0)"}
    assert len(entries(read(json.dumps(page), group="Alps"))) == 1
    assert len(entries(read(json.dumps(page), group="0"))) == 1


def test_only_confirmed_addresses_of_splitwise_are_kept() -> None:
    people = read(samples.SPLITWISE_API).people
    assert [person.email for person in people] == ["ana@example.com", None]


# -- Spliit ---------------------------------------------------------------------------------------


def spliit(**fields: object) -> str:
    return json.dumps(SPLIIT | {"expenses": [SPLIIT["expenses"][0] | fields]})


def test_a_foreign_amount_of_spliit_keeps_its_currency_and_rate() -> None:
    (entry,) = entries(read(samples.SPLIIT_JSON))
    assert (entry.amount_minor, entry.currency) == (1070, "CHF")
    assert (str(entry.rate), entry.converted_minor) == ("0.9355", 1001)
    assert entry.parts == (("p1", 250), ("p2", 751))
    assert (entry.split_type, entry.entered) == ("SHARES", (("p1", 10_000), ("p2", 30_000)))


def test_an_original_amount_may_be_in_major_units() -> None:
    (entry,) = entries(read(spliit(originalAmount=11, amount=1029)))
    assert entry.amount_minor == 1100


def test_forints_of_spliit_have_no_decimals() -> None:
    content = json.loads(spliit(amount=5000, originalAmount=None, splitMode="EVENLY"))
    (entry,) = entries(read(json.dumps(content | {"currencyCode": "HUF"})))
    assert entry.amount_minor == 500_000


@pytest.mark.parametrize(
    ("mode", "shares", "parts"),
    [
        ("EVENLY", (1, 1), (501, 500)),
        ("BY_SHARES", (100, 300), (250, 751)),
        ("BY_PERCENTAGE", (2500, 7500), (250, 751)),
        ("BY_AMOUNT", (1, 1000), (1, 1000)),
        ("BY_AMOUNT", (1, 1), (501, 500)),
    ],
)
def test_parts_of_spliit_are_to_the_cent(mode: str, shares: tuple, parts: tuple) -> None:
    paid_for = [
        {"participantId": key, "shares": share}
        for key, share in zip(("p1", "p2"), shares, strict=True)
    ]
    (entry,) = entries(read(spliit(splitMode=mode, paidFor=paid_for, originalAmount=None)))
    # An odd cent rotates by the id of the expense.
    assert sorted(minor for _key, minor in entry.parts) == sorted(parts)


def test_an_income_is_a_refund() -> None:
    content = spliit(amount=-1000, splitMode="EVENLY", originalAmount=None)
    (entry,) = entries(read(content))
    assert (entry.amount_minor, entry.payers) == (-1000, (("p1", -1000),))
    assert (entry.split_type, entry.notes) == ("EQUAL", ())
    assert balances(read(content)) == {("p1", "EUR"): -500, ("p2", "EUR"): 500}


def test_a_payment_of_spliit_is_a_settlement() -> None:
    paid_for = [{"participantId": "p2", "shares": 100}]
    content = spliit(isReimbursement=True, paidFor=paid_for, splitMode="EVENLY")
    (entry,) = entries(read(content))
    assert isinstance(entry, DescribedSettlement)
    assert (entry.sender, entry.receiver, entry.amount_minor) == ("p1", "p2", 1001)


def test_older_files_of_spliit_have_fewer_names() -> None:
    content = json.loads(samples.SPLIIT_JSON)
    for name in ("information", "currencyCode", "activities"):
        del content[name]
    for name in ("id", "notes", "recurrenceRule", "originalAmount", "conversionRate"):
        del content["expenses"][0][name]
    trip = read(json.dumps(content))
    assert (trip.currency, entries(trip)[0].key) == ("EUR", None)


def test_the_csv_of_spliit_may_not_say_who_paid() -> None:
    header = samples.SPLIIT_CSV.splitlines()[0].replace('"Ana","Ben"', '"Ana","Ben","Cleo"')
    row = '"2026-05-02","Payback","Payment","EUR","5.00",,,,"Yes","Evenly",0,-5,0'
    trip = read(f"{header}\n{row}\n")
    assert skipped(trip) == {2: "payer_unknown"}
    assert [note.code for note in trip.notes] == ["better_as_json"]


def test_a_guard_before_a_formula_is_taken_off_once() -> None:
    row = '"2026-05-02","\'=1+1","","EUR","5.00",,,,"No","Evenly",2.5,-2.5'
    header = samples.SPLIIT_CSV.splitlines()[0].replace('"Ana"', '"\'=Ana"')
    trip = read(f"{header}\n{row}\n")
    assert entries(trip)[0].title == "=1+1"
    assert trip.people[0].name == "=Ana"


# -- ihatemoney and Cospend -----------------------------------------------------------------------


def test_files_of_ihatemoney_6_have_no_types_and_no_currency() -> None:
    bill = {"what": "refund", "amount": 13.33, "date": "2017-01-01", "payer_name": "tata"}
    content = json.dumps([bill | {"payer_weight": 1.0, "owers": ["fred"]}])
    with pytest.raises(UnreadableFile) as caught:
        read(content)
    assert caught.value.code == "currency_needed"
    (entry,) = entries(read(content, currency="EUR"))
    assert (entry.amount_minor, entry.currency) == (1333, "EUR")


def test_an_unknown_weight_is_flagged() -> None:
    trip = read(samples.IHATEMONEY_CSV)
    assert noted(trip) == {2: ["weight_unknown"]}


def test_weights_of_payers_divide() -> None:
    first = entries(read(samples.IHATEMONEY_JSON))[0]
    assert (first.split_type, first.entered) == ("SHARES", (("Ana", 20_000), ("Ben", 10_000)))


def test_a_payer_with_two_weights_is_no_single_export() -> None:
    content = json.loads(samples.IHATEMONEY_JSON)
    content[1] |= {"payer_name": "Ana"}
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(content))
    assert (caught.value.code, caught.value.line) == ("two_weights", 2)


def test_a_settlement_plan_is_nothing_to_import() -> None:
    plan = [{"ower": "Ana", "receiver": "Ben", "amount": 5.0, "currency": "EUR"}]
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(plan))
    assert caught.value.code == "is_settlement_plan"


def test_names_with_commas_are_found_in_a_list_of_names() -> None:
    row = 'Bus,9,2026-05-01,1777672800,Ben,1,1,"Cleo, Jr,Ben,Ana",n,0\n'
    members = 'name,weight,active,color\n"Ana",1,1,#1\n"Ben",1,1,#2\n"Cleo, Jr",1,1,#3\n\n'
    trip = read(members + COSPEND_BILLS + row, currency="EUR")
    assert sorted(key for key, _none in entries(trip)[0].entered) == ["Ana", "Ben", "Cleo, Jr"]
    assert noted(trip) == {7: ["names_with_commas"]}


def test_a_moment_of_cospend_has_its_date_where_the_caller_is() -> None:
    row = "Late,9,2026-05-02,1777687200,Ana,1,1,Ana,n,0\n"
    content = COSPEND_BILLS + row
    (entry,) = entries(read(content, currency="EUR", zone=ZoneInfo("America/Lima")))
    assert str(entry.date) == "2026-05-01"


def test_a_reimbursement_and_a_declaration_of_cospend() -> None:
    rows = (
        "deleteMeIfYouWant,1,2026-05-01,1777672800,Cleo,1,1,Cleo,n,0\n"
        "Back,33.333,2026-05-01,1777672800,Ana,1,1,Ben,n,-11\n"
    )
    trip = read(COSPEND_BILLS + rows, currency="EUR")
    (entry,) = entries(trip)
    assert isinstance(entry, DescribedSettlement)
    assert (entry.amount_minor, noted(trip)) == (3333, {3: ["rounded"]})
    assert {person.name for person in trip.people} == {"Ana", "Ben", "Cleo"}
    # Somebody may have called a real bill that.
    real = rows.replace("Cleo,n,0", "Ana,n,0")
    assert len(entries(read(COSPEND_BILLS + real, currency="EUR"))) == 2


# -- Abrechnung -----------------------------------------------------------------------------------


def abrechnung(*transactions: dict, **others: object) -> str:
    content = json.loads(samples.ABRECHNUNG) | others
    base = content["transactions"][0] | {"positions": [], "currency_conversion_rate": 1}
    content["transactions"] = [base | fields for fields in transactions]
    return json.dumps(content)


def test_events_that_pass_on_to_each_other_are_refused() -> None:
    events = [
        {"id": 3, "name": "A", "clearing_shares": {"4": 1}},
        {"id": 4, "name": "B", "clearing_shares": {"3": 1}},
    ]
    trip = read(abrechnung({}, events=events))
    with pytest.raises(UnreadableFile) as caught:
        list(trip.entries)
    assert caught.value.code == "circular_events"


def test_several_payers_percentages_amounts_and_payments_of_abrechnung() -> None:
    trip = read(
        abrechnung(
            {"type": "mimo", "creditor_shares": {"1": 1, "2": 3}, "debitor_shares": {"1": 1}},
            {"split_mode": "percent", "debitor_shares": {"1": 0.25, "2": 0.75}},
            {"split_mode": "absolute", "debitor_shares": {"1": 20.5, "2": 1.5}},
            {"type": "transfer", "debitor_shares": {"2": 1}},
            {"value": -22.0, "debitor_shares": {"2": 1}},
        )
    )
    first, second, third, fourth, fifth = entries(trip)
    assert first.payers == (("1", 550), ("2", 1650))
    assert dict(second.parts) == {"1": 550, "2": 1650}
    assert dict(third.parts) == {"1": 2050, "2": 150}
    assert (fourth.sender, fourth.receiver, fourth.amount_minor) == ("1", "2", 2200)
    assert (fifth.payers, fifth.parts) == ((("1", -2200),), (("2", -2200),))


# -- SplitPro, Settle Up, Tricount ----------------------------------------------------------------


def test_small_shares_of_splitpro_are_ten_times_too_large() -> None:
    row = "You,Gum,general,0.10,EXACT,2026-05-01 20:15:00,EUR,0.5,0,0\n"
    trip = read(samples.SPLITPRO_CSV.splitlines()[0] + "\n" + row)
    assert noted(trip) == {2: ["small_share"]}
    assert dict(entries(trip)[0].parts) == {"You": 5, "Friend": 5}


def test_more_people_than_a_file_of_splitpro_names() -> None:
    row = 'Ben,Hut,hotel,"90,00",EQUAL,2026-05-01 20:15:00,EUR,0,"30,00",0\n'
    trip = read(samples.SPLITPRO_CSV.splitlines()[0] + "\n" + row)
    assert noted(trip) == {2: ["more_people"]}
    assert balances(trip) == {("Ben", "EUR"): 3000, ("You", "EUR"): -3000}


def test_what_friends_of_splitpro_owe_outside_of_groups() -> None:
    trip = read(samples.SPLITPRO_JSON, group="0")
    assert balances(trip) == {("1", "EUR"): 1000, ("2", "EUR"): -1000}


def test_settle_up_is_utf_16() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-8", "utf-8-sig"):
        data = samples.SETTLE_UP.encode(encoding)
        data = b"\xff\xfe" + data if encoding == "utf-16-le" else data
        assert read(data).format == "settle_up"


def test_lists_of_settle_up_may_not_fit() -> None:
    content = samples.SETTLE_UP.replace("33.34;33.33;33.33", "33.34;66.66")
    assert skipped(read(content)) == {2: "unequal_lists"}
    drift = read(samples.SETTLE_UP.replace("33.34;33.33", "33.33;33.33"))
    assert noted(drift) == {2: ["rounded_shares"]}
    assert skipped(read(samples.SETTLE_UP.replace("transfer", "income"))) == {3: "unknown_kind"}


def test_an_income_and_a_reimbursement_of_tricount() -> None:
    income = samples.TRICOUNT.replace('"NORMAL"', '"INCOME"')
    assert balances(read(income)) == {("m1", "EUR"): -2900, ("m2", "EUR"): 2900}
    content = json.loads(samples.TRICOUNT)
    entry = content["Response"][0]["Registry"]["all_registry_entry"][0]["RegistryEntry"]
    entry["type_transaction"] = "BALANCE"
    entry["allocations"] = entry["allocations"][1:]
    entry["amount"]["value"] = "-29.00"
    (found,) = entries(read(json.dumps(content)))
    assert isinstance(found, DescribedSettlement)
    assert (found.sender, found.receiver, found.amount_minor) == ("m1", "m2", 2900)
