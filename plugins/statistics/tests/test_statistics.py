"""The statistics of a trip: every sum is exact, whatever was entered by whom."""

import csv
import io
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from splits import money
from splits.models import Expense
from splits.models.individual_splits import remove_split
from tests.admin_client import AdminClient
from tests.document import problem_of
from tests.factories import acting_as_owner, add_guest, join, owned_trip, spend
from tests.splits.histories import HISTORIES
from tests.splits.ledger import exact
from tests.trips.budgets import with_budgets
from tripcompanion.currency.amounts import MAX_AMOUNT, to_major
from trips.models import Trip
from users.models import User

#: The trip is from 14 to 18 May.
FIRST, SECOND, LAST = date(2026, 5, 14), date(2026, 5, 15), date(2026, 5, 18)
DAYS = [FIRST - timedelta(days=20), FIRST, SECOND, LAST + timedelta(days=30)]
KINDS = ("category", "day", "month", "currency")


def statistics(api, trip, reader, as_of="2099-12-31", by="category"):
    """The statistics with exact numbers."""
    response = api(reader).get(f"/api/trips/{trip.pk}/statistics", {"asOf": str(as_of), "by": by})
    assert response.status_code == 200, response.content
    return exact(response)


def sums(shown, *names):
    """These fields of each group."""
    return [tuple(group[name] for name in names) for group in shown["groups"]]


def amounts(shown, name="paid"):
    return {key: amount for key, amount in sums(shown, "key", name) if amount}


@pytest.mark.parametrize("by", ["category", "member"])
def test_without_a_day_what_is_dated_ahead_counts_as_in_balances(api, trip, olga, ed, by):
    Trip.objects.filter(pk=trip.pk).update(budget_minor=100_00, start_date=date(2020, 1, 1))
    Trip.objects.filter(pk=trip.pk).update(end_date=date(2020, 1, 2))
    spend(trip, 10_00, paid_by=olga, among=[olga, ed], expense_date=date(2020, 1, 1))
    spend(trip, 30_00, paid_by=olga, among=[ed], expense_date=date(2060, 1, 1))
    path = f"/api/trips/{trip.pk}"
    shown = exact(api(ed).get(f"{path}/statistics?by={by}"))
    balances = exact(api(ed).get(f"{path}/balances"))
    assert shown["total"] == sum(row["paid"] for row in balances) == 40
    assert sum(share for (share,) in sums(shown, "share")) == (40 if by == "member" else 35)
    assert shown["budget"] == {"planned": 100, "spent": 40, "left": 60, "forecast": 40}
    then = exact(api(ed).get(f"{path}/statistics?by={by}&asOf=2020-01-01"))
    assert then["budget"] == {"planned": 100, "spent": 10, "left": 90, "forecast": 20}


# -- What it shows ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        (
            "category",
            [("TRANSPORT", "Transport", 90, 45, 1), ("FOOD", "Food", Decimal("70.5"), 20, 2)],
        ),
        (
            "day",
            [
                ("2026-05-14", "2026-05-14", Decimal("70.5"), 20, 2),
                ("2026-06-01", "2026-06-01", 90, 45, 1),
            ],
        ),
        (
            "month",
            [("2026-05", "May 2026", Decimal("70.5"), 20, 2), ("2026-06", "June 2026", 90, 45, 1)],
        ),
        ("currency", [("USD", "US Dollar", 90, 45, 1), ("EUR", "Euro", Decimal("70.5"), 20, 2)]),
    ],
)
def test_a_group_has_what_was_spent_and_the_callers_part(api, ledger, olga, ed, vera, by, groups):
    ledger.spend(olga, 60, olga, ed, vera, expenseDate="2026-05-14", category="FOOD")
    ledger.spend(ed, 10.5, vera, expenseDate="2026-05-14", category="FOOD")
    dollars = {"currency": "USD", "exchangeRate": 0.9, "category": "TRANSPORT"}
    ledger.spend(ed, 100, olga, ed, expenseDate="2026-06-01", **dollars)
    shown = statistics(api, ledger.trip, olga, "2026-06-01", by)
    assert sums(shown, "key", "label", "paid", "share", "count") == groups
    assert list(shown) == ["currency", "total", "budget", "groups"]
    assert (shown["currency"], shown["total"], shown["budget"]) == ("EUR", Decimal("160.5"), None)
    so_far = [Decimal("70.5"), Decimal("160.5")] if by in {"day", "month"} else [None, None]
    assert sums(shown, "planned", "cumulative") == [(None, sum) for sum in so_far]


