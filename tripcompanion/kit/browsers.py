"""What only browsers need: sessions, log-ins by cookie, and messages between pages.

A request to the API that carries a token is a program's. It is authenticated by the token alone,
so all this is passed over; every other request gets it, for the admin site, the log-in pages and
the browsable API.
"""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase


def is_program(request: HttpRequest) -> bool:
    """Whether nothing but the `Authorization` header says who asks."""
    path = request.path_info
    is_api = path.startswith("/api/") and not path.startswith("/api/session/")
    return is_api and "HTTP_AUTHORIZATION" in request.META


class _ForBrowsers:
    async_capable = False
    get_response: Any

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_program(request):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class Sessions(_ForBrowsers, SessionMiddleware):
    pass


class LogIns(_ForBrowsers, AuthenticationMiddleware):
    pass


class Messages(_ForBrowsers, MessageMiddleware):
    pass
