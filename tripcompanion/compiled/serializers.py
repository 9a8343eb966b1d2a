"""Fast serialization: the fields of a serializer class, compiled once into attribute reads.

DRF copies the declared fields for every request and calls each of them for every row. Here the
fields of a class are compiled once into a list of names, one read of all attributes, and the few
functions that convert a value. The serializer remains the declaration: a test checks that both
ways give the same result.

A field that combines two values of a row has an attribute `second_source`, the dotted path to the
second one, and a method `combine(value, second)`, which is not called if the first one is None.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from rest_framework import serializers

from tripcompanion.compiled.once import IS_COMPILING

#: Serialized nested rows by `id()` of the row; holds the row, so that its id stays unique.
Seen = dict[tuple[int, Any], tuple[Any, Any]]
#: Converts the value of an attribute; the second argument is the value of `second_source`.
Convert = Callable[[Any, Any, Seen], Any]

#: Fields whose value needs no conversion; the renderer handles dates and times.
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
    compiled, seen = _compiled(shape), Seen()
    if many:
        return [_read(compiled, row, seen) for row in instance]
    return _read(compiled, instance, seen)


class _Compiled(NamedTuple):
    """A serializer's field names, their attributes, and the values to convert.

    The second attributes follow those of the names; `converted` has the position of the one that a
    field with a `second_source` needs.
    """

    names: tuple[str, ...]
    attributes: Callable[[Any], tuple[Any, ...]]
    converted: tuple[tuple[str, Convert, int], ...]


def _read(shape: _Compiled, row: Any, seen: Seen) -> dict[str, Any]:
    values = shape.attributes(row)
    shown = dict(zip(shape.names, values, strict=False))
    for name, convert, at in shape.converted:
        shown[name] = convert(shown[name], values[at], seen)
    return shown


@cache
def _compiled(shape: Any) -> _Compiled:
    declared: Any = shape()
    fields = dict(declared.fields)
    paths = [field.source for field in fields.values()]
    converted = []
    for name, field in fields.items():
        at = 0
        if second := getattr(field, "second_source", None):
            if second not in paths[len(fields) :]:
                paths.append(second)
            at = paths.index(second, len(fields))
        if (convert := _converting(field)) is not None:
            converted.append((name, convert, at))
    # With a single path, attrgetter would not return a tuple.
    return _Compiled(tuple(fields), attrgetter(*paths, paths[0]), tuple(converted))


def _converting(field: Any) -> Convert | None:
    """The conversion of a field's value; None if it needs none."""
    if isinstance(field, _PLAIN):
        return None
    if hasattr(field, "second_source"):
        combine = field.combine
        return lambda value, second, _: None if value is None else combine(value, second)
    if isinstance(field, serializers.ListSerializer):
        child: Any = type(field.child)
        inner = _compiled(child)
        return lambda rows, _second, seen: [_read(inner, row, seen) for row in rows]
    if isinstance(field, serializers.Serializer) and _is_plain(type(field)):
        return _reading_once(type(field))
    show_value = field.to_representation
    return lambda value, _second, _seen: None if value is None else show_value(value)


def _is_plain(shape: Any) -> bool:
    """Whether a serializer uses DRF's field-by-field `to_representation`."""
    return shape.to_representation is serializers.Serializer.to_representation


def _reading_once(shape: Any) -> Convert:
    inner = _compiled(shape)

    def read_once(row: Any, _second: Any, seen: Seen) -> Any:
        if row is None:
            return None
        key = (id(row), shape)
        if key not in seen:
            seen[key] = (row, _read(inner, row, seen))
        return seen[key][1]

    return read_once
