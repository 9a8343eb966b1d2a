"""What breaks clients is found in two documents, and nothing else."""

from copy import deepcopy
from typing import Any

import pytest

from clients.breaking import Comparison

pytestmark = pytest.mark.once

OLD: dict[str, Any] = {
    "paths": {
        "/trips": {
            "get": {
                "operationId": "listTrips",
                "security": [{}],
                "parameters": [
                    {"in": "query", "name": "page", "schema": {"type": "integer", "minimum": 1}}
                ],
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "array",
                                    "items": {"$ref": "#/components/schemas/Trip"},
                                }
                            }
                        }
                    }
                },
            },
            "post": {
                "operationId": "createTrip",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/New"}}
                    }
                },
                "responses": {"201": {"description": ""}},
            },
        }
    },
    "components": {
        "schemas": {
            "Trip": {
                "type": "object",
                "required": ["id", "role"],
                "properties": {
                    "id": {"type": "integer"},
                    "role": {"enum": ["OWNER", "VIEWER"]},
                    "title": {"type": ["string", "null"]},
                    "parent": {"anyOf": [{"$ref": "#/components/schemas/Trip"}, {"type": "null"}]},
                },
            },
            "New": {
                "type": "object",
                "additionalProperties": False,
                "required": ["title"],
                "properties": {
                    "title": {"type": "string", "maxLength": 100},
                    "role": {"enum": ["OWNER", "VIEWER"]},
                    "note": {"type": ["string", "null"]},
                },
            },
        }
    },
}
GET, POST = "paths./trips.get", "paths./trips.post"
ANSWERED, SENT = "components.schemas.Trip", "components.schemas.New"
GONE = object()

BREAKS: list[tuple[str, Any, str]] = [
    (GET, GONE, "GET /trips: is gone"),
    (f"{GET}.operationId", "trips", "GET /trips: operationId listTrips is trips"),
    (f"{GET}.security", [{"bearer": []}], "GET /trips: needs a log-in"),
    (f"{GET}.parameters", [], "GET /trips: the query parameter page is gone"),
    (f"{GET}.parameters.0.required", True, "GET /trips: the query parameter page is required"),
    (f"{GET}.parameters.0.schema.minimum", 2, "GET /trips ?page: minimum 1 is 2"),
    (f"{GET}.responses", {"202": {}}, "GET /trips: no longer answers 200"),
    (f"{GET}.responses.200.content", {}, "GET /trips: no longer answers application/json"),
    (f"{ANSWERED}.properties.id", GONE, "Trip ->: .id is gone"),
    (f"{ANSWERED}.properties.id.type", "string", "Trip -> .id: integer is string"),
    (f"{ANSWERED}.properties.id.type", ["integer", "null"], "Trip -> .id: integer is null"),
    (f"{ANSWERED}.required", ["role"], "Trip ->: .id may be missing"),
    (f"{ANSWERED}.properties.role.enum.2", "GUEST", "Trip -> .role: now also GUEST"),
    (f"{ANSWERED}.properties.role", {"type": "string"}, "Trip -> .role: has no list of values"),
    (f"{POST}.requestBody.required", True, "POST /trips: a body is required"),
    (f"{POST}.requestBody", GONE, "POST /trips: takes no body"),
    (f"{POST}.requestBody.content", {}, "POST /trips: no longer takes application/json"),
    (f"{SENT}.properties.note", GONE, "New <-: .note is gone"),
    (f"{SENT}.properties.note.type", "string", "New <- .note: null is string"),
    (f"{SENT}.required", ["title", "note"], "New <-: .note is required"),
    (f"{SENT}.properties.title.maxLength", 99, "New <- .title: maxLength 100 is 99"),
    (f"{SENT}.properties.title.pattern", "^a", "New <- .title: pattern None is ^a"),
    (f"{SENT}.properties.role.enum", ["OWNER"], "New <- .role: no longer VIEWER"),
]
BREAKS_NONE: list[tuple[str, Any]] = [
    ("paths./new", {"get": OLD["paths"]["/trips"]["get"]}),
    (f"{GET}.parameters.1", {"in": "query", "name": "search", "schema": {"type": "string"}}),
    (f"{GET}.security", [{}, {"bearer": []}]),
    (f"{GET}.responses.404", {}),
    (f"{ANSWERED}.properties.note", {"type": "string"}),
    (f"{ANSWERED}.properties.title.type", "string"),
    (f"{ANSWERED}.properties.role.enum", ["OWNER"]),
    (f"{ANSWERED}.required", ["id", "role", "title"]),
    (f"{SENT}.properties.new", {"type": "string"}),
    (f"{SENT}.properties.role.enum.2", "GUEST"),
    (f"{SENT}.properties.title.maxLength", 200),
    (f"{SENT}.properties.title.maxLength", GONE),
    (f"{SENT}.required", []),
]


def changed(place, value):
    """The old document with another value at a place; in a list, a new number adds it."""
    document: Any = deepcopy(OLD)
    *parents, last = place.split(".")
    found = document
    for name in parents:
        found = found[int(name)] if isinstance(found, list) else found[name]
    if value is GONE:
        del found[last]
    elif isinstance(found, list):
        found.insert(int(last), value)
    else:
        found[last] = value
    return document


@pytest.mark.parametrize(("place", "value", "line"), BREAKS, ids=[row[2] for row in BREAKS])
def test_a_break_is_named_once(place, value, line):
    assert Comparison(OLD, changed(place, value)).run() == [line]


@pytest.mark.parametrize(("place", "value"), BREAKS_NONE, ids=[row[0] for row in BREAKS_NONE])
def test_an_addition_breaks_nothing(place, value):
    assert Comparison(OLD, changed(place, value)).run() == []


def test_a_document_breaks_nothing_of_its_own():
    assert Comparison(OLD, deepcopy(OLD)).run() == []
