"""What the tests that walk all apps need to know of merges; see `tests/walked.py`."""

from typing import Any

from plugins.merging.views import MergeViewSet
from tests.trips.access import TRIP, Row, Scene
from trips.models import Trip
from trips.roles import Can

MERGE = f"{TRIP}/guests/{{user_id}}/merge"

ROWS = [Row("POST", MERGE, 200, Can.MANAGE_MEMBERS, Scene.other_member)]
AREAS = {MergeViewSet: "trips"}
MORE = {MergeViewSet: ("expenses:read", "expenses:write")}
WRITTEN = {f"POST {MERGE}": ["guest.merged"]}
COMMANDS = [
    (Can.MANAGE_MEMBERS, "POST", MERGE, lambda scene: {"userId": scene.ed.id}, False, False)
]


def _guest(trip: Trip, number: int) -> int:
    guests = trip.members.filter(user__is_guest=True).order_by("-pk")
    return guests.values_list("user", flat=True)[number]


DEAR = {
    "a merge": (
        "post",
        f"{TRIP}/guests/{{guest_id}}/merge",
        lambda wide: {"userId": _guest(wide.trip, 1)},
        (600, 60),
    )
}


def dear_ids(owner: Any) -> dict[str, int]:
    return {"guest_id": _guest(owner.memberships.earliest("pk").trip, 0)}


def fill_world(world: Any) -> None:
    body = {"userId": world.member_id, "dryRun": True}
    world.bodies["POST /api/trips/{tripId}/guests/{userId}/merge"] = [body]