def test_members_have_what_they_paid_and_their_own_part(api, ledger, olga, ed, vera):
    ledger.spend(olga, 60, olga, ed, vera)
    ledger.spend(olga, 8, ed)
    ledger.spend(ed, 10.5, vera)
    shown = statistics(api, ledger.trip, vera, by="member")
    balances = ledger.answer(vera, "get", "balances").json()
    expected = [(str(row["user"]["id"]), row["paid"], row["share"]) for row in balances]
    assert sums(shown, "key", "paid", "share") == expected
    names = [(olga.name, 2), (ed.name, 1), (vera.name, 0)]
    assert sums(shown, "label", "count") == names
    assert shown["total"] == 78.5


def test_an_expense_is_in_the_group_of_each_of_its_tags(api, ledger, olga, ed):
    ledger.spend(olga, 60, olga, ed, tags=["wine", "beach"])
    ledger.spend(ed, 10, olga, tags=["beach"])
    ledger.spend(ed, 4, ed)
    shown = statistics(api, ledger.trip, olga, by="tag")
    assert sums(shown, "key", "label", "paid", "share", "count") == [
        ("beach", "beach", 70, 40, 2),
        ("wine", "wine", 60, 30, 1),
        ("", "without a tag", 4, 0, 1),
    ]
    assert shown["total"] == 74


def test_a_tag_in_two_spellings_is_one_group(api, ledger, olga, ed):
    for amount, tag in ((60, "wine"), (10, "Wine"), (4, "Wine")):
        ledger.spend(olga, amount, olga, ed, tags=[tag])
    shown = statistics(api, ledger.trip, olga, by="tag")
    assert sums(shown, "key", "label", "paid", "share", "count") == [("Wine", "Wine", 74, 37, 3)]
    assert ledger.answer(olga, "get", "tags").json()["items"] == [{"name": "Wine", "count": 3}]


def test_labels_are_in_the_language_of_the_reader(api, trip, olga):
    spend(trip, 1000, paid_by=olga, among=[olga], category="FOOD", expense_date=FIRST)
    client, path = api(olga), f"/api/trips/{trip.pk}/statistics?asOf=2027-01-01&by="
    for by, label in (("category", "Comida"), ("month", "Mayo de 2026"), ("currency", "Euro")):
        response = client.get(path + by, headers={"accept-language": "es"})
        assert [group["label"] for group in response.json()["groups"]] == [label]


def test_an_admin_who_is_no_member_has_no_part(api, trip, olga, ada):
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert sums(statistics(api, trip, ada), "paid", "share") == [(10, 0)]


def test_only_expenses_up_to_the_day_count(api, ledger, olga, ed, vera):
    ledger.spend(olga, 30, olga, ed, expenseDate="2026-05-14")
    ledger.spend(ed, 8, olga, vera, expenseDate="2026-05-15")
    for by in KINDS:
        shown = statistics(api, ledger.trip, olga, "2026-05-14", by)
        assert (shown["total"], *sums(shown, "paid", "share", "count")) == (30, (30, 15, 1))
    people = statistics(api, ledger.trip, olga, "2026-05-14", "member")
    assert sums(people, "paid", "share", "count") == [(30, 15, 1), (0, 15, 0), (0, 0, 0)]


def test_what_no_split_covers_is_borne_by_the_payers_from_its_day_on(api, ledger, olga, ed):
    expense = ledger.spend(olga, 30, olga, ed, expenseDate="2026-05-15")
    ledger.delete_split(ledger.split(expense, ed), olga)
    for as_of, share in ((FIRST, 0), (SECOND, 30)):
        people = statistics(api, ledger.trip, olga, as_of, "member")
        assert amounts(people, "share") == ({str(olga.pk): share} if share else {})
        own = {by: statistics(api, ledger.trip, olga, as_of, by) for by in KINDS}
        assert {by: [*amounts(own[by], "share").values()] for by in KINDS} == (
            dict.fromkeys(KINDS, [share] if share else [])
        )
        assert not amounts(statistics(api, ledger.trip, ed, as_of), "share")


