"""The fast way out: what a shape declares, compiled once into plain attribute reads.

A serializer copies its declared fields for every request and asks each of them for every row.
Here a shape's fields are turned once, for each class, into a list of names and attributes, read
all at once, and the few functions that turn a value into what is shown. The shape stays the
declaration: a test holds both ways together.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from rest_framework import serializers

from tripcompanion.kit.currencies import as_number
from tripcompanion.kit.rendering import ExactJSONRenderer
from tripcompanion.kit.serializers import MoneyField, Shape

_CHUNK_ROWS = 100

#: Rows inside of others as they were shown, by their identity; with the row, so that it stays one.
Seen = dict[tuple[int, Any], tuple[Any, Any]]
#: Turns the value of an attribute into what is shown; the second is the currency of an amount.
Convert = Callable[[Any, Any, Seen], Any]

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
    """`row` as `shape` declares it."""
    return show_all(shape, [row], context)[0]


def show_all(shape: Any, rows: Iterable[Any], context: Mapping[str, Any]) -> list[Any]:
    """Each of `rows` as `shape` declares it. A shape with a way of its own is asked itself.

    What occurs in many rows, such as a person, is read once.
    """
    if shape.to_representation is not Shape.to_representation:
        return [shape(row, context=dict(context)).data for row in rows]
    compiled, seen = _compiled(shape), Seen()
    return [_read(compiled, row, seen) for row in rows]


def show_as_json(shape: Any, rows: Iterable[Any], context: Mapping[str, Any]) -> bytes:
    """`show_all` as JSON; of thousands of rows nothing but their text is kept."""
    left, render, texts = iter(rows), ExactJSONRenderer().render, [b"["]
    while chunk := list(islice(left, _CHUNK_ROWS)):
        texts += [render(show_all(shape, chunk, context))[1:-1], b","]
    texts[-1 if len(texts) > 1 else 1 :] = [b"]"]
    return b"".join(texts)


class _Compiled(NamedTuple):
    """The names of a shape, the attributes behind them, and where a value is converted.

    Behind the attributes of the names come those of the currencies; `converted` says at which
    place the one of an amount is.
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
        if isinstance(field, MoneyField):
            if field.currency_path not in paths[len(fields) :]:
                paths.append(field.currency_path)
            at = paths.index(field.currency_path, len(fields))
        if (convert := _converting(field)) is not None:
            converted.append((name, convert, at))
    # One path alone would not make a tuple.
    return _Compiled(tuple(fields), attrgetter(*paths, paths[0]), tuple(converted))


def _converting(field: Any) -> Convert | None:
    """What is done with the value of a field; None if it is shown as it is."""
    if isinstance(field, _PLAIN):
        return None
    if isinstance(field, MoneyField):
        return lambda minor, currency, _: None if minor is None else as_number(minor, currency)
    if isinstance(field, serializers.ListSerializer):
        child: Any = type(field.child)
        inner = _compiled(child)
        return lambda rows, _currency, seen: [_read(inner, row, seen) for row in rows]
    if isinstance(field, Shape):
        return _reading_once(type(field))
    show_value = field.to_representation
    return lambda value, _currency, _seen: None if value is None else show_value(value)


def _reading_once(shape: Any) -> Convert:
    inner = _compiled(shape)

    def read_once(row: Any, _currency: Any, seen: Seen) -> Any:
        key = (id(row), shape)
        if key not in seen:
            seen[key] = (row, _read(inner, row, seen))
        return seen[key][1]

    return read_once
