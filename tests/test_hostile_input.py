"""Whatever is sent, to whichever endpoint: a clear refusal, nothing broken, nothing changed."""

import json
import re
from itertools import cycle
from urllib.parse import quote
from uuid import UUID

import pytest
from django.urls import resolve

from tests.document import METHODS, OPERATIONS, Operation, problem_of, resolved
from tests.hostile import (
    BROKEN_LITERALS,
    fields_of,
    hostile,
    is_good,
    names,
    replaced,
    without_null,
)
from tests.stored import everything_stored, rolled_back
from tripcompanion.api.parsing import MAX_OPEN_BYTES
from tripcompanion.api.serializers import NUMBER_SCHEMA

# What one database refuses by an error the other one stores; either is noticed.
pytestmark = pytest.mark.either

#: Without those whose body is a file, for which plugins have tests.
WITH_BODY = [operation for operation in OPERATIONS if "properties" in (operation.body or {})]
WITHOUT_BODY = [
    op
    for op in OPERATIONS
    if op.method != "GET"
    and not (op.body or op.takes_form)
    and str(op) != "DELETE /api/users/{userId}"
]
WITH_QUERY = [op for op in OPERATIONS if op.method == "GET" and op.parameters("query")]
WITH_PATH = [operation for operation in OPERATIONS if operation.parameters("path")]
UNKNOWN_ID = 999_999_999
#: Refusals of what is well-formed, beside 400: nobody has this address, or this log-in.
ALSO_REFUSED_WITH = {"POST /api/users/login": 401}
#: The same by the name of a field whose value is an id of nobody.
OF_NOBODY = {
    "userId": (404, "user_not_found"),
    "tripId": (404, "not_found"),
    "activityIds": (409, "order_changed"),
}
#: One of each kind; `test_parsing.py` has all of them.
MALFORMED = (b"{", b"[{}]", b'{"a": 1, "a": 1}', b'{"a":' * 100_000, b'{"a": "\xe9"}')
FOREIGN_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
NO_PATH_ID = (
    *("0", "-1", "+1", "1.0", "1.5", "1e0", "0x1", "01", "abc", "1 ", "1_0", "１", "٣", "%"),
    *(str(2**63), "9" * 400, "null", "1\x00", "1'", "\ud800", "..", "<b>", "true"),
    *("\r\nX: y", "../..", "%00"),
)
NO_PATH_TEXT = (
    *("\x00", "a\x00b", "\ud800", "a" * 4000, "' OR 1=1--", "%", "_", "*", "<script>", "a\nb"),
    *("\U0001f9f3", "..", "ß" * 8, "２３４５６７８９", "K@example.com", "\r\nX: y", "../..", "%00"),
)
#: By format, enum or type of a query parameter; each is refused.
QUERIES = {
    "boolean": ("", "1", "yes", "TRUE", "null", "[]", "\x00", "\ud800"),
    "integer": (
        *("0", "-1", "1.5", "1e3", "abc", "", " 1", "1_0", "１", "٣", str(2**63), "9" * 400),
        *("\x00", "\ud800", "true", "[]", "+1", "1,2", "null", "9" * 5000),
    ),
    "array": ("\x00", "\ud800"),
    "uuid": ("", "7", "0" * 32, f"{{{UUID(int=1)}}}", f"{UUID(int=1)} ", "\x00", "\ud800"),
    "number": ("abc", "NaN", "Infinity", "1e999", "1,5", "0x1", "\x00", "\ud800", "[]"),
    "int64": (
        *("0", "-1", "1.5", "1e3", "abc", "1_0", "１", "٣", str(2**63), "9" * 400),
        *("", " 7", "0007", "\x00", "\ud800"),
    ),
    "date-time": ("", "0", "today", "2026-02-30T10:00:00Z", "2026-05-14 ", "\x00", "\ud800"),
    "date": (
        *("0", "today", "2026-02-30", "2026-13-01", "2026-5-4", "20260514", "05/14/2026"),
        *("14/05/2026", "14.05.2026", "May 14, 2026", "２０２６-０５-１４", "0000-01-01", "\x00"),
        *("", "10000-01-01", "2026-05-14T00:00"),
    ),
    "enum": (
        *("food", "UNKNOWN", "ＦＯＯＤ", "eur", "\x00", "\ud800", "A" * 5000, "'", "id"),
        *("-password", "amount,", ",amount", "amount,,createdAt", ",", "-", "--amount"),
        *("amount, createdAt", "food,other", "__class__", ""),
    ),
    "text": ("x" * 256, "\x00", "a\x00b", "a\nb", "\x7f", "\x85", "\ud800"),
}


