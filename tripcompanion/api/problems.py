"""Renders every error of the service as a problem document (RFC 9457).

Models raise DRF's exceptions or a `Conflict`. Only this module and, for errors outside of DRF's
views, `error_views` build error responses. Browsers get a page instead in the browsable API.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.signals import got_request_exception
from django.db import DataError, IntegrityError
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import exceptions
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response
from rest_framework.settings import api_settings

from tripcompanion.api.rendering import BrowsableRenderer, ExactJSONRenderer
from tripcompanion.database.postgresql import base as postgresql
from tripcompanion.database.watching import DATABASE_AWAY, is_lock_timeout
from tripcompanion.observability.instruments import PROBLEMS
from tripcompanion.observability.request_ids import request_id

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"

TITLES = {
    400: gettext_lazy("Bad Request"),
    401: gettext_lazy("Unauthorized"),
    403: gettext_lazy("Forbidden"),
    404: gettext_lazy("Not Found"),
    405: gettext_lazy("Method Not Allowed"),
    406: gettext_lazy("Not Acceptable"),
    409: gettext_lazy("Conflict"),
    410: gettext_lazy("Gone"),
    411: gettext_lazy("Length Required"),
    412: gettext_lazy("Precondition Failed"),
    413: gettext_lazy("Content Too Large"),
    414: gettext_lazy("URI Too Long"),
    415: gettext_lazy("Unsupported Media Type"),
    422: gettext_lazy("Unprocessable Content"),
    429: gettext_lazy("Too Many Requests"),
    500: gettext_lazy("Internal Server Error"),
    503: gettext_lazy("Service Unavailable"),
}


class Conflict(APIException):
    """409: a valid request that conflicts with the current state.

    Each subclass is one reason: `default_code` is its stable snake_case code and `default_detail`
    its text, with placeholders for the values; `example_values` fill them in the OpenAPI document.
    `extensions` are additional members of the problem document (RFC 9457, 3.2), and `field` is what
    in the body conflicts.
    """

    status_code = 409
    example_values: ClassVar[Mapping[str, Any]] = {}
    extensions: Mapping[str, Any] = {}
    field: ClassVar[str] = ""

    def __init__(self, **values: Any) -> None:
        text = str(self.default_detail)
        super().__init__(text % values if values else text)
        self.errors = {self.field: [str(self.detail)]} if self.field else {}


class LimitReached(Conflict):
    """409 `limit_reached`: the maximum number of such rows exists already."""

    default_code = "limit_reached"
    default_detail = gettext_lazy("The limit of %(limit)s is reached.")
    example_values: ClassVar = {"limit": 200}

    @classmethod
    def require_at_most(cls, limit: int, count: int) -> None:
        """Raise it if `count`, with what is to be added, is above `limit`."""
        if count > limit:
            raise cls(limit=limit)


class StoredContradiction(Conflict):
    """409 `conflict`: the change contradicts one that was made at the same time."""

    default_code = "conflict"
    default_detail = gettext_lazy("The change conflicts with what is already stored.")


class Unavailable(APIException):
    """503: the database is unreachable or too busy; a retry may succeed shortly."""

    status_code = 503
    default_code = "unavailable"
    default_detail = gettext_lazy("The service is briefly unavailable. Please try again.")
    wait = 2


class TooManyAtOnce(APIException):
    """429 `too_many_at_once`: the caller has too many requests in progress."""

    status_code = 429
    default_code = "too_many_at_once"
    default_detail = gettext_lazy("Too many requests at once. Please send fewer in parallel.")
    wait = 1


class OutcomeUnknown(Unavailable):
    """503 `outcome_unknown`: the change may be saved; retry with the same `Idempotency-Key`."""

    default_code = "outcome_unknown"
    default_detail = gettext_lazy(
        "It is not known whether the change was saved. Please check before you try again."
    )


class CsrfFailed(APIException):
    """403 `csrf_failed`: a write in a browser session without a valid CSRF token."""

    status_code = 403
    default_code = "csrf_failed"
    default_detail = gettext_lazy("The page is out of date or from another site. Please reload it.")


class InternalError(APIException):
    """500: an internal error; the details are only in the log."""

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
    """DRF's hook: the problem response for an unhandled exception of a view, with its headers."""
    known = as_api_exception(exc, context["request"].method)
    if isinstance(known, InternalError):
        logger.error("Unhandled exception", exc_info=exc)
        got_request_exception.send(sender=None, request=context["request"]._request)
    document, headers = answer_to(known)
    response = Response(document, status=known.status_code, headers=headers)
    request = context["request"]
    if not isinstance(getattr(request, "accepted_renderer", None), BrowsableRenderer):
        request.accepted_renderer = ExactJSONRenderer()
        request.accepted_media_type = request.accepted_renderer.media_type
        response.content_type = CONTENT_TYPE
    return response


def answer_to(exc: APIException) -> tuple[dict[str, Any], dict[str, str]]:
    """The problem document for an exception, which is counted, and the headers of the response."""
    headers = dict(getattr(exc, "headers", {}))
    scheme, wait_seconds = getattr(exc, "auth_header", None), getattr(exc, "wait", None)
    if scheme:
        headers["WWW-Authenticate"] = scheme
    if wait_seconds:
        headers["Retry-After"] = str(max(1, ceil(wait_seconds)))
    document = document_of(exc)
    PROBLEMS.labels(document["code"]).inc()
    return document, headers


