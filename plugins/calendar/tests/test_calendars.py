"""What calendars show, and how programs keep their copies current."""

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
import vobject
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.calendar import models
from plugins.calendar.tests.conftest import OWN, content, entries, with_plugin
from tests.factories import TripFactory, join, owned_trip
from tests.trips.unanswered import add, new_trip
from trips.roles import TripRole
from users.models import User


def test_a_calendar_has_the_trip_and_what_is_planned(ledger, link, read, plan, trip):
    castle = plan(
        "Castle",
        date="2026-05-14",
        startTime="09:30",
        durationMinutes=90,
        location="Alfama",
        url="https://example.com/castle?a=1,2;b",
        notes="Peacocks!\nStairs; and, more.",
    )
    beach = plan("Beach", date="2026-05-16", durationMinutes=60)
    ferry = plan("Ferry", date="2026-05-15", startTime="23:59", url="/tickets/7")
    plan("Undecided")
    found = entries(read(link()))
    ids = [f"activity-{made['id']}" for made in (castle, ferry, beach)]
    assert [*found] == sorted([*ids, f"trip-{trip.pk}"], key=lambda uid: str(found[uid]["dtstart"]))
    first, late, whole_day = (found[uid] for uid in ids)
    assert first["summary"] == "Castle"
    assert first["dtstart"] == datetime(2026, 5, 14, 9, 30)  # noqa: DTZ001 -- on the clocks there
    assert first["duration"] == timedelta(minutes=90)
    assert first["location"] == "Alfama"
    assert first["url"] == "https://example.com/castle?a=1,2;b"
    assert first["description"] == "Peacocks!\nStairs; and, more."
    assert (first["status"], first["sequence"]) == ("CONFIRMED", "0")
    assert late["dtstart"] == datetime(2026, 5, 15, 23, 59)  # noqa: DTZ001
    # A duration of zero is none (RFC 5545, 3.8.2.5).
    assert {"url", "location", "description", "duration"}.isdisjoint(late)
    assert whole_day["dtstart"] == date(2026, 5, 16)
    assert {"duration", "dtend"}.isdisjoint(whole_day)
    of_trip = found[f"trip-{trip.pk}"]
    assert of_trip["summary"] == trip.title
    assert of_trip["location"] == trip.destination
    assert of_trip["dtstart"] == trip.start_date
    assert of_trip["dtend"] == trip.end_date + timedelta(days=1)
    assert of_trip["transp"] == "TRANSPARENT"


def test_times_have_no_zone_and_instants_are_utc(link, read, plan):
    plan("Castle", date="2026-05-14", startTime="09:30")
    lines = content(read(link())).decode().split("\r\n")
    assert "DTSTART:20260514T093000" in lines
    assert not any("TZID" in line for line in lines)
    stamps = {line.partition(":")[0] for line in lines if line.endswith("Z")}
    assert stamps == {"CREATED", "DTSTAMP", "LAST-MODIFIED"}


def test_programs_are_told_the_name_and_when_to_ask_again(ledger, link, read, olga, trip):
    response = read(link())
    assert response["Cache-Control"] == "private, max-age=3600"
    assert response["Content-Disposition"] == 'attachment; filename="calendar.ics"'
    calendar = vobject.readOne(content(response).decode())
    assert calendar.contents["x-wr-calname"][0].value == trip.title
    assert calendar.contents["refresh-interval"][0].value == "PT1H"
    assert calendar.contents["x-published-ttl"][0].value == "PT1H"
    assert "method" not in calendar.contents
    for language, name in {"en": "My trips", "es": "Mis viajes"}.items():
        User.objects.filter(pk=olga.pk).update(notice_language=language)
        calendar = vobject.readOne(content(read(link(path=OWN))).decode())
        assert calendar.contents["x-wr-calname"][0].value == name


def test_what_was_deleted_is_cancelled_for_a_month(ledger, link, read, plan, olga):
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    path, sequences = link(), []

    def step(seconds, act):
        with time_machine.travel(now + timedelta(seconds=seconds), tick=False):
            act()
            return entries(read(path)).get(uid, {})

    with time_machine.travel(now, tick=False):
        one = f"activities/{plan('Castle', date='2026-05-14')['id']}"
        path = link()
    uid = one.replace("activities/", "activity-")
    steps = [
        (10, lambda: ledger.answer(olga, "patch", one, {"title": "Tower"}), "CONFIRMED"),
        (20, lambda: ledger.answer(olga, "delete", one), "CANCELLED"),
        (30, lambda: ledger.answer(olga, "post", f"{one}/restore"), "CONFIRMED"),
        (40, lambda: ledger.answer(olga, "delete", one), "CANCELLED"),
    ]
    for seconds, act, status in steps:
        shown = step(seconds, act)
        assert (shown["summary"], shown["status"]) == ("Tower", status)
        assert shown["last-modified"] == shown["dtstamp"] == now + timedelta(seconds=seconds)
        sequences.append(int(shown["sequence"]))
    assert sequences == [10, 20, 30, 40]
    month = 30 * 24 * 3600
    assert step(month, lambda: None)["status"] == "CANCELLED"
    assert step(month + 41, lambda: None) == {}