def query_rule(parameter):
    may_be_empty = parameter.get("allowEmptyValue")
    return json.dumps([parameter["name"], parameter["schema"], may_be_empty], sort_keys=True)


def beyond(schema, choices):
    """What is just outside of the bounds of the schema."""
    item = resolved(schema.get("items", {}))
    found = [last.swapcase() for last in choices[-1:]]
    found += [str(schema["minimum"] - 1)] if "minimum" in schema else []
    found += [str(schema["maximum"] + 1)] if "maximum" in schema else []
    return found + (["x" * (item["maxLength"] + 1)] if "maxLength" in item else [])


#: The last operation with a parameter of this name and schema, which is sent all hostile values.
LAST_WITH = {query_rule(parameter): op for op in WITH_QUERY for parameter in op.parameters("query")}


@pytest.fixture(scope="module")
def stored_rows(stored_world, django_db_blocker):
    with django_db_blocker.unblock():
        return everything_stored()


@pytest.fixture
def unchanged(world, stored_rows):
    """At the end of the test all tables are as they were before the first one."""
    yield
    assert everything_stored() == stored_rows


def fields(world, operation):
    """Each field once, with the first good body that has it: `(body, path, schema, required)`."""
    seen = set()
    for body in world.bodies[str(operation)]:
        for path, schema, required in fields_of(operation.body, body):
            if path not in seen:
                yield body, path, schema, required
            seen.add(path)


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_the_bodies_that_the_hostile_ones_are_made_of_are_good_and_name_every_field(
    world, operation
):
    bodies = world.bodies[str(operation)]
    assert {name for body in bodies for name in body} == operation.body["properties"].keys()
    for body in bodies:
        with rolled_back():
            response = world.send(operation, json.dumps(body).encode())
        assert is_good(operation, response), body


def rule(operation, path, schema):
    """What decides about a field: whose it is, its name, and its schema without the words."""
    whose = re.sub(r"/{\w+}$|/preview$", "", operation.path)
    if path[0] in {"create", "expense"}:
        # An expense that is inside another body.
        whose = "/api/trips/{tripId}/expenses"
    name = str(path[-1])
    rest = {key: value for key, value in resolved(schema).items() if key != "description"}
    return whose, "" if name.isdecimal() else name, json.dumps(rest, sort_keys=True)


@pytest.fixture(scope="module")
def first_with(stored_world):
    """The first operation with the field, which is sent all hostile values.

    To others that have it goes one that is JSON; they share its serializer.
    """
    found: dict[tuple[str, str, str], Operation] = {}
    for operation in sorted(WITH_BODY, key=lambda op: op.method != "POST"):
        for _body, path, schema, _required in fields(stored_world, operation):
            found.setdefault(rule(operation, path, schema), operation)
    return found


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
@pytest.mark.usefixtures("unchanged")
def test_a_hostile_value_is_refused_by_the_name_of_its_field(world, first_with, operation):
    """T56, T76, T96, T120: Long texts, wrong amounts, roles and ids are refused by the field."""
    faults = []
    statuses = {400, ALSO_REFUSED_WITH.get(str(operation))}
    for body, path, schema, _required in fields(world, operation):
        every = [*hostile(str(path[-1]), schema)]
        if operation is not first_with[rule(operation, path, schema)]:
            every = [text for text in every if text not in BROKEN_LITERALS][:1]
        for literal in every:
            response = world.send(operation, replaced(body, path, literal))
            if response.status_code not in statuses:
                faults.append((path, literal[:60], response.status_code, response.content[:200]))
            elif response.status_code == 400:
                document = problem_of(response, 400)
                if document["code"] == "invalid" and not names(document, path):
                    faults.append((path, literal[:60], document))
    assert not faults, "\n".join(map(str, faults))


