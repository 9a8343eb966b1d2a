"""Activities: what members plan."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from plugins.itinerary.models import Activity
from tests.document import problem_of
from tests.factories import add_guest
from tests.splits.ledger import Json
from trips.models import JournalEntry, Trip
from trips.signals import author_replaced

pytestmark = pytest.mark.either

CASTLE: Json = {
    "title": "Castle",
    "type": "ACTIVITY",
    "date": "2026-05-15",
    "startTime": "09:30",
    "durationMinutes": 90,
    "location": "Rua de Santa Cruz do Castelo",
    "url": "https://castelodesaojorge.pt",
    "notes": "Peacocks!",
    "category": "LANDMARK",
    "completed": False,
}


def titles(ledger, user, query=""):
    answer = ledger.answer(user, "get", f"activities?pageSize=100{query}")
    assert answer.status_code == 200, answer.content
    return [row["title"] for row in answer.json()["items"]]


def test_what_was_sent_is_stored(ledger, plan, ed, trip):
    added = plan(by=ed, **CASTLE)
    assert {name: added[name] for name in CASTLE} == CASTLE
    assert (added["tripId"], added["dayIndex"], added["expenseIds"]) == (trip.pk, 1, [])
    assert added["createdBy"]["id"] == ed.pk
    assert added["createdAt"] == added["updatedAt"]


def test_a_title_is_enough(plan):
    added = plan("Something")
    assert (added["type"], added["category"], added["completed"]) == ("ACTIVITY", "OTHER", False)
    nothing = ("date", "dayIndex", "startTime", "durationMinutes", "location", "url", "notes")
    assert {added[name] for name in nothing} == {None}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("startTime", "24:00"),
        ("startTime", "9:30"),
        ("startTime", "09:30:00"),
        ("startTime", "٠٩:30"),
        ("day", "2026-05-14"),
        ("order", 1),
    ],
)
def test_a_bad_field_is_refused(ledger, olga, field, value):
    for method, path in (("post", "activities"), ("put", None), ("patch", None)):
        if path is None:
            kept = Activity.objects.filter(trip=ledger.trip).first() or Activity.add(
                ledger.trip, olga, title="Castle"
            )
            path = f"activities/{kept.pk}"
        answer = ledger.answer(olga, method, path, {"title": "Castle", field: value})
        problem = problem_of(answer, 400)
        assert field in problem.get("errors", {field: ""}), problem
    assert JournalEntry.objects.filter(event="activity.changed").count() == 0


def test_a_list_is_filtered(ledger, plan, olga):
    plan("Later", date="2026-05-16")
    plan("Castle", date="2026-05-14", completed=True)
    plan("Tram", date="2026-05-14", type="TRANSITION")
    plan("Some day")
    assert titles(ledger, olga) == ["Castle", "Tram", "Later", "Some day"]
    assert titles(ledger, olga, "&date=2026-05-14") == ["Castle", "Tram"]
    assert titles(ledger, olga, "&type=TRANSITION") == ["Tram"]
    assert titles(ledger, olga, "&completed=true") == ["Castle"]
    assert titles(ledger, olga, "&completed=false&date=2026-05-14") == ["Tram"]


def test_put_replaces_and_patch_keeps(ledger, plan, olga):
    path = f"activities/{plan(**CASTLE)['id']}"
    patched = ledger.answer(olga, "patch", path, {"notes": None, "completed": True}).json()
    assert (patched["notes"], patched["completed"], patched["startTime"]) == (None, True, "09:30")
    replaced = ledger.answer(olga, "put", path, {"title": "Castle"}).json()
    assert (replaced["startTime"], replaced["date"], replaced["completed"]) == (None, None, False)


def test_on_another_day_it_comes_last(ledger, plan, olga):
    first, _second = plan("First", date="2026-05-14"), plan("Second", date="2026-05-15")
    ledger.answer(olga, "patch", f"activities/{first['id']}", {"date": "2026-05-15"})
    assert titles(ledger, olga) == ["Second", "First"]


def test_deleting_and_restoring_changes_no_answer(ledger, plan, olga):
    rows = [plan(title, date="2026-05-14") for title in ("Castle", "Tram", "Dinner")]
    tram = rows[1]
    urls = ["activities", "itinerary", f"activities/{tram['id']}"]
    before = [ledger.answer(olga, "get", url).content for url in urls]

    assert ledger.answer(olga, "delete", urls[2]).status_code == 204
    assert titles(ledger, olga) == ["Castle", "Dinner"]
    assert titles(ledger, olga, "&deleted=true&date=2026-05-14") == ["Tram"]
    assert titles(ledger, olga, "&deleted=true&date=2026-05-15") == []
    for method, body in (("get", None), ("patch", {"title": "x"}), ("delete", None)):
        problem_of(ledger.answer(olga, method, urls[2], body), 404)
    order = {"date": "2026-05-14", "activityIds": [row["id"] for row in rows]}
    assert problem_of(ledger.answer(olga, "put", "activities/order", order), 409)["code"] == (
        "order_changed"
    )

    assert ledger.answer(olga, "post", f"{urls[2]}/restore").json() == tram
    assert [ledger.answer(olga, "get", url).content for url in urls] == before
    refused = problem_of(ledger.answer(olga, "post", f"{urls[2]}/restore"), 409)
    assert refused["code"] == "not_restorable"


def test_what_was_deleted_a_month_ago_is_gone(ledger, plan, olga):
    path = f"activities/{plan('Castle')['id']}"
    ledger.answer(olga, "delete", path)
    long_ago = timezone.now() - timedelta(days=settings.DELETED_ENTRY_DAYS)
    Activity.objects.update(deleted_at=long_ago)
    assert titles(ledger, olga, "&deleted=true") == []
    problem_of(ledger.answer(olga, "post", f"{path}/restore"), 404)
    call_command("prune", verbosity=0)
    assert not Activity.objects.exists()


def test_a_trip_has_as_many_as_it_may(ledger, plan, olga, monkeypatch):
    monkeypatch.setattr(Activity, "limit", 2)
    gone, _other = plan("First"), plan("Second")
    refused = ledger.answer(olga, "post", "activities", {"title": "Third"})
    assert problem_of(refused, 409)["code"] == "limit_reached"
    ledger.answer(olga, "delete", f"activities/{gone['id']}")
    plan("Third")
    restored = ledger.answer(olga, "post", f"activities/{gone['id']}/restore")
    assert problem_of(restored, 409)["code"] == "limit_reached"


def test_the_history_tells_what_happened(ledger, plan, olga, ed):
    path = f"activities/{plan('Castle', by=ed)['id']}"
    ledger.answer(ed, "patch", path, {"notes": "Early."})
    ledger.answer(ed, "patch", path, {"notes": "Early."})
    ledger.answer(ed, "delete", path)
    ledger.answer(ed, "post", f"{path}/restore")
    rows = ledger.answer(olga, "get", "history").json()["items"][:4]
    assert [(row["event"], row["object"]["type"]) for row in rows] == [
        (f"activity.{what}", "activity") for what in ("restored", "deleted", "changed", "created")
    ]
    assert rows[2]["changes"] == {"notes": {"old": None, "new": "Early."}}
    assert all(row["text"].startswith("Ed Editor ") for row in rows)


def test_who_takes_the_place_of_a_guest_has_added_what_the_guest_had(ledger, trip, ed):
    grandma = add_guest(trip)
    Activity.objects.create(trip=trip, created_by=grandma, title="Tea", order=1)
    author_replaced.send(Trip, trip=trip, user_id=grandma.pk, to=ed.pk)
    assert Activity.objects.get().created_by == ed


def test_who_planned_in_a_file_and_never_answered_leaves_a_guest(ledger, trip, olga, ed):
    castle = Activity.add(trip, olga, title="Castle")
    Activity.objects.filter(pk=castle.pk).update(created_by=ed)
    trip.members.filter(user=ed).update(introduced_by=olga.pk)
    assert ledger.answer(olga, "delete", f"members/{ed.pk}").status_code == 204
    author = Activity.objects.get().created_by
    assert (author.is_guest, author.name) == (True, ed.name)
