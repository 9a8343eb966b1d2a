"""Rows of a statement as instances of their models, made by one function for each statement."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.db import connection, models
from django.db.models.base import ModelState

Row = Sequence[Any]
#: Makes an instance of a row; the second holds what was made of earlier ones.
Make = Callable[[Row, dict[Any, Any]], Any]


def converter(functions: list[Any], column: Any) -> Callable[[Any], Any]:
    """What the ORM does with each value of a column, as one function."""
    if connection.vendor == "sqlite" and isinstance(column.output_field, models.DateTimeField):
        return _instant

    def convert(value: Any) -> Any:
        for function in functions:
            value = function(value, column, connection)
        return value

    return convert


def _instant(value: Any) -> datetime | None:
    """SQLite keeps UTC without saying so."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return None if value is None else value.replace(tzinfo=UTC)


def maker(info: Any, select: Any, annotations: Mapping[str, int] | None) -> Make:
    """Makes instances as `from_db` would, without signals and the constructor's questions.

    Of the same related row, say a person in many splits, there is one instance among `known`.
    """
    model = info["model"]
    columns = {select[at][0].target.attname: at for at in info["select_fields"]}
    key_at, is_root = columns[model._meta.pk.attname], annotations is not None
    columns |= annotations or {}
    names, pick = tuple(columns), itemgetter(*columns.values())
    related = tuple(
        (inner["field"].name, maker(inner, select, None))
        for inner in info.get("related_klass_infos", ())
    )
    alias = connection.alias

    def make(row: Row, known: dict[Any, Any]) -> Any:
        instance, state = model.__new__(model), ModelState()
        loaded = instance.__dict__ = dict(zip(names, pick(row), strict=True))
        loaded["_state"] = state
        cached = {name: make_related(row, known) for name, make_related in related}
        state.__dict__ = {"adding": False, "db": alias, "fields_cache": cached}
        return instance

    def make_once(row: Row, known: dict[Any, Any]) -> Any:
        key = (model, row[key_at])
        found = known.get(key)
        if found is None and key[1] is not None:
            found = known[key] = make(row, known)
        return found

    return make if is_root else make_once
