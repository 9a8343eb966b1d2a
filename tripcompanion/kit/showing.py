"""The fast way out: what a shape declares, compiled once into plain attribute reads.

A serializer copies its declared fields for every request and asks each of them for every row.
Here a shape's fields are turned once, for each class, into a list of names and attributes, read
all at once, and the few functions that turn a value into what is shown. The shape stays the
declaration: a test holds both ways together.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from rest_framework import serializers

from tripcompanion.kit.currencies import as_number
from tripcompanion.kit.serializers import MoneyField, Shape

#: Turns what an attribute holds, and the row, into what is shown.
Convert = Callable[[Any, Any], Any]

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
    return _read(_compiled(shape), row)


class _Compiled(NamedTuple):
    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    converted: tuple[tuple[str, Convert], ...]


def _read(shape: _Compiled, row: Any) -> dict[str, Any]:
    shown = dict(zip(shape.names, shape.values(row), strict=True))
    for name, convert in shape.converted:
        shown[name] = convert(shown[name], row)
    return shown


@cache
def _compiled(shape: Any) -> _Compiled:
    declared: Any = shape()
    fields = dict(declared.fields)
    values: Any = attrgetter(*(field.source for field in fields.values()))
    converted = ((name, _converting(field)) for name, field in fields.items())
    return _Compiled(
        tuple(fields),
        values if len(fields) > 1 else lambda row: (values(row),),
        tuple((name, convert) for name, convert in converted if convert is not None),
    )


def _converting(field: Any) -> Convert | None:
    """What is done with the value of a field; None if it is shown as it is."""
    if isinstance(field, _PLAIN):
        return None
    if isinstance(field, serializers.ListSerializer):
        child: Any = type(field.child)
        inner = _compiled(child)
        return lambda rows, _owner: [_read(inner, row) for row in rows]
    if isinstance(field, Shape):
        inner = _compiled(type(field))
        return lambda row, _owner: _read(inner, row)
    if isinstance(field, MoneyField):
        currency = attrgetter(field.currency_path)
        return lambda minor, row: None if minor is None else as_number(minor, currency(row))
    show_value = field.to_representation
    return lambda value, _row: None if value is None else show_value(value)