def test_an_empty_trip_has_members_and_no_other_groups(api, trip, olga):
    for by in KINDS:
        shown = statistics(api, trip, olga, by=by)
        assert (shown["total"], shown["groups"]) == (0, [])
    people = statistics(api, trip, olga, by="member")
    assert (people["total"], len(people["groups"])) == (0, 3)


def test_former_members_with_an_entry_are_shown(api, trip, olga, ed, vera):
    spend(trip, 1000, paid_by=olga, among=[ed], expense_date=SECOND)
    trip.members.filter(user__in=[ed, vera]).update(left_at=timezone.now())
    for as_of, share in ((FIRST, 0), (SECOND, 10)):
        people = statistics(api, trip, olga, as_of, "member")
        assert sums(people, "key", "share") == [(str(olga.pk), 0), (str(ed.pk), share)]


def test_who_has_left_counts_until_the_refund_that_cancels_what_they_paid(api, ledger, olga, ed):
    ledger.spend(ed, 60, ed, expenseDate="2026-05-14")
    ledger.spend(ed, -60, ed, expenseDate="2026-05-15")
    assert api(ed).post(f"{ledger.url}/members/leave").status_code == 204
    for as_of, total in ((FIRST, 60), (SECOND, 0)):
        assert statistics(api, ledger.trip, olga, as_of)["total"] == total
        people = statistics(api, ledger.trip, olga, as_of, "member")
        assert people["total"] == total
        assert amounts(people) == amounts(people, "share") == ({str(ed.pk): 60} if total else {})


def test_after_a_change_of_the_currency_amounts_have_its_decimals(api, trip, olga):
    path = f"/api/trips/{trip.pk}"
    for body in ({"budget": 50.5}, {"currency": "KWD"}):
        assert api(olga).patch(path, body).status_code == 200
    trip.refresh_from_db()
    spend(trip, 1234, paid_by=olga, among=[olga])
    response = api(olga).get(f"{path}/statistics", {"asOf": "2026-05-14"})
    assert b'"total":1.234' in response.content
    shown = exact(response)
    assert (shown["currency"], shown["budget"]["planned"]) == ("KWD", Decimal("50.500"))


def test_what_was_deleted_in_another_currency_is_in_no_sum(api, trip, olga):
    path, client = f"/api/trips/{trip.pk}", api(olga)
    gone = spend(trip, 1000, paid_by=olga, among=[olga], tags=["Wine"])
    assert client.delete(f"{path}/expenses/{gone.pk}").status_code == 204
    assert client.patch(path, {"currency": "JPY"}).status_code == 200
    trip.refresh_from_db()
    spend(trip, 7, paid_by=olga, among=[olga], tags=["Wine"])
    for by in (*KINDS, "tag", "member"):
        shown = exact(client.get(f"{path}/statistics", {"asOf": "2026-05-20", "by": by}))
        assert (shown["currency"], shown["total"]) == ("JPY", 7)
        assert {row["paid"] for row in shown["groups"]} <= {7, 0}
    mine = exact(client.get("/api/users/me/statistics?year=2026"))
    assert "EUR" not in str(mine), mine


# -- The budget ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("as_of", "spent", "forecast"),
    [
        ("2026-05-13", "30", None),
        ("2026-05-14", "30", "150"),
        ("2026-05-15", "100.01", "250.03"),
        ("2026-05-18", "100.01", "100.01"),
        ("2027-01-01", "100.01", "100.01"),
        ("9999-12-31", "100.01", "100.01"),
    ],
)
def test_what_was_spent_of_a_budget_is_extrapolated_to_the_last_day(
    api, trip, olga, as_of, spent, forecast
):
    Trip.objects.filter(pk=trip.pk).update(budget_minor=10_000)
    spend(trip, 3000, paid_by=olga, among=[olga], expense_date=date(2026, 1, 1))
    spend(trip, 7001, paid_by=olga, among=[olga], expense_date=SECOND)
    for by in (*KINDS, "member"):
        assert statistics(api, trip, olga, as_of, by)["budget"] == {
            "planned": 100,
            "spent": Decimal(spent),
            "left": 100 - Decimal(spent),
            "forecast": None if forecast is None else Decimal(forecast),
        }


