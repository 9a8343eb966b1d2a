"""A trip as a file in our own format: everything, so that it can be imported without loss.

Its JSON Schema follows from the columns of its tables.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, ClassVar

from django.db import models
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers

from plugins.exchange.formats.trip_companion import FORMAT, VERSION
from plugins.exchange.tables import TABLES, TRIP, WRITTEN, Column, trip_row
from plugins.written_files import written_file
from tripcompanion.api.rendering import ExactJSONRenderer
from trips.models import JournalEntry, Member, Trip
from users.models import User

#: How many people are looked up at a time.
_CHUNK_PEOPLE = 500

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
_NAMES = [table.name for table in (*TABLES, *WRITTEN)]

_render = ExactJSONRenderer().render


def json_file(trip: Trip) -> IO[bytes]:
    """A temporary file with the trip as JSON, ready to be read. Call it in a snapshot.

    It shows e-mail addresses to the reader of the response; see `User.shown_email`.
    """
    return written_file(lambda file: write_json(trip, file.write))


def write_json(trip: Trip, write: Callable[[bytes], Any]) -> None:
    """Write the trip as JSON, a row at a time."""
    head = {"format": FORMAT, "version": VERSION, "exportedAt": timezone.now()}
    write(_render({**head, "trip": trip_row(trip)})[:-1])
    tables = ((table.name, table.rows(trip)) for table in (*TABLES, *WRITTEN))
    for name, rows in (("people", _people(trip)), *tables):
        write(b',"%s":' % name.encode())
        _write_array(rows, write)
    write(b"}")


def _write_array(rows: Iterable[Any], write: Callable[[bytes], Any]) -> None:
    before = b"["
    for row in rows:
        write(before + _render(row))
        before = b",\n"
    write(b"]" if before != b"[" else b"[]")


def _people(trip: Trip) -> Iterator[dict[str, Any]]:
    """Everybody whom a row of the trip names: present and former members, and administrators."""
    named: QuerySet[Any, Any] = Member.objects.filter(trip=trip).order_by().values_list("user")
    others = [
        JournalEntry.objects.filter(trip=trip.pk, by__isnull=False).values_list("by"),
        *(
            table.model._default_manager.filter(trip=trip.pk).values_list("created_by")
            for table in (*TABLES, *WRITTEN)
            if any(field.name == "created_by" for field in table.model._meta.concrete_fields)
        ),
    ]
    named = named.union(*(rows.order_by() for rows in others)).order_by()
    ids = sorted(pk for (pk,) in named)
    for first in range(0, len(ids), _CHUNK_PEOPLE):
        found = User.objects.filter(pk__in=ids[first : first + _CHUNK_PEOPLE])
        for user in found.order_by("pk"):
            yield {
                "id": user.pk,
                "name": user.shown_name,
                "email": user.shown_email,
                "guest": user.is_guest,
            }


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
    tables = {table.name: _array(_columns(table.columns)) for table in (*TABLES, *WRITTEN)}
    contents = {**_HEAD, TRIP.name: _row(_columns(TRIP.columns)), "people": _array(_PERSON)}
    return {
        "$schema": _DIALECT,
        "title": "A trip of Trip Companion",
        "description": _TEXT,
        **_row({**contents, **tables}),
    }


def unknown_names(paths: Iterable[str]) -> list[str]:
    """What a file has that this service has not: names of a newer release, or of a plugin.

    `paths` are those in the file, as `SourceFile.head` has them.
    """
    columns = {table.name: {c.name for c in table.columns} for table in (TRIP, *TABLES, *WRITTEN)}
    columns["people"] = {*_PERSON}
    found = set()
    for path in paths:
        top, *rest = path.split(".")
        # All but the trip are lists of rows.
        names = rest if top == TRIP.name else rest[1:]
        if top not in columns:
            found.add(top)
        elif names and names[0] not in columns[top]:
            found.add(f"{top}.{names[0]}")
    return sorted(found - {"", *_HEAD})


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
