"""What the tests that walk all apps need to know of imports and exports; see `tests/walked.py`."""

import io
import json
from typing import Any

from plugins.exchange.confirming import confirm
from plugins.exchange.models import Import, ImportedRow
from plugins.exchange.planning import Choices, plan_import
from plugins.exchange.tests.reading import planned
from plugins.exchange.tests.samples import SPLITPRO_CSV, SPLITWISE_API
from plugins.exchange.views import ExportViewSet, ImportViewSet
from tests.trips.access import ALIEN, TRIP, USER, Row, Scene, everybody, just
from tripcompanion.plugin import plugins
from trips.models.events import trip_objects
from trips.roles import Can

IMPORT = "/api/imports/{import_id}"
ROWS = [
    Row("GET", f"{TRIP}/export", can=Can.READ),
    Row("POST", "/api/imports", body=just(**json.loads(SPLITWISE_API)),
        statuses=everybody(201, anonymous=401)),
    Row("GET", IMPORT, statuses=ALIEN, own=USER),
    Row("PATCH", IMPORT, body=just(title="Alps"), statuses=ALIEN, own=USER),
    Row("DELETE", IMPORT, statuses=ALIEN, own=everybody(204)),
    Row("GET", f"{IMPORT}/rows", statuses=ALIEN, own=USER),
    Row("POST", f"{IMPORT}/confirm", statuses=ALIEN, own=USER),
    Row("POST", f"{IMPORT}/undo", statuses=ALIEN, own=USER),
]  # fmt: skip
AREAS = {ExportViewSet: "trips", ImportViewSet: "expenses"}
MORE = {
    ExportViewSet: {f"{shown.area}:read" for shown in trip_objects().values()},
    ImportViewSet: ("trips:read", "trips:write"),
}
WRITTEN = {
    f"POST {IMPORT}/confirm": [
        *("trip.created", "member.joined", "guest.added", "expense.created", "settlement.created")
    ],
    f"POST {IMPORT}/undo": ["trip.deleted"],
}
#: They need a plan; see `test_import_rights.py`.
WAIT_ELSEWHERE = {
    ("POST", "/api/imports"),
    ("POST", f"{IMPORT}/confirm"),
    ("POST", f"{IMPORT}/undo"),
    ("PATCH", IMPORT),
    ("DELETE", IMPORT),
}
#: Each table in the file of a trip takes one.
_TABLES = sum(len([*app.trip_tables()]) for app in plugins())
QUERIES = {f"{TRIP}/export": 15 + _TABLES, IMPORT: 3, f"{IMPORT}/rows": 4}
#: Of its own rows; it locks no trip.
#: Paths that take longer bodies than others.
LARGE_BODIES = ["/api/imports"]
LOCKS = ["plugins/exchange/models.py"]
PRUNED = ["plans of imports"]
ENDS = {("exchange_import", "created_at")}
LISTS = {f"{IMPORT}/rows"}
VIOLATIONS = [("imported_row_in_order", "imported", {"position": 1})]
UNIQUE = {"imported_row_in_order"}
FILES = ["export?format=csv", "export?format=xlsx"]
#: What is the same in the Spanish admin site.
DATA = ["splitpro_csv", "Ben", "Hut, night 1", "Viaje importado", "Imported trip"]


def ids(scene: Scene, names: list[str]) -> dict[str, int]:
    if "import_id" not in names:
        return {}
    plan = planned(scene.someone)
    if scene.route.endswith("/undo"):
        confirm(plan.pk, scene.someone)
    return {"import_id": plan.pk}


def fill_world(world: Any) -> None:
    # It has a rate, or `[]` would be what was answered.
    query = "currency=USD&exchangeRates=%7B%22EUR%22:1.1%7D"
    world.ids["importId"] = world.made(f"/api/imports?{query}", json.loads(SPLITWISE_API))["id"]
    chosen = {"title": "Hut", "destination": "Alps", "currency": "EUR", "timeZone": "UTC"}
    chosen |= {"mapping": {"Ana": world.ids["userId"]}, "exchangeRates": {"CHF": 0.95}}
    chosen |= {"group": "Alps"}
    world.bodies["PATCH /api/imports/{importId}"] = [
        chosen | {"tripId": world.ids["tripId"]},
        chosen | {"asNewTrip": True},
    ]


def many(_trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    header, row = SPLITPRO_CSV.splitlines()[:2]
    return {"import_id": planned(olga, "\n".join([header, *[row] * len(people)])).pk}


def one_of_each(_trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    confirm(planned(olga).pk, olga)


def constrained(_trip: Any, olga: Any) -> dict[str, Any]:
    plan = Import.objects.create(user=olga, format="")
    for position in (1, 2):
        ImportedRow.objects.create(plan=plan, position=position, line=position)
    return {"imported": ImportedRow.objects.filter(plan=plan, position=2)}


def sendable(client: Any, _trip: Any, _olga: Any, _ed: Any) -> str:
    """A plan with a rate of the bank."""
    return client.post("/api/imports?currency=USD", json.loads(SPLITWISE_API))["Location"]


SENDABLE = [(sendable, "patch")]


def bills(_wide: Any) -> list[dict[str, Any]]:
    """A file of ihatemoney."""
    people = [f"Person {at}" for at in range(50)]
    bill = {"bill_type": "Expense", "amount": 50, "currency": "EUR", "date": "2026-05-14"}
    bill |= {"payer_name": people[0], "payer_weight": 1, "owers": people}
    return [{**bill, "what": f"Boat {at}"} for at in range(400)]


def dear_ids(owner: Any) -> dict[str, int]:
    file = io.BytesIO(json.dumps(bills(None)).encode())
    return {"import_id": plan_import(owner, file, Choices()).pk}


#: What is dear: method, path, body, and the quota and seconds of its limit.
DEAR = {
    "a plan of an import": ("post", "/api/imports?currency=EUR", bills, (30, 3600)),
    "an import": ("post", "/api/imports/{import_id}/confirm", lambda _wide: None, (30, 3600)),
    "a trip": ("get", f"{TRIP}/export", lambda _wide: None, (60, 3600)),
    "a trip as a table": ("get", f"{TRIP}/export?format=csv", lambda _wide: None, (60, 3600)),
    "a trip as a spreadsheet": (
        "get",
        f"{TRIP}/export?format=xlsx",
        lambda _wide: None,
        (60, 3600),
    ),
}


_AT_ONCE = "PG plugins/exchange/tests/test_importing_at_once.py"
_IMPORTING = "plugins/exchange/tests/test_importing.py -k"
#: Locks, and what is checked again behind them; see `tests/mutations/`.
GUARDS = {
    "plugins/exchange/models.py": [
        ("import locked before the accounts that it names",
         "        User.objects.lock({user.pk, *named} - {None})\n", "", _AT_ONCE),
        ("plan deleted while it is confirmed", ".select_for_update()", "",
         f"{_AT_ONCE} -k is_locked"),
    ],
    "plugins/exchange/confirming.py": [
        ("payments of others by somebody demoted",
         "                require_payments(locked, by,", "                list(",
         "plugins/exchange/tests/test_import_rights.py -k by_now"),
        ("import in another currency", "locked.require_currency(plan.currency)", "pass",
         f"{_IMPORTING} another_currency"),
        ("two plans of a file confirmed", "_require_new_rows(stored, locked)", "pass",
         f"{_IMPORTING} two_plans"),
        ("touched import undone", "if _is_touched(stored, locked, ids):", "if False:",
         f"{_IMPORTING} touched"),
    ],
}  # fmt: skip
