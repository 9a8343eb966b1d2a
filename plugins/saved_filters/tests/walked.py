"""What the tests that walk all apps need to know of saved filters; see `tests/walked.py`."""

from typing import Any

from plugins.saved_filters.models import SavedFilter
from plugins.saved_filters.views import SavedFilterViewSet
from tests.trips.access import ALIEN, ME, USER, Row, Scene, everybody, just

FILTERS = f"{ME}/filters"
FILTER = f"{FILTERS}/{{filter_id}}"
ROWS = [
    Row("GET", FILTERS, statuses=USER),
    Row("POST", FILTERS, body=just(name="Open", query="paid=false"),
        statuses=everybody(201, anonymous=401)),
    Row("GET", FILTER, statuses=ALIEN, own=USER),
    Row("PUT", FILTER, body=just(name="Open", query="paid=false"), statuses=ALIEN, own=USER),
    Row("DELETE", FILTER, statuses=ALIEN, own=everybody(204)),
]  # fmt: skip
AREAS = {SavedFilterViewSet: None}
QUERIES = {FILTERS: 3, FILTER: 2}
LISTS = {FILTERS}
#: In tests of their own.
VIOLATED_ELSEWHERE = ["one_filter_of_a_name"]
CONSTRAINT_TESTS = [
    "plugins/saved_filters/tests/test_saved_filters.py::test_a_name_is_used_once_by_an_account"
]
#: At the root of the API, with a log-in.
LINKS = ["filters"]
SINGLE = {FILTER}


def ids(scene: Scene, names: list[str]) -> dict[str, int]:
    if "filter_id" not in names:
        return {}
    name = f"Food {SavedFilter.objects.count()}"
    return {"filter_id": SavedFilter.save_for(scene.someone, name=name, query="category=FOOD").pk}


def fill_world(world: Any) -> None:
    saved = {"name": "Wine", "query": "tag=wine"}
    world.ids["filterId"] = world.made(FILTERS, saved)["id"]
    world.bodies |= {
        f"POST {FILTERS}": [saved | {"name": "Cheap"}],
        f"PUT {FILTERS}/{{filterId}}": [saved],
    }


def many(_trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    saved = SavedFilter.save_for(olga, name="Food", query="category=FOOD")
    SavedFilter.objects.bulk_create(
        SavedFilter(user=olga, name=str(at), query="category=FOOD") for at in range(len(people))
    )
    return {"filter_id": saved.pk}


def sendable(client: Any, _trip: Any, _olga: Any, _ed: Any) -> str:
    made = client.post(FILTERS, {"name": "Fish", "query": "tag=fish"})
    return f"{FILTERS}/{made.json()['id']}"


#: Makes what takes back the answer that it gives, and with which method.
SENDABLE = [(sendable, "put")]
