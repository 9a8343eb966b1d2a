"""Every error of the service as one document: RFC 9457 `application/problem+json`.

Rules raise DRF's exceptions or a `Conflict`; nothing else in the project builds an error response.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.signals import got_request_exception
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.db import InternalError as DatabaseState
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.exceptions import APIException
from rest_framework.response import Response
from rest_framework.settings import api_settings

from tripcompanion.kit.rendering import BrowsableRenderer, ExactJSONRenderer
from tripcompanion.kit.request_ids import request_id

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
#: The database is away, too slow, full, being ended, or has ended an idle transaction.
DATABASE_AWAY = (OperationalError, InterfaceError, DatabaseState)

TITLES = {
    400: gettext_lazy("Bad Request"),
    401: gettext_lazy("Unauthorized"),
    403: gettext_lazy("Forbidden"),
    404: gettext_lazy("Not Found"),
    405: gettext_lazy("Method Not Allowed"),
    406: gettext_lazy("Not Acceptable"),
    409: gettext_lazy("Conflict"),
    411: gettext_lazy("Length Required"),
    412: gettext_lazy("Precondition Failed"),
    413: gettext_lazy("Content Too Large"),
    415: gettext_lazy("Unsupported Media Type"),
    422: gettext_lazy("Unprocessable Content"),
    429: gettext_lazy("Too Many Requests"),
    500: gettext_lazy("Internal Server Error"),
    503: gettext_lazy("Service Unavailable"),
}


class Conflict(APIException):
    """409: a valid request that the present state forbids.

    A subclass is one reason: `default_code` is its stable snake_case word, `default_detail` its
    text, whose placeholders the values fill; `example_values` fill them in the document.
    `extensions` are further members of the problem document (RFC 9457, 3.2).
    """

    status_code = 409
    example_values: ClassVar[Mapping[str, Any]] = {}
    extensions: Mapping[str, Any] = {}

    def __init__(self, **values: Any) -> None:
        text = str(self.default_detail)
        super().__init__(text % values if values else text)


class LimitReached(Conflict):
    """409 `limit_reached`: there may be so many of this, and no more."""

    default_code = "limit_reached"
    default_detail = gettext_lazy("The limit of %(limit)s is reached.")
    example_values: ClassVar = {"limit": 200}


class StoredContradiction(Conflict):
    """A constraint of the database refused what the rules had let pass."""

    default_code = "conflict"
    default_detail = gettext_lazy("The change contradicts what is already stored.")


class Unavailable(APIException):
    """503: the database is away or too busy; the same request may pass in a moment."""

    status_code = 503
    default_code = "unavailable"
    default_detail = gettext_lazy("The service is briefly unavailable. Please try again.")
    wait = RETRY_AFTER_SECONDS


class InsufficientScope(APIException):
    """403 `insufficient_scope`: a token does not cover this request (RFC 6750, 3.1).

    Without `scope` there is none that would.
    """

    status_code = 403
    default_code = "insufficient_scope"
    default_detail = gettext_lazy("This needs a log-in; no scoped token may do it.")

    def __init__(self, scope: str | None = None) -> None:
        text = _("The token lacks the scope %(scope)s.") % {"scope": scope} if scope else None
        super().__init__(text)
        challenge = 'Bearer error="insufficient_scope"'
        self.headers = {"WWW-Authenticate": f'{challenge}, scope="{scope}"' if scope else challenge}


class CsrfFailed(APIException):
    """403 `csrf_failed`: a browser session wrote without the token of its page."""

    status_code = 403
    default_code = "csrf_failed"
    default_detail = gettext_lazy("The page is too old or not from here. Please reload it.")


class InternalError(APIException):
    """500: a fault of ours; the text says nothing about it, the log says all."""

    default_code = "internal_error"
    default_detail = gettext_lazy("Something went wrong on our side.")


def problem(
    status: int,
    code: str,
    detail: str,
    errors: Mapping[str, list[str]] | None = None,
    **extensions: Any,
) -> dict[str, Any]:
    """The problem document. `message` repeats `detail` for clients that read only that."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": str(TITLES[status]),
        "status": status,
        "detail": detail,
        "message": detail,
        "code": code,
        "requestId": request_id(),
    }
    if errors:
        document["errors"] = errors
    return document | extensions


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's hook: the problem for any exception that a view let out, with its headers."""
    known = _as_api_exception(exc)
    if isinstance(known, InternalError):
        logger.error("Unhandled exception", exc_info=exc)
        got_request_exception.send(sender=None, request=context["request"]._request)
    headers = dict(getattr(known, "headers", {}))
    scheme, wait_seconds = getattr(known, "auth_header", None), getattr(known, "wait", None)
    if scheme:
        headers["WWW-Authenticate"] = scheme
    if wait_seconds:
        headers["Retry-After"] = str(max(1, ceil(wait_seconds)))
    response = Response(_document(known), status=known.status_code, headers=headers)
    request = context["request"]
    if not isinstance(getattr(request, "accepted_renderer", None), BrowsableRenderer):
        request.accepted_renderer = ExactJSONRenderer()
        request.accepted_media_type = request.accepted_renderer.media_type
        response.content_type = CONTENT_TYPE
    return response


