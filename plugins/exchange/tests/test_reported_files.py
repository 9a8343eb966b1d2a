"""Files as people brought them from other places and times: the smallest of each kind."""

import json
from decimal import Decimal

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import changed
from splits.models import Expense, Settlement
from trips.models import Member, Trip
from users.models import User

pytestmark = pytest.mark.either

SPLITWISE = "Date,Description,Category,Cost,Currency"
COSPEND = (
    "name,weight,active,color\n{members}\n\n"
    "what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat,categoryid\n"
    "{bills}\n"
)


def balances(answer):
    return {row["name"]: row["ours"] for row in answer.json()["balances"]}


def outcomes(answer):
    assert answer.status_code == 201, answer.json()
    return [row["outcome"] for row in answer.json()["rows"]]


def shares(expense):
    return list(expense.splits.order_by("pk").values_list("amount_minor", flat=True))


# -- 1: currencies that have ended ----------------------------------------------------------------


def spliit(code, symbol="?", **fields):
    content = changed(
        samples.SPLIIT_JSON, "expenses", 0,
        originalAmount=None, amount=120000, splitMode="EVENLY", **fields,
    )  # fmt: skip
    return changed(content, **{"currencyCode": code, "currency": symbol})


@pytest.mark.parametrize(
    ("content", "euros"),
    [
        (spliit("HRK"), 15927),
        (spliit("BGN"), 61355),
        ("1,HRK", 15927),
        ("1,BGN", 61355),
        (spliit("", "kn"), 15927),
    ],
)  # fmt: skip
@pytest.mark.parametrize("given", [None, "EUR"])
def test_money_of_a_currency_that_has_ended_is_converted_as_by_law(content, euros, given, imported):
    if "," in content[:3]:
        row = f"2022-07-06,Fish,Dining out,1200.00,{content[2:]},600.00,-600.00"
        content = f"{SPLITWISE},Ana,Ben\n{row}\n"
    imported(content, **({"currency": given} if given else {}))
    expense = Expense.objects.order_by("-amount_minor")[0]
    assert (Trip.objects.get().currency, expense.currency) == ("EUR", "EUR")
    assert (expense.amount_minor, sum(shares(expense))) == (euros, euros)
    assert "1200.00" in expense.notes


KUNA = (
    f"{SPLITWISE},Ana,Ben\n\n2022-07-06,Fish,Dining out,120.00,HRK,60.00,-60.00\n"
    "2022-07-07,Room,Hotel,80.00,EUR,40.00,-40.00\n"
    "2022-07-08,Ben paid Ana,Payment,7.53,HRK,-7.53,7.53\n\n"
    "2022-08-01,Total balance, , ,HRK,52.47,-52.47\n2022-08-01,Total balance, , ,EUR,40.00,-40.00\n"
)


def test_claims_in_a_currency_that_has_ended_are_shown_beside_others(plan, imported):
    answer = plan(KUNA, currency="EUR")
    assert outcomes(answer) == ["noted", "taken", "noted"]
    for row, sign in zip(answer.json()["balances"], (1, -1), strict=True):
        expected = {"HRK": sign * 52.47, "EUR": sign * 40.0}
        assert (row["claimed"], row["ours"], row["why"]) == (expected, expected, None)
    imported(KUNA)
    paid = Settlement.objects.get()
    assert (paid.amount_minor, paid.note) == (100, "Ben paid Ana\n7.53 HRK")
    assert Expense.objects.get(description="Fish").amount_minor == 1593


def test_the_callers_rate_of_an_ended_currency_takes_precedence(imported, plan):
    imported(KUNA, exchangeRates={"HRK": 0.13})
    assert Expense.objects.get(description="Fish").amount_minor == 1560
    yugoslav = KUNA.replace("HRK", "YUM").replace("EUR", "CHF")
    [fish, *_others] = plan(yugoslav, asNewTrip=True).json()["rows"]
    assert (fish["outcome"], "from YUM" in fish["notes"][0]) == ("skipped", True)
    [fish, *_others] = plan(yugoslav, asNewTrip=True, exchangeRates={"YUM": 0.5}).json()["rows"]
    assert (fish["object"]["amount"], fish["object"]["currency"]) == (60, "CHF")


