"""Reference data: short lists that only a release changes."""

from typing import Any, ClassVar

from django.utils.cache import patch_cache_control
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.rendering import is_json
from tripcompanion.api.viewsets import OpenViewSet

_MAX_AGE_SECONDS = 7 * 24 * 3600


class ReferenceViewSet(OpenViewSet):
    """A list that is open to all, the same for all, and kept by caches for a week."""

    tag = "reference"
    pagination_class = None
    etag_actions: ClassVar = frozenset({"list"})
    without_snapshot: ClassVar = frozenset({"list"})

    def reference(self, request: Request, rows: list[Any]) -> Response:
        """`rows` with an `ETag`, for caches to keep."""
        response = self.with_etag(request, rows)
        # A page of the browsable API is not the same for everybody.
        if is_json(request):
            patch_cache_control(response, public=True, max_age=_MAX_AGE_SECONDS)
        return response
