"""What the tests that walk all apps need to know of Splitwise's API; see `tests/walked.py`."""

import re
from collections.abc import Iterator
from typing import Any

from plugins.splitwise import people
from plugins.splitwise.models import GivenCategory
from plugins.splitwise.tests.conftest import DOCUMENT
from plugins.splitwise.tests.urls import urlpatterns

API = "/api/v3.0"
PATHS = [*(f"{API}{path}" for path in DOCUMENT["paths"]), "/oauth/token"]
_GETS = ("groups", "friends", "expenses", "notifications", "current_user")
READ = [f"{API}/get_{name}" for name in _GETS]
#: It is off by default.
ROOT_URLCONF = "plugins.splitwise.tests.urls"
#: Paths that take longer bodies than others.
LARGE_BODIES = ["/api/v3.0/create_expense", "/api/v3.0/update_expense/1"]
VIOLATIONS = [("category_given_once", "category", {"expense_id": 1})]
UNIQUE = {"category_given_once"}


def constrained(trip: Any, _olga: Any) -> dict[str, Any]:
    for expense_id in (1, 2):
        GivenCategory.objects.create(trip=trip, expense_id=expense_id, category_id=18)
    return {"category": GivenCategory.objects.filter(expense_id=2)}


#: What is dear: method, path, body, and the quota and seconds of its limit.
DEAR = {
    "100 friends": (
        "post",
        "/api/v3.0/create_friends",
        lambda _wide: {f"friends__{at}__user_first_name": f"Friend {at}" for at in range(100)},
        (600, 60),
    ),
    "a group of 199": (
        "post",
        "/api/v3.0/create_group",
        lambda _wide: (
            {"name": "Flat"} | {f"users__{at}__first_name": f"Friend {at}" for at in range(199)}
        ),
        (600, 60),
    ),
    "friends": ("get", "/api/v3.0/get_friends", lambda _wide: None, (600, 60)),
    "expenses of Splitwise": ("get", "/api/v3.0/get_expenses?limit=0", lambda _w: None, (600, 60)),
    "notifications": ("get", "/api/v3.0/get_notifications", lambda _wide: None, (60, 3600)),
}


def _routes() -> Iterator[tuple[str, str]]:
    for one in urlpatterns[0].url_patterns:
        name = re.sub("<id:([a-z_]+)>", r"{\1}", str(one.pattern))
        if "get" in one.callback.actions and not name.endswith("/") and name != "schema":
            comments = "?expense_id={expense_id}" if name == "get_comments" else ""
            yield name, f"{API}/{name}{comments}"


#: The GETs, which programs call with a token.
ROUTES = dict(_routes())
#: Lists that are refused if they are too long.
REFUSED = {"get_groups", "get_friends"}


def lower_limits(monkeypatch: Any) -> None:
    """Let a list be too long with a thousand people."""
    monkeypatch.setattr(people, "MAX_PEOPLE", 1000)


#: Locks; see `tests/mutations/`.
GUARDS = {
    "plugins/splitwise/views/groups.py": [
        ("friends are locked in the order of the list",
         "with accounts_locked(self.caller, people):\n            require_friend",
         "with transaction.atomic():\n            require_friend",
         "PG plugins/splitwise/tests/test_races.py"),
    ],
}  # fmt: skip
