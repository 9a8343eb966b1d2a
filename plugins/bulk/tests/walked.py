"""What the tests that walk all apps need to know of many expenses; see `tests/walked.py`."""

from typing import Any

from plugins.bulk.views import BulkViewSet
from tests.trips.access import TRIP, Row, Scene
from trips.roles import Can

BULK = f"{TRIP}/expenses/bulk"

ROWS = [Row("POST", BULK, 200, Can.RECORD, Scene.rows)]
AREAS = {BulkViewSet: "expenses"}
WRITTEN = {f"POST {BULK}": ["expense.created"]}


def _row(scene: Any) -> dict[str, Any]:
    return {"create": [scene.trip.expense_body(12, scene.vera)]}


COMMANDS = [(Can.RECORD, "POST", BULK, _row, True, False)]


def _many(wide: Any, people: int) -> dict[str, Any]:
    ids = list(wide.trip.members.values_list("user", flat=True)[:people])
    row = {"description": "Boat", "amount": 62.53, "expenseDate": "2026-05-14"}
    return {"create": [{**row, "splitType": "EQUAL", "participantUserIds": ids}] * 100}


DEAR = {
    "100 expenses among 50": ("post", BULK, lambda wide: _many(wide, 50), (600, 60)),
    "100 expenses among 4": ("post", BULK, lambda wide: _many(wide, 4), (600, 60)),
}


def fill_world(world: Any) -> None:
    change, delete = [{"id": world.ids["expenseId"]}], [world.other_expense_id]
    rows = {"create": [world.equally], "change": change, "delete": delete}
    world.bodies["POST /api/trips/{tripId}/expenses/bulk"] = [rows]
