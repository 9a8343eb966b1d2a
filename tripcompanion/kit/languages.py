"""In which language an answer speaks: what `Accept-Language`, or the cookie of a browser, asks for.

Django's middleware does the same, and looks for a language in every path, twice.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation import activate, get_language_from_request


class Languages:
    """Sets the language of the thread, and names it in the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = get_language_from_request(request)
        activate(language)
        request.LANGUAGE_CODE = language
        response = self.get_response(request)
        patch_vary_headers(response, ("Accept-Language",))
        response.headers.setdefault("Content-Language", language)
        return response
