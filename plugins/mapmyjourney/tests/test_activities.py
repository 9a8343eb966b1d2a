"""Activities and itineraries as the client of MapMyJourney reads and changes them."""

import pytest

from plugins.itinerary.models import Activity
from tests.document import problem_of

pytestmark = pytest.mark.either

CASTLE = {
    **{"title": "Castle", "type": "ACTIVITY", "startTime": "9:30", "duration": 2},
    **{"durationUnit": "HOUR", "dayIndex": 1, "category": "landmark", "notes": "Peacocks"},
}


def added(client, trip, **fields):
    answer = client.post(f"/api/trips/{trip.pk}/activities", {**CASTLE, **fields})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def test_an_activity_is_added_on_a_day_by_its_number(api, app, trip, olga):
    made = added(app(olga), trip)
    plain = api(olga).get(f"/api/trips/{trip.pk}/activities/{made['id']}").json()
    assert (plain["date"], plain["startTime"], plain["durationMinutes"]) == (
        *("2026-05-15", "09:30", 120),
    )
    assert plain["category"] == "LANDMARK"
    assert made == {**plain, "duration": 120, "isCompleted": False, "order": 0}
    [listed] = app(olga).get(f"/api/trips/{trip.pk}/activities").json()
    assert listed == made
    of_day = f"/api/trips/{trip.pk}/activities/date?date="
    assert app(olga).get(f"{of_day}2026-05-15").json() == [made]
    assert app(olga).get(f"{of_day}2026-05-14").json() == []
    for url in (f"{of_day}tomorrow", of_day, of_day.removesuffix("?date=")):
        refused = problem_of(app(olga).get(url), 400)["errors"]
        assert refused.keys() == {"date"}
    assert refused == {"date": ["This field is required."]}


@pytest.mark.parametrize("duration", [2, "2"])
@pytest.mark.parametrize(("unit", "minutes"), [("HOUR", 120), ("hour", 120), ("Min", 2), (None, 2)])
def test_a_duration_is_in_its_unit(app, trip, olga, duration, unit, minutes):
    assert added(app(olga), trip, duration=duration, durationUnit=unit)["duration"] == minutes


def test_a_put_changes_what_it_names(app, trip, olga):
    client, path = app(olga), f"/api/trips/{trip.pk}/activities"
    first, second = added(client, trip), added(client, trip, title="Tower")
    changed = client.put(f"{path}/{second['id']}", {"isCompleted": True, "orderIndex": 0}).json()
    assert (changed["title"], changed["isCompleted"]) == ("Tower", True)
    assert [row["id"] for row in client.get(path).json()] == [second["id"], first["id"]]
    problem_of(client.put(f"{path}/{second['id']}", {"title": "x", "orderIndex": -1}), 400)
    fields = {"dayIndex": 0, "category": "castles", "notes": "", "location": ""}
    moved = client.put(f"{path}/{first['id']}", fields).json()
    assert (moved["date"], moved["category"]) == ("2026-05-14", "OTHER")
    assert (moved["notes"], moved["location"]) == (None, None)
    assert client.delete(f"{path}/{first['id']}").status_code == 204
    assert [row["title"] for row in client.get(path).json()] == ["Tower"]
    strict = client.get(f"{path}?deleted=true", headers={"Prefer": "handling=strict"})
    assert problem_of(strict, 400)["errors"].keys() == {"deleted"}


