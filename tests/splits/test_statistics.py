"""The statistics of a trip: every sum is exact, whatever was entered by whom."""

import csv
import io
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from time_machine import TimeMachineFixture

from splits import money
from splits.models import Expense
from splits.models.individual_splits import remove_split
from tests.conftest import Api
from tests.document import problem_of
from tests.factories import TripFactory, acting_as_owner, add_guest, join, spend
from tests.scoped import script_of
from tests.splits.ledger import Json, Ledger, exact
from tests.users.logins import bearer
from tripcompanion.currency.amounts import MAX_AMOUNT, to_major
from trips.models import Trip
from trips.roles import TripRole
from users.models import User
from users.scopes import Scope

#: The trip is from 14 to 18 May.
FIRST, SECOND, LAST = date(2026, 5, 14), date(2026, 5, 15), date(2026, 5, 18)
DAYS = [FIRST - timedelta(days=20), FIRST, SECOND, LAST + timedelta(days=30)]
ADDED_UP = ("byCategory", "byDay", "byMonth")


def statistics(api: Api, trip: Trip, reader: User, as_of: Any = "2099-12-31") -> Json:
    """The statistics with exact numbers."""
    response = api(reader).get(f"/api/trips/{trip.pk}/statistics", {"asOf": str(as_of)})
    assert response.status_code == 200, response.content
    return exact(response)


def amounts(rows: Iterable[Json], key: str, value: str = "amount") -> dict[Any, Any]:
    return {row[key]: row[value] for row in rows}


# -- What it shows ------------------------------------------------------------------------------


def test_expenses_are_summed_by_category_member_day_month_and_currency(
    api: Api, ledger: Ledger, olga: User, ed: User, vera: User
) -> None:
    ledger.spend(olga, 60, olga, ed, vera, expenseDate="2026-05-14", category="FOOD")
    ledger.spend(ed, 10.5, vera, expenseDate="2026-05-14", category="FOOD")
    dollars = {"currency": "USD", "exchangeRate": 0.9, "category": "TRANSPORT"}
    ledger.spend(ed, 100, olga, ed, expenseDate="2026-06-01", **dollars)
    shown = statistics(api, ledger.trip, vera, "2026-06-01")
    people = shown.pop("byMember")
    assert shown == {
        "currency": "EUR",
        "asOf": "2026-06-01",
        "total": Decimal("160.50"),
        "count": 3,
        "byCategory": [
            {"category": "TRANSPORT", "amount": Decimal("90.00"), "count": 1},
            {"category": "FOOD", "amount": Decimal("70.50"), "count": 2},
        ],
        "byDay": [
            {"date": "2026-05-14", "amount": Decimal("70.50")},
            {"date": "2026-06-01", "amount": Decimal("90.00")},
        ],
        "byMonth": [
            {"month": "2026-05", "amount": Decimal("70.50")},
            {"month": "2026-06", "amount": Decimal("90.00")},
        ],
        "byEnteredCurrency": [
            {"currency": "USD", "amount": 100, "tripAmount": 90, "count": 1},
            {"currency": "EUR", "amount": Decimal("70.5"), "tripAmount": 70.5, "count": 2},
        ],
        "budget": None,
    }
    balances = {row["user"]["id"]: row for row in ledger.answer(vera, "get", "balances").json()}
    assert [row["user"]["id"] for row in people] == list(balances)
    for row in people:
        balance = balances[row["user"]["id"]]
        assert row == {name: balance[name] for name in ("user", "paid", "share")}


def test_only_expenses_up_to_the_day_count(
    api: Api, ledger: Ledger, olga: User, ed: User, vera: User
) -> None:
    ledger.spend(olga, 30, olga, ed, expenseDate="2026-05-14")
    ledger.spend(ed, 8, olga, vera, expenseDate="2026-05-15")
    shown = statistics(api, ledger.trip, olga, "2026-05-14")
    assert (shown["total"], shown["count"]) == (30, 1)
    people = {row["user"]["id"]: (row["paid"], row["share"]) for row in shown["byMember"]}
    assert people == {olga.pk: (30, 15), ed.pk: (0, 15), vera.pk: (0, 0)}


