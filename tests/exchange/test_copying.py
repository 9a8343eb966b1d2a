"""A trip that is made of the file of another one is the same trip."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import run_state_machine_as_test
from pytest_django.fixtures import Settings

from splits.models import Settlement
from splits.reports.audit import differences
from tests.conftest import Api
from tests.exchange.copies import answers, contents, copied, file_of
from tests.factories import TripFactory, UserFactory, add_guest, join, purge, settle, spend
from tests.splits.test_ledger_machine import Trip as Machine
from tripcompanion.api.problems import LimitReached
from tripcompanion.exchange.description import UnreadableFile
from tripcompanion.exchange.models import Import, ImportedRow
from tripcompanion.exchange.notes import text_of
from tripcompanion.recurring import models as recurrences
from tripcompanion.recurring.models import Recurrence
from trips.models import Member, Trip
from trips.roles import TripRole
from users.models import User

pytestmark = pytest.mark.either


@pytest.fixture
def lived(trip: Trip, olga: User, ed: User, vera: User, api: Api) -> Trip:
    """A trip that was closed once, with a paid split, a comment and something deleted."""
    boat = spend(trip, 1001, paid_by=olga, among=[olga, ed, vera], tags=["fish"])
    settle(trip, ed, olga, 400)
    settle(trip, vera, olga, 268)
    tarts = spend(trip, 700, paid_by=ed, among=[olga, ed, add_guest(trip)])
    client = api(olga)
    client.post(f"/api/expenses/{boat.pk}/comments", {"text": "Six of them."})
    part = tarts.splits.get(participant=olga)
    client.put(f"/api/expenses/{tarts.pk}/splits/{part.pk}/pay")
    client.delete(f"/api/trips/{trip.pk}/expenses/{spend(trip, 1, paid_by=ed, among=[ed]).pk}")
    return trip


def test_the_copy_is_the_same_trip(api: Api, lived: Trip, olga: User) -> None:
    content = file_of(api, lived, olga)
    copy = copied(content, olga)
    assert answers(api, copy, olga) == answers(api, lived, olga)
    again, before = contents(file_of(api, copy, olga)), contents(content)
    assert again["history"].pop()["event"] == "member.joined"
    assert again == before
    assert Settlement.objects.filter(trip=copy, split__isnull=False).count() == 1
    assert [row["via"] for row in json.loads(file_of(api, copy, olga))["history"]][:-1] == (
        ["import"] * len(before["history"])
    )


def test_items_and_the_default_division_name_the_people_of_the_copy(
    api: Api, trip: Trip, olga: User, ed: User, sam: User
) -> None:
    client, url = api(olga), f"/api/trips/{trip.pk}"
    shares = {str(olga.pk): 1, str(ed.pk): 2}
    division = {
        "splitType": "SHARES",
        "participantUserIds": [olga.pk, ed.pk],
        "splitAmounts": shares,
    }
    client.patch(url, {"defaultDivision": division})
    body = {"description": "Dinner", "expenseDate": "2026-05-14", "amount": 10}
    items = [{"name": "Fish", "amount": 9, "shares": shares}]
    client.post(f"{url}/expenses", {**body, "splitType": "ITEMIZED", "items": items, "tip": 1})
    content = file_of(api, trip, olga)
    copy = copied(content, sam)
    people = {m.user.name: m.user_id for m in Member.objects.filter(trip=copy)}
    in_copy = {str(people[user.name]): shares[str(user.pk)] for user in (olga, ed)}
    shown = api(sam).get(f"/api/trips/{copy.pk}").json()["defaultDivision"]
    assert (shown["splitAmounts"], shown["participantUserIds"]) == (
        in_copy,
        [people[user.name] for user in (olga, ed)],
    )
    [dinner] = api(sam).get(f"/api/trips/{copy.pk}/expenses").json()["items"]
    assert dinner["items"] == [{**items[0], "shares": in_copy}]
    [entry, *_others] = (
        api(sam).get(f"/api/trips/{copy.pk}/history?event=expense.created").json()["items"]
    )
    assert entry["changes"]["items"]["new"][0]["shares"] == in_copy
    for wrong in (
        {"items": [{**items[0], "shares": {"999999": 1}}]},
        {"items": []},
        {"items": 5},
        7,
    ):
        held = json.loads(content)
        held["expenses"][0]["items"] = wrong
        with pytest.raises(UnreadableFile):
            copied(json.dumps(held).encode(), sam)
    for wrong in (
        {**division, "participantUserIds": [999999]},
        {"splitType": "EQUAL"} | {"splitAmounts": {"1": 2}},
        [],
        7,
    ):
        held = json.loads(content)
        held["trip"]["defaultDivision"] = wrong
        with pytest.raises(UnreadableFile):
            copied(json.dumps(held).encode(), sam)
    held = json.loads(content)
    del held["trip"]["defaultDivision"]
    assert copied(json.dumps(held).encode(), sam).default_division is None
    del held["expenses"][0]["items"]
    with pytest.raises(UnreadableFile):
        copied(json.dumps(held).encode(), sam)


def test_a_guest_who_is_gone_is_nobody_in_the_copy_either(api: Api, trip: Trip, olga: User) -> None:
    """The default division and the items named her, but no row did when she was removed."""
    client, url, ann = api(olga), f"/api/trips/{trip.pk}", add_guest(trip, "Ann")
    named = {"participantUserIds": [olga.pk, ann.pk], "splitType": "EQUAL"}
    assert client.patch(url, {"defaultDivision": named}).status_code == 200
    items = [{"name": "Fish", "amount": 9, "shares": {str(olga.pk): 1, str(ann.pk): 2}}]
    body = {"description": "Dinner", "amount": 9, "expenseDate": "2026-05-14"}
    body |= {"splitType": "ITEMIZED", "items": items}
    dinner = client.post(f"{url}/expenses", body).json()
    [split] = [row for row in dinner["splits"] if row["participant"]["id"] == ann.pk]
    assert client.delete(f"/api/expenses/{dinner['id']}/splits/{split['id']}").status_code == 204
    assert client.delete(f"{url}/members/{ann.pk}").status_code == 204
    copy = trip
    for _time in range(2):
        copy = copied(file_of(api, copy, olga), olga)
        people = (copy.default_division or {})["participantUserIds"]
        [item] = json.loads(copy.expenses.get().stored_items or "")["items"]
        assert [str(pk) for pk in people] == list(item["shares"])
        assert people[0] == olga.pk
        assert not User.objects.filter(pk=people[1]).exists()


@pytest.fixture
def recurring(api: Api, trip: Trip, olga: User, ed: User) -> list[int]:
    """The rent, recorded once of three times, one of them skipped; and Ed's, paused; their ids."""
    url = f"/api/trips/{trip.pk}/recurring"
    shares = {str(olga.pk): 1, str(ed.pk): 2}
    rent = {
        "description": "Rent",
        "amount": 9,
        "splitType": "ITEMIZED",
        "items": [{"name": "Flat", "amount": 9, "shares": shares}],
        "payers": [{"userId": olga.pk, "amount": 4}, {"userId": ed.pk, "amount": 5}],
        "tags": ["home"],
    }
    body = {"rule": "FREQ=DAILY;COUNT=9", "timeZone": "Europe/Lisbon", "startsOn": day(-1)}
    made = [api(user).post(url, {**body, "expense": rent}).json() for user in (olga, ed)]
    ids = [row["id"] for row in made]
    assert api(olga).post(f"{url}/{ids[0]}/skip", {"date": day(4)}).status_code == 200
    assert api(ed).post(f"{url}/{ids[1]}/pause").status_code == 200
    assert Recurrence.objects.get(pk=ids[0]).record_next()
    return ids


