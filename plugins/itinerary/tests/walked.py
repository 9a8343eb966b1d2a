"""What the tests that walk all apps need to know of itineraries; see `tests/walked.py`."""

from datetime import timedelta
from typing import Any

from plugins.itinerary.models import Activity, ActivityExpense, ItineraryDay
from plugins.itinerary.rights import CanPlan
from plugins.itinerary.views import ActivityViewSet, ItineraryViewSet
from tests.factories import acting_as_owner
from tests.trips.access import PROMISED as CORE
from tests.trips.access import TRIP, Row, Scene, just
from trips.roles import Can

DAY = "2026-05-14"
ACTIVITIES = f"{TRIP}/activities"
ACTIVITY = f"{ACTIVITIES}/{{activity_id}}"
ORDER = f"{ACTIVITIES}/order"
ITINERARY = f"{TRIP}/itinerary"
ONE_DAY = f"{ITINERARY}/{{date}}"


def add(scene: Any) -> Activity:
    """An activity of `holder`."""
    with acting_as_owner(scene.trip, scene.holder):
        return Activity.add(scene.trip, scene.holder, title="Castle", date=DAY)


def ordered(scene: Any) -> dict[str, Any]:
    """Two activities of the day, the last one first."""
    return {"date": DAY, "activityIds": [row.pk for row in reversed([add(scene), add(scene)])]}


ROWS = [
    *(Row("GET", path, can=Can.READ) for path in (ACTIVITIES, ACTIVITY, ITINERARY)),
    Row("POST", ACTIVITIES, 201, CanPlan.PLAN, just(title="Castle")),
    Row("PUT", ACTIVITY, 200, CanPlan.PLAN, just(title="Tower")),
    Row("PATCH", ACTIVITY, 200, CanPlan.PLAN, just(completed=True)),
    Row("DELETE", ACTIVITY, 204, CanPlan.DELETE),
    Row("POST", f"{ACTIVITY}/restore", 200, CanPlan.DELETE),
    Row("PUT", ORDER, 200, CanPlan.PLAN, ordered),
    Row("PUT", ONE_DAY, 200, CanPlan.PLAN, just(title="Arrival")),
]
PROMISED = {CanPlan.PLAN: CORE[Can.RECORD], CanPlan.DELETE: CORE[Can.CHANGE_EXPENSES]}
SCOPES_OF = dict.fromkeys(CanPlan, "activities:write")
AREAS = {ActivityViewSet: "activities", ItineraryViewSet: "activities"}
WRITTEN = {
    f"POST {ACTIVITIES}": ["activity.created"],
    f"PUT {ACTIVITY}": ["activity.changed"],
    f"PATCH {ACTIVITY}": ["activity.changed"],
    f"DELETE {ACTIVITY}": ["activity.deleted"],
    f"POST {ACTIVITY}/restore": ["activity.restored"],
    f"PUT {ORDER}": ["activity.changed"],
    f"PUT {ONE_DAY}": ["day.changed"],
}
QUERIES = {ACTIVITIES: 5, ACTIVITY: 5, ITINERARY: 6}
LISTS = {ACTIVITIES}
PRUNED = ["deleted activities"]
ENDS = {("itinerary_activity", "deleted_at")}
OWNED_TABLES = ["itinerary_activity"]
VIOLATIONS = [
    ("activity_within_a_day", "activity", {"duration_minutes": 0}),
    ("itinerary_day_once", "itinerary_day", {"date": DAY}),
    ("expense_of_one_activity", "activity_expense", {"expense_id": 1}),
]
UNIQUE = {"itinerary_day_once", "expense_of_one_activity"}
RESTORABLE = ["activities"]
UNCHANGED = ["itinerary"]
#: What is the same in the Spanish admin site.
DATA = ["Castle", "Arrival", "09:30", "hotel", r"(activity|day)\.[a-z]+"]


def ids(scene: Scene, names: list[str]) -> dict[str, Any]:
    """A day, and an activity of the holder: deleted if it is to be restored."""
    if "activity_id" not in names:
        return {"date": DAY} if "date" in names else {}
    activity = add(scene)
    if scene.route.endswith("/restore"):
        with acting_as_owner(scene.trip, scene.holder):
            activity.remove(scene.holder)
    return {"activity_id": activity.pk}


def waiting_order(scene: Any) -> dict[str, Any]:
    made = scene.ed.done("POST", f"{scene.trip.path}/activities", {"title": "a", "date": DAY})
    return {"date": DAY, "activityIds": [made["id"]]}


COMMANDS = [
    (CanPlan.PLAN, "POST", ACTIVITIES, lambda _s: {"title": "Castle"}),
    (CanPlan.PLAN, "PUT", ACTIVITY, lambda _s: {"title": "Tower"}),
    (CanPlan.PLAN, "PATCH", ACTIVITY, lambda _s: {"completed": True}),
    (CanPlan.DELETE, "DELETE", ACTIVITY),
    (CanPlan.DELETE, "POST", f"{ACTIVITY}/restore"),
    (CanPlan.PLAN, "PUT", ORDER, waiting_order),
    (CanPlan.PLAN, "PUT", ONE_DAY, lambda _s: {"title": "Arrival"}),
]


