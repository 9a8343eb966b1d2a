"""What the document says of bodies, headers and links is what the service does."""

import json
import re

import pytest
from jsonschema import Draft202012Validator

from tests.document import DOCUMENT, OPERATIONS, has_other_plugins, problem_of, resolved
from tests.hostile import without_null
from tests.stored import rolled_back
from tests.trips.bodies import dinner

pytestmark = pytest.mark.once

MAKES = [op for op in OPERATIONS if "links" in op.spec["responses"].get("201", {})]
SENDS_ADDRESS = [op for op in OPERATIONS if "email" in (op.body or {}).get("properties", {})]
PATCHES = [op for op in OPERATIONS if op.method == "PATCH"]


def is_valid(operation, body):
    schema = {**operation.body, "components": DOCUMENT["components"]}
    return Draft202012Validator(schema).is_valid(body)


def posting(path):
    [operation] = [op for op in OPERATIONS if str(op) == f"POST {path}"]
    return operation


@pytest.mark.parametrize("operation", MAKES, ids=str)
def test_the_link_of_what_is_made_leads_to_its_location(world, operation):
    [link] = operation.spec["responses"]["201"]["links"].values()
    [reader] = [op for op in OPERATIONS if op.spec["operationId"] == link["operationId"]]
    if operation.takes_form or str(operation) == "POST /api/imports":
        assert link["parameters"]
        return
    body = world.bodies.get(str(operation), [{}])[0]
    with rolled_back():
        made = world.send(operation, json.dumps(body).encode())
        if made.status_code == 409:
            assert made.json()["code"] in {"already_member", "account_in_use", "divided_by_hand"}
            return
        assert made.status_code == 201, made.content
        values = {
            name: _value(expression, world.ids_at(operation.path), made.json())
            for name, expression in link["parameters"].items()
        }
        assert reader.url(values) == made["Location"]


def _value(expression, path, answer):
    if name := expression.removeprefix("$request.path.") * expression.startswith("$request.path."):
        return path[name]
    for name in expression.removeprefix("$response.body#/").split("/"):
        answer = answer[name]
    return answer


def test_every_operation_that_makes_what_can_be_read_has_a_link():
    paths = {op.path for op in OPERATIONS if op.method == "GET"}
    for operation in OPERATIONS:
        if operation.method == "POST" and "201" in operation.spec["responses"]:
            below = re.compile(rf"{re.escape(operation.path)}/{{\w+Id}}")
            if any(map(below.fullmatch, paths)):
                assert operation in MAKES


@pytest.mark.parametrize("operation", SENDS_ADDRESS, ids=str)
def test_an_address_is_named_as_such_where_it_is_checked(operation):
    schema = without_null(operation.body["properties"]["email"])
    is_checked = str(operation) != "POST /api/users/login"
    assert (schema.get("format") == "email") is is_checked


def empty_places(schema, body, path=()):
    """Where the lists are in a body."""
    schema = without_null(schema)
    if isinstance(body, list):
        yield path
    elif isinstance(body, dict) and "properties" in schema:
        for name, value in body.items():
            yield from empty_places(schema["properties"][name], value, (*path, name))


@pytest.mark.parametrize(
    "operation", [op for op in OPERATIONS if "properties" in (op.body or {})], ids=str
)
def test_a_list_may_be_empty_where_the_document_says_so(world, operation):
    for body in world.bodies[str(operation)]:
        for path in empty_places(operation.body, body):
            changed = json.loads(json.dumps(body))
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = []
            with rolled_back():
                response = world.send(operation, json.dumps(changed).encode())
            texts = response.json().get("errors", {}) if response.status_code == 400 else {}
            assert is_valid(operation, changed) is (".".join(map(str, path)) not in texts), path


@pytest.mark.parametrize("zero", [0, -0.0, "0", "0.00", "-0"])
def test_an_amount_of_nothing_is_refused_as_documented(world, zero):
    olga = world.ids["userId"]
    expense = dinner(amount=zero, participantUserIds=[olga])
    settlement = {"fromUserId": olga, "toUserId": world.member_id, "amount": zero}
    payers = [{"userId": olga, "amount": zero}]
    for end, body, field in (
        ("expenses", expense, "amount"),
        ("expenses", {**expense, "amount": 10, "payers": payers}, "payers.0.amount"),
        ("settlements", settlement, "amount"),
    ):
        operation = posting(f"/api/trips/{{tripId}}/{end}")
        assert field in problem_of(world.send(operation, json.dumps(body).encode()), 400)["errors"]
        assert not is_valid(operation, body)
        for amount in (0.01, "0.01", "10", "010.50"):
            good = {**body, "amount": amount}
            if "payers" in body:
                good["payers"] = [{"userId": olga, "amount": amount}]
            assert is_valid(operation, good), good


def test_one_of_two_fields_is_sent_as_documented(world):
    operation = posting("/api/trips/{tripId}/members")
    [one, other] = (
        {name: body[name] for name in body if name != "role"}
        for body in world.bodies[str(operation)]
    )
    for body in ({}, {"userId": None}, {**one, **other}, {"email": None, "userId": None}):
        document = problem_of(world.send(operation, json.dumps(body).encode()), 400)
        assert document["errors"] == {"userId": ["Send either userId or email."]}
        assert not is_valid(operation, body)
    for body in (one, other, {**one, "email": None}, {**other, "userId": None}):
        assert is_valid(operation, body)
        with rolled_back():
            assert world.send(operation, json.dumps(body).encode()).status_code == 201


def test_keys_of_retries_have_the_pattern_of_the_document(world):
    patterns = {
        parameter["schema"]["pattern"]
        for operation in OPERATIONS
        for parameter in operation.parameters("header")
        if parameter["name"] == "Idempotency-Key"
    }
    [pattern] = patterns
    for key in ("a", "~!" * 127, "x" * 255, "x" * 256, "a b", "ä", "a\x7f"):
        refused = world.client.post("/api/trips", {}, headers={"Idempotency-Key": key})
        errors = problem_of(refused, 400)["errors"]
        assert ("Idempotency-Key" in errors) is (re.search(pattern, key) is None), key


@pytest.mark.parametrize("operation", PATCHES, ids=str)
def test_null_is_refused_where_an_object_cannot_be_without(world, operation):
    """What can be cleared, or has a default, is described so."""
    for name, schema in operation.body["properties"].items():
        if without_null(schema) != resolved(schema):
            assert "null" in schema["description"], name
            continue
        document = problem_of(world.send(operation, json.dumps({name: None}).encode()), 400)
        assert document["errors"].keys() == {name}


def test_what_an_object_cannot_be_without():
    bodies = {str(op).rpartition("/")[2]: op.body["properties"] for op in PATCHES}
    needed = {
        "{tagName}": {"name"},
        "{recurrenceId}": {"rule", "startsOn", "expense"},
        "{webhookId}": {"url", "events", "state"},
        "{tripId}": {"title", "destination", "startDate", "endDate"},
        "{expenseId}": {"description", "amount", "expenseDate"},
        "{importId}": set(),
    }
    for end in needed if not has_other_plugins() else needed.keys() & bodies.keys():
        names = needed[end]
        found = {
            name for name, schema in bodies[end].items() if without_null(schema) == resolved(schema)
        }
        assert found == names, end