def test_what_no_split_covers_is_borne_by_the_payers_from_its_day_on(
    api: Api, ledger: Ledger, olga: User, ed: User
) -> None:
    expense = ledger.spend(olga, 30, olga, ed, expenseDate="2026-05-15")
    ledger.delete_split(ledger.split(expense, ed), olga)
    for as_of, share in ((FIRST, 0), (SECOND, 30)):
        people = statistics(api, ledger.trip, olga, as_of)["byMember"]
        assert {row["user"]["id"]: row["share"] for row in people if row["share"]} == (
            {olga.pk: share} if share else {}
        )


def test_without_a_day_it_is_today_in_utc(
    api: Api, trip: Trip, olga: User, time_machine: TimeMachineFixture
) -> None:
    spend(trip, 1000, paid_by=olga, among=[olga], expense_date=SECOND)
    path = f"/api/trips/{trip.pk}/statistics"
    for minutes, counted in ((-1, 0), (0, 1)):
        instant = datetime(2026, 5, 15, tzinfo=UTC) + timedelta(minutes=minutes)
        time_machine.move_to(instant, tick=False)
        shown = api(olga).get(path).json()
        assert (shown["asOf"], shown["count"]) == (f"{instant:%Y-%m-%d}", counted)


def test_deleted_expenses_do_not_count_until_they_are_restored(
    api: Api, ledger: Ledger, olga: User, ed: User
) -> None:
    expense = ledger.spend(olga, 30, olga, ed)
    before = statistics(api, ledger.trip, olga)
    ledger.delete(expense, olga)
    assert statistics(api, ledger.trip, olga)["total"] == 0
    ledger.answer(olga, "post", f"expenses/{expense['id']}/restore")
    assert statistics(api, ledger.trip, olga) == before


def test_an_empty_trip_has_members_and_no_sums(api: Api, trip: Trip, olga: User) -> None:
    shown = statistics(api, trip, olga)
    assert (shown["total"], shown["count"], len(shown["byMember"])) == (0, 0, 3)
    assert [shown[name] for name in (*ADDED_UP, "byEnteredCurrency")] == [[], [], [], []]


def test_former_members_with_an_entry_are_shown(
    api: Api, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    spend(trip, 1000, paid_by=olga, among=[ed], expense_date=SECOND)
    trip.members.filter(user__in=[ed, vera]).update(left_at=timezone.now())
    for as_of, share in ((FIRST, 0), (SECOND, 10)):
        people = statistics(api, trip, olga, as_of)["byMember"]
        assert {row["user"]["id"]: row["share"] for row in people} == {olga.pk: 0, ed.pk: share}


def test_after_a_change_of_the_currency_amounts_have_its_decimals(
    api: Api, trip: Trip, olga: User
) -> None:
    path = f"/api/trips/{trip.pk}"
    for body in ({"budget": 50.5}, {"currency": "KWD"}):
        assert api(olga).patch(path, body).status_code == 200
    trip.refresh_from_db()
    spend(trip, 1234, paid_by=olga, among=[olga])
    response = api(olga).get(f"{path}/statistics", {"asOf": "2026-05-14"})
    assert b'"total":1.234' in response.content
    shown = exact(response)
    assert (shown["currency"], shown["budget"]["amount"]) == ("KWD", Decimal("50.500"))


# -- The budget ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("as_of", "planned", "spent", "forecast"),
    [
        ("2026-05-13", "0", "30", None),
        ("2026-05-14", "20", "30", "150"),
        ("2026-05-15", "40", "100.01", "250.03"),
        ("2026-05-18", "100", "100.01", "100.01"),
        ("2027-01-01", "100", "100.01", "100.01"),
        ("9999-12-31", "100", "100.01", "100.01"),
    ],
)
def test_a_budget_is_spread_over_the_days_and_what_was_spent_is_extrapolated(
    api: Api, trip: Trip, olga: User, as_of: str, planned: str, spent: str, forecast: str | None
) -> None:
    Trip.objects.filter(pk=trip.pk).update(budget_minor=10_000)
    spend(trip, 3000, paid_by=olga, among=[olga], expense_date=date(2026, 1, 1))
    spend(trip, 7001, paid_by=olga, among=[olga], expense_date=SECOND)
    assert statistics(api, trip, olga, as_of)["budget"] == {
        "amount": 100,
        "spent": Decimal(spent),
        "remaining": 100 - Decimal(spent),
        "plannedByNow": Decimal(planned),
        "forecast": None if forecast is None else Decimal(forecast),
    }


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


