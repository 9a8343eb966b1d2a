"""The JSON Schema of a trip's file, which follows from the columns of its tables."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers

from tripcompanion.exchange.formats.trip_companion import FORMAT, VERSION
from tripcompanion.exchange.tables import ATTACHMENTS, TABLES, TRIP, Column

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KINDS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (models.DateTimeField, {"type": "string", "format": "date-time"}),
    (models.DateField, {"type": "string", "format": "date"}),
    (models.BooleanField, {"type": "boolean"}),
    (models.DecimalField, {"type": "number"}),
    (models.IntegerField, {"type": "integer"}),
    (models.ForeignKey, {"type": "integer"}),
    (models.JSONField, {"type": "array", "items": {"type": "string"}}),
    (models.Field, {"type": "string"}),
)
_PERSON: dict[str, Any] = {
    "id": {"type": "integer"},
    "name": {"type": "string"},
    "email": {"type": ["string", "null"]},
    "guest": {"type": "boolean"},
}
_HEAD: dict[str, Any] = {
    "format": {"const": FORMAT},
    "version": {"const": VERSION},
    "exportedAt": {"type": "string", "format": "date-time"},
}
_TEXT = (
    "A trip with all that was entered. Amounts are in major units of the trip's currency, but "
    "`entered` is in that of the expense. Ids connect the rows, and mean nothing elsewhere. Later "
    "versions of the service add columns without another version of the format."
)


_NAMES = [table.name for table in (*TABLES, ATTACHMENTS)]


class TripFile(serializers.Serializer):
    """The whole trip; `docs/trip-export.schema.json` describes every column."""

    json_schema: ClassVar = {
        "type": "object",
        "required": [*_HEAD, TRIP.name, "people", *_NAMES],
        "properties": {
            **_HEAD,
            TRIP.name: {"type": "object", "additionalProperties": True},
            **{
                name: {"type": "array", "items": {"type": "object", "additionalProperties": True}}
                for name in ("people", *_NAMES)
            },
        },
    }


def trip_schema() -> dict[str, Any]:
    """The JSON Schema of the whole file, with every column."""
    tables = {table.name: _array(_columns(table.columns)) for table in (*TABLES, ATTACHMENTS)}
    contents = {**_HEAD, TRIP.name: _row(_columns(TRIP.columns)), "people": _array(_PERSON)}
    return {
        "$schema": _DIALECT,
        "title": "A trip of Trip Companion",
        "description": _TEXT,
        **_row({**contents, **tables}),
    }


def _columns(columns: Iterable[Column]) -> dict[str, Any]:
    return {column.name: _column(column) for column in columns}


def _column(column: Column) -> dict[str, Any]:
    field = column.field
    kind = dict(next(schema for fields, schema in _KINDS if isinstance(field, fields)))
    if column.is_json:
        kind = {"type": "object"}
    elif column.exponent("EUR") is not None:
        kind = {"type": "number"}
    elif field.flatchoices and column.name != "currency":
        kind["enum"] = [str(value) for value, _label in field.flatchoices]
    elif isinstance(field, models.CharField):
        kind["maxLength"] = field.max_length
    return kind | {"type": [kind["type"], "null"]} if field.null else kind


def _row(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _array(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _row(properties)}