def test_an_unknown_name_beside_a_wrong_value_is_refused_by_its_name(world, stored_rows):
    """What is sent back is compared with what is there, whatever the other fields say."""
    for operation in (op for op in WITH_BODY if op.method in {"PUT", "PATCH"}):
        for body, path, schema, required in fields(world, operation):
            wrong = next(text for text in hostile("", schema) if text not in BROKEN_LITERALS)
            for literal in (wrong, None)[: 1 + required]:
                sent = replaced({**body, "zzz": 1}, path, literal)
                document = problem_of(world.send(operation, sent), 400, "invalid")
                assert names(document, ("zzz",)) or names(document, path), (path, document)
        assert everything_stored() == stored_rows, operation


def test_a_required_field_that_is_missing_is_named(world, stored_rows):
    for operation in WITH_BODY:
        for body, path, _schema, required in fields(world, operation):
            if required:
                document = problem_of(
                    world.send(operation, replaced(body, path, None)), 400, "invalid"
                )
                assert ".".join(map(str, path)) in document["errors"]
        assert everything_stored() == stored_rows, operation


def test_an_id_of_nobody_is_refused_by_the_name_of_its_field(world, stored_rows):
    sent = 0
    for operation in WITH_BODY:
        for body, path, schema, _required in fields(world, operation):
            name = str(path[-1]) if path[-1] else path[-2]
            if not is_id(schema):
                continue
            response = world.send(operation, replaced(body, path, str(UNKNOWN_ID)))
            sent += 1
            if response.status_code == 400:
                assert names(problem_of(response, 400, "invalid"), path), (path, response.content)
            else:
                problem_of(response, *OF_NOBODY[name])
        assert everything_stored() == stored_rows, operation
    assert sent > 15


def is_id(schema):
    return NUMBER_SCHEMA in without_null(schema).get("oneOf", ())


def test_a_body_that_is_no_json_object_is_refused(world, stored_rows):
    for operation in WITH_BODY:
        for body in MALFORMED:
            response = world.send(operation, body)
            if response.status_code != 413:
                problem_of(response, 400, "malformed_json")
            else:
                # Where no log-in is needed.
                assert len(body) > MAX_OPEN_BYTES
        assert everything_stored() == stored_rows, operation


def test_a_body_of_another_type_is_refused(world, stored_rows):
    for operation in WITH_BODY:
        body = json.dumps(world.bodies[str(operation)][0]).encode()
        takes_forms = "multipart/form-data" in operation.spec["requestBody"]["content"]
        for content_type in FOREIGN_TYPES:
            if takes_forms and content_type == "multipart/form-data":
                continue
            response = world.send(operation, body, content_type=content_type)
            problem_of(response, 415, "unsupported_media_type")
        assert everything_stored() == stored_rows, operation


def test_a_body_of_another_type_is_refused_also_where_none_is_read(world, stored_rows):
    for operation in WITHOUT_BODY:
        for content_type in (*FOREIGN_TYPES, ""):
            url = world.url(operation)
            response = world.client.generic(operation.method, url, b"x=1", content_type)
            problem_of(response, 415, "unsupported_media_type")
        assert everything_stored() == stored_rows, operation


def test_a_body_of_another_type_is_refused_where_only_an_admin_may_send_one(api, ada, world):
    url = f"/api/users/{world.ids['userId']}"
    problem_of(api(ada).generic("DELETE", url, b"x=1", "text/plain"), 415, "unsupported_media_type")


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_null_in_a_field_that_may_be_left_out_counts_as_left_out(world, first_with, operation):
    """Each such field on its own, nested ones too: the same answer, and the same rows."""
    for body, path, schema, required in fields(world, operation):
        first = first_with[rule(operation, path, schema)]
        if operation is not first and operation.method == first.method:
            continue
        if required or not schema.get("description", "").endswith("`null` counts as omitted."):
            continue
        with_null, without = (
            world.outcome(operation, replaced(body, path, literal)) for literal in ("null", None)
        )
        assert with_null[:2] == without[:2], path
        for table in with_null[2]:
            assert with_null[2][table] == without[2][table], (path, table)