def as_api_exception(exc: Exception, method: str | None = None) -> APIException:
    """How the service answers an exception of a request with this method."""
    if isinstance(exc, exceptions.NotAcceptable):
        # Without the pages of the browsable API, which are for developers.
        kinds = [kind.media_type for kind in exc.available_renderers or () if kind.format != "api"]
        types = ", ".join(dict.fromkeys(kinds)) or ExactJSONRenderer.media_type
        text = _("This path has %(types)s: send one of them in Accept, or leave it out.")
        return exceptions.NotAcceptable(text % {"types": types})
    if type(exc) is exceptions.UnsupportedMediaType:
        text = _("Send JSON: with a body in UTF-8, and Content-Type: application/json.")
        return exceptions.UnsupportedMediaType("", text)
    if isinstance(exc, APIException):
        return exc
    if isinstance(exc, Http404):
        return exceptions.NotFound()
    if isinstance(exc, DjangoPermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(exc, IntegrityError):
        logger.warning("A database constraint rejected a write", exc_info=exc)
        return StoredContradiction()
    if isinstance(exc, DataError):
        return exceptions.ParseError(_("A value is out of range."), "out_of_range")
    if isinstance(exc, DATABASE_AWAY) and is_lock_timeout(exc):
        # Whoever sends many writes at once makes these, so they are no fault of the service.
        logger.warning("A lock was not had in time")
        return Unavailable()
    if isinstance(exc, DATABASE_AWAY):
        logger.error("The database is unavailable", exc_info=exc)
        is_unknown = isinstance(exc.__cause__, postgresql.OutcomeUnknown)
        # The transaction of a read only makes a snapshot.
        return OutcomeUnknown() if is_unknown and method not in SAFE_METHODS else Unavailable()
    return InternalError()


#: What an empty variable, or a placeholder that nobody replaced, becomes in a text.
UNSET = re.compile(
    r"undefined|null|none|nil|nan|\[object \w+\]|{+[\w ]+}+|<[\w -]+>|:\w+|\$\w+", re.IGNORECASE
)

exceptions.NotAuthenticated.default_detail = gettext_lazy(
    "Log in at POST /api/users/login, and send its token as Authorization: Bearer <token>."
)

_CODES: dict[type[APIException], str] = {
    exceptions.PermissionDenied: "forbidden",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.Throttled: "throttled",
}


def code_of(kind: type[APIException]) -> str:
    """The code of problems of this class unless they are raised with another one."""
    return _CODES.get(kind, kind.default_code)


#: What DRF's exceptions mean here; ours say it in their docstrings.
MEANINGS: dict[type[APIException], str] = {
    exceptions.ValidationError: "a value is refused; `errors` says which one, and why.",
    exceptions.NotAuthenticated: "the token is missing, malformed, expired or revoked.",
    exceptions.PermissionDenied: "the caller may know of this, but may not do it.",
    exceptions.NotFound: "it does not exist, or the caller may not see it.",
    exceptions.MethodNotAllowed: "the path does not support this method.",
    exceptions.NotAcceptable: "`Accept` excludes what this path answers with.",
    exceptions.UnsupportedMediaType: "the `Content-Type` is not JSON.",
    exceptions.Throttled: "too many requests; `Retry-After` says when the next one is allowed.",
}
_OWN_MEANING = re.compile(r"[0-9]{3}(?: `\w+`)?: (.+?)(?:\n\n|$)", re.DOTALL)


def meaning_of(kind: type[APIException]) -> str:
    """What an error means, for readers of the API: from the first line of its docstring."""
    own = _OWN_MEANING.match(kind.__doc__ or "")
    return " ".join(own[1].split()) if own else MEANINGS[kind]


def document_of(exc: APIException) -> dict[str, Any]:
    """The problem document of a refusal."""
    if isinstance(exc, exceptions.ValidationError):
        errors = dict(flatten(exc.detail))
        return problem(exc.status_code, "invalid", summary(errors), errors)
    code = _CODES.get(type(exc)) or str(getattr(exc.detail, "code", exc.default_code))
    extensions = getattr(exc, "extensions", {})
    return problem(
        exc.status_code, code, str(exc.detail), getattr(exc, "errors", None), **extensions
    )


def flatten(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Field errors with dotted paths (`splits.0.amount`), from DRF's nested form."""
    if isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        detail = {index: item for index, item in enumerate(detail) if item}
    if isinstance(detail, Mapping):
        for key, item in detail.items():
            yield from flatten(item, f"{path}.{key}" if path else str(key))
    else:
        texts = detail if isinstance(detail, list) else [detail]
        whole = api_settings.NON_FIELD_ERRORS_KEY
        yield path.removesuffix(f".{whole}") or whole, [str(text) for text in texts]


def summary(errors: Mapping[str, list[str]]) -> str:
    """The first error, with the name of its field."""
    field, texts = next(iter(errors.items()))
    return texts[0] if field == api_settings.NON_FIELD_ERRORS_KEY else f"{field}: {texts[0]}"