def test_an_ended_currency_without_a_successor_asks_for_another(plan):
    content = KUNA.replace("HRK", "ZWL").replace("EUR", "ZWL")
    problem = plan(content).json()
    assert (problem["reason"], "ZWL" in problem["detail"]) == ("currency_ended", True)
    assert outcomes(plan(content, currency="USD", exchangeRates={"ZWL": 0.01})) == ["noted"] * 3


def test_what_was_entered_in_an_ended_currency_has_the_groups_amount(imported):
    fields = {"originalAmount": 7545, "originalCurrency": "HRK", "conversionRate": "0.1327"}
    imported(changed(samples.SPLIIT_JSON, "expenses", 0, **fields))
    expense = Expense.objects.get()
    assert (expense.currency, expense.amount_minor) == ("EUR", 1001)
    assert expense.notes.endswith("75.45 HRK")


def test_one_unreadable_balance_hides_no_other(plan):
    group = json.loads(samples.SPLITWISE_API)
    for member in group["groups"][0]["members"]:
        member["balance"].insert(0, {"currency_code": "HRK", "amount": "0.0"})
        member["balance"].insert(0, {"currency_code": "QQQ", "amount": "1.0"})
    assert plan(json.dumps(group)).json()["balances"][0]["claimed"] == {"HRK": 0, "EUR": 26.66}


# -- 2 to 8: what spreadsheets make of a file ------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    ["Date;Description;Category;Cost;Currency", "Datum;Beschreibung;Kategorie;Kosten;Währung"],
)
@pytest.mark.parametrize(
    "days",
    [
        ("13.05.2026", "02.06.2026"),
        ("5/13/2026", "6/2/2026"),
        ("13/05/26 18:00", "02/06/26 9:00"),
        ("2026/05/13", "2026/06/02"),
        ("13-May-26", "2-Jun-26"),
        ("2026-05-13T18:00:00Z", "2026-06-02T00:00:00Z"),
        ("13. Mai 2026", "2. Juni 2026"),
    ],
)
def test_dates_are_as_a_spreadsheet_writes_them(labels, days, imported):
    first, second = days
    imported(
        f"{labels};Ana;Ben\n{first};Ferry;Bus/train;90,00;EUR;45,00;-45,00\n"
        f"{second};Tea;Dining out;3,00;EUR;-1,50;1,50\n{second};Sum; ; ;EUR;43,50;-43,50\n"
    )
    found = Expense.objects.order_by("expense_date").values_list("expense_date", flat=True)
    assert list(map(str, found)) == ["2026-05-13", "2026-06-02"]


@pytest.mark.parametrize(
    "content",
    [
        # Rows with cells too many, and one too few.
        f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,Tea,Dining out,10.00,EUR,5.00,-5.00,0.00,\n"
        "2026-05-02,Bus,Bus/train,4.00,EUR,-2.00,2.00\n",
        # Columns without a heading, behind the others and between them.
        f"{SPLITWISE},Ana,Ben,Cleo,,\n2026-05-01,Tea,Dining out,10.00,EUR,5.00,-5.00,0,,\n"
        "2026-05-02,Bus,Bus/train,4.00,EUR,-2.00,2.00,0,,\n",
        f"{SPLITWISE},Ana,,Ben,Cleo\n2026-05-01,Tea,Dining out,10.00,EUR,5.00,,-5.00,0\n"
        "2026-05-02,Bus,Bus/train,4.00,EUR,-2.00,0.00,2.00,0\n",
        # Signs of currencies, and the forms of accounts.
        f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-01,Tea,Dining out,€ 10.00,EUR,€ 5.00,-€ 5.00,€ -\n"
        "2026-05-02,Bus,Bus/train,4.00 €,EUR,(2.00),2.00 EUR,-\n",
        # A total first, and another one at the end.
        f"{SPLITWISE},Ana,Ben,Cleo\n2026-05-03,Total balance, , ,EUR,3.00,-3.00,0\n"
        "2026-05-01,Tea,Dining out,10.00,EUR,5.00,-5.00,0\n"
        "2026-05-02,Bus,Bus/train,4.00,EUR,-2.00,2.00,0\n,Total, ,14.00,,3.00,-3.00,\n",
    ],
    ids=["padded and cut", "blank headings", "blank heading between", "signs", "totals"],
)
def test_what_a_spreadsheet_adds_changes_nothing(content, plan):
    answer = plan(content)
    assert outcomes(answer) == ["taken", "taken"]
    expected = {"Ana": 3, "Ben": -3, "Cleo": 0}
    assert {name: row.get("EUR", 0) for name, row in balances(answer).items()} == expected


