"""Routes the requests of the client to its own URL map."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

from tripcompanion.api.unknown_names import LENIENT

#: The paths on which the header makes a difference.
_PATHS = re.compile("/api/(trips|expenses|health/|users/[0-9]+/trips)")


class MapMyJourney:
    """Serves `client_urls.py` to its client and the regular URL map to everybody else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.META.get("HTTP_X_APP_CLIENT", "").startswith("MapMyJourney"):
            request.urlconf = "plugins.mapmyjourney.client_urls"
            # It sends fields that this service does not have. A preference of its own comes first.
            prefer = request.META.get("HTTP_PREFER", "")
            request.META["HTTP_PREFER"] = f"{prefer}, {LENIENT}"
        response = self.get_response(request)
        if _PATHS.match(request.path_info):
            patch_vary_headers(response, ["X-App-Client"])
        return response
