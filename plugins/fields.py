"""Fields of serializers that several plugins have."""

from typing import Any

from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from tripcompanion.api.serializers import NUMBER_SCHEMA, CamelCaseSerializer, IdField, describe
from trips.models.events import OBJECT_TYPES


@extend_schema_field(NUMBER_SCHEMA)
class QueryId(IdField):
    """An identifier in a query or a form, where a number is its digits."""


class BoundedNumber(IdField):
    """A whole number from 1 to `maximum`."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be a whole number of at least 1."),
        "too_large": gettext_lazy("Must be at most {maximum}."),
    }

    def __init__(self, *, maximum: int, **options: Any) -> None:
        super().__init__(**options)
        self.maximum = maximum
        describe(self, {"type": "integer", "minimum": 1, "maximum": maximum})

    def to_internal_value(self, data: Any) -> int:
        number = super().to_internal_value(data)
        if number > self.maximum:
            self.fail("too_large", maximum=self.maximum)
        return number


class ObjectSerializer(CamelCaseSerializer):
    """What an event happened to."""

    type = serializers.ChoiceField(choices=OBJECT_TYPES, help_text="A guest is a member.")
    id = serializers.IntegerField(
        help_text="The id that its path ends with: for a member, that of the user."
    )


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["old", "new"],
            "properties": {"old": {}, "new": {}},
        },
    }
)
class ChangesField(serializers.ReadOnlyField):
    """`{field: {"old", "new"}}`; read-only."""
