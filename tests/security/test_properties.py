"""Rows T43-T48: a body sets what it may set and nothing else; an answer shows no secret."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.document import OPERATIONS, problem_of
from tests.factories import PASSWORD
from tests.hostile import World
from tests.security.environment import Environment
from tests.stored import rolled_back
from tests.trips.bodies import lisbon
from tests.walked import all_of
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.either

#: Without it, what a body does not define is refused.
LENIENT = {"HTTP_PREFER": "handling=lenient"}

#: What nobody may set by a body, by the name that a careless service would read.
OVERREACH: dict[str, Any] = {
    "id": 1,
    "role": "ADMIN",
    "isStaff": True,
    "is_staff": True,
    "is_superuser": True,
    "isActive": False,
    "is_active": False,
    "createdAt": "2001-01-01T00:00:00Z",
    "created_at": "2001-01-01T00:00:00Z",
    "deletedAt": "2001-01-01T00:00:00Z",
    "logInEra": 9,
    "session_epoch": 9,
    "tokenVersion": 9,
    "emailVerifiedAt": "2001-01-01T00:00:00Z",
}
#: They show the new secret of a webhook, once.
SHOWS_SECRET = set(all_of("SHOWS_SECRET"))
#: Whether there is such a way to log in.
WAYS_IN = {"GET /api/users/login/methods": {"password"}}
SECRET = re.compile(r"password|hash|token(?!s?$)|is_?staff|superuser|last_?login|secret|jti", re.I)


def answers(world: World) -> Iterator[tuple[str, Any]]:
    """What every operation answers to a good request; nothing stays of it."""
    for operation in OPERATIONS:
        for body in world.bodies.get(str(operation), [{}]):
            with rolled_back():
                response = world.send(operation, json.dumps(body).encode())
            yield str(operation), response


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


def test_t43_registering_gives_no_more_than_the_three_fields(db: None) -> None:
    """T43: Registration sets only its three fields."""
    for at, (name, value) in enumerate(OVERREACH.items()):
        body = {"email": f"n{at}@example.com", "password": PASSWORD, name: value}
        problem_of(APIClient().post("/api/users/register", body), 400)
        made = APIClient().post("/api/users/register", body, **LENIENT)
        assert made.status_code == 201
        user = User.objects.get(email=f"n{at}@example.com")
        assert (user.role, user.is_active, user.is_staff, user.deleted_at) == (
            "USER",
            True,
            False,
            None,
        )
        assert user.pk != 1 or at == 0
        assert user.created_at.year > 2001
        assert user.session_epoch == 0


def test_t44_no_account_gives_itself_more(environment: Environment) -> None:
    """T44: No account can raise its own privileges."""
    url = f"/api/users/{environment.ed.pk}"

    def account() -> dict[str, Any]:
        row = User.objects.filter(pk=environment.ed.pk).values().get()
        return {name: value for name, value in row.items() if name != "updated_at"}

    before = account()
    for name, value in OVERREACH.items():
        for path, body in (
            ("/profile", {}),
            ("", {"name": "Ed Editor", "email": "ed@example.com", "password": PASSWORD}),
        ):
            more = {**body, name: value}
            changed = environment.ask(environment.ed, "PUT", url + path, more, **LENIENT)
            assert changed.status_code == 200
            assert account() == before, name


def test_t45_a_trip_takes_no_owner_code_or_members_from_a_body(environment: Environment) -> None:
    """T45: A body cannot set a trip's owner, code or members."""
    more = {
        **{
            "id": environment.sams.pk,
            "ownerId": environment.sam.pk,
            "tripCode": "AAAAAAAA",
            "code": "AAAAAAAA",
        },
        **{"members": [{"userId": environment.sam.pk}], "participants": [environment.sam.pk]},
        **{"createdAt": "2001-01-01T00:00:00Z", "currentUserRole": "OWNER", "expensesRecorded": 9},
    }
    body = lisbon(**more)
    made = environment.ask(environment.ed, "POST", "/api/trips", body, **LENIENT).json()
    changed = environment.ask(environment.olga, "PUT", environment.url, body, **LENIENT).json()
    assert made["id"] not in {environment.sams.pk, environment.trip.pk}
    assert [member["user"]["id"] for member in made["members"]] == [environment.ed.pk]
    assert changed["id"] == environment.trip.pk
    for shown in (made, changed):
        assert shown["tripCode"] != "AAAAAAAA"
        assert shown["createdAt"] > "2002"
        assert environment.sam.pk not in {member["user"]["id"] for member in shown["members"]}
    assert Trip.objects.get(pk=environment.trip.pk).expenses_recorded == 2


def test_t46_an_expense_takes_no_id_trip_or_state_from_a_body(environment: Environment) -> None:
    """T05, T46: A body cannot set an expense's id, trip or state; its trip is that of the path."""
    more = {
        **{
            "id": environment.hotel.pk,
            "tripId": environment.sams.pk,
            "trip": environment.sams.pk,
            "number": 9,
        },
        **{"createdAt": "2001-01-01T00:00:00Z", "createdBy": environment.sam.pk, "tripAmount": 1},
        "splits": [{"participantUserId": environment.ed.pk, "amount": 12.5, "paid": True}],
    }
    body, olga = environment.expense_body(**more), environment.olga
    made = environment.ask(olga, "POST", f"{environment.url}/expenses", body, **LENIENT)
    changed = environment.ask(olga, "PUT", environment.dinner_url, body, **LENIENT)
    for answer, status in ((made, 201), (changed, 200)):
        shown = answer.json()
        assert (answer.status_code, shown["tripId"]) == (status, environment.trip.pk)
        assert shown["id"] != environment.hotel.pk
        assert shown["createdAt"] > "2002"
        assert [split["paid"] for split in shown["splits"]] == [True, False]
    assert environment.sams.expenses.count() == 1


def test_t47_a_split_takes_no_state_or_parent_from_a_body(environment: Environment) -> None:
    """T47: A body cannot set a split's state or parent."""
    environment.ask(environment.olga, "DELETE", environment.eds_url)
    body = {"participantUserId": environment.ed.pk, "amount": 10, "paid": True, "paidAmount": 10}
    body |= {"id": 1, "expenseId": environment.hotel.pk, "paidAt": "2001-01-01T00:00:00Z"}
    olga, url = environment.olga, environment.splits_url
    made = environment.ask(olga, "POST", url, body, **LENIENT).json()
    assert (made["paid"], made["paidAmount"], made["paidAt"]) == (False, 0, None)
    assert (made["expenseId"], made["id"] == 1) == (environment.dinner.pk, False)


def test_t48_no_answer_shows_a_secret(world: World, environment: Environment) -> None:
    """T48: No response contains a secret."""
    shown = 0
    for operation, response in answers(world):
        if response.status_code < 300 and response.get("Content-Type") == "application/json":
            shown += 1
            named = {"secret"} if str(operation) in SHOWS_SECRET else set()
            found = {key for key in keys(response.json()) if SECRET.search(key)}
            assert found == WAYS_IN.get(str(operation), named), operation
            assert PASSWORD not in response.content.decode()
    assert shown >= 30
    emails = {user.email for user in User.objects.exclude(email=None)}
    mine = {"olga@example.com", "sam@example.com"}
    for path in (
        "/api/trips",
        f"/api/trips/{environment.sams.pk}",
        f"/api/users/{environment.ed.pk}",
    ):
        text = environment.ask(environment.sam, "GET", path).content.decode()
        assert {email for email in emails if email in text} <= mine
