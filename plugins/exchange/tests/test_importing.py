"""Importing a file: the plan, the rows, and what is recorded when it is confirmed."""

import json
from contextlib import closing
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from plugins import recording
from plugins.exchange import confirming
from plugins.exchange.models import MAX_PLANS, Import
from plugins.exchange.tests import samples
from plugins.exchange.tests.conftest import send_form
from splits.models import Expense
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import add_guest, join, owned_trip, spend
from tests.splits.ledger import exact
from tests.test_costs import inserted
from tests.test_plans import noting
from trips.models import Trip
from trips.roles import TripRole
from users.models import User


def test_a_plan_says_which_names_no_guest_can_have(plan, imported, olga):
    content = samples.SPLITWISE_CSV.replace("Ana P", "A").replace(",Ben,", f",{'B' * 51},")
    names = f"A, {'B' * 51}"
    [note] = plan(content).json()["notes"]
    assert note == f"Guests have names of 2 to 50 characters, so these names were changed: {names}."
    # Somebody with an account keeps their own name.
    [note] = plan(content, mapping={"A": olga.pk}).json()["notes"]
    assert note.endswith(f"changed: {'B' * 51}.")
    members = Trip.objects.get(pk=imported(content)["tripId"]).members
    assert {"A.", "B" * 50} < set(members.values_list("user__name", flat=True))


def test_a_plan_shows_everything_and_writes_nothing(plan, api, olga):
    answer = plan(samples.SPLITWISE_CSV, name="alps_2026-05-04_export.csv", asNewTrip=False)
    assert answer.status_code == 201
    planned = exact(answer)
    assert planned["trip"]["title"] == "alps"
    days = planned["trip"]["startDate"], planned["trip"]["endDate"]
    assert days == ("2026-05-01", "2026-05-03")
    assert planned["counts"]["taken"] == 2
    assert [person["name"] for person in planned["people"]] == ["Ana P", "Ben", "Cleo, Jr"]
    assert all(row["ours"] == row["claimed"] for row in planned["balances"])
    assert (planned["state"], planned["tripId"], planned["rowCount"]) == ("planned", None, 3)
    rows = exact(api(olga).get(f"{answer['Location']}/rows"))
    assert [row["outcome"] for row in rows["items"]] == ["taken", "noted", "taken"]
    assert rows["items"] == planned["rows"]
    assert "the file does not say how much each" in rows["items"][1]["notes"][0]
    assert not Trip.objects.exists()


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_a_trip_has_the_balances_of_its_plan(name, imported, api, olga):
    done = imported(samples.SAMPLES[name][0], currency="EUR", exchangeRates={"CHF": 0.95})
    rows = api(olga).get(f"/api/trips/{done['tripId']}/balances").json()
    recorded = {row["user"]["id"]: row["balance"] for row in rows}
    for person, row in zip(done["people"], done["balances"], strict=True):
        if row["ours"].keys() <= {"EUR"}:
            assert recorded.get(person["userId"], 0) == row["ours"].get("EUR", 0)


def test_a_row_with_a_weight_that_no_expense_may_have_is_skipped(plan, api, olga):
    answer = plan(samples.SPLIIT_JSON.replace('"shares":300', f'"shares":{10**20}'))
    [row] = api(olga).get(f"{answer['Location']}/rows").json()["items"]
    assert (row["outcome"], row["kind"], row["object"]) == ("skipped", "expense", None)
    assert row["notes"][-1] == "The weight of a person is above 1,000,000."


def test_an_import_into_a_trip_is_an_answer_to_who_added_one_there(plan, api, olga, sam):
    trip = owned_trip(sam)
    body = {"userId": olga.pk, "role": "OWNER"}
    assert api(sam).post(f"/api/trips/{trip.pk}/members", body).status_code == 201
    assert User.objects.get(pk=olga.pk).is_unanswered
    planned = plan(samples.SPLITWISE_CSV, tripId=trip.pk)
    assert planned.status_code == 201
    assert not User.objects.get(pk=olga.pk).is_unanswered
    for step in ("confirm", "undo"):
        trip.members.filter(user=olga).update(introduced_by=0)
        User.objects.filter(pk=olga.pk).update(is_unanswered=True)
        done = api(User.objects.get(pk=olga.pk)).post(f"{planned['Location']}/{step}")
        assert done.status_code == 200, done.content
        assert not User.objects.get(pk=olga.pk).is_unanswered


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite needs no statistics")
def test_after_a_large_import_the_database_knows_its_rows(
    imported, monkeypatch, django_capture_on_commit_callbacks
):
    def analysed():
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stats WHERE tablename = 'splits_expense'")
            return bool(cursor.fetchone()[0])

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM pg_statistic WHERE starelid = 'splits_expense'::regclass")
    for many, knows in ((4, False), (3, True)):
        monkeypatch.setattr(confirming, "MANY_ENTRIES", many)
        with django_capture_on_commit_callbacks(execute=True):
            imported(samples.SPLITWISE_CSV, asNewTrip=True)
        assert analysed() is knows


