"""What the tests that walk all apps need to know of notices; see `tests/walked.py`."""

from typing import Any

FLEXIBLE_INSIDE = ["PUT /api/users/{userId}/profile"]


def fill_world(world: Any) -> None:
    [profile, *_others] = world.bodies["PUT /api/users/{userId}/profile"]
    profile["notices"] = {"email": "daily", "events": ["split.paid"]}
