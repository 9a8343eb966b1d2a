"""`openapi.yaml` is complete, valid, described, and fit for generators."""

import copy
import re

import openapi_spec_validator
import pytest
from django.core.management import call_command
from django.urls import URLPattern, get_resolver
from django.utils import translation

from tests.document import (
    DOCUMENT,
    METHODS,
    OPERATIONS,
    ROOT,
    contents,
    errors_of,
    has_other_plugins,
    resolved,
    usual_plugins,
)
from tests.walked import all_of
from tripcompanion.api.serializers import camel_case

pytestmark = pytest.mark.once

#: Pages and documents around the API; everything else under /api is in the document.
UNDOCUMENTED = {
    *("/api/schema", "/api/docs", *all_of("PATHS"), "/api/session/login", "/api/session/logout")
}
PROBLEM = "application/problem+json"
SUCCESSES = {"200", "201", "202", "204", "304"}


@usual_plugins
@pytest.mark.slow
def test_the_committed_document_is_what_the_code_generates(tmp_path):
    # A test before this one may have left the thread speaking Spanish.
    with translation.override("en"):
        call_command("spectacular", file=str(tmp_path / "openapi.yaml"), validate=True)
    assert (tmp_path / "openapi.yaml").read_text() == (ROOT / "openapi.yaml").read_text()


def test_the_document_is_openapi_3_1():
    assert DOCUMENT["openapi"].startswith("3.1.")
    openapi_spec_validator.validate(copy.deepcopy(DOCUMENT))


def test_the_document_and_the_url_map_have_the_same_operations():
    """T127: URL routes, OpenAPI document and permission tests cover the same endpoints.

    `test_permissions.py` has a row for each route.
    """

    def routes(patterns, prefix):
        for pattern in patterns:
            path = f"{prefix}{pattern.pattern}"
            if not isinstance(pattern, URLPattern):
                yield from routes(pattern.url_patterns, path)
            elif path.startswith("/api") and path not in UNDOCUMENTED:
                wire = re.sub(r"<\w+:(\w+)>", lambda match: f"{{{camel_case(match[1])}}}", path)
                for method in {*pattern.callback.actions} - {"head"}:
                    yield f"{method.upper()} {wire}"

    mapped = list(routes(get_resolver().url_patterns, "/"))
    documented = [
        f"{method.upper()} {path}" for path, item in DOCUMENT["paths"].items() for method in item
    ]
    assert sorted(mapped) == sorted(documented)
    assert {method for item in DOCUMENT["paths"].values() for method in item} <= {*METHODS}


def test_operation_ids_read_as_the_names_of_methods():
    ids = [operation.spec["operationId"] for operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name) for name in ids)


def undescribed():
    """Everything in the document that has no sentence of its own."""

    def lacks(node):
        return not re.search(r"\w.*[.:)`]$", node.get("description", ""), re.DOTALL)

    for name, schema in DOCUMENT["components"]["schemas"].items():
        if lacks(schema):
            yield name
        for field, part in schema.get("properties", {}).items():
            if lacks(part):
                yield f"{name}.{field}"
    for kind in ("tags", "servers"):
        yield from (str(node) for node in DOCUMENT[kind] if lacks(node))
    for name, scheme in DOCUMENT["components"]["securitySchemes"].items():
        if lacks(scheme):
            yield name
    for operation in OPERATIONS:
        yield from undescribed_in(operation, lacks)


def undescribed_in(operation, lacks):
    if lacks(operation.spec) or not operation.spec["summary"]:
        yield str(operation)
    for parameter in operation.spec.get("parameters", ()):
        if lacks(parameter):
            yield f"{operation}: {parameter['name']}"
    for status, response in operation.spec["responses"].items():
        if lacks(response):
            yield f"{operation}: {status}"
        for content in response.get("content", {}).values():
            for name, example in content.get("examples", {}).items():
                code = example["value"].get("code", "") if status >= "4" else ""
                if code and f"`{code}`: " not in response["description"]:
                    yield f"{operation}: {status} {code}"
                if code and lacks(example):
                    yield f"{operation}: {status} {name}"


def test_everything_is_described():
    assert list(undescribed()) == []


def test_operations_are_in_the_order_of_their_tags():
    tags = [tag["name"] for tag in DOCUMENT["tags"]]
    used = [operation.spec["tags"] for operation in OPERATIONS]
    assert all(len(names) == 1 for names in used)
    places = [tags.index(name) for (name,) in used]
    assert places == sorted(places)
    assert OPERATIONS[0].path == "/api/users/register"


def test_an_operation_without_log_in_says_so_and_no_other_does():
    for operation in OPERATIONS:
        assert operation.is_open == ("401" not in operation.spec["responses"]) or (
            operation.spec["tags"] == ["sessions"]
        ), operation