@pytest.mark.postgresql
def test_an_import_does_not_wait_for_a_table_that_is_vacuumed(
    imported, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(confirming, "MANY_ENTRIES", 3)
    with closing(connection.copy()) as vacuum, connection.cursor() as cursor:
        vacuum.cursor().execute("BEGIN; LOCK TABLE splits_debt IN SHARE UPDATE EXCLUSIVE MODE")
        cursor.execute("SET LOCAL lock_timeout = '100ms'")
        cursor.execute("DELETE FROM pg_statistic WHERE starelid = 'splits_split'::regclass")
        with django_capture_on_commit_callbacks(execute=True):
            imported(samples.SPLITWISE_CSV, asNewTrip=True)
        cursor.execute("SELECT count(*) > 0 FROM pg_stats WHERE tablename = 'splits_split'")
        assert cursor.fetchone() == (True,)


def test_the_same_file_again_adds_nothing(imported, plan, api, olga):
    first = imported(samples.SPLITWISE_CSV)
    again = plan(samples.SPLITWISE_CSV).json()
    assert again["tripId"] == first["tripId"]
    assert again["counts"]["known"] == 3
    assert "imported into this trip" in again["notes"][0]
    assert imported(samples.SPLITWISE_CSV)["counts"]["expense"] == 0
    assert Expense.objects.count() == 2
    assert Trip.objects.count() == 1


def test_the_same_file_in_another_time_zone_adds_nothing(imported, plan):
    """The date of its bill is another one there: the file has the time in UTC."""
    imported(samples.COSPEND_CSV, timeZone="UTC")
    again = plan(samples.COSPEND_CSV, timeZone="Europe/Prague").json()
    assert again["counts"] == {**again["counts"], "known": 1, "expense": 0}


def test_a_newer_file_adds_what_is_new_and_names_what_differs(imported, plan, api, olga):
    done = imported(samples.SPLITWISE_CSV)
    newer = samples.SPLITWISE_CSV.replace("90.00,EUR,60.00,-30.00", "96.00,EUR,64.00,-32.00")
    newer = newer.replace("-32.00,-30.00", "-32.00,-32.00")
    newer = newer.replace(
        "\n\n2026-05-04,Total",
        "\n2026-05-03,Ice cream,Dining out,4.00,EUR,-2.00,2.00,0.00\n\n2026-05-04,Total",
    )
    answer = plan(newer)
    planned = answer.json()
    assert (planned["counts"]["differs"], planned["counts"]["expense"]) == (1, 1)
    rows = api(olga).get(f"{answer['Location']}/rows?outcome=differs").json()["items"]
    assert "amount" in rows[0]["notes"][0]
    imported(newer)
    assert Expense.objects.filter(trip=done["tripId"]).count() == 3


def test_two_equal_rows_are_two_expenses_and_stay_two(imported):
    coffee = "2026-05-01,Coffee,Dining out,4.00,EUR,2.00,-2.00\n"
    content = f"Date,Description,Category,Cost,Currency,Ana,Ben\n{coffee * 2}"
    imported(content)
    assert Expense.objects.count() == 2
    imported(content + coffee)
    assert Expense.objects.count() == 3


def test_a_description_without_letters_is_no_description(plan, imported, api, olga):
    content = json.loads(samples.SPLIIT_JSON)
    content["name"] = "Al\u0007ps"
    content["expenses"][0]["title"] = "\u0007"
    answer = plan(json.dumps(content))
    row = api(olga).get(f"{answer['Location']}/rows").json()["items"][0]
    assert (row["description"], row["notes"]) == ("Expense", ["It has no description."])
    imported(json.dumps(content))
    assert (Expense.objects.get().description, Trip.objects.get().title) == ("Expense", "Al ps")


def test_a_new_trip_can_be_asked_for(imported, plan):
    imported(samples.SPLIIT_JSON)
    made = imported(samples.SPLIIT_JSON, asNewTrip=True)
    assert Trip.objects.count() == 2
    assert plan(samples.SPLIIT_JSON, asNewTrip=True, tripId=made["tripId"]).status_code == 400


def test_guests_are_the_same_people_again(imported, api, olga, trip, ed):
    done = imported(samples.SPLITWISE_CSV)
    guests = {p["name"]: p["userId"] for p in done["people"]}
    path = f"/api/trips/{done['tripId']}/members"
    assert api(olga).post(path, {"userId": ed.pk}).status_code == 201
    merge = f"/api/trips/{done['tripId']}/guests/{guests['Ben']}/merge"
    assert api(olga).post(merge, {"userId": ed.pk}).status_code == 200
    newer = samples.SPLITWISE_CSV + "2026-05-05,Ice,Food,4.00,EUR,2.00,-2.00,0.00\n"
    assert {p["name"]: p["userId"] for p in imported(newer)["people"]} == {**guests, "Ben": ed.pk}


def test_a_plan_lives_a_day(plan, api, olga):
    path = plan(samples.SPLITWISE_CSV)["Location"]
    Import.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert api(olga).get(path).status_code == 404
    assert api(olga).post(f"{path}/confirm").status_code == 404
    call_command("prune", stdout=StringIO())
    assert not Import.objects.exists()


def test_the_oldest_plan_goes_when_there_are_many(plan):
    for _turn in range(MAX_PLANS + 2):
        last = plan(samples.SPLITPRO_CSV)
    assert Import.objects.count() == MAX_PLANS
    assert Import.objects.filter(pk=last.json()["id"]).exists()


def test_undoing_an_import_deletes_the_trip_that_it_made(imported, api, olga):
    done = imported(samples.SPLITWISE_CSV)
    path = f"/api/imports/{done['id']}"
    undone = api(olga).post(f"{path}/undo")
    assert (undone.status_code, undone.json()["state"]) == (200, "undone")
    assert api(olga).get(f"/api/trips/{done['tripId']}").status_code == 404
    assert api(olga).get(path).json() == undone.json()
    for act, code in (("undo", "not_imported"), ("confirm", "already_imported")):
        problem_of(api(olga).post(f"{path}/{act}"), 409, code)
    assert api(olga).delete(path).status_code == 204
    assert api(olga).get(path).status_code == 404


def test_undoing_an_import_leaves_a_trip_as_it_was(imported, api, olga, ed, vera, trip):
    path = f"/api/trips/{trip.pk}"
    spend(trip, 3000, paid_by=olga, among=[olga, ed, vera])
    shown = [f"{path}/balances", f"{path}/members", f"{path}/expenses", f"{path}/settlements"]
    before = [api(olga).get(url).json() for url in shown]
    done = imported(samples.SPLITWISE_CSV, tripId=trip.pk)
    assert [api(olga).get(url).json() for url in shown] != before
    assert api(olga).post(f"/api/imports/{done['id']}/undo").status_code == 200
    assert [api(olga).get(url).json() for url in shown] == before
    assert not list(differences())
    # Then the same file can be imported again.
    assert imported(samples.SPLITWISE_CSV, tripId=trip.pk)["counts"]["expense"] == 2


def test_an_undo_deletes_by_keys(imported, api, olga, trip):
    """PostgreSQL joined subqueries of a trip that it did not know: for 3,000 rows, minutes long."""
    done = imported(samples.SPLITWISE_CSV, tripId=trip.pk)
    with noting('DELETE FROM "splits_') as asked:
        assert api(olga).post(f"/api/imports/{done['id']}/undo").status_code == 200
    assert [sql for sql, _values in asked if sql.count('FROM "') > 1] == []


@pytest.mark.parametrize("stays_as", ["", "who joined before", "who did something since"])
def test_whoever_an_import_added_is_no_member_after_it_is_undone(
    stays_as, plan, api, olga, ed, sam, trip
):
    """Also if an EDITOR undoes it, who may remove nobody."""
    path = f"/api/trips/{trip.pk}"

    def members():
        return [row["user"]["id"] for row in api(ed).get(f"{path}/members").json()]

    content = "".join(row for row in samples.SPLITWISE_CSV.splitlines(True) if "Pay" not in row)
    before = members() + [sam.pk] * bool(stays_as)
    planned = plan(content, ed, tripId=trip.pk, mapping={"Ben": sam.pk})["Location"]
    if stays_as == "who joined before":
        join(trip, sam)
    assert api(ed).post(f"{planned}/confirm").status_code == 200
    assert len(members()) == 6
    if stays_as == "who did something since":
        body = {"fromUserId": sam.pk, "toUserId": olga.pk, "amount": 1}
        paid = api(sam).post(f"{path}/settlements", body).json()
        assert api(olga).delete(f"{path}/settlements/{paid['id']}").status_code == 204
    assert api(ed).post(f"{planned}/undo").status_code == 200
    assert members() == before


@pytest.mark.parametrize("touch", ["change", "pay", "settle", "delete"])
def test_an_import_that_was_touched_is_not_undone(touch, imported, api, olga, trip):
    done = imported(samples.SPLITWISE_CSV, tripId=trip.pk)
    expense = Expense.objects.get(description="Ferry, one way")
    client, path = api(olga), f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    if touch == "change":
        assert client.patch(path, {"notes": "new"}).status_code == 200
    elif touch == "settle":
        ids = {person["name"]: person["userId"] for person in done["people"]}
        sent = {"fromUserId": ids["Cleo, Jr"], "toUserId": ids["Ana P"], "amount": 1}
        assert client.post(f"/api/trips/{trip.pk}/settlements", sent).status_code == 201
    elif touch == "pay":
        split = expense.splits.order_by("id").last()
        assert client.put(f"/api/expenses/{expense.pk}/splits/{split.pk}/pay").status_code == 200
    else:
        assert client.delete(path).status_code == 204
    problem_of(client.post(f"/api/imports/{done['id']}/undo"), 409, "changed_since")


def test_a_trip_in_which_anything_happened_is_not_undone(imported, api, olga):
    done = imported(samples.SPLITWISE_CSV)
    assert api(olga).patch(f"/api/trips/{done['tripId']}", {"title": "Mine"}).status_code == 200
    problem_of(api(olga).post(f"/api/imports/{done['id']}/undo"), 409, "changed_since")
    assert Trip.objects.exists()


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    ("quota", "limit"), [("QUOTA_EXPENSES", 1), ("QUOTA_CHANGES", 2), ("QUOTA_MEMBERS", 3)]
)
def test_a_plan_beyond_a_quota_is_refused_before_the_first_write(
    quota, limit, is_new, plan, api, trip, settings, olga
):
    path = plan(samples.SPLITWISE_CSV, **({} if is_new else {"tripId": trip.pk}))["Location"]
    setattr(settings, quota, limit)
    client = api(olga)
    with CaptureQueriesContext(connection) as captured:
        answer = client.post(f"{path}/confirm")
    assert (answer.status_code, answer.json()["code"]) == (409, "limit_reached")
    assert inserted(captured) == []


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(("limit", "status"), [(2, 409), (3, 200)])
def test_a_plan_that_leaves_too_many_debts_open_is_refused_before_the_first_write(
    limit, status, is_new, plan, api, trip, olga,
    monkeypatch,
):  # fmt: skip
    """Of four debts, the payment in the file covers one."""
    for module in (confirming, recording):
        monkeypatch.setattr(module, "MAX_OPEN_DEBTS", limit)
    path = plan(samples.SPLITWISE_CSV, **({} if is_new else {"tripId": trip.pk}))["Location"]
    client = api(olga)
    with CaptureQueriesContext(connection) as captured:
        answer = client.post(f"{path}/confirm")
    assert answer.status_code == status, answer.json()
    if status == 409:
        assert answer.json()["code"] == "too_many_debts"
        assert inserted(captured) == []


