"""A copy of a client forgets who left without an answer."""

from typing import Any

import pytest

from tests.factories import UserFactory
from tests.trips.unanswered import add, bind, new_trip

pytestmark = pytest.mark.either


@pytest.fixture
def stranger(db):
    return UserFactory(name="Stan")


@pytest.fixture
def theirs(api, stranger):
    return new_trip(api, stranger)


def test_a_clients_copy_gets_what_the_guest_has_now(api, stranger, theirs, olga):
    add(api, stranger, theirs, userId=olga.pk)
    bind(api, stranger, theirs, olga)
    cursor = api(stranger).get("/api/changes").json()["cursor"]
    api(olga).post(f"/api/trips/{theirs.pk}/members/leave")
    kinds: dict[str, Any] = {}
    more = True
    while more:
        page = api(stranger).get(f"/api/changes?since={cursor}&limit=100").json()
        kinds |= {row["object"]["type"]: row["state"] for row in page["items"]}
        cursor, more = page["cursor"], page["more"]
    assert {"member", "expense", "settlement"} <= kinds.keys()
    assert str(olga.pk) not in {
        str(split["participant"]["id"]) for split in kinds["expense"]["splits"]
    }
