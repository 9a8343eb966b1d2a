"""The file of a trip again: as a new trip, into the trip itself, and read before it is recorded."""

import io
import json

import pytest
from django.db import connection

from plugins.exchange.confirming import confirm
from plugins.exchange.models import Import
from plugins.exchange.planning import Choices, plan_import
from plugins.exchange.tests.copies import file_of, forged
from plugins.exchange.trip_file import json_file
from splits.models import Expense, Settlement
from splits.reports.audit import differences
from tests.factories import UserFactory, add_guest, owned_trip, settle, spend
from trips.models import Trip

pytestmark = pytest.mark.either


def test_the_plan_of_a_copy_is_what_is_recorded(api, plan, lived, olga, ed):
    odd = {"description": "Room\u3000ahead\u2066 ", "expenseDate": "2031-07-06", "amount": 120}
    body = odd | {"splitType": "EQUAL", "participantUserIds": [olga.pk, ed.pk]}
    assert api(olga).post(f"/api/trips/{lived.pk}/expenses", body).status_code == 201
    title = {"title": "Room\u3000trip", "destination": "Lofo\u2066ten"}
    assert api(olga).patch(f"/api/trips/{lived.pk}", title).status_code == 200
    planned = plan(file_of(api, lived, olga), asNewTrip=True).json()
    assert {row["outcome"] for row in planned["rows"]} == {"taken"}
    assert not any(row["notes"] for row in planned["rows"])
    done = api(olga).post(f"/api/imports/{planned['id']}/confirm").json()
    for name in ("counts", "balances", "trip", "notes"):
        assert done[name] == planned[name]
    copy, url = Trip.objects.get(pk=done["tripId"]), f"/api/trips/{done['tripId']}"
    assert (copy.title, copy.destination) == tuple(title.values())
    balances = {
        row["user"]["name"]: row["balance"] for row in api(olga).get(f"{url}/balances").json()
    }
    assert {row["name"]: row["ours"].get("EUR", 0) for row in planned["balances"]} == balances
    for before, row in zip(planned["rows"], done["rows"], strict=True):
        assert (row["outcome"], row["description"]) == (before["outcome"], before["description"])
        model = Expense if row["kind"] == "expense" else Settlement
        entry = model.objects.get(pk=row["objectId"])
        text = entry.description if row["kind"] == "expense" else entry.note
        assert row["description"] == text


@pytest.mark.parametrize(
    ("table", "fields", "reason"),
    [
        ("expenses", {"expenseDate": "soon"}, "bad_date"),
        ("settlements", {"settledOn": "soon"}, "bad_date"),
        ("settlements", {"settledOn": "2026-W20"}, "bad_date"),
        ("payers", {"amount": 1}, "does_not_add_up"),
    ],
)
def test_what_no_copy_can_have_is_refused_by_its_plan(
    api, plan, lived, olga, table, fields, reason
):
    content = forged(file_of(api, lived, olga), table, 0, **fields)
    assert plan(content, asNewTrip=True).json()["reason"] == reason


def test_the_trip_knows_every_row_of_its_own_file(api, plan, lived, olga):
    content = file_of(api, lived, olga)
    planned = plan(content, tripId=lived.pk).json()
    assert {row["outcome"] for row in planned["rows"]} == {"known"}
    assert (planned["counts"]["expense"], planned["counts"]["settlement"]) == (0, 0)
    # What has changed since, is no longer there, or was never there is told apart.
    boat, tarts = Expense.objects.filter(trip=lived).order_by("pk")
    url = f"/api/trips/{lived.pk}/expenses"
    assert api(olga).patch(f"{url}/{boat.pk}", {"description": "Ship"}).status_code == 200
    assert api(olga).delete(f"{url}/{tarts.pk}").status_code == 204
    outcomes = [row["outcome"] for row in plan(content, tripId=lived.pk).json()["rows"]]
    assert outcomes[:2] == ["differs", "taken"]
    assert set(outcomes[2:]) <= {"known", "taken"}


