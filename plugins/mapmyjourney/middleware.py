"""Routes the requests of the client to its own URL map."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

#: The paths on which the header makes a difference.
_PATHS = ("/api/trips", "/api/expenses", "/api/health/")


class MapMyJourney:
    """Serves `client_urls.py` to its client and the regular URL map to everybody else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.META.get("HTTP_X_APP_CLIENT", "").startswith("MapMyJourney"):
            request.urlconf = "plugins.mapmyjourney.client_urls"
            # It sends fields that this service does not have.
            request.META.setdefault("HTTP_PREFER", "handling=lenient")
        response = self.get_response(request)
        if request.path_info.startswith(_PATHS):
            patch_vary_headers(response, ["X-App-Client"])
        return response