def day(days: int) -> str:
    return (timezone.now().date() + timedelta(days=days)).isoformat()


def shown(api: Api, trip: Trip, reader: User) -> Any:
    rows = api(reader).get(f"/api/trips/{trip.pk}/recurring").json()["items"]
    own = {"id", "tripId", "createdById", "createdAt", "expense"}
    return [{name: row[name] for name in row.keys() - own} for row in rows]


def test_recurring_expenses_go_on_in_the_copy(
    api: Api, trip: Trip, olga: User, ed: User, recurring: list[int]
) -> None:
    content = file_of(api, trip, olga)
    copy = copied(content, olga)
    again = contents(file_of(api, copy, olga))
    again["history"].pop()
    assert again == contents(content)
    assert shown(api, copy, olga) == shown(api, trip, olga)
    rent, of_ed = copy.recurrences.order_by("pk")
    assert rent.next == [day(days) for days in (0, 1, 2, 3, 5, 6, 7)]
    assert rent.occurrences.get(day=day(-1)).expense_id == copy.expenses.get().pk
    assert (rent.created_by, of_ed.created_by.name) == (olga, ed.name)
    guest = copy.members.get(user__name=ed.name).user
    assert of_ed.created_by == guest
    assert rent.expense["payers"][1]["userId"] == guest.pk
    assert rent.record_next()
    assert not rent.record_next()
    assert copy.expenses.count() == 2
    assert list(differences(copy.pk)) == []
    # Somebody must give the guest's place to an account first.
    of_ed = of_ed.resume(olga)
    assert not of_ed.record_next()
    of_ed.refresh_from_db()
    assert (of_ed.state, of_ed.reason_code) == ("paused", "not_authenticated")


