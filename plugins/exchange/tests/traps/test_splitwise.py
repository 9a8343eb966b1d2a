"""CSV and JSON of Splitwise: what a file leaves open or gets wrong, and what it is read as."""

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import check, entries, kinds, read

pytestmark = pytest.mark.once


def table(people, *rows):
    return "\n".join([f"Date,Description,Category,Cost,Currency,{people}", *rows, ""])


TABLES: dict[str, dict[str, Any]] = {
    "rows that say too little are skipped": {
        "content": table(
            "Ana,Ben",
            "2026-05-01,Own,Food,5.00,EUR,0.00,0.00",
            "2026-05-01,None,Food,0.00,EUR,0.00,0.00",
            "2026-05-01,Odd,Food,5.00,EUR,9.00,-9.00",
            "2026-13-01,Date,Food,5.00,EUR,1.00,-1.00",
            "2026-05-01,Money,Food,5.00,XYZ,1.00,-1.00",
            "2026-05-01,Columns,Food,5.00,EUR,1.00,-1.00,0.00",
        ),
        "skipped": {
            **{2: "payer_unknown", 3: "no_amount", 4: "does_not_add_up", 5: "bad_date"},
            **{6: "unknown_currency", 7: "other_columns"},
        },
    },
    "a payment in an unknown language leaves the balances right": {
        "content": table(
            "Ana,Ben",
            "2026-05-01,Bus,Bus,10.00,EUR,5.00,-5.00",
            "2026-05-02,x,Greiðsla,2.00,EUR,-2.00,2.00",
            "2026-05-03,x, , ,EUR,3.00,-3.00",
        ),
        "owed": {"Ana": 300, "Ben": -300},
        "agrees": True,
    },
    "a payment of several is an expense": {
        "content": table("Ana,Ben,Cleo", "2026-05-01,x,Payment,9.00,EUR,9.00,-4.50,-4.50"),
        "noted": {2: ["payment_of_several"]},
        "owed": {"Ana": 900, "Ben": -450, "Cleo": -450},
    },
    "cents move between members from row to row": {
        "content": table(
            "Ana,Ben,Cleo",
            "2026-05-01,A,Bus,10.00,EUR,6.67,-3.33,-3.34",
            "2026-05-02,B,Bus,10.00,EUR,-3.33,6.66,-3.33",
            "2026-05-03,C,Bus,10.00,EUR,7,-4,-3",
            "2026-05-04,T, , ,EUR,10.34,-0.67,-9.67",
        ),
        "kinds": ["EQUAL", "EQUAL", "MANUAL"],
        "agrees": True,
    },
    "cents that were lost by rounding are found": {
        "content": table("Ana,Ben,Cleo", "2026-05-01,Bus,Bus,10.00,EUR,6.67,-3.33,-3.33"),
        "noted": {2: ["rounded_shares"]},
        "owed": {"Ana": 666, "Ben": -333, "Cleo": -333},
    },
    "dinars are rounded to two decimals": {
        "content": table("Ana,Ben,Cleo", "2026-05-01,Bus,Bus,10.00,KWD,6.67,-3.33,-3.33"),
        "noted": {2: ["rounded_shares"]},
        "owed": {"Ana": 6660, "Ben": -3330, "Cleo": -3330},
    },
    "several payers keep their balances": {
        "content": table(
            "Ana,Ben,Cleo",
            "2026-05-01,A,Bus,100.00,EUR,0.01,33.32,-33.33",
            "2026-05-02,T, , ,EUR,0.01,33.32,-33.33",
        ),
        "noted": {2: ["payers_unknown"]},
        "agrees": True,
    },
    "descriptions may have lines, and the category stands in": {
        "content": table(
            "Ana,Ben",
            '2026-05-01,"two\nlines, ""x"" 🙂",Food and drink - Other,4.00,EUR,2.00,-2.00',
            "2026-05-02,,Dining out,4.00,EUR,2.00,-2.00",
            "2026-05-02,Late,Dining out,0,EUR,2.00,-2.00",
        ),
        "titles": ['two\nlines, "x" 🙂', "Dining out"],
        "categories": ["FOOD", "FOOD"],
        "skipped": {5: "no_amount"},
    },
    "a refund to several is turned around": {
        "content": table("Ana,Ben,Cleo", "2026-05-01,Back,Bus,-10,EUR,-2.50,-2.50,5.00"),
        "noted": {2: ["turned_around"]},
        "owed": {"Ana": -250, "Ben": -250, "Cleo": 500},
    },
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_splitwise_is_read_as_it_is_meant(name):
    check(**TABLES[name])


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
def test_every_language_of_splitwise_says_its_balances(labels, total, payment, blank):
    check(
        f"{labels},Ana,Борис\n{blank}2026-05-01,⛴,Bus,10.00,EUR,5.00,-5.00\n"
        f"2026-05-02,x,{payment},2.00,EUR,-2.00,2.00\n{blank}"
        f"2026-05-03,{total}, , ,EUR,3.00,-3.00\n{blank}",
        kinds=["EQUAL", "payment"],
        owed={"Ana": 300, "Борис": -300},
        agrees=True,
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("alps-and-sea_2026-05-04_export.csv", "alps and sea"),
        ("alps_2026-05-04_export (1).csv", "alps"),
        ("_2026-05-04_export.csv", ""),
        ("other.csv", ""),
    ],
)
def test_only_the_name_of_the_file_has_that_of_the_group(name, title):
    assert read(samples.SPLITWISE_CSV, name).name == title


