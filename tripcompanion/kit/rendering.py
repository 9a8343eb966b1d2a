"""Writes response bodies: exact numbers in JSON, and the browsable API for developers."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
from django.utils.functional import Promise
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, BrowsableAPIRenderer


def _as_json(value: Any) -> Any:
    if isinstance(value, Decimal):
        # A float would round sums beyond 2^53 minor units; the digits themselves never do.
        return orjson.Fragment(format(value, "f"))
    if isinstance(value, Promise):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


class ExactJSONRenderer(BaseRenderer):
    """UTF-8 JSON; a `Decimal` becomes a JSON number with exactly its digits, bytes are JSON."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if data is None:
            return b""
        if isinstance(data, bytes):
            return data
        options = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z
        if renderer_context is not None and renderer_context.get("indent"):
            options |= orjson.OPT_INDENT_2
        return orjson.dumps(data, default=_as_json, option=options)


def is_json(request: Any) -> bool:
    """Whether the answer goes out as JSON, and not as a page for browsers."""
    return isinstance(request.accepted_renderer, ExactJSONRenderer)


class Negotiation(DefaultContentNegotiation):
    """DRF's choice of a renderer, made at once for those who take anything or ask for JSON.

    An empty `Accept` counts as none (RFC 9110, 12.5.1).
    """

    def get_accept_list(self, request: Any) -> list[str]:
        header = request.META.get("HTTP_ACCEPT", "").strip() or "*/*"
        return [token.strip() for token in header.split(",")]

    def select_renderer(
        self, request: Any, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        wanted, first = ",".join(self.get_accept_list(request)), renderers[0]
        if wanted in {"*/*", first.media_type} and "format" not in request.META["QUERY_STRING"]:
            return first, first.media_type
        return super().select_renderer(request, renderers, format_suffix)


class BrowsableRenderer(BrowsableAPIRenderer):
    """DRF's browsable API with readable JSON, for people who explore with a browser."""

    def get_filter_form(self, data: Any, view: Any, request: Any) -> Any:
        # DRF asks every view that answers a list for its queryset; most of ours have no filter.
        if getattr(view, "filterset_class", None) is None:
            return None
        return super().get_filter_form(data, view, request)

    def get_default_renderer(self, view: Any) -> BaseRenderer:
        return _IndentedJSONRenderer()


class _IndentedJSONRenderer(ExactJSONRenderer):
    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return super().render(data, accepted_media_type, {"indent": 2})
