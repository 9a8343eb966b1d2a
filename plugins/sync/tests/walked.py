"""What the tests that walk all apps need to know of changes; see `tests/walked.py`."""

from typing import Any

from plugins.sync.cursor import Cursor
from plugins.sync.views import ChangeViewSet
from tests.trips.access import USER, Row
from users.models import User

ROWS = [Row("GET", "/api/changes", statuses=USER)]
REQUEST_HEADERS = ["last-event-id"]
AREAS = {ChangeViewSet: "trips"}
QUERIES = {"/api/changes": 2}


#: The cursor in the queries of examples; the test puts one for which the trip 1 has changed once.
CURSOR = ".eJwVyUEKgDAMRNG7zDpiCiK5iUQNVbAVbLsS"
#: What the clock or chance decides in examples, with what they show.
VOLATILE = {"cursor": CURSOR}


def fit_query(query: dict[str, str], client: Any, user: User) -> None:
    if query.get("since") == CURSOR:
        cursor = Cursor.read(client.get("/api/changes").json()["cursor"], user)
        cursor.positions[1] -= 1
        query["since"] = cursor.text()


def read(client: Any) -> list[Any]:
    """Every page of changes, the first ones for somebody who has none."""
    first = client.get("/api/changes")
    return [first, client.get(f"/api/changes?since={first.json()['cursor']}")]