def test_each_day_has_what_was_spent_so_far_and_was_planned_so_far(api, trip, olga):
    Trip.objects.filter(pk=trip.pk).update(budget_minor=10_000)
    for day in DAYS:
        spend(trip, 1000, paid_by=olga, among=[olga], expense_date=day)
    days = statistics(api, trip, olga, by="day")
    assert sums(days, "planned", "cumulative") == [(0, 10), (20, 20), (40, 30), (100, 40)]
    months = statistics(api, trip, olga, by="month")
    assert sums(months, "planned", "cumulative") == [(None, 10), (None, 30), (None, 40)]


# -- Every sum is exact -------------------------------------------------------------------------

EXPENSES = st.lists(
    st.fixed_dictionaries(
        {
            "entered": st.integers(2000, 10**9),
            "currency": st.sampled_from(["EUR", "USD", "JPY", "KWD"]),
            "day": st.sampled_from(DAYS),
            "category": st.sampled_from(["FOOD", "TRANSPORT", "OTHER"]),
            "payers": st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
            "among": st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True),
            "then": st.sampled_from(["", "", "delete", "remove a split"]),
        }
    ),
    max_size=6,
)


def record(trip, people, drawn):
    """Record an expense, and change it by hand, as `drawn` says."""
    payers = [people[at] for at in drawn["payers"]]
    entered = drawn["entered"] + len(payers)
    parts = [1] * (len(payers) - 1)
    by = people[0]
    expense = spend(
        trip,
        entered,
        paid_by=by,
        among=[people[at] for at in drawn["among"]],
        paid_by_user=dict(zip((p.pk for p in payers), [entered - len(parts), *parts], strict=True)),
        currency=drawn["currency"],
        exchange_rate=None if drawn["currency"] == trip.currency else Decimal("1.37"),
        expense_date=drawn["day"],
        category=drawn["category"],
    )
    with acting_as_owner(trip, by):
        if drawn["then"] == "delete":
            expense.remove(by)
        elif drawn["then"]:
            remove_split(expense.splits.order_by("id").first(), by)


def computed(trip, viewer, as_of):
    """The same sums in minor units, expense by expense in Python."""
    found: dict[str, Any] = {name: Counter() for name in (*KINDS, "paid", "share")}
    found["own"] = {name: Counter() for name in KINDS}
    trip.refresh_from_db()
    for expense in Expense.objects.filter(trip=trip).prefetch_related("payers", "splits"):
        if expense.expense_date > as_of:
            continue
        expense.trip = trip
        paid = {payer.user_id: payer.amount_minor for payer in expense.payers.all()}
        shares = {split.participant_id: split.amount_minor for split in expense.splits.all()}
        parts = money.own_parts(shares, paid, expense.number, expense.places)
        day = str(expense.expense_date)
        keys = (expense.category, day, day[:7], expense.currency)
        for name, key in zip(KINDS, keys, strict=True):
            found[name][key] += expense.amount_minor
            found["own"][name][key] += parts.get(viewer.pk, 0)
        found["paid"].update(paid)
        found["share"].update(parts)
    return found


@pytest.mark.once
@pytest.mark.soak
@HISTORIES
@given(
    currency=st.sampled_from(["EUR", "JPY"]),
    expenses=EXPENSES,
    merges=st.booleans(),
    as_of=st.sampled_from([*DAYS, date(2099, 1, 1)]),
)
def test_all_sums_are_those_of_the_expenses_and_add_up(
    api, olga, ed, vera, sam, currency, expenses, merges, as_of
):
    trip = owned_trip(olga, currency=currency)
    join(trip, ed)
    join(trip, vera)
    people = [olga, ed, vera, add_guest(trip)]
    for drawn in expenses:
        record(trip, people, drawn)
    if merges:
        join(trip, sam)
        path = f"/api/trips/{trip.pk}/guests/{people[3].pk}/merge"
        assert api(olga).post(path, {"userId": sam.pk}).status_code == 200
    trip.members.filter(user=ed).update(left_at=timezone.now())
    expected = computed(trip, olga, as_of)

    def major(found):
        return {str(key): to_major(minor, currency) for key, minor in found.items() if minor}

    members = statistics(api, trip, olga, as_of, "member")
    total, own_part = members["total"], amounts(members, "share").get(str(olga.pk), 0)
    for side in ("paid", "share"):
        assert amounts(members, side) == major(expected[side])
        assert sum(amounts(members, side).values()) == total
    for by in KINDS:
        shown = statistics(api, trip, olga, as_of, by)
        assert amounts(shown) == major(expected[by])
        assert amounts(shown, "share") == major(expected["own"][by])
        assert sum(amounts(shown).values()) == shown["total"] == total
        assert sum(amounts(shown, "share").values()) == own_part