def test_a_body_may_name_somebody_who_is_gone(
    api: Api, trip: Trip, olga: User, recurring: list[int]
) -> None:
    held = json.loads(file_of(api, trip, olga))
    equal = {"splitType": "EQUAL", "participantUserIds": [olga.pk, 999999], "currency": "EUR"}
    held["recurring"][0]["expense"] = {"description": "Rent", "amount": 9} | equal
    twice = file_of(api, copied(json.dumps(held).encode(), olga), olga)
    rent = copied(twice, olga).recurrences.order_by("pk").first()
    assert rent.record_next()
    assert rent.trip.expenses.latest("pk").splits.get().participant == olga


def test_only_the_last_year_is_recorded_after_an_import(
    api: Api, trip: Trip, olga: User, recurring: list[int]
) -> None:
    held = json.loads(file_of(api, trip, olga))
    held["recurring"][0] |= {"rule": "FREQ=DAILY", "startsOn": day(-5000), "doneThrough": None}
    held["occurrences"] = []
    rent = copied(json.dumps(held).encode(), olga).recurrences.order_by("pk").first()
    assert rent.next[0] == day(-365)


@pytest.mark.parametrize(
    "fields",
    [
        {"rule": "FREQ=SECONDLY"},
        {"rule": "FREQ=DAILY;COUNT=1000000"},
        {"rule": None},
        {"timeZone": "Mars/Olympus"},
        {"startsOn": "9999-01-01"},
        {"startsOn": "2026-02-30"},
        {"startsOn": 7},
        {"state": "gone"},
        {"createdById": 1_000_000},
        {"doneThrough": "soon"},
        {"expense": None},
        {"expense": []},
        {"expense": {}},
        {"expense": {"currency": "XYZ"}},
        {"expense": {"currency": "EUR", "amount": {}}},
        {"expense": {"currency": "EUR", "participantUserIds": {"a": 1}}},
        {"expense": {"currency": "EUR", "participantUserIds": ["a"]}},
        {"expense": {"currency": "EUR", "splitAmounts": {"1": "a"}}},
        {"expense": {"currency": "EUR", "splitType": "SHARES", "splitAmounts": {"1": "a"}}},
        {"expense": {"currency": "EUR", "splitType": "SHARES", "splitAmounts": 5}},
        {"expense": {"currency": "EUR", "payers": [5]}},
        {"expense": {"currency": "EUR", "tags": [5]}},
    ],
)
def test_a_recurring_expense_of_no_sense_makes_nothing(
    api: Api, trip: Trip, olga: User, recurring: list[int], fields: dict[str, Any]
) -> None:
    content = forged(file_of(api, trip, olga), "recurring", 0, **fields)
    with pytest.raises(UnreadableFile):
        copied(content, olga)
    assert Trip.objects.count() == 1


