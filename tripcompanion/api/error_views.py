"""Error responses outside of DRF's views: of middlewares, and Django's error handlers.

They are problem documents, or pages for browsers in the admin site.
"""

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.exceptions import APIException
from rest_framework.settings import api_settings

from tripcompanion.api.problems import (
    CONTENT_TYPE,
    DATABASE_AWAY,
    TITLES,
    CsrfFailed,
    InternalError,
    Unavailable,
    code_of,
    problem,
    summary,
)
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.throttling import is_local
from tripcompanion.api.url_map import routes_of
from tripcompanion.observability.instruments import PROBLEMS
from tripcompanion.observability.request_ids import request_id


def _answer(
    request: HttpRequest,
    status: int,
    code: str,
    detail: str,
    errors: Mapping[str, list[str]] | None = None,
) -> HttpResponse:
    """The problem document, or a page for a browser in the admin site."""
    PROBLEMS.labels(code).inc()
    is_browser = "text/html" in request.headers.get("Accept", "")
    if is_browser and request.path.startswith(reverse("admin:index")):
        content = {"title": TITLES[status], "detail": detail, "request_id": request_id()}
        return HttpResponse(render_to_string("admin/problem.html", content), status=status)
    body = ExactJSONRenderer().render(problem(status, code, detail, errors))
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE)


def refusal(request: HttpRequest, exc: APIException) -> HttpResponse:
    """The response to a request that fails, or is rejected, outside of DRF's views."""
    response = _answer(request, exc.status_code, code_of(type(exc)), str(exc.detail))
    if wait := getattr(exc, "wait", None):
        response["Retry-After"] = str(wait)
    return response


def invalid(request: HttpRequest, errors: Mapping[str, list[str]]) -> HttpResponse:
    """The response to invalid input, before a view is resolved; "" is input without a name."""
    named = {field or api_settings.NON_FIELD_ERRORS_KEY: texts for field, texts in errors.items()}
    return _answer(request, 400, "invalid", summary(named), named)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django rejects before a view is resolved: an unknown Host, a malformed upload."""
    detail = _("The request is not acceptable.")
    # Only operators are told about settings.
    if isinstance(exception, DisallowedHost) and is_local(request):
        detail = _("This host is not in ALLOWED_HOSTS.")
    return _answer(request, 400, "bad_request", detail)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(request, exceptions.PermissionDenied())


def method_not_allowed(request: HttpRequest, allowed: list[str]) -> HttpResponse:
    """A request to an HTML page with a method that it does not allow."""
    response = refusal(request, exceptions.MethodNotAllowed(request.method or ""))
    response["Allow"] = ", ".join(allowed)
    return response


class ProblemView(View):
    """A view whose refusal of other methods is a problem document."""

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kw: Any) -> HttpResponse:
        return method_not_allowed(request, [name.upper() for name in self.http_method_names])


@csrf_exempt
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    is_known = _area_of(request.path_info[1:]) in _areas()
    # A missing object and a hidden one are the same 404.
    detail = str(exceptions.NotFound.default_detail) if is_known else _("There is no such path.")
    if request.path_info.startswith("/api/") and request.path_info.endswith("/"):
        detail = _("There is no such path. Paths of the API have no trailing slash.")
    return _answer(request, 404, "not_found", detail)


@cache
def _areas() -> frozenset[str]:
    """The beginnings of all paths that have a route: `admin`, `api/trips`, `api/users`."""
    return frozenset(_area_of(route) for route, _view in routes_of(None))


def _area_of(path: str) -> str:
    """The first segment of a path without its first slash; for the API, the first two."""
    segments = path.split("/")
    return "/".join(segments[: 2 if segments[0] == "api" else 1])


def server_error(request: HttpRequest) -> HttpResponse:
    """An error in an HTML page; Django calls this while it handles the exception."""
    is_away = isinstance(sys.exc_info()[1], DATABASE_AWAY)
    return refusal(request, Unavailable() if is_away else InternalError())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of the admin site or of the browsable API's login without a valid CSRF token."""
    return refusal(request, CsrfFailed())
