"""Fast serialization: a serializer class is compiled once into a function.

DRF copies the declared fields for every request and calls each of them for every row. Here the
fields of a class are compiled once into a Python function that reads the attributes of a row and
converts those that need it. The serializer remains the declaration: a test checks that both ways
give the same result.

A field that combines two values of a row has an attribute `second_source`, the dotted path to the
second one, and a method `combine(value, second)`, which is not called if the first one is None.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from rest_framework import serializers

from tripcompanion.compiled.functions import function_of
from tripcompanion.compiled.once import IS_COMPILING

#: Serialized nested rows by `id()` of the row; holds the row, so that its id stays unique.
Seen = dict[tuple[int, Any], tuple[Any, Any]]
#: Serializes a row.
Read = Callable[[Any, Seen], Any]

#: Fields whose value, or list of values, needs no conversion; the renderer handles dates and times.
_PLAIN = (
    serializers.IntegerField,
    serializers.CharField,
    serializers.BooleanField,
    serializers.ChoiceField,
    serializers.DateField,
    serializers.DateTimeField,
)


def serialize(shape: Any, instance: Any, context: Mapping[str, Any], *, many: bool = False) -> Any:
    """`instance`, or each of many, serialized as `shape` declares.

    DRF does this if `shape` overrides `to_representation`. An object that occurs in many rows, such
    as a person, is serialized once.
    """
    if not IS_COMPILING or not _is_plain(shape):
        # Not `data`, from which DRF's HTML pages would take the values of their forms.
        return shape(many=many, context=dict(context)).to_representation(instance)
    read, seen = _reading(shape), Seen()
    return [read(row, seen) for row in instance] if many else read(instance, seen)


@cache
def _reading(shape: Any) -> Read:
    """The function that serializes a row as `shape` declares."""
    names: dict[str, Any] = {}
    fields = shape().fields.items()
    parts = [
        f"{name!r}: {_expression(field, f'row.{field.source}', names)}" for name, field in fields
    ]
    return function_of(f"lambda row, seen: {{{', '.join(parts)}}}", names)


def _expression(field: Any, value: str, names: dict[str, Any]) -> str:
    """Python that converts the `value` of a field; it adds what it calls to `names`."""
    if isinstance(field.child if isinstance(field, serializers.ListField) else field, _PLAIN):
        return value
    call = f"call_{len(names)}"
    if isinstance(field, serializers.ListSerializer):
        child: Any = type(field.child)
        names[call] = _reading(child)
        return f"None if (rows := {value}) is None else [{call}(row, seen) for row in rows]"
    if hasattr(field, "second_source"):
        names[call], more = field.combine, f", row.{field.second_source}"
    elif isinstance(field, serializers.Serializer) and _is_plain(type(field)):
        names[call], more = _reading_once(type(field)), ", seen"
    else:
        names[call], more = field.to_representation, ""
    return f"None if (value := {value}) is None else {call}(value{more})"


def _is_plain(shape: Any) -> bool:
    """Whether a serializer uses DRF's field-by-field `to_representation`."""
    return shape.to_representation is serializers.Serializer.to_representation


def _reading_once(shape: Any) -> Read:
    read = _reading(shape)

    def read_once(row: Any, seen: Seen) -> Any:
        key = (id(row), shape)
        found = seen.get(key)
        if found is None:
            found = seen[key] = (row, read(row, seen))
        return found[1]

    return read_once