@pytest.mark.parametrize("missing", ["expense", "rule", "startsOn"])
def test_a_recurring_expense_without_a_column_makes_nothing(
    api: Api, trip: Trip, olga: User, recurring: list[int], missing: str
) -> None:
    held = json.loads(file_of(api, trip, olga))
    del held["recurring"][0][missing]
    with pytest.raises(UnreadableFile):
        copied(json.dumps(held).encode(), olga)


def test_a_file_has_only_so_many_recurring_expenses(
    api: Api, trip: Trip, olga: User, recurring: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = file_of(api, trip, olga)
    monkeypatch.setattr(recurrences, "MAX_RECURRENCES", 1)
    with pytest.raises(recurrences.TooManyRecurrences):
        copied(content, olga)


def test_another_trip_gets_no_recurring_expenses_and_is_told(
    api: Api, plan: Any, trip: Trip, olga: User, recurring: list[int]
) -> None:
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    planned = plan(file_of(api, trip, olga).decode(), tripId=other.pk).json()
    assert text_of("recurring_in_new_trip", {}) in planned["notes"]
    assert api(olga).post(f"/api/imports/{planned['id']}/confirm").status_code == 200
    assert not other.recurrences.exists()


def test_everybody_else_is_a_guest_and_the_caller_an_owner(
    api: Api, lived: Trip, olga: User, sam: User
) -> None:
    copy = copied(file_of(api, lived, olga), sam)
    members = {
        member.user.name: (member.role, member.user.is_guest)
        for member in Member.objects.filter(trip=copy).select_related("user")
    }
    assert members.pop("Sam Stranger") == ("OWNER", False)
    assert set(members.values()) == {("VIEWER", True)}
    assert api(olga).get(f"/api/trips/{copy.pk}").status_code == 404


def test_deleting_what_was_paid_in_the_copy_opens_it_again(
    api: Api, lived: Trip, olga: User
) -> None:
    trips = [lived, copied(file_of(api, lived, olga), olga)]
    for trip in trips:
        first = trip.settlements.order_by("pk").first()
        path = f"/api/trips/{trip.pk}/settlements/{first.pk}"
        assert api(olga).delete(path).status_code == 204
    assert answers(api, trips[1], olga) == answers(api, trips[0], olga)


def test_the_history_of_the_copy_can_be_read(api: Api, lived: Trip, olga: User, sam: User) -> None:
    copy = copied(file_of(api, lived, olga), sam)
    shown = api(sam).get(f"/api/trips/{copy.pk}/history?pageSize=100").json()["items"]
    before = api(olga).get(f"/api/trips/{lived.pk}/history?pageSize=100").json()["items"]
    starts = [[row["text"][:10] for row in rows] for rows in (shown[1:], before)]
    assert starts[0] == starts[1]
    assert {row["by"] for row in shown[1:]} == {None}
    assert {row["via"] for row in shown[1:]} == {"import"}


def test_who_claims_a_guest_of_the_copy_has_what_they_recorded(
    api: Api, lived: Trip, olga: User, ed: User, sam: User
) -> None:
    content = file_of(api, lived, olga)
    copy = copied(content, sam)
    guest = Member.objects.get(trip=copy, user__name=ed.name).user
    tarts = copy.expenses.get(created_by=guest)
    assert api(sam).delete(f"/api/trips/{copy.pk}/expenses/{tarts.pk}").status_code == 204
    body = {"guestUserId": guest.pk, "role": "EDITOR"}
    invitation = api(sam).post(f"/api/trips/{copy.pk}/invitations", body).json()
    accept = f"/api/invitations/{invitation['token']}/accept"
    assert api(ed).post(accept).status_code == 201
    restore = f"/api/trips/{copy.pk}/expenses/{tarts.pk}/restore"
    assert api(ed).post(restore).status_code == 200
    assert copy.expenses.get(created_by=ed).pk == tarts.pk


def test_a_copy_can_be_deleted_for_good(api: Api, lived: Trip, olga: User, sam: User) -> None:
    copy = copied(file_of(api, lived, olga), sam)
    assert api(sam).delete(f"/api/trips/{copy.pk}").status_code == 204
    guests = User.objects.filter(is_guest=True, memberships__trip=copy).values("pk")
    ids = [row["pk"] for row in guests]
    assert len(ids) == 4
    purge(copy)
    assert not User.objects.filter(pk__in=ids).exists()


class Copied(Machine):
    """A random history, after which the trip is copied."""

    def teardown(self) -> None:
        try:
            if hasattr(self, "ledger"):
                self.compare()
        finally:
            super().teardown()

    def compare(self) -> None:
        content = file_of(self.api, self.ledger.trip, self.admin)
        copy = copied(content, self.callers[0])
        again = contents(file_of(self.api, copy, self.admin))
        again["history"].pop()
        assert again == contents(content)
        twice = answers(self.api, copy, self.admin)
        assert twice == answers(self.api, self.ledger.trip, self.admin)


@pytest.mark.slow
@pytest.mark.soak
def test_random_trips_are_copied_exactly(
    api: Api, olga: User, ed: User, vera: User, ada: User
) -> None:
    cast = [olga, ed, vera, UserFactory()]
    run_state_machine_as_test(
        lambda: Copied(api, cast, ada),
        settings=hypothesis_settings(
            max_examples=8, derandomize=True, database=None, stateful_step_count=25, deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


# -- What a file may not say -----------------------------------------------------------------------


def forged(content: bytes, table: str, place: int, **fields: Any) -> bytes:
    held = json.loads(content)
    row = held[table] if table == "trip" else held[table][place]
    row.update(fields)
    return json.dumps(held).encode()


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        ("trip", {"imageUrl": "javascript:alert(1)"}),
        ("trip", {"currency": "XYZ"}),
        ("trip", {"expensesRecorded": 0}),
        ("trip", {"id": "1"}),
        ("people", {"name": ""}),
        ("people", {"id": "one"}),
        ("people", {"id": 2**70}),
        ("history", {"byId": None, "authorName": "x" * 51}),
        ("members", {"paid": 1_000_000}),
        ("expenses", {"amount": 10.02}),
        ("expenses", {"description": "x" * 256}),
        ("expenses", {"description": " "}),
        ("expenses", {"receiptUrl": "ftp://example.com/x"}),
        ("expenses", {"receiptUrl": "data:text/html,x"}),
        ("expenses", {"id": 2**70}),
        ("expenses", {"currency": {"EUR": 1}}),
        ("settlements", {"id": []}),
        ("payers", {"userId": 1_000_000}),
        ("splits", {"amount": 3.335}),
        ("splits", {"participantId": True}),
        ("debts", {"open": 0.01}),
        ("debts", {"coveredAt": None}),
        ("settlements", {"credit": 1}),
        ("allocations", {"amount": 1}),
        ("allocations", {"settlementId": None}),
        ("comments", {"text": "x" * 2001}),
        ("comments", {"createdAt": "2026-05-14T10:00:00"}),
        ("history", {"number": 2}),
        ("history", {"changes": {"amount": 5}}),
        ("history", {"changes": {"description": {"old": {"description": 1}, "new": 2}}}),
        ("history", {"event": "settlement.deleted", "changes": {}}),
        ("history", {"event": "trip.stolen"}),
        ("history", {"byId": 1_000_000}),
        ("history", {"objectId": 2**63}),
        ("history", {"expenseId": 2**63}),
        ("history", {"changes": {"toUserId": {"old": None, "new": -(2**63)}}}),
    ],
)
def test_a_file_that_contradicts_itself_makes_nothing(
    api: Api, lived: Trip, olga: User, table: str, fields: dict[str, Any]
) -> None:
    content = forged(file_of(api, lived, olga), table, -1 if table == "people" else 0, **fields)
    with pytest.raises(UnreadableFile):
        copied(content, olga)
    assert Trip.objects.count() == 1
    assert not User.objects.filter(is_guest=True, memberships=None).exists()


@pytest.mark.parametrize("table", ["people", "expenses", "settlements"])
@pytest.mark.parametrize("row", [7, None, "again"])
def test_a_row_that_is_none_or_stands_twice_makes_nothing(
    api: Api, lived: Trip, olga: User, table: str, row: Any
) -> None:
    held = json.loads(file_of(api, lived, olga))
    held[table].append(held[table][0] if row == "again" else row)
    with pytest.raises(UnreadableFile):
        copied(json.dumps(held).encode(), olga)
    assert Trip.objects.count() == 1


def test_one_id_of_two_rows_is_refused_although_all_amounts_are_right(
    api: Api, plan: Any, trip: Trip, olga: User, ed: User
) -> None:
    settle(trip, ed, olga, 500)
    settle(trip, ed, olga, 500)
    held = json.loads(file_of(api, trip, olga))
    held["settlements"][1]["id"] = held["settlements"][0]["id"]
    path = plan(json.dumps(held), asNewTrip=True)["Location"]
    answer = api(olga).post(f"{path}/confirm")
    assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")
    assert Trip.objects.count() == 1


@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("trip", "title"), ("people", "name"), ("members", "userId"), ("splits", "expenseId")),
        *(("allocations", "amount"), ("history", "event")),
    ],
)
def test_a_missing_column_makes_nothing(
    api: Api, lived: Trip, olga: User, table: str, column: str
) -> None:
    held = json.loads(file_of(api, lived, olga))
    row = held[table] if table == "trip" else held[table][-1]
    del row[column]
    with pytest.raises(UnreadableFile):
        copied(json.dumps(held).encode(), olga)


