"""What the tests that walk all apps need to know of tags; see `tests/walked.py`."""

from typing import Any

from plugins.tags.views import TagViewSet
from tests.factories import spend
from tests.trips.access import TRIP, Row, Scene, just
from trips.roles import Can

TAGS = f"{TRIP}/tags"
TAG = f"{TAGS}/{{tag_name}}"

ROWS = [
    Row("GET", TAGS, can=Can.READ),
    Row("PATCH", TAG, can=Can.CHANGE_EXPENSES, body=just(name="sea")),
]
AREAS = {TagViewSet: "expenses"}
QUERIES = {TAGS: 3}
WRITTEN = {f"PATCH {TAG}": ["expense.changed"]}
COMMANDS = [(Can.CHANGE_EXPENSES, "PATCH", TAG, lambda _scene: {"name": "sea"})]
UNCHANGED = ["tags"]


def ids(scene: Scene, names: list[str]) -> dict[str, str]:
    if "tag_name" not in names:
        return {}
    among = [scene.holder, scene.partner]
    spend(scene.trip, 2000, paid_by=scene.holder, among=among, tags=["beach"])
    return {"tag_name": "beach"}


def waiting_ids(scene: Any, names: list[str], _by: Any, _can: Any) -> dict[str, str]:
    if "tag_name" not in names:
        return {}
    scene.ed.done("PATCH", f"{scene.trip.path}/expenses/{scene.expense['id']}", {"tags": ["beach"]})
    return {"tag_name": "beach"}


def fill_world(world: Any) -> None:
    world.ids["tagName"] = "wine"
    world.bodies["PATCH /api/trips/{tripId}/tags/{tagName}"] = [{"name": "food"}]
