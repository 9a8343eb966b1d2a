"""An itinerary in the file of a trip, in changes and in the export of an account."""

import pytest

from plugins.itinerary.models import Activity, ActivityExpense, ItineraryDay
from tests.document import problem_of
from tests.own_data import own_data
from tests.scoped import script_of
from tests.users.logins import bearer

pytestmark = pytest.mark.either

#: What is another one in a copy.
OTHER = ("id", "tripId", "expenseIds", "createdBy", "updatedAt")


def plain(plan):
    """An itinerary without ids."""
    days = [
        {name: value for name, value in day.items() if name != "id"}
        | {"activities": [{n: v for n, v in row.items() if n not in OTHER} for row in rows]}
        for day in plan["days"]
        for rows in [day["activities"]]
    ]
    return {"days": days, "completedPercent": plan["completedPercent"]}


def test_a_copy_from_our_own_file_has_the_same_plan(ledger, plan, api, trip, olga, ed):
    castle = plan("Castle", date="2026-05-14", startTime="09:30", by=ed, notes="Early.")
    plan("Tram", date="2026-05-14", type="TRANSITION", completed=True)
    gone = plan("Gone", date="2026-05-14")
    ledger.answer(olga, "delete", f"activities/{gone['id']}")
    ledger.answer(olga, "put", "itinerary/2026-05-15", {"title": "Rest", "completed": True})
    ticket = ledger.spend(olga, 10, olga, ed)
    late = ledger.spend(olga, 7, olga, ed)
    for expense in (ticket, late):
        ActivityExpense.objects.create(
            trip=trip, activity_id=castle["id"], expense_id=expense["id"]
        )
    ledger.delete(late, olga)
    before = plain(ledger.answer(olga, "get", "itinerary").json())
    file = ledger.answer(olga, "get", "export?format=json").json()
    assert [row["title"] for row in file["activities"]] == ["Castle", "Tram"]

    client = api(olga)
    planned = client.post("/api/imports", file)
    assert planned.status_code == 201, planned.content
    done = client.post(f"/api/imports/{planned.json()['id']}/confirm")
    assert done.status_code == 200, done.content
    after = client.get(f"/api/trips/{done.json()['tripId']}/itinerary").json()
    assert plain(after) == before
    assert after["days"][0]["cost"] == 10


def test_a_file_with_a_place_after_which_there_is_none_is_refused(ledger, plan, api, olga):
    plan("Castle", date="2026-05-14")
    file = ledger.answer(olga, "get", "export?format=json").json()
    file["activities"][0]["order"] = 2**63 - 1
    planned = api(olga).post("/api/imports", file).json()
    refused = api(olga).post(f"/api/imports/{planned['id']}/confirm")
    assert problem_of(refused, 400)["code"] == "unreadable"


def test_a_file_names_no_more_days_than_a_trip_may(ledger, api, olga, monkeypatch):
    for day in (14, 15):
        ledger.answer(olga, "put", f"itinerary/2026-05-{day}", {"title": "Rest"})
    file = ledger.answer(olga, "get", "export?format=json").json()
    planned = api(olga).post("/api/imports", file).json()
    monkeypatch.setattr(ItineraryDay, "limit", 1)
    refused = api(olga).post(f"/api/imports/{planned['id']}/confirm")
    assert problem_of(refused, 409)["code"] == "limit_reached"


def test_the_history_of_a_copy_names_the_activities_of_the_copy(ledger, plan, api, olga, ed):
    ledger.answer(olga, "delete", f"activities/{plan('Gone')['id']}")
    castle, dinner = plan("Castle"), ledger.spend(olga, 10, olga, ed)
    ledger.change(dinner, olga, activityId=castle["id"])
    client = api(olga)
    planned = client.post("/api/imports", ledger.answer(olga, "get", "export").json()).json()
    made = client.post(f"/api/imports/{planned['id']}/confirm").json()["tripId"]
    [copied] = client.get(f"/api/trips/{made}/activities").json()["items"]
    [linked] = client.get(f"/api/trips/{made}/history?event=expense.changed").json()["items"]
    assert linked["changes"]["activityId"] == {"old": None, "new": copied["id"]}


def test_changes_tell_what_was_planned(ledger, plan, olga, ed):
    cursor = ledger.answer(ed, "get", "/api/changes").json()["cursor"]
    castle = plan("Castle", date="2026-05-14")
    gone = plan("Gone")
    ledger.answer(olga, "delete", f"activities/{gone['id']}")
    ledger.answer(olga, "put", "itinerary/2026-05-14", {"title": "Arrival"})
    items = ledger.answer(ed, "get", f"/api/changes?since={cursor}").json()["items"]
    found = {(item["object"]["type"], item["object"]["id"]): item["state"] for item in items}
    assert found["activity", castle["id"]] == castle
    assert found["activity", gone["id"]] is None
    [day] = [state for (kind, _id), state in found.items() if kind == "day"]
    assert day == ledger.answer(olga, "get", "itinerary").json()["days"][0]


def test_a_token_without_expenses_sees_no_costs(ledger, plan, trip, olga):
    castle = plan("Castle", date="2026-05-14")
    ticket = ledger.spend(olga, 10, olga)
    ActivityExpense.objects.create(trip=trip, activity_id=castle["id"], expense_id=ticket["id"])
    client = bearer(script_of(olga, "activities:read").token)
    shown = client.get(f"{ledger.url}/itinerary").json()["days"][0]
    assert (shown["cost"], shown["activities"][0]["expenseIds"]) == (0, [])
    assert client.get(f"{ledger.url}/activities/{castle['id']}").json()["expenseIds"] == []


def test_what_somebody_planned_is_in_their_export_and_outlives_them(
    ledger, plan, api, olga, ed, ada
):
    castle = plan("Castle", by=ed)
    assert own_data(ed)["activities"] == [castle]
    assert api(ada).delete(f"/api/users/{ed.pk}").status_code == 204
    kept = ledger.answer(olga, "get", f"activities/{castle['id']}").json()
    assert (kept["title"], kept["createdBy"]["name"]) == ("Castle", "Deleted user")
    assert Activity.objects.count() == 1