# -- API ------------------------------------------------------------------------------------------

PAGE = json.loads(samples.SPLITWISE_API)
[BILL], [GROUP] = PAGE["expenses"], PAGE["groups"]


def splitwise(*bills):
    return json.dumps(PAGE | {"expenses": [*bills]})


def bill(cost, paid, owed, **fields):
    users = [
        user | {"paid_share": one, "owed_share": other}
        for user, one, other in zip(BILL["users"], paid, owed, strict=True)
    ]
    return splitwise(BILL | {"cost": cost, "users": users, **fields})


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({"creation_method": "equal"}, None),
        ({"repeat_interval": "weekly"}, ["repeats"]),
        ({"repeat_interval": "never"}, None),
        ({"payment": True}, ["payment_of_several"]),
        ({"receipt": {"large": None}, "details": "Soup 3.20"}, None),
    ],
)
def test_an_expense_of_splitwise_is_kept_exactly(fields, notes):
    check(
        splitwise(BILL | fields),
        kinds=["MANUAL"],
        noted={1: notes} if notes else {},
        details=[fields.get("details") or ""],
        agrees=True,
    )


@pytest.mark.parametrize(("method", "kind"), [("equal", "EQUAL"), (None, "MANUAL")])
def test_only_what_was_called_equal_is(method, kind):
    content = bill("10.01", ("10.01", "0"), ("5.01", "5.0"), creation_method=method)
    check(content, kinds=[kind], owed={"1": 500, "2": -500})
    # What one paid for another alone is no payment.
    alone = bill("9.0", ("9.0", "0"), ("0", "9.0"), creation_method=method)
    check(alone, kinds=[kind], owed={"1": 900, "2": -900})


@pytest.mark.parametrize(("currency", "minor"), [("JPY", 120), ("KWD", 120_000), ("EUR", 12_000)])
def test_amounts_of_splitwise_have_other_decimals_than_the_currency(currency, minor):
    fields = {"currency_code": currency, "payment": True}
    content = bill("120.0", ("120.0", "0.0"), ("0.0", "120.0"), **fields)
    check(content, kinds=["payment"], owed={"1": minor, "2": -minor})


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2026-05-01"), ("Asia/Tokyo", "2026-05-02")])
def test_an_instant_of_splitwise_has_its_date_where_the_caller_is(zone, day):
    check(splitwise(BILL | {"date": "2026-05-01T23:30:00Z"}), zone=ZoneInfo(zone), days=[day])


def test_comments_of_splitwise_have_authors_besides_the_system():
    comments = [
        {"content": "Great", "user": {"id": 2}, "deleted_at": None},
        {"content": "Ana changed it", "user": {"id": 0, "first_name": "Splitwise"}},
        {"content": "Gone", "user": {"id": 2}, "deleted_at": "2026-05-02T00:00:00Z"},
    ]
    content = json.dumps([{"expense": BILL | {"comments": comments}}, {"group": GROUP}])
    check(content, people=["Ana", "Ben Q"], agrees=True)
    [entry] = entries(read(content))
    assert [(c.text, c.person) for c in entry.comments] == [("Great", "2")]


def test_only_the_newest_state_of_an_expense_of_splitwise_counts():
    """The pages of a list that moved repeat some."""
    older = BILL | {"cost": "90.0", "updated_at": "2026-05-01T18:01:00Z"}
    gone = BILL | {"id": 8, "deleted_at": "2026-05-03T00:00:00Z"}
    check(
        json.dumps([{"expenses": [older, BILL]}, {"expenses": [BILL, gone]}, {"group": GROUP}]),
        skipped={1: "repeated", 3: "repeated", 4: "deleted_in_source"},
        owed={"1": 2666, "2": -2666},
        agrees=True,
    )


@pytest.mark.parametrize(("count", "expected"), [(19, []), (20, ["perhaps_one_page"]), (21, [])])
def test_one_page_of_splitwise_may_not_be_everything(count, expected):
    check(splitwise(*(BILL | {"id": at} for at in range(count))), codes=expected)


def test_balances_of_splitwise_alone_become_payments():
    debt = {"from": 2, "to": 1, "amount": "26.66", "currency_code": "EUR"}
    content = json.dumps({"friends": [], "groups": [GROUP | {"original_debts": [debt]}]})
    owed = {"1": 2666, "2": -2666}
    check(content, codes=["balances_only"], kinds=["payment"], owed=owed, agrees=True)


def test_one_of_several_groups_has_to_be_chosen():
    content = splitwise(BILL, BILL | {"id": 8, "group_id": None})
    with pytest.raises(UnreadableFile) as caught:
        read(content)
    assert caught.value.code == "several_groups"
    assert caught.value.values == {"groups": "Alps (3), (0)"}
    assert [kinds(read(content, group=group)) for group in ("Alps", "0")] == [["MANUAL"]] * 2


def test_only_confirmed_addresses_of_splitwise_are_kept():
    people = read(samples.SPLITWISE_API).people
    assert [person.email for person in people] == ["ana@example.com", None]
