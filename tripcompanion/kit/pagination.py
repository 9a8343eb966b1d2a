"""Pages of a list: `?page=1&pageSize=20`, 1-based, never an error past the end."""

from abc import ABC, abstractmethod
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.kit.paths import MAX_INTEGER

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
#: As many as the largest page number has.
_MAX_DIGITS = len(str(MAX_INTEGER))


class Pageable(ABC):
    """What gives a page of itself; whatever else is paged is a queryset."""

    @abstractmethod
    def page(self, size: int, after: int) -> tuple[list[Any], int]:
        """At most `size` rows after so many, and how many there are in all."""


class NumberedPages(BasePagination):
    """`{"items", "total", "page", "pageSize", "totalPages"}`; a page past the end is empty."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """The rows of the page that the request asks for; 400 on a page or size out of range."""
        self.page = _positive(request, "page", 1, MAX_INTEGER)
        self.page_size = _positive(request, "pageSize", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        # No database has rows beyond, or takes a larger number.
        start = min((self.page - 1) * self.page_size, MAX_INTEGER)
        if isinstance(queryset, Pageable):
            rows, self.total = queryset.page(self.page_size, start)
            return rows
        self.total = len(queryset) if isinstance(queryset, list) else queryset.count()
        return list(queryset[start : start + self.page_size]) if start < self.total else []

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {
                "items": data,
                "total": self.total,
                "page": self.page,
                "pageSize": self.page_size,
                "totalPages": -(-self.total // self.page_size),
            }
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        def number(example: int) -> dict[str, Any]:
            return {"type": "integer", "minimum": 0, "example": example}

        return {
            "type": "object",
            "required": ["items", "total", "page", "pageSize", "totalPages"],
            "properties": {
                "items": schema,
                "total": number(1),
                "page": number(1),
                "pageSize": number(DEFAULT_PAGE_SIZE),
                "totalPages": number(1),
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        def parameter(name: str, default: int, maximum: int, text: str) -> dict[str, Any]:
            limits = {"minimum": 1, "maximum": maximum}
            schema = {"type": "integer", "default": default, **limits}
            return {
                "name": name,
                "in": "query",
                "required": False,
                "description": text,
                "schema": schema,
            }

        return [
            parameter(
                "page", 1, MAX_INTEGER, "The page, counted from 1. Past the end it is empty."
            ),
            parameter("pageSize", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, "Rows a page."),
        ]


def _positive(request: Request, name: str, default: int, maximum: int) -> int:
    raw = request.query_params.get(name)
    if raw is None:
        return default
    if not (raw.isascii() and raw.isdigit() and len(raw) <= _MAX_DIGITS and int(raw) > 0):
        raise ValidationError({name: [_("Must be a whole number of at least 1.")]})
    if int(raw) > maximum:
        raise ValidationError({name: [_("Must be at most %(max)s.") % {"max": maximum}]})
    return int(raw)