def nodes(value):
    """Every object inside the document, examples apart."""
    if isinstance(value, dict):
        yield value
        for key, child in value.items():
            if key not in {"example", "examples"}:
                yield from nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from nodes(child)


def test_each_enum_is_written_once_and_names_are_of_one_kind():
    schemas = DOCUMENT["components"]["schemas"]
    # The list of trips has two paths.
    paths = {path: item for path, item in DOCUMENT["paths"].items() if "/my-trips" not in path}
    written = nodes(DOCUMENT | {"paths": paths})
    enums = [tuple(node["enum"]) for node in written if isinstance(node.get("enum"), list)]
    # The orderings are peculiar to one parameter.
    shared = [enum for enum in enums if "-expenseDate" not in enum]
    assert len(set(shared)) == len(shared)
    assert not [name for name in schemas if "RequestRequest" in name or name == "NullEnum"]
    assert not [name for name in DOCUMENT["components"]["responses"] if name[-1].isdigit()]
    for name, schema in schemas.items():
        assert name.endswith("Enum") == ("enum" in schema), name
        for field, part in schema.get("properties", {}).items():
            if field.lower().endswith("currency") and part.get("type") != "array":
                assert "#/components/schemas/CurrencyEnum" in str(part), (name, field)


def test_no_schema_of_a_body_has_a_default_or_is_read_only():
    """Generators would demand such a field, or send it in a PATCH, which erases what is there."""
    assert not [node for node in nodes(DOCUMENT["components"]) if "default" in node]
    assert not [node for node in nodes(DOCUMENT["components"]) if "readOnly" in node]


def test_every_body_has_an_example_and_every_example_is_true():
    for operation in OPERATIONS:
        for place, content in contents(operation):
            examples = [example["value"] for example in content.get("examples", {}).values()]
            is_file = content["schema"].get("format") == "binary"
            assert examples or content["schema"].get("examples") or is_file, (operation, place)
            for example in examples or content["schema"].get("examples", ()):
                # Examples have what all plugins add.
                wrong = errors_of(example, content["schema"], may_have_more=has_other_plugins())
                assert wrong == [], (operation, place)
                if place.endswith(PROBLEM):
                    assert str(example["status"]) == place.split()[0]
                    assert example["message"] == example["detail"]


def usual_refusals(operation):
    headers = {parameter["name"] for parameter in operation.parameters("header")}
    yield from ("406", "503")
    if not operation.path.startswith("/api/health"):
        yield "429"
    if not operation.is_open:
        yield "401"
    if operation.parameters("path"):
        yield "404"
    if operation.body:
        yield from ("400", "413", "415")
    if operation.parameters("query"):
        yield "400"
    if operation.method == "POST" and headers:
        yield from ("409", "422")
    if "If-Match" in headers:
        yield "412"


def test_every_operation_documents_its_usual_refusals():
    for operation in OPERATIONS:
        responses = operation.spec["responses"]
        assert {*usual_refusals(operation)} <= responses.keys(), operation
        assert any(status.startswith("2") for status in responses), operation
        for status, response in responses.items():
            assert status in SUCCESSES or list(response["content"]) == [PROBLEM], operation
        for status in {"429", "503"} & responses.keys():
            assert "Retry-After" in responses[status]["headers"], operation


def test_path_parameters_are_required_and_every_parameter_has_a_schema():
    for operation in OPERATIONS:
        for parameter in operation.parameters("path"):
            assert parameter["required"], operation
        assert {*re.findall(r"{(\w+)}", operation.path)} == {
            parameter["name"] for parameter in operation.parameters("path")
        }
        for place in ("query", "header"):
            for parameter in operation.parameters(place):
                assert parameter["schema"], operation
                if "example" in parameter:
                    assert errors_of(parameter["example"], parameter["schema"]) == [], operation


def test_an_optional_parameter_has_no_example_that_try_it_out_would_send():
    for operation in OPERATIONS:
        for place in ("query", "header"):
            for parameter in operation.parameters(place):
                held = {**parameter, **resolved(parameter["schema"])}
                assert parameter.get("required") or not held.keys() & {"example", "examples"}, (
                    operation
                )


def required_in_whole(operation):
    """What a body must have; a PATCH may leave it out, but not make it null."""
    whole = [op for op in OPERATIONS if str(op) == f"PUT {operation.path}"]
    return (whole or [operation])[0].body.get("required", [])


def test_every_field_of_a_body_that_is_not_required_may_be_null():
    """For what only a PATCH changes, see `test_documented_limits.py`."""
    puts = {op.path for op in OPERATIONS if op.method == "PUT"}
    for operation in OPERATIONS:
        if operation.body and (operation.method != "PATCH" or operation.path in puts):
            for name, field in operation.body.get("properties", {}).items():
                is_required = name in required_in_whole(operation)
                assert (errors_of(None, field) == []) is not is_required, (str(operation), name)
