"""CSV and JSON of Splitwise: what a file leaves open or gets wrong, and what it is read as."""

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import balances, claimed, codes, entries, kinds, noted, read

pytestmark = pytest.mark.once

SPLITWISE = "Date,Description,Category,Cost,Currency"


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
    assert (first.title, first.fields["category"]) == ('two\nlines, "x" 🙂', "FOOD")
    assert (second.title, second.fields["category"], second.line) == ("Dining out", "FOOD", 4)


def test_a_refund_to_several_is_turned_around() -> None:
    trip = read(f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,Back,Bus,-10,EUR,-2.50,-2.50,5.00\n")
    assert noted(trip) == {2: ["turned_around"]}
    assert balances(trip) == {("Ana", "EUR"): -250, ("Ben", "EUR"): -250, ("Cleo", "EUR"): 500}


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
    assert entries(trip)[0].fields["notes"] == (fields.get("details") or "")
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