def record(trip: Trip, people: list[User], drawn: dict[str, Any]) -> None:
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


def computed(trip: Trip, as_of: date) -> dict[str, Any]:
    """The same sums in minor units, expense by expense in Python."""
    found: dict[str, Any] = {name: Counter() for name in (*ADDED_UP, "paid", "share", "entered")}
    trip.refresh_from_db()
    for expense in Expense.objects.filter(trip=trip).prefetch_related("payers", "splits"):
        if expense.expense_date > as_of:
            continue
        expense.trip = trip
        keys = (expense.category, str(expense.expense_date), f"{expense.expense_date:%Y-%m}")
        for name, key in zip(ADDED_UP, keys, strict=True):
            found[name][key] += expense.amount_minor
        found["entered"][expense.currency] += expense.entered_minor
        paid = {payer.user_id: payer.amount_minor for payer in expense.payers.all()}
        shares = {split.participant_id: split.amount_minor for split in expense.splits.all()}
        found["paid"].update(paid)
        found["share"].update(money.own_parts(shares, paid, expense.number, expense.former_ids))
    return found


@pytest.mark.soak
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    currency=st.sampled_from(["EUR", "JPY"]),
    expenses=EXPENSES,
    merges=st.booleans(),
    as_of=st.sampled_from([*DAYS, date(2099, 1, 1)]),
)
def test_all_sums_are_those_of_the_expenses_and_add_up(
    api: Api,
    olga: User,
    ed: User,
    vera: User,
    sam: User,
    currency: str,
    expenses: list[dict[str, Any]],
    merges: bool,
    as_of: date,
) -> None:
    trip = TripFactory(currency=currency)
    join(trip, olga, TripRole.OWNER)
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
    shown, expected = statistics(api, trip, olga, as_of), computed(trip, as_of)

    def major(sums: Counter[Any]) -> dict[Any, Decimal]:
        return {key: to_major(minor, currency) for key, minor in sums.items() if minor}

    for name, key in zip(ADDED_UP, ("category", "date", "month"), strict=True):
        assert amounts(shown[name], key) == major(expected[name])
        assert sum(row["amount"] for row in shown[name]) == shown["total"]
    for side in ("paid", "share"):
        people_shown = {row["user"]["id"]: row[side] for row in shown["byMember"] if row[side]}
        assert people_shown == major(expected[side])
        assert sum(row[side] for row in shown["byMember"]) == shown["total"]
    for row in shown["byEnteredCurrency"]:
        assert row["amount"] == to_major(expected["entered"][row["currency"]], row["currency"])
    for name in ("byCategory", "byEnteredCurrency"):
        assert sum(row["count"] for row in shown[name]) == shown["count"]


def test_sums_beyond_64_bits_are_exact(api: Api, trip: Trip, olga: User, ed: User) -> None:
    """SQLite would fail with an integer overflow."""
    most = int(MAX_AMOUNT) * 10**4  # of a currency with four decimals
    first = spend(
        trip, most, paid_by=olga, among=[ed], currency="CLF", exchange_rate=Decimal("0.0001")
    )
    values = {field.attname: getattr(first, field.attname) for field in first._meta.local_fields}
    Expense.objects.bulk_create(
        Expense(**values | {"id": None, "number": number}) for number in range(1, 1000)
    )
    [row] = statistics(api, trip, olga)["byEnteredCurrency"]
    assert (row["currency"], row["amount"]) == ("CLF", MAX_AMOUNT * 1000)
    assert most * 1000 > 2**63


def test_a_statement_for_each_sum_however_many_expenses_there_are(
    api: Api, trip: Trip, olga: User, ed: User
) -> None:
    client, counts = api(olga), []
    for size in (1, 20):
        for at in range(size):
            day = FIRST + timedelta(days=at)
            payers = {olga.pk: 600 + at, ed.pk: 400}
            among = [olga, ed]
            spend(trip, 1000 + at, paid_by=olga, among=among, paid_by_user=payers, expense_date=day)
        with CaptureQueriesContext(connection) as captured:
            response = client.get(f"/api/trips/{trip.pk}/statistics?asOf=2026-05-16")
        assert response.status_code == 200
        counts.append(len([q for q in captured if "SELECT" in q["sql"]]))
    # The session, the trip, the sums, the members, and what three tables have of later days.
    assert counts == [7, 7]


