"""The fields of rows as the API shows them, for the journal and for all that lists them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db import models

from tripcompanion.api.serializers import camel_case


@cache
def plain_fields(model: type[models.Model]) -> "Mapping[str, models.Field[Any, Any]]":
    """The columns that are shown as they are, by their names in the API.

    The history, CSV files and the admin site take them from here, so they have each new column. It
    is plain if it is editable, and neither a key, nor an amount in minor units, nor one of the
    model's `special_columns`, which all of them name themselves.
    """
    special = getattr(model, "special_columns", ())
    return {
        camel_case(field.name): field
        for field in model._meta.concrete_fields
        if field.editable
        and not (field.primary_key or field.is_relation)
        and not field.name.endswith("_minor")
        and field.name not in special
    }


def plain_values(row: models.Model) -> dict[str, Any]:
    """The values of the plain fields, by their names in the API."""
    return {name: getattr(row, field.attname) for name, field in plain_fields(type(row)).items()}
