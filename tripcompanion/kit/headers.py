"""Response headers that prevent caching, scripts and framing.

Django's own middlewares add `nosniff`, the referrer policy, `X-Frame-Options` and HSTS.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

#: A response that is not a page loads and runs nothing, even if a browser displays it.
_FOR_DATA = "default-src 'none'; frame-ancestors 'none'"
#: The admin site, the browsable API and the docs: from here only. Swagger's page has styles inside.
_FOR_PAGES = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


class ProtectiveHeaders:
    """Adds the headers that a view has not set."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        response.setdefault("Content-Security-Policy", _FOR_PAGES if is_page else _FOR_DATA)
        if not request.path.startswith("/static/"):
            response.setdefault("Cache-Control", "no-store")
        return response