# -- Who may read it, and what is refused -------------------------------------------------------


@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_a_stranger_gets_nothing(api: Api, trip: Trip, sam: User, kind: str) -> None:
    path = f"/api/trips/{trip.pk}/statistics"
    problem_of(api(sam).get(path, headers={"accept": kind}), 404, "not_found")


def test_a_script_needs_both_scopes(trip: Trip, olga: User) -> None:
    both = [Scope.TRIPS_READ, Scope.EXPENSES_READ]
    for scopes, status in (([both[0]], 403), ([both[1]], 403), (both, 200)):
        script = bearer(script_of(olga, *scopes).token)
        assert script.get(f"/api/trips/{trip.pk}/statistics").status_code == status


@pytest.mark.parametrize(
    "day", ["", "soon", "2026-02-30", "2026-5-1", "10000-01-01", "0000-01-01", "2026-05-14T00:00"]
)
def test_what_is_no_day_is_refused(api: Api, trip: Trip, olga: User, day: str) -> None:
    response = api(olga).get(f"/api/trips/{trip.pk}/statistics", {"asOf": day})
    assert list(problem_of(response, 400, "invalid")["errors"]) == ["asOf"]


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_day_far_away_is_none_or_all_of_the_trip(
    api: Api, trip: Trip, olga: User, day: str
) -> None:
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert statistics(api, trip, olga, day)["count"] == (day > "2026")


def test_a_known_tag_is_answered_304(api: Api, trip: Trip, olga: User) -> None:
    path = f"/api/trips/{trip.pk}/statistics?asOf=2026-05-20"
    tag = api(olga).get(path)["ETag"]
    again = api(olga).get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert api(olga).get(path, headers={"If-None-Match": tag}).status_code == 200


# -- As a table ---------------------------------------------------------------------------------


def table(api: Api, trip: Trip, reader: User) -> list[dict[str, str]]:
    response = api(reader).get(
        f"/api/trips/{trip.pk}/statistics?asOf=2026-05-15", headers={"accept": "text/csv"}
    )
    assert response["Content-Type"] == "text/csv"
    name = f"trip-{trip.pk}-2026-05-15.csv"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))


def test_the_table_has_a_row_for_each_sum_and_no_formula(api: Api, trip: Trip, olga: User) -> None:
    Trip.objects.filter(pk=trip.pk).update(budget_minor=5_000)
    grandma = add_guest(trip, "=1+1")
    fields = {"currency": "USD", "exchange_rate": Decimal("0.5"), "expense_date": FIRST}
    spend(trip, 12_001, paid_by=olga, among=[grandma], **fields)
    lines = [tuple(line.values()) for line in table(api, trip, olga)]
    paid = [line for line in lines if line[0] in {"paid", "share"} and line[3] != "0.00"]
    assert paid == [
        ("paid", str(olga.pk), "Olga Owner", "60.01", "EUR", "", ""),
        ("share", str(grandma.pk), "'=1+1", "60.01", "EUR", "", ""),
    ]
    assert [line for line in lines if line[0] not in {"paid", "share"}] == [
        ("total", "2026-05-15", "", "60.01", "EUR", "1", ""),
        ("category", "OTHER", "", "60.01", "EUR", "1", ""),
        ("day", "2026-05-14", "", "60.01", "EUR", "1", ""),
        ("month", "2026-05", "", "60.01", "EUR", "1", ""),
        ("enteredCurrency", "USD", "", "60.01", "EUR", "1", "120.01"),
        ("budget", "amount", "", "50.00", "EUR", "", ""),
        ("budget", "spent", "", "60.01", "EUR", "", ""),
        ("budget", "remaining", "", "-10.01", "EUR", "", ""),
        ("budget", "plannedByNow", "", "20.00", "EUR", "", ""),
        ("budget", "forecast", "", "150.03", "EUR", "", ""),
    ]