def test_a_copy_counts_in_the_quota_of_trips(
    api: Api, lived: Trip, olga: User, settings: Settings
) -> None:
    content = file_of(api, lived, olga)
    settings.QUOTA_TRIPS = 1
    with pytest.raises(LimitReached):
        copied(content, olga)
    assert Trip.objects.count() == 1


def test_another_version_is_refused(api: Api, lived: Trip, olga: User) -> None:
    content = file_of(api, lived, olga).replace(b'"version":1', b'"version":2')
    with pytest.raises(UnreadableFile) as refused:
        copied(content, olga)
    assert refused.value.code == "unknown_version"


# -- A plan of it --------------------------------------------------------------------------------


def test_another_trip_gets_what_is_new_once(
    api: Api, plan: Any, lived: Trip, olga: User, ed: User
) -> None:
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    content = file_of(api, lived, olga)
    for expected in (5, 0):
        planned = plan(content.decode(), tripId=other.pk).json()
        assert planned["format"] == "trip-companion"
        assert all(row["claimed"] == row["ours"] for row in planned["balances"])
        done = api(olga).post(f"/api/imports/{planned['id']}/confirm").json()
        assert "counts" in done, done
        assert done["counts"]["taken"] + done["counts"]["noted"] == expected
    shown = {row["user"]["name"]: row["balance"] for row in balances(api, other, olga)}
    assert shown == {row["user"]["name"]: row["balance"] for row in balances(api, lived, olga)}


