"""Pagination: `?page=1&pageSize=20`, 1-based; a page past the end is empty."""

from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from tripcompanion.api.serializers import MAX_INTEGER

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
#: The number of digits of the largest page number.
_MAX_DIGITS = len(str(MAX_INTEGER))


class NumberedPages(BasePagination):
    """`{"items", "total", "page", "pageSize", "totalPages"}`; a page past the end is empty.

    What is not a queryset or a list has a method `page(size, after)`, which returns at most `size`
    rows after so many, and how many there are in all.
    """

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """The rows of the requested page; 400 if the page or its size is out of range."""
        self.page = _positive(request, "page", 1, MAX_INTEGER)
        self.page_size = _positive(request, "pageSize", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        self.path = request.get_full_path()
        # No database has more rows, or accepts a larger number.
        # Citus adds the size of the page to it, in 64 bits.
        start = min((self.page - 1) * self.page_size, MAX_INTEGER - self.page_size)
        if hasattr(queryset, "page"):
            rows, self.total = queryset.page(self.page_size, start)
        else:
            self.total = len(queryset) if isinstance(queryset, list) else queryset.count()
            rows = list(queryset[start : start + self.page_size]) if start < self.total else []
        self.display_page_controls = self.total > self.page_size
        return rows

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

    def to_html(self) -> str:
        """Links to the previous and the next page, for the browsable API."""
        pages = {"previous_url": self.page - 1, "next_url": self.page + 1}
        links = {
            name: replace_query_param(self.path, "page", page)
            for name, page in pages.items()
            if 0 < page <= -(-self.total // self.page_size)
        }
        return render_to_string("rest_framework/pagination/previous_and_next.html", links)

    def get_results(self, data: Any) -> Any:
        """The rows in the data of a response; DRF shows the form of the filters if it has some.

        Raises `KeyError` if it is no page; an expense has `items`, too.
        """
        rows, _pages = data["items"], data["totalPages"]
        return rows

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        def number(example: int, text: str) -> dict[str, Any]:
            # drf-spectacular reads `example`.
            return {"type": "integer", "minimum": 0, "example": example, "description": text}

        return {
            "type": "object",
            "description": "One page of a list.",
            "required": ["items", "total", "page", "pageSize", "totalPages"],
            "properties": {
                "items": schema,
                "total": number(1, "How many rows there are on all pages."),
                "page": number(1, "The number of this page, from 1."),
                "pageSize": number(DEFAULT_PAGE_SIZE, "How many rows a page has at most."),
                "totalPages": number(1, "How many pages there are."),
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        text = "The page number, from 1. A page past the end is empty."
        return [
            _parameter("page", 1, MAX_INTEGER, text),
            _parameter("pageSize", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, "Rows per page."),
        ]


def _parameter(name: str, default: int, maximum: int, text: str) -> dict[str, Any]:
    schema = {"type": "integer", "default": default, "minimum": 1, "maximum": maximum}
    described = {"required": False, "description": text, "schema": schema}
    return {"name": name, "in": "query", **described}


def _positive(request: Request, name: str, default: int, maximum: int) -> int:
    raw = request.query_params.get(name)
    if raw is None:
        return default
    if not (raw.isascii() and raw.isdigit() and len(raw) <= _MAX_DIGITS and int(raw) > 0):
        raise ValidationError({name: [_("Must be a whole number of at least 1.")]})
    if int(raw) > maximum:
        raise ValidationError({name: [_("Must be at most %(max)s.") % {"max": maximum}]})
    return int(raw)
