"""The throttle of imports."""

from typing import Any

from rest_framework.request import Request

from tripcompanion.api.throttling import WindowThrottle


class ImportThrottle(WindowThrottle):
    """Files that are planned, and plans that are confirmed, per user."""

    scope = "import"

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk)