@with_plugin("recurring")
def test_the_next_date_of_a_recurring_expense_is_shown(ledger, link, read, olga, ed):
    expense = ledger.expense_body(12.5, olga, ed, description="Rent")
    del expense["expenseDate"]
    body = {"rule": "FREQ=MONTHLY", "startsOn": "2031-01-31", "timeZone": "Asia/Tokyo"}
    made = ledger.answer(olga, "post", "recurring", {**body, "expense": expense}).json()
    path, one = link(), f"recurring/{made['id']}"
    uid = f"recurrence-{made['id']}-"
    due = entries(read(path))[f"{uid}2031-01-31"]
    assert (due["summary"], due["dtstart"]) == ("Rent", date(2031, 1, 31))
    assert due["description"] == "Recurring expense: 12.5 EUR"
    assert ledger.answer(olga, "post", f"{one}/skip", {"date": "2031-01-31"}).status_code == 200
    assert [name for name in entries(read(path)) if name.startswith(uid)] == [f"{uid}2031-03-31"]
    assert ledger.answer(olga, "post", f"{one}/pause").status_code == 200
    assert not [name for name in entries(read(path)) if name.startswith(uid)]


@with_plugin("documents")
def test_documents_are_shown_on_the_day_on_which_they_are_due(ledger, link, read, olga):
    names = {"Passport": "2026-04-30", "Ticket": None}
    passport, _ticket = (
        ledger.answer(olga, "post", "documents", {"name": name, "dueOn": day}).json()
        for name, day in names.items()
    )
    path, uid = link(), f"document-{passport['id']}"
    found = entries(read(path))
    assert [name for name in found if name.startswith("document")] == [uid]
    assert (found[uid]["summary"], found[uid]["dtstart"]) == ("Passport", date(2026, 4, 30))
    assert ledger.answer(olga, "delete", f"documents/{passport['id']}").status_code == 204
    assert uid not in entries(read(path))


def test_a_file_is_the_same_until_something_changes(ledger, link, read, plan, olga):
    made, path = plan("Castle", date="2026-05-14", startTime="09:30"), link()
    first = read(path)
    kept, tag = content(first), first["ETag"]
    with time_machine.travel(datetime.now(UTC) + timedelta(days=1)):
        again = read(path)
        assert (content(again), again["ETag"]) == (kept, tag)
        known = read(path, HTTP_IF_NONE_MATCH=f'"other", {tag}')
        assert (known.status_code, known["ETag"], known.content) == (304, tag, b"")
        assert known["Cache-Control"] == "private, max-age=3600"
    ledger.answer(olga, "patch", f"activities/{made['id']}", {"notes": "Early"})
    changed = read(path, HTTP_IF_NONE_MATCH=tag)
    assert content(changed) != kept
    assert changed["ETag"] != tag


def test_a_calendar_of_all_trips_has_those_that_are_visible_now(ledger, link, read, ed, olga, trip):
    other, _foreign = owned_trip(ed, title="Porto"), owned_trip(olga)
    path = link(ed, OWN)
    assert {*entries(read(path))} == {f"trip-{trip.pk}", f"trip-{other.pk}"}
    assert ledger.answer(ed, "post", "members/leave").status_code == 204
    assert {*entries(read(path))} == {f"trip-{other.pk}"}
    other.remove(by=ed)
    assert entries(read(path)) == {}


def test_a_trip_of_a_stranger_is_shown_once_its_member_has_answered(
    api, link, read, sam, vera, trip
):
    """T244: A stranger cannot fill the calendar of an account."""
    theirs, path = new_trip(api, sam), link(vera, OWN)
    assert add(api, sam, theirs, userId=vera.pk).status_code == 201
    assert {*entries(read(path))} == {f"trip-{trip.pk}"}
    assert api(vera).get(f"/api/trips/{theirs.pk}").status_code == 200
    assert {*entries(read(path))} == {f"trip-{trip.pk}", f"trip-{theirs.pk}"}


def test_the_last_trips_and_entries_are_shown(link, read, plan, olga, trip, monkeypatch):
    monkeypatch.setattr(models, "MAX_TRIPS", 2)
    monkeypatch.setattr(models, "MAX_ENTRIES", 3)
    for years in (-1, 1):
        day = trip.start_date.replace(year=trip.start_date.year + years)
        owned_trip(olga, title=f"{years}", start_date=day, end_date=day)
    plan("First", date="2026-01-01")
    plan("Second", date="2026-01-02")
    later = trip.start_date + timedelta(days=1)
    plan("Third", date=later.isoformat())
    shown = [entry["summary"] for entry in entries(read(link(path=OWN))).values()]
    assert shown == [trip.title, "Third", "1"]


@pytest.mark.parametrize("path", ["calendar-link", OWN])
def test_the_number_of_statements_does_not_grow(ledger, link, read, plan, olga, path):
    calendar = link(path=path)

    def statements():
        with CaptureQueriesContext(connection) as captured:
            content(read(calendar))
        return captured.captured_queries

    statements()
    before = len(statements())
    for at in range(5):
        join(TripFactory(), olga, TripRole.EDITOR)
        plan("Castle", date="2026-05-14", startTime=f"09:3{at}")
    assert len(statements()) == before


def test_the_last_day_of_the_calendar_is_one(link, read, plan, trip, ledger, olga):
    made = plan("End", date="9999-12-31", startTime="23:59", durationMinutes=1440)
    body = {"startDate": "9999-12-30", "endDate": "9999-12-31"}
    assert ledger.answer(olga, "patch", ledger.url, body).status_code == 200
    text = content(read(link())).decode()
    assert f"UID:activity-{made['id']}@" in text
    assert "DTSTART:99991231T235900" in text
    assert "DTEND;VALUE=DATE:99991231" in text
