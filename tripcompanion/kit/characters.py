"""Rejects control characters and invalid UTF-8 in paths, query strings and cookies.

No valid input contains them. PostgreSQL rejects NUL in text, so a NUL in the session cookie would
cause a 500, and parts of a query string may be repeated in a response header. They are checked
here once, before any view or library reads them.
"""

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl, unquote_to_bytes

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _

from tripcompanion.kit import problems

#: Control characters (C0, DEL, C1), and the surrogates that invalid UTF-8 is decoded to.
_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class RefuseControlCharacters:
    """Answers 404 for such a path, and 400 for such a parameter or cookie, which it deletes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        #: The cookies that are read. Others may belong to other services on the same site.
        self.cookies = (
            settings.SESSION_COOKIE_NAME,
            settings.CSRF_COOKIE_NAME,
            settings.LANGUAGE_COOKIE_NAME,
            CookieStorage.cookie_name,
        )

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if _REFUSED.search(request.path_info):
            return problems.not_found(request)
        if parameters := list(_broken_parameters(request.META.get("QUERY_STRING", ""))):
            return problems.invalid(request, dict.fromkeys(parameters, [_text()]))
        broken = [name for name in self.cookies if _REFUSED.search(request.COOKIES.get(name, ""))]
        if broken:
            response = problems.invalid(request, dict.fromkeys(broken, [_text()]))
            # Otherwise every request would fail until the user deletes the cookie.
            for name in broken:
                response.delete_cookie(name)
            return response
        return self.get_response(request)


def _text() -> str:
    return _("Contains a character that is not allowed (a control character or invalid UTF-8).")


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