def test_the_trip_knows_everybody_of_its_own_file(api, imported, lived, olga, ed):
    content, members = file_of(api, lived, olga), set(lived.members.values_list("user", "left_at"))
    assert imported(content, tripId=lived.pk)["counts"]["expense"] == 0
    assert set(lived.members.values_list("user", "left_at")) == members
    # A guest who is merged is the one who took the place; both in one row cannot be divided.
    guest, url = add_guest(lived, "Bert"), f"/api/trips/{lived.pk}"
    made = [spend(lived, 700, paid_by=olga, among=some).pk for some in ([guest], [guest, ed])]
    content = file_of(api, lived, olga)
    for pk in made:
        assert api(olga).delete(f"{url}/expenses/{pk}").status_code == 204
    merged = api(olga).post(f"{url}/guests/{guest.pk}/merge", {"userId": ed.pk})
    assert merged.status_code == 200, merged.json()
    before = {row["user"]["id"]: row["balance"] for row in api(olga).get(f"{url}/balances").json()}
    members = set(lived.members.values_list("user", "left_at"))
    done = imported(content, tripId=lived.pk)
    outcomes = [row["outcome"] for row in done["rows"] if row["kind"] == "expense"]
    assert outcomes[2:] == ["taken", "skipped"]
    assert set(lived.members.values_list("user", "left_at")) == members
    after = {row["user"]["id"]: row["balance"] for row in api(olga).get(f"{url}/balances").json()}
    assert after == {**before, olga.pk: before[olga.pk] + 7, ed.pk: before[ed.pk] - 7}


def test_whoever_left_comes_back_as_a_guest_only_for_a_row(api, imported, trip, olga, ed):
    boat = spend(trip, 1000, paid_by=ed, among=[ed])
    content = file_of(api, trip, olga)
    assert api(ed).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    imported(content, tripId=trip.pk)
    assert not trip.members.filter(user__is_guest=True).exists()
    assert api(olga).delete(f"/api/trips/{trip.pk}/expenses/{boat.pk}").status_code == 204
    imported(content, tripId=trip.pk)
    assert trip.members.get(user__is_guest=True).user.name == ed.name


def test_names_of_a_newer_release_are_told(api, plan, lived, olga):
    content = file_of(api, lived, olga)
    assert plan(content, asNewTrip=True).json()["notes"] == []
    content = forged(content, "expenses", 0, mood="great", notes="")
    content = json.dumps({**json.loads(content), "rooms": [{"id": 1}]})
    for options in ({"asNewTrip": True}, {"tripId": lived.pk}):
        notes = plan(content, **options).json()["notes"]
        assert any(note.endswith("expenses.mood, rooms.") for note in notes)


def test_rows_with_the_ids_of_others_are_new(api, plan, lived, olga):
    """Another service counts in the same way."""
    content = forged(file_of(api, lived, olga), "expenses", 0, createdAt="2020-01-01T00:00:00Z")
    outcomes = [row["outcome"] for row in plan(content, tripId=lived.pk).json()["rows"]]
    assert (outcomes[0], set(outcomes[1:])) == ("taken", {"known"})


@pytest.mark.parametrize(
    ("before", "rows"),
    [
        # It takes old credit.
        (lambda trip, olga, ed: settle(trip, ed, olga, 900),
         "2026-05-01,Bus,Bus,10.00,EUR,5.00,-5.00\n2026-05-02,Tea,Food,4.00,EUR,-2.00,2.00\n"),
        # Its payment covers an old debt.
        (lambda trip, olga, ed: spend(trip, 3000, paid_by=olga, among=[olga, ed]),
         "2026-05-01,Ed paid Olga,Payment,15.00,EUR,-15.00,15.00\n"),
    ],
)  # fmt: skip
def test_an_import_that_covers_or_is_covered_is_undone(api, imported, trip, olga, ed, before, rows):
    def shown():
        names = ("balances", "settlements", "settle-up", "expenses")
        rows = [api(olga).get(f"/api/trips/{trip.pk}/{name}").json() for name in names]
        return [rows[0], rows[1], rows[2], [row["splits"] for row in rows[3]["items"]]]

    before(trip, olga, ed)
    old = shown()
    content = f"Date,Description,Category,Cost,Currency,Olga,Ed\n{rows}"
    done = imported(content, tripId=trip.pk, mapping={"Olga": olga.pk, "Ed": ed.pk})
    assert shown() != old
    undone = api(olga).post(f"/api/imports/{done['id']}/undo")
    assert undone.status_code == 200, undone.json()
    assert shown() == old
    assert not list(differences())


