"""A plan of the cast's trip, and its calendar as another library than ours reads it."""

from collections.abc import Callable
from typing import Any

import pytest
import vobject
from django.apps import apps
from rest_framework.response import Response

from tests.cast import Api
from tests.splits.ledger import Json, Ledger
from users.models import User

Plan = Callable[..., Json]
#: What a property of an entry has, by their names.
Entry = dict[str, Any]


def with_plugin(name: str) -> Any:
    """A mark: another plugin has what the test sees in a calendar."""
    return pytest.mark.skipif(not apps.is_installed(f"plugins.{name}"), reason=f"without {name}")


OWN = "/api/users/me/calendar-link"


@pytest.fixture
def link(ledger: Ledger, olga: User) -> Callable[..., str]:
    """`link()` makes Olga's link to the trip; its path. `link(ed, OWN)` is Ed's to all trips."""

    def make(by: User = olga, path: str = "calendar-link") -> str:
        response = ledger.answer(by, "post", path)
        assert response.status_code == 201, response.content
        [(_name, url)] = response.json().items()
        assert response["Location"] == (path if path.startswith("/") else f"{ledger.url}/{path}")
        start, path = url.split("/api/")
        assert start == "http://localhost:8000"
        return f"/api/{path}"

    return make


@pytest.fixture
def read(api: Api) -> Callable[..., Response]:
    """`read(path)` is what a calendar program gets."""
    return lambda path, **headers: api(None).get(path, **headers)


@pytest.fixture
def plan(ledger: Ledger, olga: User) -> Plan:
    """`plan("Castle", date="2026-05-14")` adds an activity of Olga's."""
    if not apps.is_installed("plugins.itinerary"):
        pytest.skip("without itinerary")

    def add(title: str, **fields: Any) -> Json:
        answer = ledger.answer(olga, "post", "activities", {"title": title, **fields})
        assert answer.status_code == 201, answer.content
        return answer.json()

    return add


def content(response: Any) -> bytes:
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "text/calendar"
    return response.content


def entries(response: Any) -> dict[str, Entry]:
    """The entries by their ids, without the host, in their order."""
    found: dict[str, Entry] = {}
    for event in vobject.readOne(content(response).decode()).contents.get("vevent", ()):
        uid, host = event.uid.value.split("@")
        assert host == "localhost"
        assert uid not in found
        found[uid] = {name: one.value for name, [one] in event.contents.items() if name != "uid"}
    return found