def test_sums_beyond_64_bits_are_exact(api, trip, olga, ed):
    """SQLite would fail with an integer overflow."""
    most = int(MAX_AMOUNT) * 10**4  # of a currency with four decimals
    Trip.objects.filter(pk=trip.pk).update(currency="CLF")
    trip.refresh_from_db()
    first = spend(trip, most, paid_by=olga, among=[ed])
    values = {field.attname: getattr(first, field.attname) for field in first._meta.local_fields}
    Expense.objects.bulk_create(
        Expense(**values | {"id": None, "number": number}) for number in range(1, 1000)
    )
    for by in KINDS:
        [(paid, count)] = sums(statistics(api, trip, olga, by=by), "paid", "count")
        assert (paid, count) == (MAX_AMOUNT * 1000, 1000)
    assert most * 1000 > 2**63


@pytest.mark.parametrize(("by", "statements"), [*((by, 4) for by in KINDS), ("member", 6)])
def test_the_number_of_statements_does_not_depend_on_that_of_expenses(
    api, trip, olga, ed, by, statements
):
    client, counts = api(olga), []
    for size in (1, 20):
        for at in range(size):
            day = FIRST + timedelta(days=at)
            payers = {olga.pk: 600 + at, ed.pk: 400}
            among = [olga, ed]
            spend(trip, 1000 + at, paid_by=olga, among=among, paid_by_user=payers, expense_date=day)
        with CaptureQueriesContext(connection) as captured:
            response = client.get(f"/api/trips/{trip.pk}/statistics?by={by}&asOf=2026-05-16")
        assert response.status_code == 200
        counts.append(len([q for q in captured if "SELECT" in q["sql"]]))
    # The session, the trip, and what each kind of groups reads.
    assert counts == [statements, statements]


@pytest.mark.parametrize(
    "path",
    [
        "trips/{}/statistics",
        "trips/{}/statistics.svg",
        "users/me/statistics",
        "users/me/statistics.svg",
    ],
)
def test_a_report_counts_as_one_more_for_each_100_expenses_that_it_reads(
    api, trip, olga, limits, path
):
    limits(user="100/min")
    Trip.objects.filter(pk=trip.pk).update(expenses_recorded=1_234)
    with time_machine.travel(timezone.now(), tick=False):
        assert api(olga).get(f"/api/{path.format(trip.pk)}").status_code == 200
        assert ";r=86;" in api(olga).get("/api/users/me")["RateLimit"]


# -- Who may read it, and what is refused -------------------------------------------------------


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_day_far_away_is_none_or_all_of_the_trip(api, trip, olga, day):
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert statistics(api, trip, olga, day)["total"] == (10 if day > "2026" else 0)


# -- Three representations ----------------------------------------------------------------------

TYPES = ("application/json", "text/csv", "image/svg+xml")


