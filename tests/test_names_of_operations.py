"""In every body and query of the document, a name that is not there is refused."""

import json
from copy import deepcopy
from typing import Any

import pytest

from tests.document import OPERATIONS, problem_of, resolved
from tests.hostile import without_null
from tests.stored import everything_stored, rolled_back
from tests.walked import all_of

pytestmark = pytest.mark.once

LENIENT = {"HTTP_PREFER": "respond-async, handling=lenient"}
WITH_BODY = [op for op in OPERATIONS if "properties" in (op.body or {})]
#: "Flexible" in the specification, or "not declared as validated"; and logging out.
FLEXIBLE = {"POST /api/users/login", "POST /api/users/logout", "PUT /api/users/{userId}/profile"}
#: Those in whose bodies are objects with more names.
FLEXIBLE_INSIDE = set(all_of("FLEXIBLE_INSIDE"))
CHANGES = [op for op in WITH_BODY if op.method in {"PUT", "PATCH"} and str(op) not in FLEXIBLE]
FOR_ADMINS = "DELETE /api/users/{userId}"
BODILESS = [
    op
    for op in OPERATIONS
    if op.method != "GET" and "requestBody" not in op.spec and str(op) != FOR_ADMINS
]


def objects_in(schema, body, path=()):
    """Where the objects with fields are in a body, with itself."""
    schema = without_null(schema)
    if isinstance(body, list):
        for place, item in enumerate(body):
            if isinstance(item, dict):
                yield from objects_in(schema["items"], item, (*path, place))
    elif isinstance(body, dict) and "properties" in schema:
        if not path or schema.get("additionalProperties", True) is not True:
            yield path
        for name, value in body.items():
            yield from objects_in(schema["properties"].get(name, {}), value, (*path, name))


def with_name(body, path, name, value=1):
    """`body` with one more name in the object at `path`."""
    changed = place = deepcopy(body)
    for step in path:
        place = place[step]
    place[name] = value
    return changed


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_an_unknown_name_in_any_object_of_any_body_is_refused(world, operation):
    """T212: A name that an operation does not define is refused."""
    before = everything_stored()
    for body in world.bodies[str(operation)]:
        for path in objects_in(operation.body, body):
            sent = json.dumps(with_name(body, path, "colour")).encode()
            if str(operation) in FLEXIBLE and not path:
                with rolled_back():
                    assert world.send(operation, sent).status_code < 300
                continue
            [(field, texts)] = problem_of(world.send(operation, sent), 400)["errors"].items()
            assert field == ".".join(map(str, (*path, "colour")))
            assert texts[0].startswith("There is no such field")
    assert everything_stored() == before


def objects_of(schema):
    """The schema of an object with names, and those of all objects in it."""
    schema = resolved(schema)
    if "properties" in schema:
        yield schema
    items = [schema["items"]] if "items" in schema else []
    for one in (*schema.get("properties", {}).values(), *items, *schema.get("oneOf", ())):
        yield from objects_of(one)


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_the_document_says_where_a_body_has_no_other_names(operation):
    whole, *inner = objects_of(operation.body)
    assert whole.get("additionalProperties", True) is (str(operation) in FLEXIBLE)
    if str(operation) not in FLEXIBLE_INSIDE:
        assert all(one.get("additionalProperties", True) is not True for one in inner)


def test_what_is_answered_may_have_more_names_in_a_later_release():
    for operation in OPERATIONS:
        for status, response in operation.spec["responses"].items():
            shown = response.get("content", {}).get("application/json", {}).get("schema", {})
            if status.startswith("2") and "properties" in resolved(shown):
                assert resolved(shown).get("additionalProperties", True), operation