@pytest.mark.parametrize(
    "labels", [SPLITWISE, "Datum,Text,Art,Kosten,Währung", "Data,Testo,,Costo,"]
)
@pytest.mark.parametrize(
    "above", ["", "A note, with, many, commas, and, one, more, word\n\n", "Note\n,,,,,,,,\n"]
)
@pytest.mark.parametrize("total", ["", ",Total,,,EUR,5,-5\n", ",Total,,10,,5,-5\n"])
def test_the_header_stands_between_a_note_and_totals(labels, above, total, plan):
    row = "2026-05-01,Tea,Dining out,10,EUR,5,-5\n"
    answer = plan(f"{above}{labels},Ana,Ben\n{total}{row}")
    assert outcomes(answer) == ["taken"]
    assert balances(answer) == {"Ana": {"EUR": 5}, "Ben": {"EUR": -5}}


def test_a_column_without_a_heading_is_somebody_if_it_has_amounts(plan):
    row = "2026-05-01,Tea,Dining out,9.00,EUR,6.00,-3.00,-3.00"
    answer = plan(f"{SPLITWISE},Ana,,Ben\n{row}\n")
    assert balances(answer) == {"Ana": {"EUR": 6}, "#2": {"EUR": -3}, "Ben": {"EUR": -3}}


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_texts_may_have_more_commas_than_the_header_has_columns(delimiter, plan):
    title = "milk, eggs, bread, butter, cheese, tea, salt, oil"
    rows = [[*SPLITWISE.split(","), "Ana", "Ben"]]
    rows.append(["2026-05-01", title, "Groceries", "90", "EUR", "45", "-45"])
    answer = plan("\n".join(delimiter.join(row) for row in rows))
    assert [row["description"] for row in answer.json()["rows"]] == [title]
    assert balances(answer) == {"Ana": {"EUR": 45}, "Ben": {"EUR": -45}}


def test_three_decimals_are_rounded_within_half_a_cent_a_row(plan, imported):
    row = "Car,Car,1231.46,USD,923.595,-307.865,-307.865,-307.865\n"
    content = f"{SPLITWISE},Ana,Ben,Cleo,Dan\n" + "".join(
        f"2026-08-{day:02},{row}" for day in range(1, 11)
    )
    content += "2026-08-11,Total balance, , ,USD,9235.95,-3078.65,-3078.65,-3078.65\n"
    for balance in plan(content).json()["balances"]:
        difference = Decimal(str(balance["ours"]["USD"])) - Decimal(str(balance["claimed"]["USD"]))
        assert abs(difference) <= Decimal("0.05")
    imported(content)
    for expense in Expense.objects.all():
        assert expense.split_type == "EQUAL"
        assert sorted(shares(expense)) == [30786, 30786, 30787, 30787]


def test_three_decimals_of_the_api_are_rounded_too(imported):
    content = json.loads(samples.SPLITWISE_API)
    users = content["expenses"][0]["users"]
    for user, paid in zip(users, ("61.73", "0.0"), strict=True):
        user |= {"paid_share": paid, "owed_share": "30.865"}
    content["expenses"][0]["cost"] = "61.73"
    imported(json.dumps(content))
    assert sorted(shares(Expense.objects.get())) == [3086, 3087]


@pytest.mark.parametrize(
    ("currency", "cells", "minor"),
    [
        ("JPY", ('"30,000"', '"15,000"', '"-15,000"'), 30_000),
        ("KRW", ("12.000", "6.000", "-6.000"), 12_000),
        ("EUR", ("100", "66.667", "-66.667"), 10_000),
    ],
)
def test_thousands_are_clear_where_nothing_else_is_possible(currency, cells, minor, imported):
    cost, plus, minus = cells
    imported(f"{SPLITWISE},Ana,Ben\n2026-05-01,Inn,Hotel,{cost},{currency},{plus},{minus}\n")
    assert Expense.objects.get().amount_minor == minor


