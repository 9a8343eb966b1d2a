"""The arguments of the tools are those of the OpenAPI document."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from plugins.mcp.names import names_people
from plugins.mcp.shapes import MOST_VALUES
from plugins.mcp.tools import KEY, REFERENCES, TOOLS, schemas
from tests.document import DOCUMENT, ROOT, usual_plugins
from tripcompanion.plugin import plugins

pytestmark = pytest.mark.once

#: Those of plugins follow from their views.
ADDED = {name for app in plugins() for name in app.tools}
OWN = {name: tool for name, tool in TOOLS.items() if name not in ADDED}
FILE = ROOT / "plugins" / "mcp" / "schemas.json"
COMPONENT = "#/components/schemas/"
#: Operations whose fields another tool describes, which their descriptions name.
TOLD_ELSEWHERE = {"previewExpense", "updateExpense", "updateTrip"}
#: How long the text on an argument may be; a longer one ends at a comma.
MOST_CHARS = 90
#: What has another name, or what assistants have no use for.
NOT_TAKEN = {"format", "from", "to", "payer", "receiptUrl", "imageUrl", "filter", "image_url"}
OPERATIONS = {
    operation["operationId"]: operation
    for path in DOCUMENT["paths"].values()
    for operation in path.values()
    if isinstance(operation, dict) and "operationId" in operation
}


@usual_plugins
def test_the_page_has_every_tool_and_no_other():
    tools = (ROOT / "docs" / "assistants.md").read_text().partition("\n## Tools\n")[2]
    named = re.findall(r"^\| (`.+?`) \|", tools, re.M)
    assert {name for cell in named for name in re.findall(r"`(\w+)`", cell)} == TOOLS.keys()


def schema_of(tool):
    """The JSON schema of the arguments of a tool, complete in itself."""
    properties: dict[str, Any] = {
        name: {"type": ["integer", "string"], "description": REFERENCES[name]}
        for name in tool.references
    }
    properties |= tool.own
    required = [*(tool.needed if tool.run else tool.references)]
    if tool.takes:
        operation = OPERATIONS[tool.takes]
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query" and parameter["name"] not in NOT_TAKEN:
                schema = shown(parameter["schema"], parameter["name"])
                text = {"description": parameter["description"]}
                properties[parameter["name"]] = brief({**text, **schema})
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            component = DOCUMENT["components"]["schemas"][body["$ref"].removeprefix(COMPONENT)]
            for name, schema in component["properties"].items():
                if name not in NOT_TAKEN:
                    kind = brief(shown(schema, name))
                    properties[name] = kind if tool.takes not in TOLD_ELSEWHERE else _types(kind)
            required += component.get("required", [])
    if tool.takes_key:
        text = "Equal keys record once a day."
        properties[KEY] = {"type": "string", "description": text}
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def brief(schema):
    """A schema without what the API checks anyway, and with the first sentence on it."""
    text = re.split(r"[.:;] ", schema.get("description", ""))[0].rstrip(".")
    text = text if len(text) <= MOST_CHARS else text[:MOST_CHARS].rpartition(", ")[0]
    return {**_types(schema), **({"description": text} if text else {})}


def _types(schema):
    """Types, fields and choices of a schema."""
    schema = {
        key: value for one in (*schema.get("allOf", ()), schema) for key, value in one.items()
    }
    options = [_types(one) for one in schema.get("oneOf", schema.get("anyOf", ()))]
    simple = [one["type"] for one in options if one.keys() == {"type"}]
    if options and len(simple) == len(options):
        kinds = [kind for one in simple for kind in ([one] if isinstance(one, str) else one)]
        return {"type": list(dict.fromkeys(kinds))}
    if options:
        return next(one for one in options if one.get("type") != "null")
    found = {key: schema[key] for key in ("type", "enum", "format") if key in schema}
    found.pop("format", None) if found.get("format") != "date" else None
    if "properties" in schema:
        found["properties"] = {name: _types(one) for name, one in schema["properties"].items()}
        if schema.get("required"):
            found["required"] = schema["required"]
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            found[key] = _types(schema[key])
    return found


def shown(schema, field=""):
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
    if names_people(field) and found.get("type") == "integer":
        text = {key: value for key, value in found.items() if key == "description"}
        return {"type": ["integer", "string"], **text}
    return found


def shown_part(key, value, field):
    if key == "properties":
        return {name: shown(schema, name) for name, schema in value.items()}
    return shown(value, field) if isinstance(value, dict | list) and key != "enum" else value


def test_the_file_is_what_the_document_says():
    shapes = {name: schema_of(tool) for name, tool in OWN.items()}
    text = json.dumps(shapes, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("WRITE_TOOL_SCHEMAS"):
        FILE.write_text(text)
    assert FILE.read_text() == text, "run `make schema`"


def test_no_text_ends_before_it_says_something():
    properties = schemas()["list_trips"]["properties"]
    texts = {name: schema["description"] for name, schema in properties.items()}
    assert texts["deleted"].startswith("With `true`, what can be restored")
    assert texts["status"].endswith("or that ended before today")
    assert texts["search"].endswith("title, destination or description")


@pytest.mark.parametrize("name", list(TOOLS))
def test_each_is_a_json_schema_that_is_complete_in_itself(name):
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    if TOOLS[name].takes not in TOLD_ELSEWHERE:
        assert all("description" in one for one in schema["properties"].values())


@pytest.mark.parametrize(
    ("tool", "field", "value"),
    [
        ("ask_for_document", "wanted", "members"),
        ("ask_for_document", "wanted", 3),
        ("change_activity", "date", None),
        ("change_activity", "durationMinutes", None),
    ],
)
def test_those_of_plugins_take_words_and_null_where_the_api_does(tool, field, value):
    jsonschema.validate(value, schemas()[tool]["properties"][field])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, schemas()[tool]["properties"][field])
