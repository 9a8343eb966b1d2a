"""Errors under the names that the client gave the fields."""

from typing import Any, ClassVar

from rest_framework.exceptions import ValidationError
from rest_framework.response import Response


class Renamed:
    """Of a viewset: names in `errors` are those of the client."""

    #: The names of the service by those of the client.
    FIELDS: ClassVar[dict[str, str]] = {}

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ValidationError) and isinstance(exc.detail, dict):
            names = {field: name for name, field in self.FIELDS.items()}
            exc.detail = {names.get(field, field): texts for field, texts in exc.detail.items()}
        parent: Any = super()
        return parent.handle_exception(exc)