#: What nobody may set by a body, by the names that a careless service would read.
OVERREACH: dict[str, Any] = {
    **dict.fromkeys(("id", "tripId", "trip", "ownerId", "expenseId", "createdBy"), 7_777_777),
    **dict.fromkeys(("isStaff", "is_staff", "is_superuser", "paid"), True),
    **dict.fromkeys(("isActive", "is_active"), False),
    **dict.fromkeys(("createdAt", "created_at", "deletedAt", "paidAt"), "2001-01-01T00:00:00Z"),
    **dict.fromkeys(("emailVerifiedAt", "email_verified_at"), "2001-01-01T00:00:00Z"),
    **dict.fromkeys(("logInEra", "session_epoch", "tokenVersion", "number", "expensesRecorded"), 9),
    **dict.fromkeys(("tripCode", "code"), "CANARYAA"),
    **dict.fromkeys(("tripAmount", "paidAmount"), 1),
    **{"role": "ADMIN", "currentUserRole": "OWNER", "participants": [7_777_777]},
    **{"members": [{"userId": 7_777_777}], "splits": [{"amount": 1, "paid": True}]},
    **{"payerId": 7_777_777, "paid_by": 7_777_777, "paidBy": {"id": 7_777_777}},
    **{"colour": 1, "categry": "canary-17", "__class__": {"canary-17": ["canary-17"]}},
}


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_an_unknown_name_is_ignored_if_the_client_prefers_so(world, operation):
    """T05, T43, T44, T45, T46, T47, T50: What a body does not define is refused, or sets nothing.

    Not the role of an account, nor the trip, the author, the state or the parent of a row.
    """
    body = world.bodies[str(operation)][0]
    more = {k: v for k, v in OVERREACH.items() if k not in operation.body["properties"]}
    sent = json.dumps({**body, **more}).encode()
    plain = world.outcome(operation, json.dumps(body).encode())
    assert world.outcome(operation, sent, **LENIENT) == plain
    with rolled_back():
        assert world.send(operation, sent, **LENIENT)["Preference-Applied"] == "handling=lenient"
        stored = repr(everything_stored())
    for canary in ("canary", "CANARY", "7777777", "2001, 1, 1", "2001-01-01"):
        assert canary not in stored
    assert "Preference-Applied" not in world.send(operation, b"{}")


@pytest.mark.parametrize("operation", [op for op in OPERATIONS if str(op) != FOR_ADMINS], ids=str)
def test_an_unknown_name_in_any_query_is_refused(world, operation):
    good = world.bodies.get(str(operation))
    body = json.dumps(good[0]).encode() if good else b""

    def answer(query, **headers):
        with rolled_back():
            return world.send(operation, body, query=query, **headers)

    response = answer("?colour=blue")
    if str(operation) in FLEXIBLE:
        assert response.status_code != 400
        return
    errors = problem_of(response, 400)["errors"]
    assert errors.keys() == {"colour"}
    assert errors["colour"][0].startswith("There is no such field")
    if operation.method != "GET":
        return
    plain = answer("").status_code
    assert answer("?_=1&_colour=2").status_code == plain
    assert answer("?colour=blue", **LENIENT).status_code == plain


@pytest.mark.parametrize("operation", BODILESS, ids=str)
def test_an_operation_without_a_body_refuses_every_name(world, operation):
    before = everything_stored()
    assert problem_of(world.send(operation, b'{"paid": true}'), 400)["errors"].keys() == {"paid"}
    assert everything_stored() == before
    with rolled_back():
        plain = world.send(operation, b"", content_type="text/plain").status_code
    # Nothing was deleted that could be restored.
    missing = 404 if operation.path.endswith("/restore") else 200
    assert plain in {200, 201, 202, 204, 409, missing}
    with rolled_back():
        assert world.send(operation, b"{}").status_code == plain


def answered_only(operation):
    shown = operation.spec["responses"]["200"]["content"]["application/json"]["schema"]
    return resolved(shown)["properties"].keys() - operation.body["properties"].keys()


@pytest.mark.parametrize("operation", CHANGES, ids=str)
def test_what_only_a_response_has_may_be_sent_back_as_it_is(world, operation):
    body = world.bodies[str(operation)][0]
    if "{tagName}" in operation.path:
        body = {"name": world.ids["tagName"]}
    with rolled_back():
        stored = world.send(operation, json.dumps(body).encode()).json()
        extra = {name: stored[name] for name in answered_only(operation)}
        assert extra
        before = everything_stored()
        for name, value in extra.items():
            other = {**body, **extra, name: "other" if value != "other" else None}
            document = problem_of(world.send(operation, json.dumps(other).encode()), 400)
            assert document["errors"].keys() == {name}
            assert document["errors"][name][0].startswith("Only responses have this field")
        assert everything_stored() == before
        again = world.send(operation, json.dumps({**body, **extra}).encode())
        assert again.status_code == 200, again.content