def test_each_representation_has_its_own_tag_and_is_answered_304(api, trip, olga):
    spend(trip, 1000, paid_by=olga, among=[olga])
    path, client = f"/api/trips/{trip.pk}/statistics?asOf=2099-12-31", api(olga)
    tags = {}
    for kind in TYPES:
        response = client.get(path, headers={"accept": kind})
        assert response["Content-Type"] == kind
        assert {"Accept", "Accept-Language"} <= {*response["Vary"].split(", ")}
        tags[kind] = response["ETag"]
    assert len({*tags.values()}) == len(TYPES)
    for kind in TYPES:
        others = ", ".join(tag for other, tag in tags.items() if other != kind)
        other = client.get(path, headers={"accept": kind, "if-none-match": others})
        assert other.status_code == 200
        again = client.get(path, headers={"accept": kind, "if-none-match": tags[kind]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", tags[kind])
        assert "Accept" in again["Vary"]
    spend(trip, 1000, paid_by=olga, among=[olga])
    for kind in TYPES:
        changed = client.get(path, headers={"accept": kind, "if-none-match": tags[kind]})
        assert changed.status_code == 200


def test_what_is_none_of_them_is_not_acceptable(api, trip, olga):
    path = f"/api/trips/{trip.pk}/statistics"
    problem_of(api(olga).get(path, headers={"accept": "image/png"}), 406, "not_acceptable")
    assert api(olga).get(path, headers={"accept": "image/*"})["Content-Type"] == TYPES[2]
    assert api(olga).get(path, headers={"accept": "*/*"})["Content-Type"] == TYPES[0]


def test_the_table_has_a_row_for_each_group_and_no_formula(api, trip, olga):
    grandma = add_guest(trip, "=1+1")
    fields = {"currency": "USD", "exchange_rate": Decimal("0.5"), "expense_date": FIRST}
    spend(trip, 12_001, paid_by=olga, among=[grandma], **fields)

    def table(by):
        path = f"/api/trips/{trip.pk}/statistics?asOf=2026-05-15&by={by}"
        response = api(olga).get(path, headers={"accept": "text/csv"})
        name = f"trip-{trip.pk}-{by}-2026-05-15.csv"
        assert response["Content-Disposition"] == f'attachment; filename="{name}"'
        found = csv.DictReader(io.StringIO(response.getvalue().decode("utf-8-sig")))
        assert found.fieldnames == [
            *("key", "label", "currency", "paid", "share", "count", "planned", "cumulative")
        ]
        return [tuple(line.values()) for line in found]

    assert table("day") == [("2026-05-14", "2026-05-14", "EUR", "60.01", "0.00", "1", "", "60.01")]
    people = [line for line in table("member") if line[3] != line[4]]
    assert people == [
        (str(olga.pk), "Olga Owner", "EUR", "60.01", "0.00", "1", "", ""),
        (str(grandma.pk), "'=1+1", "EUR", "0.00", "60.01", "0", "", ""),
    ]


# -- As a picture -------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>\"'&\x0b\x85"


def picture(api, trip, reader, by):
    path = f"/api/trips/{trip.pk}/statistics?asOf=2099-12-31&by={by}"
    response = api(reader).get(path, headers={"accept": "image/svg+xml"})
    assert response["Content-Type"] == "image/svg+xml"
    bare, _mark, query = path.partition("?")
    assert api(reader).get(f"{bare}.svg?{query}").getvalue() == response.getvalue()
    assert response["X-Content-Type-Options"] == "nosniff"
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert response["Content-Disposition"].startswith("inline")
    text = response.getvalue().decode()
    assert text.count("://") == 1, "only the name of SVG has a host"
    return ElementTree.fromstring(text)  # noqa: S314 -- our own


@pytest.mark.parametrize("by", [*KINDS, "member"])
def test_the_picture_is_for_all_eyes_and_for_none(api, trip, olga, by):
    Trip.objects.filter(pk=trip.pk).update(budget_minor=10_000, title=HOSTILE)
    grandma = add_guest(trip)
    User.objects.filter(pk=grandma.pk).update(name=HOSTILE)
    spend(trip, 123_450, paid_by=olga, among=[olga, grandma], expense_date=SECOND)
    root = picture(api, trip, olga, by)
    assert root.get("role") == "img"
    assert "<script>" in root.find(f"{SVG}title").text
    assert "1,234.50\xa0EUR" in root.find(f"{SVG}desc").text
    assert "prefers-color-scheme:dark" in root.find(f"{SVG}style").text
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds <= {"svg", "title", "desc", "style", "rect", "text", "path", "polyline"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in names if name.startswith("on") or "href" in name}


@pytest.mark.parametrize("by", [*KINDS, "member"])
def test_an_empty_trip_has_a_picture(api, trip, olga, by):
    assert picture(api, trip, olga, by).find(f"{SVG}title").text


def test_balances_are_bars_to_both_sides(api, trip, olga, ed, sam):
    User.objects.filter(pk=ed.pk).update(name=HOSTILE)
    spend(trip, 3000, paid_by=olga, among=[olga, ed])
    path = f"/api/trips/{trip.pk}/balances.svg"
    response = api(olga).get(path)
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Content-Disposition"].startswith("inline")
    root = ElementTree.fromstring(response.getvalue())  # noqa: S314 -- our own
    assert root.find(f"{SVG}title").text == "Balances"
    assert "Olga Owner: 15.00\xa0EUR" in root.find(f"{SVG}desc").text
    theirs, mine = sorted(
        (float(bar.get("x")), float(bar.get("width")))
        for bar in root.iter(f"{SVG}rect")
        if bar.get("class") == "a" and float(bar.get("width"))
    )
    assert theirs[0] + theirs[1] == mine[0], "both start at zero"
    problem_of(api(sam).get(path), 404, "not_found")


@pytest.mark.either
def test_spending_is_drawn_beside_its_numbers(ada, trip, olga, ed):
    Trip.objects.filter(pk=trip.pk).update(budget_minor=9000)
    spend(trip, 3000, paid_by=olga, among=[olga, ed])
    site = AdminClient(ada)
    assert "30.00\xa0EUR" in site.pictures(trip)["spending"]
    assert site.page(trip).content.decode().count("30.00\xa0EUR") >= 2, "spent, and so far"


def test_a_picture_has_no_more_bars_than_can_be_read(api, trip, olga):
    for month in range(60):
        day = date(2020 + month // 12, 1 + month % 12, 1)
        spend(trip, 1000, paid_by=olga, among=[olga], expense_date=day)
    root = picture(api, trip, olga, "month")
    assert len(root.findall(f"{SVG}rect")) < 100
    assert [text.text for text in root.findall(f"{SVG}text")][-1] == "The table has more."


def test_of_many_tags_those_of_most_money_are_shown(api, trip, olga):
    for number in range(101):
        tags = [f"{number} {letter}" for letter in "abcdefghij"]
        spend(trip, 1000 - number, paid_by=olga, among=[olga], tags=tags)
    shown = statistics(api, trip, olga, by="tag")
    assert len(shown["groups"]) == 1000
    assert "100 a" not in {group["key"] for group in shown["groups"]}
    assert shown["total"] == (101_000 - 5050) / 100


@pytest.fixture
def planned(api, trip, olga):
    return with_budgets(trip, api(olga))


def test_statistics_compare_each_with_what_was_spent(api, planned, olga):
    spend(planned, 1000, paid_by=olga, among=[olga], category="FOOD")
    spend(planned, 400, paid_by=olga, among=[olga], category="OTHER")
    path = f"/api/trips/{planned.pk}/statistics?asOf=2099-12-31"
    groups = api(olga).get(path).json()["groups"]
    assert [(group["key"], group["paid"], group["planned"]) for group in groups] == [
        ("FOOD", 10, 200.5),
        ("OTHER", 4, None),
        ("TRANSPORT", 0, 33.34),
    ]
    assert "10.00\xa0EUR · 200.50\xa0EUR" in b"".join(api(olga).get(f"{path}&format=svg")).decode()


def test_statistics_and_history_of_a_refund(ledger, olga, ed):
    ledger.spend(olga, 30, olga, ed)
    ledger.spend(olga, -10, olga, ed)
    statistics = ledger.answer(olga, "get", "statistics?asOf=2026-05-20&by=member").json()
    assert statistics["total"] == 20
    sums = {row["key"]: (row["paid"], row["share"]) for row in statistics["groups"]}
    assert (sums[str(olga.pk)], sums[str(ed.pk)]) == ((20, 10), (0, 10))
    statistics = ledger.answer(olga, "get", "statistics?asOf=2026-05-20").json()
    assert [(row["paid"], row["count"]) for row in statistics["groups"]] == [(20, 2)]
    [entry, *_others] = ledger.answer(olga, "get", "history").json()["items"]
    assert "-10.00 EUR" in entry["text"] or "−10.00" in entry["text"]
