"""Links of the OpenAPI document: from what makes an object to what reads it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_SCHEMAS = "#/components/schemas/"


def add_links(result: dict[str, Any]) -> None:
    """Let each response 201 say which operation reads the object, and with which parameters."""
    readers = list(_readers(result))
    for path, item in result["paths"].items():
        made = item.get("post", {}).get("responses", {}).get("201")
        name = _schema_of(made) if made else ""
        if not name:
            continue
        schema = result["components"]["schemas"][name]
        below = re.compile(rf"{re.escape(path)}/{{\w+}}")
        user = schema["properties"].get("user", {}).get("$ref", "").removeprefix(_SCHEMAS)
        found = [reader for reader in readers if below.fullmatch(reader[0])]
        for shape in (name, user):
            found = found or [reader for reader in readers if reader[2] == shape]
        for reader, operation_id, _name in found[:1]:
            made["links"] = {
                operation_id: {
                    "operationId": operation_id,
                    "parameters": {
                        parameter: _value(parameter, path, schema)
                        for parameter in re.findall(r"{(\w+)}", reader)
                    },
                }
            }


def _readers(result: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Path, id and response schema of the operations that read one object by its id."""
    for path, item in result["paths"].items():
        if "get" in item and path.endswith("Id}"):
            name = _schema_of(item["get"]["responses"].get("200", {}))
            yield path, item["get"]["operationId"], name


def _schema_of(response: Mapping[str, Any]) -> str:
    content = response.get("content", {}).get("application/json", {})
    reference: str = content.get("schema", {}).get("$ref", "")
    return reference.removeprefix(_SCHEMAS)


def _value(parameter: str, path: str, schema: Mapping[str, Any]) -> str:
    """Where the value of a parameter of the path is: in the response, or in the request."""
    properties = schema["properties"]
    if parameter == "userId" and "user" in properties:
        return "$response.body#/user/id"
    if parameter in properties:
        return f"$response.body#/{parameter}"
    return f"$request.path.{parameter}" if f"{{{parameter}}}" in path else "$response.body#/id"
