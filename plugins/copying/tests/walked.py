"""What the tests that walk all apps need to know of copies and moves; see `tests/walked.py`."""

from typing import Any

from plugins.copying.views import OtherTripViewSet
from tests.trips.access import TRIP, Row, Scene
from trips.roles import Can

EXPENSE = f"{TRIP}/expenses/{{expense_id}}"
COPY, MOVE = f"{EXPENSE}/copy", f"{EXPENSE}/move"

ROWS = [
    Row("POST", COPY, 201, Can.RECORD, Scene.other_trip),
    Row("POST", MOVE, 201, Can.CHANGE_EXPENSES, Scene.other_trip),
]
AREAS = {OtherTripViewSet: "expenses"}
WRITTEN = {
    f"POST {COPY}": ["expense.created"],
    f"POST {MOVE}": ["expense.created", "expense.deleted"],
}


def _other_trip(scene: Any) -> dict[str, int]:
    return {"tripId": scene.new_trip().id}


COMMANDS = [
    (Can.RECORD, "POST", COPY, _other_trip),
    (Can.CHANGE_EXPENSES, "POST", MOVE, _other_trip),
]


def fill_world(world: Any) -> None:
    for word in ("copy", "move"):
        path = f"POST /api/trips/{{tripId}}/expenses/{{expenseId}}/{word}"
        world.bodies[path] = [{"tripId": world.other_trip_id}]


def use(used: Any) -> None:
    """Call every operation, each once with success."""
    plan = {"title": "P", "destination": "P", "startDate": "2026-05-14", "endDate": "2026-05-16"}
    body = {"tripId": used.as_olga("POST", "trips", plan, 201)["id"]}
    expenses = f"{used.trip}/expenses"
    expense = used.as_olga("POST", expenses, _alone(used), 201)["id"]
    used.as_olga("POST", f"{expenses}/{expense}/copy", body, 201)
    used.as_olga("POST", f"{expenses}/{expense}/move", body, 201)
    shared = used.as_olga("POST", expenses, used.body, 201)["id"]
    used.as_olga("POST", f"{expenses}/{shared}/move", body, 400)
    used.as_olga("DELETE", f"{expenses}/{shared}", status=204)


def _alone(used: Any) -> dict[str, Any]:
    """An expense of Olga alone."""
    [olga, *_others] = used.body["participantUserIds"]
    return {**used.body, "participantUserIds": [olga]}
