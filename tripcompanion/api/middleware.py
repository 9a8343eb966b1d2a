"""Middleware for every request: its id, response headers, and limits on what is accepted.

The order is in `settings.py`. Django's own middlewares add `nosniff`, the referrer policy,
`X-Frame-Options` and HSTS.
"""

import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from tripcompanion.api import error_views
from tripcompanion.api.keeping import KEEPER
from tripcompanion.api.parsing import MAX_OPEN_BYTES, LengthRequired, PayloadTooLarge
from tripcompanion.observability import request_ids

logger = logging.getLogger("tripcompanion.requests")

#: The ids accepted from a client or a proxy; any other id is replaced, not rejected.
_ACCEPTABLE_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
#: `traceparent` (W3C Trace Context): version, trace id, span id, flags. Ids of zeros are invalid.
_TRACE_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
#: A response that is not a page must not load or run anything, even if a browser displays it.
_FOR_DATA = "default-src 'none'; frame-ancestors 'none'"
#: The admin site, the browsable API and the docs: from here only. Swagger's page has styles inside.
_FOR_PAGES = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
#: Control characters (C0, DEL, C1), and the surrogates that invalid UTF-8 is decoded to.
_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class RequestIds:
    """Gives every request an id, and logs it at level INFO; it is outside of almost all others.

    The line contains no query and no body, and the path as masked by `observability/logs.py`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(request_ids.HEADER, "")
        called = given if _ACCEPTABLE_ID.fullmatch(given) else uuid.uuid4().hex
        # Not reset at the end, because Django logs errors after all middlewares have run.
        request_ids.current_request_id.set(called)
        request_ids.current_route.set("")
        trace = _TRACE_PARENT.fullmatch(request.headers.get("traceparent", ""))
        request_ids.current_trace_id.set(trace[1] if trace else "")
        # A client that waits is counted once, without the time that it waits.
        is_repeated = KEEPER in request.META
        started = time.perf_counter()
        response = self.get_response(request)
        response[request_ids.HEADER] = called
        if logger.isEnabledFor(logging.INFO) and not is_repeated:
            duration_ms = round((time.perf_counter() - started) * 1000, 1)
            seen = {"status": response.status_code, "duration_ms": duration_ms}
            logger.info("%s %s", request.method, request.path, extra=seen)
        return response

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Note the route, which Django has just found."""
        route: Any = request.resolver_match
        # The last route in `urls.py` is empty and matches every path.
        is_ours = route.route or request.path_info == "/"
        request_ids.current_route.set(f"/{route.route}" if is_ours else request_ids.OTHER)


#: The key in the WSGI environment of an exception with which a request is refused.
REFUSAL = "tripcompanion.refusal"


class ProtectiveHeaders(MiddlewareMixin):
    """Adds the headers that a view has not set."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html")
        response.setdefault("Content-Security-Policy", _FOR_PAGES if is_page else _FOR_DATA)
        if not request.path.startswith("/static/"):
            response.setdefault("Cache-Control", "no-store")
        return response


class Refusals(MiddlewareMixin):
    """Answers requests that the server refuses before they get a connection to the database."""

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        refusal = request.META.get(REFUSAL)
        return error_views.refusal(request, refusal) if refusal else None


#: The cookies that are read. Others may belong to other services on the same site.
_COOKIES = (
    settings.SESSION_COOKIE_NAME,
    settings.CSRF_COOKIE_NAME,
    settings.LANGUAGE_COOKIE_NAME,
    CookieStorage.cookie_name,
)


class RefuseControlCharacters(MiddlewareMixin):
    """Rejects control characters and invalid UTF-8 in paths, query strings and cookies.

    No valid input contains them. PostgreSQL rejects NUL in text, so a NUL in the session cookie
    would cause a 500, and parts of a query string may be repeated in a response header. A path is
    answered with 404, a parameter with 400, and so is a cookie, which is deleted.
    """

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        if _REFUSED.search(request.path_info):
            return error_views.not_found(request)
        if parameters := list(_broken_parameters(request.META.get("QUERY_STRING", ""))):
            return _invalid(request, parameters)
        broken = [name for name in _COOKIES if _REFUSED.search(request.COOKIES.get(name, ""))]
        if broken:
            response = _invalid(request, broken)
            # Otherwise every request would fail until the user deletes the cookie.
            for name in broken:
                response.delete_cookie(name)
            return response
        return None


#: The media types that Django reads by itself.
_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


class BodyLimits(MiddlewareMixin):
    """Rejects bodies that are too long (413) or of unknown length (411) by their headers, unread.

    A form is short without a log-in: Django reads it before a view can ask who sends it. The views
    do so for JSON.
    The production server has already read chunked bodies, so their length is known here; see
    `tripcompanion/serving/wsgi.py`.
    """

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        text = request.META.get("CONTENT_LENGTH") or "0"
        length = int(text) if text.isdecimal() else 0
        has_token = "Authorization" in request.headers
        limit = body_limit(request.path_info, lambda: has_token)
        if length > limit:
            return error_views.refusal(request, PayloadTooLarge(limit))
        # The views of large bodies read a form only after they have asked who sends it.
        is_open = request.content_type in _FORMS and limit == settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if has_token and request.path_info.startswith(tuple(settings.PATHS_WITH_FORMS)):
            is_open = False
        if is_open and length > MAX_OPEN_BYTES and SESSION_KEY not in request.session:
            return error_views.refusal(request, PayloadTooLarge(MAX_OPEN_BYTES))
        if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
            return error_views.refusal(request, LengthRequired())
        return None


def body_limit(path: str, has_token: Callable[[], bool]) -> int:
    """The longest body of a request to `path`, in bytes; a longer one only with a token.

    `has_token` is called only if `path` takes large bodies.
    """
    is_large = is_large_body(path) and has_token()
    return settings.LARGE_BODY_BYTES if is_large else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def is_large_body(path: str) -> bool:
    """Whether requests to `path` may have a body with a file."""
    return any(re.fullmatch(pattern, path) for pattern in settings.LARGE_BODIES)


def _invalid(request: HttpRequest, names: list[str]) -> HttpResponseBase:
    text = _("Contains a character that is not allowed (a control character or invalid UTF-8).")
    return error_views.refusal(request, ValidationError(dict.fromkeys(names, [text])))


def _broken_parameters(query: str) -> Iterator[str]:
    """The rejected parameters of a raw query string; "" if the name itself is invalid."""
    # WSGI passes bytes as Latin-1.
    text = query.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
    if not _REFUSED.search(unquote_to_bytes(text).decode("utf-8", "surrogateescape")):
        return
    pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape")
    for name, value in pairs:
        if _REFUSED.search(name):
            yield ""
        elif _REFUSED.search(value):
            yield name