def test_whoever_has_left_the_trip_does_not_learn_whether_a_plan_fits(
    plan, api, trip, ed, settings
):
    trip.members.filter(user=ed).update(role=TripRole.OWNER)
    path = plan(samples.SPLITWISE_CSV, ed, tripId=trip.pk)["Location"]
    trip.members.filter(user=ed).update(left_at=timezone.now())
    settings.QUOTA_EXPENSES = 1
    assert api(ed).post(f"{path}/confirm").status_code == 404


@pytest.mark.parametrize(
    ("quota", "limit"), [("QUOTA_EXPENSES", 1), ("QUOTA_CHANGES", 1), ("QUOTA_MEMBERS", 2)]
)
def test_a_file_that_exceeds_a_quota_leaves_no_plan(quota, limit, plan, settings):
    setattr(settings, quota, limit)
    problem_of(plan(samples.SPLITWISE_CSV), 409, "limit_reached")
    assert not Import.objects.exists()


def test_a_plan_in_another_currency_than_the_trips_is_not_confirmed(plan, api, olga, trip):
    path = plan(samples.SPLITWISE_CSV, tripId=trip.pk)["Location"]
    assert api(olga).patch(f"/api/trips/{trip.pk}", {"currency": "USD"}).status_code == 200
    problem_of(api(olga).post(f"{path}/confirm"), 409, "currency_changed")


