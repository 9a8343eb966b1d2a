"""What the tests that walk all apps need to know of recurring expenses; see `tests/walked.py`."""

from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from plugins.recurring.models import Recurrence
from plugins.recurring.views import RecurrenceViewSet
from splits.models.settlement import today
from tests.factories import acting_as_owner
from tests.trips.access import TRIP, Row, Scene, just
from trips.roles import Can

RECURRING = f"{TRIP}/recurring"
RECURRENCE = f"{RECURRING}/{{recurrence_id}}"


def tomorrow() -> str:
    return (timezone.now().date() + timedelta(days=1)).isoformat()


def daily(expense: dict[str, Any]) -> dict[str, Any]:
    """The body that has the expense recorded every day, from tomorrow."""
    template = {name: expense[name] for name in expense if name != "expenseDate"}
    return {"rule": "FREQ=DAILY", "startsOn": tomorrow(), "expense": template}


def body(scene: Scene) -> dict[str, Any]:
    return daily(scene.expense_body())


def next_date(_scene: Any) -> dict[str, Any]:
    return {"date": tomorrow()}


ROWS = [
    *(Row("GET", path, can=Can.READ) for path in (RECURRING, RECURRENCE)),
    Row("POST", RECURRING, 201, Can.RECORD, body),
    Row("POST", f"{RECURRING}/preview", 200, Can.RECORD, body),
    Row("PATCH", RECURRENCE, 200, Can.CHANGE_EXPENSES, just(rule="FREQ=WEEKLY")),
    Row("DELETE", RECURRENCE, 204, Can.CHANGE_EXPENSES),
    Row("POST", f"{RECURRENCE}/pause", 200, Can.CHANGE_EXPENSES),
    Row("POST", f"{RECURRENCE}/resume", 200, Can.CHANGE_EXPENSES),
    Row("POST", f"{RECURRENCE}/skip", 200, Can.CHANGE_EXPENSES, next_date),
]
AREAS = {RecurrenceViewSet: "expenses"}
QUERIES = {RECURRING: 4, RECURRENCE: 2}
LOCKS = ["plugins/due.py"]
LISTS = {RECURRING}
#: What is the same in the Spanish admin site.
DATA = ["FREQ=DAILY"]
SINGLE = {RECURRENCE}
WITHOUT_LOCK = {("POST", f"{RECURRING}/preview")}
COMMANDS = [
    (
        Can.RECORD, "POST", RECURRING,
        lambda scene: daily(scene.trip.expense_body(12, scene.vera)), True, False,
    ),
    (Can.CHANGE_EXPENSES, "PATCH", RECURRENCE, lambda _s: {"rule": "FREQ=WEEKLY"}),
    (Can.CHANGE_EXPENSES, "DELETE", RECURRENCE),
    (Can.CHANGE_EXPENSES, "POST", f"{RECURRENCE}/pause"),
    (Can.CHANGE_EXPENSES, "POST", f"{RECURRENCE}/resume"),
    (Can.CHANGE_EXPENSES, "POST", f"{RECURRENCE}/skip", next_date),
]  # fmt: skip
#: By two workers at once.
VIOLATED_ELSEWHERE = ["occurrence_once"]
CONSTRAINT_TESTS = [
    "plugins/recurring/tests/test_recurring.py::test_the_database_has_each_date_once"
]
UNCHANGED = ["recurring"]
OWNED_TABLES = ["recurring_recurrence"]


def ids(scene: Scene, names: list[str]) -> dict[str, int]:
    """An expense that `holder` has recorded every day."""
    if "recurrence_id" not in names:
        return {}
    expense = body(scene)["expense"] | {"amount": 12}
    fields = {"starts_on": date.fromisoformat(tomorrow()), "time_zone": "UTC", "rule": "FREQ=DAILY"}
    with acting_as_owner(scene.trip, scene.holder):
        row = Recurrence.start(scene.trip, scene.holder, expense=expense, context={}, **fields)
    return {"recurrence_id": row.pk}


def waiting_ids(scene: Any, names: list[str], _by: Any, _can: Any) -> dict[str, int]:
    """The same of Ed's, over HTTP."""
    if "recurrence_id" not in names:
        return {}
    made = daily(scene.trip.expense_body(12, scene.vera))
    return {"recurrence_id": scene.ed.done("POST", f"{scene.trip.path}/recurring", made)["id"]}


def fill_world(world: Any) -> None:
    monthly = {"rule": "FREQ=MONTHLY;BYMONTHDAY=-1", "timeZone": "Europe/Lisbon"}
    monthly |= {"startsOn": tomorrow()}
    expense = world.equally
    monthly["expense"] = {name: expense[name] for name in expense if name != "expenseDate"}
    made = world.made(f"/api/trips/{world.ids['tripId']}/recurring", monthly)
    world.ids["recurrenceId"] = made["id"]
    path = "/api/trips/{tripId}/recurring"
    world.bodies |= {
        f"POST {path}": [monthly],
        f"POST {path}/preview": [monthly],
        f"PATCH {path}/{{recurrenceId}}": [monthly],
        f"POST {path}/{{recurrenceId}}/skip": [{"date": made["next"][0]}],
    }


def many(trip: Any, _olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    fields = {"rule": "FREQ=DAILY", "time_zone": "UTC", "starts_on": date(2026, 5, 14)}
    for user in people:
        row = Recurrence.objects.create(trip=trip, created_by=user, stored_expense="{}", **fields)
    return {"recurrence_id": row.pk}


def one_of_each(trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    fields = {"rule": "FREQ=DAILY", "starts_on": today()}
    Recurrence.objects.create(trip=trip, created_by=olga, **fields)


def lengthen(_text: str) -> None:
    Recurrence.objects.update(rule="FREQ=MONTHLY;" * 15, reason_code="not_restorable")


def begin_history(history: Any, expense: dict[str, Any]) -> None:
    starts_on = (timezone.now().date() + timedelta(days=300)).isoformat()
    monthly = {"rule": "FREQ=MONTHLY", "startsOn": starts_on, "expense": expense}
    assert history.send("post", "recurring", monthly).status_code == 201


def recurrence(client: Any, trip: Any, olga: Any, ed: Any, **fields: Any) -> str:
    body = {"description": "Rent", "amount": 100, "splitType": "PERCENTAGE", **fields}
    body |= {"participantUserIds": [ed.pk, olga.pk]}
    body |= {"splitAmounts": {str(olga.pk): 33.5, str(ed.pk): 66.5}}
    rule = {"rule": "FREQ=MONTHLY", "startsOn": "2030-05-01", "timeZone": "Europe/Lisbon"}
    made = client.post(f"/api/trips/{trip.pk}/recurring", {**rule, "expense": body})
    assert made.status_code == 201, made.json()
    return f"/api/trips/{trip.pk}/recurring/{made.json()['id']}"


def recurrence_in_dollars(client: Any, trip: Any, olga: Any, ed: Any) -> str:
    return recurrence(client, trip, olga, ed, currency="USD", exchangeRate="0.91")


#: Makes what takes back the answer that it gives, and with which method.
SENDABLE = [(recurrence, "patch"), (recurrence_in_dollars, "patch")]
