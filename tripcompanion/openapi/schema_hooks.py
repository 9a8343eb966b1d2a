"""Postprocessing of the OpenAPI document, after drf-spectacular has collected it."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tripcompanion.api.problems import CONTENT_TYPE
from tripcompanion.api.serializers import camel_case
from tripcompanion.openapi.examples import refusal_name
from tripcompanion.openapi.links import add_links

#: In the order in which readers need them.
METHODS = ("post", "get", "put", "patch", "delete")
#: The prefix that drf-spectacular gives the names of PATCH bodies.
_PATCH = "Patched"
_NULL = {"type": "null"}


def finish_document(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """The hook: operations in reading order, shared refusals, schemas fit for generators."""
    components = result["components"]
    result["paths"] = _in_reading_order(result)
    for operation in _operations(result):
        operation.setdefault("security", [])
        for parameter in operation.get("parameters", ()):
            if "description" in parameter:
                parameter["description"] = parameter["description"].strip()
        _add_headers(operation)
        operation["responses"] = {
            status: _shared(operation, status, response, components)
            for status, response in operation["responses"].items()
        }
    _share_enums(result)
    for name, schema in _schemas_of_bodies(result).items():
        if name.startswith(_PATCH):
            _keep_what_is_omitted(schema)
        _finish_body(schema, schema.pop("x-needed", ()))
    for name, schema in components["schemas"].items():
        _finish_schema(name, schema)
    add_links(result)
    # RFC 9457, 3.2: a problem type may have extension members.
    components["schemas"]["Problem"]["additionalProperties"] = True
    return result


def _finish_schema(name: str, schema: dict[str, Any]) -> None:
    if name.startswith("Paginated"):
        schema["properties"]["items"]["description"] = "The rows of this page."
    # A docstring's first paragraph is for users of the API, the rest for developers.
    if "description" in schema:
        schema["description"] = schema["description"].split("\n\n")[0]
    for field in schema.get("properties", {}).values():
        if "example" in field:
            field["examples"] = [field.pop("example")]
        # No schema is used for both requests and responses.
        field.pop("readOnly", None)
        field.pop("writeOnly", None)


def _operations(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in result["paths"].values():
        yield from item.values()


def _in_reading_order(result: dict[str, Any]) -> dict[str, Any]:
    """The paths by tag, then in the order of the routes, with parameters in camelCase."""
    order = [tag["name"] for tag in result.get("tags", ())]
    paths = {}
    for path, item in result["paths"].items():
        shown_path = re.sub(r"{\w+}", lambda name: camel_case(name[0]), path)
        paths[shown_path] = {method: item[method] for method in METHODS if method in item}

    def place(path: str) -> int:
        return min(order.index(operation["tags"][0]) for operation in paths[path].values())

    return {path: paths[path] for path in sorted(paths, key=place)}


def _add_headers(operation: dict[str, Any]) -> None:
    has_tag = "`ETag`" in f"{operation['description']} {operation.get('parameters')}"
    for status, response in operation["responses"].items():
        headers = dict(_HEADERS.get(status, {}))
        if has_tag and status in {"200", "304", "412"}:
            headers["ETag"] = _header("string", "The tag of the stored state.")
        if headers:
            response["headers"] = headers


def _header(schema_type: str, text: str) -> Mapping[str, Any]:
    return {"description": text, "schema": {"type": schema_type}}


_RETRY_AFTER = {"Retry-After": _header("integer", "Seconds to wait before the next attempt.")}
_HEADERS = {
    "201": {"Location": _header("string", "The path of the created resource.")},
    "401": {"WWW-Authenticate": _header("string", "Always `Bearer`.")},
    "429": _RETRY_AFTER,
    "503": _RETRY_AFTER,
}


def _shared(
    operation: dict[str, Any], status: str, response: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    """A reference to the refusal, which is stored once in the components.

    It is named after its codes; one that is peculiar to an operation, after the operation.
    """
    if CONTENT_TYPE not in response.get("content", {}):
        return response
    codes = response["content"][CONTENT_TYPE]["examples"]  # in CamelCase
    kept = components.setdefault("responses", {})
    name = "Or".join(codes)
    if len(codes) > 2 or kept.setdefault(name, response) != response:
        name = refusal_name(operation, status)
        kept[name] = response
    return {"$ref": f"#/components/responses/{name}"}


def _share_enums(result: dict[str, Any]) -> None:
    """Refer to an enum wherever it is repeated, and write null as a type.

    drf-spectacular does both in properties of objects only, and makes null a schema of its own.
    """
    schemas = result["components"]["schemas"]
    schemas.pop("NullEnum", None)
    enums = {name: schema["enum"] for name, schema in schemas.items() if "enum" in schema}
    # As sets, because filters list the values in another order.
    named = {frozenset(values): name for name, values in enums.items()}

    def share(node: Any) -> None:
        for child in node.values() if isinstance(node, dict) else node:
            if isinstance(child, dict):
                if child.get("$ref") == "#/components/schemas/NullEnum":
                    child.clear()
                    child.update(_NULL)
                name = named.get(frozenset(child.get("enum", ())))
                if name and child is not schemas[name]:
                    del child["enum"], child["type"]
                    child.pop("minLength", None)
                    child["$ref"] = f"#/components/schemas/{name}"
            if isinstance(child, dict | list):
                share(child)

    share(result)


def _schemas_of_bodies(result: dict[str, Any]) -> dict[str, Any]:
    """The object schemas of request bodies by name, including nested ones."""
    schemas, found = result["components"]["schemas"], {}
    wanted = [body for op in _operations(result) if (body := op.get("requestBody"))]
    while wanted:
        for name in re.findall(r"'#/components/schemas/(\w+)'", repr(wanted.pop())):
            if name not in found and "properties" in schemas[name]:
                found[name] = schemas[name]
                wanted.append(schemas[name])
    return found


def _finish_body(schema: dict[str, Any], required: Collection[str]) -> None:
    """Remove defaults; what is not `required` in the whole body may be null.

    Generators would demand, or send, a field that has a default: a PATCH would erase it.
    """
    for name, field in schema["properties"].items():
        field.pop("default", None)
        if name not in required:
            _explain_null(field)


def _keep_what_is_omitted(schema: dict[str, Any]) -> None:
    schema["description"] = "What to change; fields that are not sent stay as they are."
    for field in schema["properties"].values():
        field["description"] = re.sub(r" ?Default: [^.]*\.", "", field["description"])


def _explain_null(field: dict[str, Any]) -> None:
    description = field.get("description", "")
    options = (field, *field.get("oneOf", ()))
    if any("null" in option.get("type", ()) for option in options):
        if "null" not in description:
            field["description"] = f"{description} `null` clears it.".strip()
        return
    field["description"] = f"{description} `null` counts as omitted.".strip()
    if "oneOf" in field:
        field["oneOf"] = [*field["oneOf"], _NULL]
    elif "type" in field and "enum" not in field:
        field["type"] = [field["type"], "null"]
    else:
        kind = field.pop("allOf", None) or [{"$ref": field.pop("$ref")}]
        field["oneOf"] = [*kind, _NULL]