def test_a_hostile_path_is_not_found(world, stored_rows):
    """T118, T119: A path id is a plain 64-bit number; unusual bytes in a path cause no error."""
    seen: set[str] = set()
    for operation in WITH_PATH:
        for parameter in operation.parameters("path"):
            is_id = parameter["schema"]["type"] == "integer"
            texts = NO_PATH_ID if is_id else NO_PATH_TEXT
            # One rule says what an id is, and one what each other name is.
            kind = "id" if is_id else parameter["name"]
            for text in texts[:: 7 if kind in seen else 1]:
                part = quote(text, safe="", errors="surrogatepass")
                url = world.url(operation, **{parameter["name"]: part})
                response = world.client.generic(operation.method, url, b"{}", "application/json")
                problem_of(response, 404, "not_found")
            seen.add(kind)
        assert everything_stored() == stored_rows, operation


def test_a_path_that_is_almost_right_is_not_found(world, stored_rows):
    for operation in OPERATIONS:
        url, method = world.url(operation), operation.method.lower()
        without = url.replace("/api", "")
        for wrong in (
            f"{url}/",
            f"{url}/nothing",
            url.replace("/api", "/API"),
            without or "/nothing",
        ):
            response = world.client.generic(operation.method, wrong, b"{}", "application/json")
            if method not in getattr(resolve(wrong).func, "actions", (method,)):
                # It is another path, which has other methods.
                problem_of(response, 405, "method_not_allowed")
                continue
            problem_of(response, 404, "not_found")
        assert everything_stored() == stored_rows, operation


@pytest.mark.usefixtures("unchanged")
def test_a_method_that_the_path_has_not_is_refused_with_those_it_has(world):
    for path in {operation.path for operation in OPERATIONS}:
        operations = {op.method: op for op in OPERATIONS if op.path == path}
        url = world.url(next(iter(operations.values())))
        allowed = {*operations, "HEAD"} if "GET" in operations else {*operations}
        for method in {*map(str.upper, METHODS), "OPTIONS", "TRACE"} - {*operations}:
            response = world.client.generic(method, url, b"{}", "application/json")
            problem_of(response, 405, "method_not_allowed")
            assert set(response.headers["Allow"].split(", ")) == allowed, (method, path)


@pytest.mark.parametrize("operation", WITH_QUERY, ids=str)
@pytest.mark.usefixtures("unchanged")
def test_a_hostile_query_is_refused_by_the_name_of_its_parameter(world, operation):
    faults = []
    for parameter in operation.parameters("query"):
        schema = resolved(parameter["schema"])
        choices = schema.get("enum") or schema.get("items", {}).get("enum", [])
        kind = "enum" if choices else schema.get("format")
        texts = QUERIES[kind or schema["type"].replace("string", "text")] + (
            *beyond(schema, choices),
        )
        if operation is not LAST_WITH[query_rule(parameter)]:
            texts = texts[1:2]
        for text, language in zip(texts, cycle(("en", "es"))):
            if not text and parameter.get("allowEmptyValue"):
                # As a form sends it.
                continue
            query = f"?{parameter['name']}={quote(text, safe='', errors='surrogatepass')}"
            query += operation.required_query("&", but=parameter["name"])
            url = world.url(operation) + query
            response = world.client.get(url, HTTP_ACCEPT_LANGUAGE=language)
            if parameter["name"] == "format" and response.status_code == 406:
                continue
            if response.status_code != 400:
                faults.append((query[:60], language, response.status_code))
                continue
            document = problem_of(response, 400, "invalid")
            assert names(document, (parameter["name"],)), (query, document)
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.parametrize(
    "query",
    ["page=10000000000000000", "page=9223372036854775807", "_unknown=1", "category=&paidBy=&from="],
)
@pytest.mark.usefixtures("unchanged")
def test_a_strange_query_that_means_something_is_answered(world, query):
    assert world.client.get(f"/api/trips/{world.ids['tripId']}/expenses?{query}").status_code == 200
