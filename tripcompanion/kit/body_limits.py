"""Rejects request bodies that are too long or of unknown length by their headers, unread."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from tripcompanion.kit.parsing import LengthRequired, PayloadTooLarge
from tripcompanion.kit.problems import refusal


class BodyLimits:
    """The middleware that answers 413 and 411, on every path.

    The production server has already read chunked bodies, so their length is known here; see
    `tripcompanion/wsgi.py`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return refusal(request, PayloadTooLarge())
        if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
            return refusal(request, LengthRequired())
        return self.get_response(request)