def _as_api_exception(exc: Exception) -> APIException:
    if isinstance(exc, APIException):
        return exc
    if isinstance(exc, Http404):
        return exceptions.NotFound()
    if isinstance(exc, DjangoPermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(exc, IntegrityError):
        logger.warning("A database constraint refused a write", exc_info=exc)
        return StoredContradiction()
    if isinstance(exc, DataError):
        return exceptions.ParseError(_("A value is out of range."), "out_of_range")
    if isinstance(exc, DATABASE_AWAY):
        logger.error("The database is unavailable", exc_info=exc)
        return Unavailable()
    return InternalError()


_CODES: dict[type[APIException], str] = {
    exceptions.PermissionDenied: "forbidden",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.Throttled: "throttled",
}


def code_of(kind: type[APIException]) -> str:
    """The word that problems of this kind carry unless they are raised with another."""
    return _CODES.get(kind, kind.default_code)


def _document(exc: APIException) -> dict[str, Any]:
    if isinstance(exc, exceptions.ValidationError):
        errors = dict(flatten(exc.detail))
        return problem(exc.status_code, "invalid", _summary(errors), errors)
    code = _CODES.get(type(exc)) or str(getattr(exc.detail, "code", exc.default_code))
    extensions = getattr(exc, "extensions", {})
    return problem(
        exc.status_code, code, str(exc.detail), getattr(exc, "errors", None), **extensions
    )


def flatten(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Field errors with dotted paths (`splits.0.amount`), from DRF's nested form."""
    if isinstance(detail, Mapping):
        for key, item in detail.items():
            yield from flatten(item, f"{path}.{key}" if path else str(key))
    elif isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        for index, item in enumerate(detail):
            if item:
                yield from flatten(item, f"{path}.{index}" if path else str(index))
    else:
        texts = detail if isinstance(detail, list) else [detail]
        yield path or api_settings.NON_FIELD_ERRORS_KEY, [str(text) for text in texts]


def _summary(errors: Mapping[str, list[str]]) -> str:
    field, texts = next(iter(errors.items()))
    return texts[0] if field == api_settings.NON_FIELD_ERRORS_KEY else f"{field}: {texts[0]}"


def _outside_views(
    status: int, code: str, detail: str, errors: Mapping[str, list[str]] | None = None
) -> HttpResponse:
    body = ExactJSONRenderer().render(problem(status, code, detail, errors))
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE)


def refusal(exc: APIException) -> HttpResponse:
    """The answer of a middleware that refuses a request before a view is found."""
    return _outside_views(exc.status_code, code_of(type(exc)), str(exc.detail))


def invalid(errors: Mapping[str, list[str]]) -> HttpResponse:
    """What is refused by name before a view is found; "" is what has no name."""
    named = {field or api_settings.NON_FIELD_ERRORS_KEY: texts for field, texts in errors.items()}
    return _outside_views(400, "invalid", _summary(named), named)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses before a view is found: a foreign Host header, a broken upload."""
    return _outside_views(400, "bad_request", _("The request is not acceptable."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _outside_views(403, "forbidden", str(exceptions.PermissionDenied.default_detail))


def method_not_allowed(request: HttpRequest, allowed: list[str]) -> HttpResponse:
    """A page for browsers that was asked with another method than its own."""
    detail = str(exceptions.MethodNotAllowed(request.method or "").detail)
    response = _outside_views(405, "method_not_allowed", detail)
    response["Allow"] = ", ".join(allowed)
    return response


@csrf_exempt
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Any path that the URL map does not have."""
    return _outside_views(404, "not_found", str(exceptions.NotFound.default_detail))


def server_error(request: HttpRequest) -> HttpResponse:
    """A fault in a page for browsers; Django calls this while it handles the exception."""
    kind: type[APIException] = InternalError
    if isinstance(sys.exc_info()[1], DATABASE_AWAY):
        kind = Unavailable
    response = _outside_views(kind.status_code, kind.default_code, str(kind.default_detail))
    if kind is Unavailable:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of the admin site or the browsable log-in without its CSRF token."""
    return _outside_views(403, CsrfFailed.default_code, str(CsrfFailed.default_detail))
