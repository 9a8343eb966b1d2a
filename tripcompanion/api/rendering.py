"""Writes response bodies as JSON with exact numbers; chooses between JSON and HTML pages."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

import orjson
from django.http import Http404
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, BrowsableAPIRenderer

from tripcompanion.compiled import serialize

_CHUNK_ROWS = 100
#: The longest response that a page shows.
MAX_SHOWN_BYTES = 256 * 1024


def _as_json(value: Any) -> Any:
    if isinstance(value, Decimal):
        # A float would round sums above 2^53 minor units, so the digits are written as they are.
        return orjson.Fragment(format(value, "f"))
    if isinstance(value, Promise):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


class ExactJSONRenderer(BaseRenderer):
    """UTF-8 JSON: a `Decimal` is written with its exact digits; bytes already are JSON."""

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


class FileRenderer(BaseRenderer):
    """A type of file that an action answers with. It only takes part in the negotiation."""

    def __init__(self, format: str, media_type: str) -> None:  # noqa: A002 -- DRF's name
        self.format, self.media_type = format, media_type


def render_rows(shape: Any, rows: Iterable[Any], context: Mapping[str, Any]) -> bytes:
    """The JSON array of `rows`, serialized as `shape` declares, a hundred rows at a time."""
    left, texts, render = iter(rows), [b"["], ExactJSONRenderer().render
    while chunk := list(islice(left, _CHUNK_ROWS)):
        texts += [render(serialize(shape, chunk, context, many=True))[1:-1], b","]
    texts[-1 if len(texts) > 1 else 1 :] = [b"]"]
    return b"".join(texts)


def is_json(request: Any) -> bool:
    """Whether the response is rendered as JSON and not as an HTML page."""
    return isinstance(request.accepted_renderer, ExactJSONRenderer)


class BrowsableRenderer(BrowsableAPIRenderer):
    """DRF's browsable API."""

    #: Set by DRF.
    renderer_context: Mapping[str, Any]

    def get_content(
        self,
        renderer: Any,
        data: Any,
        accepted_media_type: Any,
        renderer_context: Mapping[str, Any],
    ) -> Any:
        """The response as indented JSON, or a link to it if it is too long for a page."""
        size = len(ExactJSONRenderer().render(data))
        if size <= MAX_SHOWN_BYTES:
            return super().get_content(renderer, data, accepted_media_type, renderer_context)
        request = renderer_context["request"]
        query = request.query_params.copy()
        query["format"] = ExactJSONRenderer.format
        url = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
        text = _("This response has %(size)s KiB of JSON: %(url)s")
        return text % {"size": size // 1024, "url": url}

    def get_filter_form(self, data: Any, view: Any, request: Any) -> Any:
        # DRF reads the queryset of every list view; most of these views have no filter.
        if getattr(view, "filterset_class", None) is None:
            return None
        return super().get_filter_form(data, view, request)


class Negotiation(DefaultContentNegotiation):
    """DRF's content negotiation, with two differences.

    An empty `Accept` counts as none (RFC 9110, 12.5.1), and a `?format=` that no renderer has is
    406 and not 404, also if it is empty and the client is not lenient.
    """

    def select_renderer(
        self, request: Any, renderers: Any, format_suffix: str | None = None
    ) -> Any:
        is_empty = request.query_params.get(self.settings.URL_FORMAT_OVERRIDE) == ""
        if is_empty and not getattr(request.parser_context["view"], "is_lenient", False):
            raise NotAcceptable(available_renderers=renderers)
        return super().select_renderer(request, renderers, format_suffix)

    def get_accept_list(self, request: Any) -> list[str]:
        is_empty = not request.headers.get("Accept", "").strip()
        return ["*/*"] if is_empty else super().get_accept_list(request)

    def filter_renderers(self, renderers: Any, format: str) -> Any:  # noqa: A002 -- DRF's name
        try:
            return super().filter_renderers(renderers, format)
        except Http404 as error:
            raise NotAcceptable(available_renderers=renderers) from error