class _Watched(io.BytesIO):
    """A file that knows whether a transaction waited for it."""

    waited = False

    def read(self, size=-1):
        self.waited |= connection.in_atomic_block
        return super().read(size)


@pytest.mark.django_db(transaction=True)
def test_no_transaction_waits_for_a_file():
    olga = UserFactory()
    trip = owned_trip(olga)
    spend(trip, 1000, paid_by=olga, among=[olga])
    trip.refresh_from_db()
    with json_file(trip) as file:
        content = _Watched(file.read())
    stored = plan_import(olga, content, Choices(as_new_trip=True))
    assert not content.waited
    reads: list[bool] = []

    def watch(execute, sql, *args):
        if sql.startswith("SELECT") and '"exchange_import"."file"' in sql:
            reads.append(connection.in_atomic_block)
        return execute(sql, *args)

    with connection.execute_wrapper(watch):
        done = confirm(stored.pk, olga)
    assert reads == [False]
    assert done.trip is not None
    with json_file(done.trip) as file:
        content = _Watched(file.read())
    assert plan_import(olga, content, Choices(trip_id=done.trip.pk)).plan.counts["known"] == 1
    assert not content.waited


@pytest.mark.skipif(connection.vendor == "sqlite", reason="Its transactions may be idle")
@pytest.mark.django_db(transaction=True)
def test_a_request_that_can_be_repeated_may_wait_for_its_file(api, trip, olga):
    """It is one transaction, of which PostgreSQL would end one that is idle for ten seconds."""
    content = file_of(api, trip, olga)
    waits: list[str] = []

    def watch(execute, *statement):
        answer = execute(*statement)
        if connection.in_atomic_block:
            with connection.connection.cursor() as cursor:
                cursor.execute("SHOW idle_in_transaction_session_timeout")
                waits[-1:] = cursor.fetchone()
        return answer

    path, caller = "/api/imports", api(olga)
    for action in ("?asNewTrip=true", "confirm"):
        waits.append("")
        with connection.execute_wrapper(watch):
            answer = caller.generic(
                "POST",
                path + action,
                content,
                "application/json",
                headers={"Idempotency-Key": action},
            )
        assert answer.status_code < 300, answer.content
        path, content = f"/api/imports/{answer.json()['id']}/", b""
    assert waits == ["1min", "1min"]


# -- A file as the body ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ('"title": "x", "title": "y"', "repeated_key"),
        ('"title": "\\ud800"', "lone_surrogate"),
        ('"title": "a\\\\\\udc00"', "lone_surrogate"),
        ('"\\ud83d\\ud83d": 1', "lone_surrogate"),
        ('"title": NaN', "malformed_json"),
        ('"title": -Infinity', "malformed_json"),
        ('"title": ' + "[" * 40 + "]" * 40, "too_deep"),
        ('"title": "\\u0000"', "not_text"),
    ],
)
@pytest.mark.parametrize("padding", [0, 65_520, 65_530])
def test_a_file_as_the_body_is_parsed_as_strictly_as_every_other(
    wrong, reason, padding, api, olga, trip
):
    body = file_of(api, trip, olga).decode().replace("{", "{" + " " * padding + wrong + ", ", 1)
    answer = api(olga).generic("POST", "/api/imports", body.encode(), "application/json")
    assert (answer.status_code, answer.json().get("reason")) == (400, reason)
    assert not Import.objects.exists()


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\\\ud800", "\\\\\\\\ud800", "\\u00e9"])
def test_whole_characters_are_read(text, plan):
    content = json.dumps({"participants": [], "expenses": [], "name": "x"}).replace(
        '"x"', f'"{text}"'
    )
    assert plan(content, currency="EUR").json()["trip"]["title"] == json.loads(f'"{text}"')
