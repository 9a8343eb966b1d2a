"""The arguments of tools of plugins, from the serializers of the views that answer them."""

import re
from typing import Any

from drf_spectacular.drainage import get_override
from rest_framework import serializers

from plugins.fields import BoundedNumber
from plugins.mcp.names import names_people
from tripcompanion.api.serializers import camel_case

_TYPES: tuple[tuple[Any, dict[str, Any]], ...] = (
    ((serializers.BooleanField,), {"type": "boolean"}),
    ((serializers.IntegerField, BoundedNumber), {"type": "integer"}),
    ((serializers.DateField,), {"type": "string", "format": "date"}),
    ((serializers.CharField, serializers.DateTimeField), {"type": "string"}),
)
#: An id, or an exact number.
_OTHER = {"type": ["integer", "number", "string"]}
#: Longer lists of values are left to the description.
MOST_VALUES = 12
_PAGE = {
    "page": {"type": "integer", "description": "The page number, from 1"},
    "pageSize": {"type": "integer", "description": "Rows per page"},
}


def properties_of(view: Any, method: str) -> tuple[dict[str, Any], list[str]]:
    """The fields that an action takes, as JSON schemas, and those of them that are needed."""
    action = view.actions[method.lower()]
    shapes = view.cls.query_serializers if method == "GET" else view.cls.request_serializers
    fields = shapes[action]().fields if action in shapes else {}
    pages = _PAGE if action in view.cls.lists and view.cls.pagination_class else {}
    properties = {camel_case(name): _property(camel_case(name), fields[name]) for name in fields}
    for name, field in fields.items():
        shape = properties[camel_case(name)]
        if method == "PATCH" and field.allow_null and isinstance(shape.get("type"), str):
            # It clears the field.
            shape["type"] = [shape["type"], "null"]
    # A PATCH takes what it is given.
    needed = [camel_case(name) for name in fields if fields[name].required and method != "PATCH"]
    return {**properties, **pages}, needed


def _property(name: str, field: Any) -> dict[str, Any]:
    text = re.split(r"[.:;] ", str(field.help_text or ""))[0].rstrip(".")
    return {**_type(name, field), **({"description": text} if text else {})}


def _type(name: str, field: Any) -> dict[str, Any]:
    if isinstance(field, BoundedNumber) and "oneOf" in get_override(field, "field"):
        # A number, or a word for one, which the description names.
        return {"type": ["integer", "string"]}
    if isinstance(field, serializers.ListField | serializers.ListSerializer):
        return {"type": "array", "items": _type(name, field.child)}
    if isinstance(field, serializers.Serializer):
        parts = {camel_case(one): part for one, part in field.fields.items()}
        return {
            "type": "object",
            "properties": {one: _property(one, part) for one, part in parts.items()},
            "required": [one for one, part in parts.items() if part.required],
        }
    if names_people(name):
        return {"type": ["integer", "string"]}
    if isinstance(field, serializers.ChoiceField):
        return (
            {"enum": [*field.choices]} if len(field.choices) <= MOST_VALUES else {"type": "string"}
        )
    return next((kind for fields, kind in _TYPES if isinstance(field, fields)), _OTHER)