# -- 9 to 13: what other services allow ------------------------------------------------------------


def test_what_is_dated_ahead_is_taken(plan, imported):
    content = (
        f"{SPLITWISE},Ana,Ben\n2026-05-01,Tea,Dining out,10.00,EUR,5.00,-5.00\n"
        "2031-07-06,Room,Hotel,120.00,EUR,60.00,-60.00\n2026-08-01,T, , ,EUR,65.00,-65.00\n"
    )
    answer = plan(content)
    assert outcomes(answer) == ["taken", "taken"]
    assert [row["why"] for row in answer.json()["balances"]] == [None, None]
    imported(content)
    assert str(Expense.objects.get(amount_minor=12000).expense_date) == "2031-07-06"
    ahead = changed(samples.SPLIIT_JSON, "expenses", 0, expenseDate="2031-07-06T00:00:00.000Z")
    assert outcomes(plan(ahead)) == ["taken"]


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d👩\u200d👧\u200d👦",
        "می\u200cخواهم",
        "🏴\U000e0067\U000e0062\U000e007f",
        "\U0001fae9 x",
    ],
)
def test_what_joins_letters_and_signs_stays(text, plan, imported):
    content = changed(samples.SPLIIT_JSON, "expenses", 0, title=text, notes=text)
    content = changed(content, "participants", 1, name=text)
    assert not plan(content).json()["notes"]
    imported(content)
    expense = Expense.objects.get()
    assert (expense.description, expense.notes) == (text, text)
    assert User.objects.filter(name=text).exists()
    imported(f"{SPLITWISE},Ana,{text}\n2026-05-01,{text},Bus,1,EUR,1,-1\n")
    assert Expense.objects.filter(description=text).count() == 2


@pytest.mark.parametrize(
    ("members", "bill", "expected"),
    [
        ('"Ana",0,1,"#1"\n"Ben",1,1,"#2"', 'Ana,0,1,"Ana,Ben"', {"Ana": 5, "Ben": -5}),
        ('"Ana",1,1,"#1"\n"Ben",1,1,"#2"\n"Pool",0,1,"#3"', 'Ana,1,1,"Ben,Pool"',
         {"Ana": 10, "Ben": -5, "Pool": -5}),
        ('"Ana",1,1,"#1"\n"Pool",0.0,1,"#3"', "Ana,1,1,Pool", {"Ana": 10, "Pool": -10}),
    ],
)  # fmt: skip
def test_a_weight_of_zero_counts_as_one(members, bill, expected, plan):
    bills = f"Dinner,10,2024-01-15,1705320000,{bill},n,0"
    answer = plan(COSPEND.format(members=members, bills=bills), currency="EUR")
    [row] = answer.json()["rows"]
    assert (row["outcome"], "which counts as 1" in row["notes"][0]) == ("noted", True)
    assert balances(answer) == {name: {"EUR": amount} for name, amount in expected.items()}


@pytest.mark.parametrize(
    "rates", [("1.0", "1.04"), ("1", "1.04"), ("1.000", "1.04"), ("1.04", "1.00")]
)
def test_the_main_currency_has_the_rate_one_however_it_is_written(rates, plan):
    content = COSPEND.format(members='"Ana",1,1,"#1"', bills="Tea,10,2024-01-15,,Ana,1,1,Ben,n,0")
    first, second = rates
    content += f'\ncurrencyname,exchange_rate\n"EUR","{first}"\n"CHF","{second}"\n'
    main = "CHF" if second == "1.00" else "EUR"
    assert plan(content).json()["trip"]["currency"] == main


# -- 14 to 18: groups and their members ------------------------------------------------------------

REGISTRY = json.loads(samples.TRICOUNT)["Response"][0]["Registry"]
_ENTRY = REGISTRY["all_registry_entry"][0]["RegistryEntry"]