def test_what_was_read_is_sent_back_and_moves_nothing(api, app, trip, olga):
    client, path = app(olga), f"/api/trips/{trip.pk}/activities"
    for day in ("2026-05-13", None):
        api(olga).post(path, {"title": "Packing", "date": day})
    for number in range(11):
        added(client, trip, type="TRANSITION" if number % 2 else "ACTIVITY")
    rows = client.get(path).json()
    assert [row["order"] for row in rows] == [0, *range(11), 0]
    assert [row["dayIndex"] for row in rows] == [-1, *[1] * 11, None]
    ways = client.get(f"{path}/date?date=2026-05-15&type=TRANSITION").json()
    assert ways == [row for row in rows if row["type"] == "TRANSITION"]
    plan = client.get(f"/api/trips/{trip.pk}/itinerary").json()
    assert plan["activities"] == rows
    for row in rows:
        assert client.get(f"{path}/{row['id']}").json() == row
        assert client.put(f"{path}/{row['id']}", row).json() == row
    assert client.get(path).json() == rows
    places = [{name: row[name] for name in ("id", "order", "dayIndex")} for row in rows[:-1]]
    for body in (places, [{**row, "order": row["order"] * 10**12 - 10**13} for row in places]):
        sent = {"activities": body}
        assert client.put(f"/api/trips/{trip.pk}/itinerary/reorder", sent).json() == plan
    assert client.put(f"{path}/{rows[11]['id']}", {"order": 3}).json()["order"] == 3
    moved = client.put(f"{path}/{rows[2]['id']}", {**rows[2], "dayIndex": -1}).json()
    assert (moved["date"], moved["order"]) == ("2026-05-13", 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("dayIndex", value) for value in (-1, 1.5, True, "x", 10**8)),
        *(("duration", value) for value in (0, 24 * 60 + 1, "x", True)),
        *(("durationUnit", value) for value in ("FOO", "", 1, ["HOUR"])),
        *(("startTime", value) for value in ("24:00", "930", 9)),
    ],
)
def test_a_wrong_field_is_refused_under_the_name_that_was_sent(app, trip, olga, field, value):
    body = {**CASTLE, "durationUnit": "MIN", field: value}
    answer = app(olga).post(f"/api/trips/{trip.pk}/activities", body)
    assert problem_of(answer, 400)["errors"].keys() == {field}
    assert not Activity.objects.exists()


def test_a_day_is_put_into_another_order(app, trip, olga):
    client, path = app(olga), f"/api/trips/{trip.pk}/activities"
    ids = [str(added(client, trip, title=title)["id"]) for title in "abc"]
    reorder = f"{path}/reorder?date=2026-05-15"
    assert client.put(reorder, [ids[2], ids[0], ids[1]]).status_code == 204
    assert [row["title"] for row in client.get(path).json()] == ["c", "a", "b"]
    problem_of(client.put(reorder, ids[:2]), 409, "order_changed")
    problem_of(client.put(reorder, {"a": 1}), 400)
    more = b'["1"], "date": "2026-05-15"'
    problem_of(client.generic("PUT", reorder, more, "application/json"), 400, "malformed_json")
    problem_of(client.put(f"{path}/reorder", ids), 400)


def test_activities_change_their_days_and_places_together(app, trip, olga):
    client, path = app(olga), f"/api/trips/{trip.pk}/itinerary"
    a, b, c = (added(client, trip, title=title)["id"] for title in "abc")
    places = [(a, 1, 0), (b, 0, 0), (c, 0, 1)]
    body = [{"id": pk, "order": order, "dayIndex": day} for pk, order, day in places]
    plan = client.put(f"{path}/reorder", {"tripId": str(trip.pk), "activities": body}).json()
    titles = [[row["title"] for row in day["activities"]] for day in plan["days"]]
    assert titles[:2] == [["b", "a"], ["c"]]
    assert plan == client.get(path).json()
    assert [row["title"] for row in plan["activities"]] == ["b", "a", "c"]
    assert plan["days"][0].keys() == {"date", "dayIndex", "title", "isOrganized", "activities"}
    missing = {"tripId": trip.pk, "activities": body[:1]}
    problem_of(client.put(f"{path}/reorder", missing), 409, "order_changed")
    problem_of(client.put(f"{path}/reorder", {"activities": [*body, body[0]]}), 400)
    far = [{**row, "dayIndex": 9999} for row in body]
    assert client.put(f"{path}/reorder", {"activities": far}).status_code == 200
