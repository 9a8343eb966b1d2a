"""The arguments of the tools are those of the OpenAPI document."""

import json
import os
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from tests.document import DOCUMENT, ROOT
from tripcompanion.mcp.names import names_people
from tripcompanion.mcp.tools import KEY, REFERENCES, TOOLS, Tool

pytestmark = pytest.mark.once

FILE = ROOT / "tripcompanion" / "mcp" / "schemas.json"
COMPONENT = "#/components/schemas/"
#: Longer lists of values are left to the description.
MOST_VALUES = 40
NAMES_TOO = ' A name, an e-mail address or "me" is taken in place of a user id.'
OPERATIONS = {
    operation["operationId"]: operation
    for path in DOCUMENT["paths"].values()
    for operation in path.values()
    if isinstance(operation, dict) and "operationId" in operation
}


def schema_of(tool: Tool) -> dict[str, Any]:
    """The JSON schema of the arguments of a tool, complete in itself."""
    properties: dict[str, Any] = {
        name: {"type": ["integer", "string"], "description": REFERENCES[name]}
        for name in tool.references
    }
    optional = {"trip"} if tool.run else set()
    required = [name for name in tool.references if name not in optional]
    if tool.run and tool.references:
        text = "Words that the expense has."
        properties["search"] = {"type": "string", "minLength": 1, "description": text}
        required.append("search")
    if tool.takes:
        operation = OPERATIONS[tool.takes]
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query" and parameter["name"] != "format":
                schema = shown(parameter["schema"], parameter["name"])
                properties[parameter["name"]] = {"description": parameter["description"], **schema}
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            component = DOCUMENT["components"]["schemas"][body["$ref"].removeprefix(COMPONENT)]
            for name, schema in component["properties"].items():
                properties[name] = shown(schema, name)
            required += component.get("required", [])
    if tool.takes_key:
        text = "Calls with one key record once, for a day."
        text += " Default: derived from the arguments." if tool.takes else ""
        properties[KEY] = {"type": "string", "minLength": 1, "maxLength": 255, "description": text}
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def shown(schema: Any, field: str = "") -> Any:
    """A schema without references, in which people are named as well."""
    if isinstance(schema, list):
        return [shown(item, field) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if reference := schema.get("$ref"):
        name = reference.removeprefix(COMPONENT)
        if name == "Id" and names_people(field):
            return {"type": ["integer", "string"]}
        component = DOCUMENT["components"]["schemas"][name]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**shown(component, field), **rest}
    if len(schema.get("enum", ())) > MOST_VALUES:
        return {"type": "string"}
    found = {key: shown_part(key, value, field) for key, value in schema.items()}
    if names_people(field):
        if found.get("type") == "integer":
            found = {"type": ["integer", "string"]} | {
                key: text for key, text in found.items() if key == "description"
            }
        found.pop("propertyNames", None)
        if "description" in found:
            found["description"] += NAMES_TOO
    return found


def shown_part(key: str, value: Any, field: str) -> Any:
    if key == "properties":
        return {name: shown(schema, name) for name, schema in value.items()}
    return shown(value, field) if isinstance(value, dict | list) and key != "enum" else value


def test_the_file_is_what_the_document_says() -> None:
    schemas = {name: schema_of(tool) for name, tool in TOOLS.items()}
    text = json.dumps(schemas, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("WRITE_TOOL_SCHEMAS"):
        FILE.write_text(text)
    assert FILE.read_text() == text, "run `make schema`"


@pytest.mark.parametrize("name", list(TOOLS))
def test_each_is_a_json_schema_that_is_complete_in_itself(name: str) -> None:
    schema = json.loads(FILE.read_text())[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    assert all("description" in one for one in schema["properties"].values())
