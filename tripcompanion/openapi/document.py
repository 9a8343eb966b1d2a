"""Serves the OpenAPI document at `/api/schema`."""

from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import get_language, override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from tripcompanion.api.etags import etag_of, is_known

_generating = Lock()


def document(language: str, form: str) -> tuple[bytes, str]:
    """The document in `language` as "yaml" or "json", generated once, and its ETag."""
    with _generating:
        return _generated(language)[form]


@cache
def _generated(language: str) -> dict[str, tuple[bytes, str]]:
    with override(language):
        # Without the request, because every caller gets the same document.
        schema = SchemaGenerator().get_schema(request=None, public=True)
    forms = {}
    for renderer in (OpenApiYamlRenderer(), OpenApiJsonRenderer()):
        body = renderer.render(schema, renderer_context={})
        forms[renderer.format] = body, etag_of(body)
    return forms


class DocumentView(SpectacularAPIView):
    """Serves the cached document; drf-spectacular's view generates it for every request.

    That view also repeats `?version=` in a header and in the document; this one ignores it.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The document; `?lang=` overrides `Accept-Language`."""
        language = request.query_params.get("lang")
        if language not in dict(settings.LANGUAGES):
            language = get_language() or settings.LANGUAGE_CODE
        renderer = request.accepted_renderer
        body, etag = document(language, renderer.format)
        if is_known(request, etag):
            return HttpResponse(status=304, headers={"ETag": etag})
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        name = f"{settings.SPECTACULAR_SETTINGS['TITLE']}.{renderer.format}"
        headers = {"ETag": etag, "Content-Disposition": f'inline; filename="{name}"'}
        return HttpResponse(body, content_type=f"{renderer.media_type}{charset}", headers=headers)