def tricount(*parts, total="-10.00", **fields):
    """A group with one entry; parts have a member and an amount."""
    allocations = [
        {
            "membership": {
                "RegistryMembershipNonUser": {"uuid": key, "alias": {"display_name": key}}
            },
            "amount": {"currency": "EUR", "value": amount},
        }
        for key, amount in parts
    ]
    entry = _ENTRY | {"amount": {"currency": "EUR", "value": total}, "allocations": allocations}
    return REGISTRY | {"all_registry_entry": [{"RegistryEntry": entry | fields}]}


@pytest.mark.parametrize("totals", [("-10.00", "-3.33", 1000), ("-20.00", "-6.67", 2000)])
def test_a_cent_that_the_parts_miss_goes_to_one_of_them(totals, plan, imported):
    total, part, minor = totals
    parts = [(key, part) for key in ("m1", "m2", "m3")]
    content = json.dumps({"Response": [{"Registry": tricount(*parts, total=total)}]})
    assert outcomes(plan(content)) == ["noted"]
    imported(content)
    assert sum(shares(Expense.objects.get())) == minor


def test_a_deleted_member_of_tricount_is_a_person_like_others(plan):
    gone = {"RegistryMembershipNonUser": {"uuid": "m4", "alias": {"display_name": "Dan"}}}
    by_dan = tricount(("m1", "-10.00"), membership_owned=gone)
    for registry, dan in ((tricount(("m1", "-5.00"), ("m4", "-5.00")), -5), (by_dan, 10)):
        answer = plan(json.dumps({"Response": [{"Registry": registry}]}))
        assert outcomes(answer) == ["taken"]
        assert [*balances(answer).values()][-1] == {"EUR": dan}


def test_of_several_groups_of_tricount_one_is_chosen(plan, imported):
    flat = tricount(("b1", "-20.00"), ("b2", "-20.00"), total="-40.00") | {
        "title": "Flat",
        "memberships": [],
    }
    flat["all_registry_entry"][0]["RegistryEntry"]["membership_owned"] = {
        "x": {"uuid": "b1", "alias": {"display_name": "b1"}}
    }
    for currency in ("EUR", "JPY"):
        alps = json.loads(json.dumps(REGISTRY).replace('"EUR"', f'"{currency}"'))
        content = json.dumps({"Response": [{"Registry": alps}, {"Registry": flat}]})
        problem = plan(content).json()
        assert (problem["reason"], "Alps" in problem["detail"]) == ("several_groups", True)
        assert "Flat" in problem["detail"]
        assert balances(plan(content, group="Flat")) == {"b1": {"EUR": 20}, "b2": {"EUR": -20}}
        assert balances(plan(content, group="Alps")).keys() == {"Ana", "Ben"}
    imported(content, group="Flat")
    assert Trip.objects.get().title == "Flat"
    assert not User.objects.filter(name="Ben").exists()


@pytest.mark.parametrize(("url", "count"), [("/v1/x?older_id=9", 1), (None, 0)])
def test_one_page_of_tricount_is_noted(url, count, plan):
    content = json.loads(samples.TRICOUNT) | {"Pagination": {"newer_url": None, "older_url": url}}
    assert len(plan(json.dumps(content)).json()["notes"]) == count


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("gone", [" (removed)", " (eliminado)", " (entfernt)"])
def test_somebody_who_left_there_is_the_same_person(gone, is_named, plan, imported):
    content = (
        f"{SPLITWISE},Ana,Ben,Cleo\n2026-03-15,Mart,Groceries,300.00,INR,200.00,-100.00,-100.00\n"
        "2026-03-16,Taxi,Taxi,90.00,INR,-30.00,60.00,-30.00\n"
    )
    done = imported(content)
    later = content.replace("Cleo", f"Cleo{gone}")
    options = {"tripId": done["tripId"]} if is_named else {}
    answer = plan(later, **options).json()
    assert answer["tripId"] == done["tripId"]
    assert answer["counts"]["known"] == 2
    assert all(person["userId"] for person in answer["people"])
    people = plan(content.replace("Ben,Cleo", f"Cleo,Cleo{gone}"), asNewTrip=True).json()["people"]
    assert [person["name"] for person in people] == ["Ana", "Cleo", f"Cleo{gone}"]
    assert Member.objects.count() == 4
