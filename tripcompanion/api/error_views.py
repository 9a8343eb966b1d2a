"""Error responses outside of DRF's views: of middlewares, and Django's error handlers.

They are problem documents, or pages for browsers in the admin site.
"""

import sys
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

from tripcompanion.api import problems
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.throttling import is_local
from tripcompanion.api.url_map import routes_of


def refusal(request: HttpRequest, exc: APIException) -> HttpResponse:
    """The problem document, or a page for a browser in the admin site."""
    document, headers = problems.answer_to(exc)
    is_browser = "text/html" in request.headers.get("Accept", "")
    if is_browser and request.path.startswith(reverse("admin:index")):
        page = render_to_string("admin/problem.html", document)
        return HttpResponse(page, status=exc.status_code, headers=headers)
    body = ExactJSONRenderer().render(document)
    return HttpResponse(
        body, status=exc.status_code, content_type=problems.CONTENT_TYPE, headers=headers
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django rejects before a view is resolved: an unknown Host, a malformed upload."""
    detail = _("The request is not acceptable.")
    # Only operators are told about settings.
    if isinstance(exception, DisallowedHost) and is_local(request):
        detail = _("This host is not in ALLOWED_HOSTS.")
    return refusal(request, exceptions.ParseError(detail, "bad_request"))


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
    unset = next(filter(problems.UNSET.fullmatch, request.path_info.split("/")), None)
    if is_known and unset:
        detail = _("%(word)s is not an id: put the value of the variable into the path.")
        detail %= {"word": unset}
    if request.path_info.startswith("/api/") and request.path_info.endswith("/"):
        detail = _("There is no such path. Paths of the API have no trailing slash.")
    return refusal(request, exceptions.NotFound(detail))


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
    error = sys.exc_info()[1]
    if isinstance(error, problems.DATABASE_AWAY):
        return refusal(request, problems.as_api_exception(error))
    return refusal(request, problems.InternalError())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of the admin site or of the browsable API's login without a valid CSRF token."""
    return refusal(request, problems.CsrfFailed())