def test_exact_amounts_in_a_third_currency_are_divided_as_in_the_trip(
    api: Api, plan: Any, trip: Trip, olga: User, ed: User
) -> None:
    body = {
        "description": "Hut",
        "amount": 100,
        "currency": "CHF",
        "exchangeRate": 0.95,
        "expenseDate": "2026-05-14",
        "splitType": "MANUAL",
        "participantUserIds": [olga.pk, ed.pk],
        "splitAmounts": {str(olga.pk): 60, str(ed.pk): 40},
    }
    assert api(olga).post(f"/api/trips/{trip.pk}/expenses", body).status_code == 201
    other = TripFactory(currency="USD")
    join(other, olga, TripRole.OWNER)
    content = file_of(api, trip, olga).decode()
    path = plan(content, tripId=other.pk, exchangeRates={"EUR": 1.1})["Location"]
    done = api(olga).post(f"{path}/confirm")
    assert done.status_code == 200, done.json()
    expense = other.expenses.get()
    assert (expense.currency, expense.entered_minor, expense.amount_minor) == ("EUR", 9500, 10450)
    assert sorted(expense.splits.values_list("amount_minor", flat=True)) == [4180, 6270]


@pytest.mark.parametrize("category", ["SAUNA", 10**20])
def test_another_trip_gets_no_category_that_there_is_not(
    api: Api, plan: Any, lived: Trip, olga: User, category: Any
) -> None:
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    content = forged(file_of(api, lived, olga), "expenses", 0, category=category)
    path = plan(content.decode(), tripId=other.pk)["Location"]
    assert api(olga).post(f"{path}/confirm").status_code == 200
    assert {*other.expenses.values_list("category", flat=True)} == {"OTHER"}