def test_a_key_makes_a_repeated_form_harmless(api, olga):
    client = api(olga)
    client.credentials(**client._credentials, HTTP_IDEMPOTENCY_KEY="one")
    first = send_form(client, samples.SPLITWISE_CSV.encode())
    again = send_form(client, samples.SPLITWISE_CSV.encode())
    assert first.json()["id"] == again.json()["id"]
    assert send_form(client, samples.SPLIIT_JSON.encode()).status_code == 422


@pytest.mark.parametrize(("size", "status"), [(10 * 1024**2, 201), (10 * 1024**2 + 1, 413)])
def test_a_file_has_at_most_ten_mebibytes(size, status, api, olga):
    content = samples.SPLITPRO_CSV.encode()
    content += (b" " * 99 + b"\n") * ((size - len(content)) // 100)
    content += b" " * (size - len(content))
    assert send_form(api(olga), content).status_code == status


def test_other_bodies_are_no_longer_than_before(api, olga):
    text = "x" * 1024**2
    assert api(olga).post("/api/trips", {"title": text}).status_code == 413
    assert api(None).post("/api/imports", {"expenses": text}).status_code == 413
    assert api(olga).post("/api/imports", {"expenses": text * 11}).status_code == 413


def test_planning_and_confirming_are_throttled(plan, limits, api, olga):
    limits(**{"import": "2/hour"})
    path = f"{plan(samples.SPLITPRO_CSV)['Location']}/confirm"
    assert [api(olga).post(path).status_code for _turn in range(2)] == [200, 429]
    assert plan(samples.SPLITPRO_CSV).status_code == 429


def test_of_two_plans_of_a_file_for_a_trip_one_is_confirmed(plan, api, olga, ed):
    trip = owned_trip(olga, currency="EUR")
    join(trip, ed, TripRole.OWNER)
    first, second = (
        plan(samples.SPLITWISE_CSV, user, tripId=trip.pk)["Location"] for user in (olga, ed)
    )
    assert api(olga).post(f"{first}/confirm").status_code == 200
    problem_of(api(ed).post(f"{second}/confirm"), 409, "imported_meanwhile")
    again = api(ed).patch(second, {}).json()
    assert (again["counts"]["known"], again["counts"]["expense"]) == (3, 0)
    assert api(ed).post(f"{second}/confirm").status_code == 200
    assert (trip.expenses.count(), trip.settlements.count()) == (2, 1)


def test_a_newer_file_that_was_planned_before_doubles_no_row(plan, api, olga, trip):
    older, row = samples.SPLITWISE_CSV, "90.00,EUR,60.00,-30.00,-30.00"
    newer = older.replace(row, "6.00,EUR,4.00,-2.00,-2.00")
    paths = [plan(text, tripId=trip.pk)["Location"] for text in (older, newer)]
    assert api(olga).post(f"{paths[0]}/confirm").status_code == 200
    assert api(olga).post(f"{paths[1]}/confirm").status_code == 409
    assert api(olga).patch(paths[1], {}).json()["counts"]["differs"] == 1
    assert api(olga).post(f"{paths[1]}/confirm").status_code == 200
    assert trip.expenses.count() == 2


def test_what_is_lost_is_noted(plan):
    content = json.loads(samples.SPLITWISE_API)
    rows = [{"content": "x" * 3000, "user": {"id": 1}}, {"content": " \n", "user": {"id": 1}}]
    content["expenses"][0]["comments"] = rows
    [row] = plan(json.dumps(content)).json()["rows"]
    assert row["notes"] == ["A text was cut to 2000 characters."]
    content["expenses"][0]["comments"] = [{"content": "\x01hi\x1b", "user": {"id": 1}}] * 600
    [row] = plan(json.dumps(content)).json()["rows"]
    assert row["notes"] == ["Only the first 500 comments are imported."]


def test_a_form_that_cannot_be_read_is_refused(api, olga):
    for content_type in ("multipart/form-data", "multipart/form-data; boundary=é"):
        problem_of(api(olga).post("/api/imports", b"x", content_type=content_type), 400, "invalid")


def test_somebody_who_is_gone_when_a_plan_is_confirmed_is_not_found(plan, api, olga, trip):
    guest = add_guest(trip, "Ann")
    path = plan(samples.SPLITWISE_CSV, tripId=trip.pk, mapping={"Ben": guest.pk})["Location"]
    assert api(olga).delete(f"/api/trips/{trip.pk}/members/{guest.pk}").status_code == 204
    problem_of(api(olga).post(f"{path}/confirm"), 404, "user_not_found")
