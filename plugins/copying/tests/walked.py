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