@pytest.mark.parametrize(
    ("table", "fields", "reason"),
    [
        ("trip", {"startDate": "soon"}, "bad_date"),
        ("trip", {"currency": "1e99"}, "unknown_currency"),
        ("people", {"email": {}}, "missing_field"),
        ("comments", {"expenseId": None}, "missing_field"),
        ("payers", 7, "not_an_object"),
    ],
)
def test_another_trip_gets_nothing_of_a_file_that_cannot_be_read(
    api: Api, plan: Any, lived: Trip, olga: User, table: str, fields: Any, reason: str
) -> None:
    content = file_of(api, lived, olga)
    if isinstance(fields, dict):
        content = forged(content, table, 0, **fields)
    else:
        content = json.dumps({**json.loads(content), table: [fields]}).encode()
    answer = plan(content.decode(), tripId=lived.pk)
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    ("table", "fields", "reason"),
    [
        ("payers", {"entered": 0, "amount": 0}, "does_not_add_up"),
        ("payers", {"entered": 1}, "does_not_add_up"),
        ("splits", {"amount": 1_000_000}, "does_not_add_up"),
        ("expenses", {"receiptUrl": 7.5, "currency": "XYZ"}, "unknown_currency"),
    ],
)
def test_rows_of_a_file_that_do_not_fit_are_skipped(
    api: Api,
    plan: Any,
    lived: Trip,
    olga: User,
    table: str,
    fields: dict[str, Any],
    reason: str,
) -> None:
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    content = forged(file_of(api, lived, olga), table, 0, **fields)
    path = plan(content.decode(), tripId=other.pk)["Location"]
    rows = ImportedRow.objects.filter(outcome="skipped")
    assert [row.note_list[-1][0] for row in rows] == [reason]
    assert api(olga).post(f"{path}/confirm").status_code == 200
    # Nothing had happened in that trip before, not even in its history.
    assert api(olga).post(f"{path}/undo").status_code == 200


def balances(api: Api, trip: Trip, reader: User) -> Any:
    return api(reader).get(f"/api/trips/{trip.pk}/balances").json()


def test_a_confirmed_plan_of_our_own_file_makes_the_same_trip(
    api: Api, plan: Any, lived: Trip, olga: User, ed: User
) -> None:
    content = file_of(api, lived, olga)
    planned = plan(content.decode(), asNewTrip=True).json()
    assert [row["userId"] for row in planned["people"]][:2] == [olga.pk, ed.pk]
    done = api(olga).post(f"/api/imports/{planned['id']}/confirm").json()
    copy = Trip.objects.get(pk=done["tripId"])
    assert answers(api, copy, olga) == answers(api, lived, olga)
    assert Member.objects.present().get(trip=copy, user=ed).role == "VIEWER"
    assert copy.expenses.filter(created_by=ed).exists()
    known = plan(content.decode(), tripId=copy.pk).json()["counts"]
    assert (known["known"], known["expense"]) == (5, 0)
    assert not list(differences(copy.pk))
    assert Import.objects.get(pk=planned["id"]).file is None


def test_a_confirmed_copy_can_be_undone(api: Api, plan: Any, lived: Trip, olga: User) -> None:
    planned = plan(file_of(api, lived, olga).decode(), asNewTrip=True).json()
    path = f"/api/imports/{planned['id']}"
    assert api(olga).post(f"{path}/confirm").status_code == 200
    assert api(olga).post(f"{path}/undo").status_code == 200
    assert [trip.pk for trip in Trip.objects.filter(deleted_at=None)] == [lived.pk]


def test_a_file_that_contradicts_itself_is_refused_when_it_is_confirmed(
    api: Api, plan: Any, lived: Trip, olga: User
) -> None:
    content = forged(file_of(api, lived, olga), "debts", 0, open=0.01)
    planned = plan(content.decode(), asNewTrip=True).json()
    response = api(olga).post(f"/api/imports/{planned['id']}/confirm")
    assert (response.status_code, response.json()["code"]) == (400, "unreadable")
    assert Trip.objects.count() == 1