def waiting_ids(scene: Any, names: list[str], _by: Any, _can: Any) -> dict[str, Any]:
    """The same of Ed's, over HTTP."""
    if "activity_id" not in names:
        return {"date": DAY}
    made = {"title": "Castle", "date": DAY}
    return {"activity_id": scene.ed.done("POST", f"{scene.trip.path}/activities", made)["id"]}


def fill_world(world: Any) -> None:
    castle = {
        **{"title": "Castle", "type": "ACTIVITY", "date": DAY, "startTime": "09:30"},
        **{"durationMinutes": 90, "location": "Alfama", "url": "https://example.com"},
        **{"notes": "Peacocks!", "category": "LANDMARK", "completed": False},
    }
    path = "/api/trips/{tripId}/activities"
    made = world.made(path.format(**world.ids), castle)
    world.ids |= {"activityId": made["id"], "date": DAY}
    world.bodies["PATCH /api/trips/{tripId}"].append({"moveActivities": True})
    one = "/api/trips/{tripId}/expenses"
    for method, of in (
        ("POST", one),
        ("POST", f"{one}/preview"),
        *((method, f"{one}/{{expenseId}}") for method in ("PUT", "PATCH")),
    ):
        [*_others, last] = world.bodies[f"{method} {of}"]
        last["activityId"] = made["id"]
    world.bodies |= {
        f"POST {path}": [castle],
        f"PUT {path}/{{activityId}}": [castle],
        f"PATCH {path}/{{activityId}}": [castle],
        f"PUT {path}/order": [{"date": DAY, "activityIds": [made["id"]]}],
        "PUT /api/trips/{tripId}/itinerary/{date}": [{"title": "Arrival", "completed": True}],
    }


def many(trip: Any, _olga: Any, people: list[Any], expense: Any) -> dict[str, int]:
    """An activity of each of the people, one of them with an expense."""
    for at, user in enumerate(people):
        row = Activity.objects.create(
            trip=trip, created_by=user, title="Castle", date=trip.start_date, order=at
        )
    ActivityExpense.objects.create(trip=trip, activity=row, expense=expense)
    return {"activity_id": row.pk}


def one_of_each(trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    Activity.objects.create(trip=trip, created_by=olga, title="Castle", order=1, start_time="09:30")
    day = trip.start_date + timedelta(days=ItineraryDay.objects.count())
    ItineraryDay.objects.create(trip=trip, date=day, title="Arrival")


def lengthen(text: str) -> None:
    Activity.objects.update(title=text[:100], location=text[:255])
    ItineraryDay.objects.update(title=text[:100])


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    row = Activity.objects.create(trip=trip, created_by=olga, title="Castle", order=1)
    ActivityExpense.objects.create(trip=trip, activity=row, expense_id=1)
    link = ActivityExpense.objects.create(trip=trip, activity=row, expense_id=2)
    ItineraryDay.objects.create(trip=trip, date=DAY)
    day = ItineraryDay.objects.create(trip=trip, date="2026-05-15")
    return {
        "activity": Activity.objects.filter(pk=row.pk),
        "activity_expense": ActivityExpense.objects.filter(pk=link.pk),
        "itinerary_day": ItineraryDay.objects.filter(pk=day.pk),
    }


def plan(history: Any, which: int) -> None:
    """An activity is added, to one of three days or to none."""
    day = [None, DAY, "2026-05-15", "2026-05-16"][which % 4]
    added = history.send("post", "activities", {"title": f"Castle {which}", "date": day})
    assert added.status_code == 201


def drag(history: Any, which: int) -> None:
    """The activities of a day are ordered anew; one from elsewhere may come to them."""
    rows = history.read(f"activities?date={DAY}&pageSize=100")["items"]
    found = {row["id"] for row in rows} | {(history.pick("activities", which) or {}).get("id")}
    order = sorted(found - {None}, key=lambda pk: (pk * 7 + which) % 11)
    ordered = history.send("put", "activities/order", {"date": DAY, "activityIds": order})
    assert ordered.status_code in {200, 400}


def link(history: Any, which: int) -> None:
    """An expense gets an activity, or loses it."""
    expense, found = history.pick("expenses", which), history.pick("activities", which)
    if expense:
        activity = found["id"] if found and which % 3 else None
        history.send("patch", f"expenses/{expense['id']}", {"activityId": activity})


def tick(history: Any, which: int) -> None:
    assert history.send("put", f"itinerary/{DAY}", {"completed": which % 2 == 0}).status_code == 200


STEPS = [plan, drag, link, tick]


def activity(client: Any, trip: Any, _olga: Any, _ed: Any) -> str:
    body = {"title": "Castle", "date": DAY, "startTime": "09:30", "notes": "Peacocks!"}
    made = client.post(f"/api/trips/{trip.pk}/activities", body)
    return f"/api/trips/{trip.pk}/activities/{made.json()['id']}"


SENDABLE = [(activity, "put"), (activity, "patch")]
