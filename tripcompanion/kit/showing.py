"""The fast way out: what a shape declares, compiled once into plain attribute reads.

A serializer copies its declared fields for every request and asks each of them for every row.
Here a shape's fields are turned once, for each class, into a list of names and functions; a row
is then shown by calling them. The shape stays the declaration: a test holds both ways together.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any

from rest_framework import serializers

from tripcompanion.kit.serializers import Shape

Reader = Callable[[Any], Any]

#: Fields whose value is shown as it is; the renderer knows dates and instants.
_PLAIN = (
    serializers.IntegerField,
    serializers.CharField,
    serializers.BooleanField,
    serializers.ChoiceField,
    serializers.DateField,
    serializers.DateTimeField,
)


def show(shape: Any, row: Any, context: Mapping[str, Any]) -> Any:
    """`row` as `shape` declares it. A shape with a way of its own is asked itself."""
    if shape.to_representation is not Shape.to_representation:
        return shape(row, context=dict(context)).data
    return _read(_readers(shape), row)


def _read(readers: tuple[tuple[str, Reader], ...], row: Any) -> dict[str, Any]:
    return {name: read(row) for name, read in readers}


@cache
def _readers(shape: Any) -> tuple[tuple[str, Reader], ...]:
    declared: Any = shape()
    return tuple((name, _reader(field)) for name, field in declared.fields.items())


def _reader(field: Any) -> Reader:
    get = attrgetter(field.source)
    kind: Any = type(field)
    if issubclass(kind, serializers.ListSerializer):
        kind = type(field.child)
        return _many(get, _readers(kind))
    if issubclass(kind, Shape):
        return _one(get, _readers(kind))
    if isinstance(field, _PLAIN):
        return get
    return _converted(field)


def _one(get: Reader, readers: tuple[tuple[str, Reader], ...]) -> Reader:
    def read(row: Any) -> Any:
        return _read(readers, get(row))

    return read


def _many(get: Reader, readers: tuple[tuple[str, Reader], ...]) -> Reader:
    def read(row: Any) -> Any:
        rows = get(row)
        return [_read(readers, item) for item in rows]

    return read


def _converted(field: Any) -> Reader:
    def read(row: Any) -> Any:
        value = field.get_attribute(row)
        return None if value is None else field.to_representation(value)

    return read
